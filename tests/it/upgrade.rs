//! A database of an earlier version, opened by the real binary: nothing is lost, and it ends where a new one begins.

use crate::process::{Server, Workplace, mode};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use std::path::PathBuf;
use std::time::Duration;

/// A version that files out there may have.
struct Old {
    version: i32,
    schema: &'static str,
    /// The tables that it had, in an order in which they can be filled.
    tables: &'static [&'static str],
}

const VERSION_1: Old = Old {
    version: 1,
    schema: include_str!("../schema/v1.sql"),
    tables: &["tenant", "user_account", "api_key", "rate_window"],
};

/// The tally is left out: triggers fill it.
const VERSION_2: Old = Old {
    version: 2,
    schema: include_str!("../schema/v2.sql"),
    tables: &[
        "tenant",
        "user_account",
        "api_key",
        "rate_window",
        "programme",
        "test_case",
        "finding",
        "provider",
        "arrangement",
        "threshold",
        "analysis",
        "cra_report",
        "webhook",
        "event",
        "milestone",
    ],
};

impl Old {
    /// All rows of a table, in the order of its key and with the columns that this version had.
    fn rows(&self, connection: &Connection, table: &str) -> Vec<Vec<Value>> {
        let old = Connection::open_in_memory().unwrap();
        old.execute_batch(self.schema).unwrap();
        let columns: Vec<String> = old
            .prepare("select name from pragma_table_info(?1)")
            .and_then(|mut names| names.query_map([table], |row| row.get(0))?.collect())
            .unwrap();
        let sql = format!("select {} from {table} order by 1, 2", columns.join(", "));
        let mut rows = connection.prepare(&sql).unwrap();
        let all =
            rows.query_map([], |row| (0..columns.len()).map(|column| row.get(column)).collect()).unwrap();
        all.map(Result::unwrap).collect()
    }

    /// A file as this version left it, with the demo bank and a key that works; gives the key.
    fn leave(&self, place: &Workplace) -> String {
        let donor = Workplace::new();
        let mut demo = donor.command(&["demo", "--db", "holdfast.db", "--listen", "127.0.0.1:0"]);
        assert!(Server::start(&mut demo).stop(Duration::from_secs(10)).success());
        let new = Connection::open(donor.db()).unwrap();
        let old = Connection::open(place.db()).unwrap();
        old.execute_batch(self.schema).unwrap();
        for table in self.tables {
            for row in self.rows(&new, table) {
                let marks = vec!["?"; row.len()].join(", ");
                old.execute(&format!("insert into {table} values ({marks})"), params_from_iter(row)).unwrap();
            }
        }
        old.pragma_update(None, "application_id", 0x4846_5354).unwrap();
        old.pragma_update(None, "user_version", self.version).unwrap();
        for table in ["tenant", "user_account", "api_key"] {
            assert_eq!(self.rows(&old, table).len(), 1, "{table}");
        }
        donor.first_key()
    }
}

/// Kind, name and statement of everything in a schema, white space and comments aside.
fn schema(connection: &Connection) -> Vec<(String, String, String)> {
    let mut parts =
        connection.prepare("select type, name, coalesce(sql, '') from sqlite_schema order by 1, 2").unwrap();
    let all = parts.query_map([], |row| {
        let sql: String = row.get(2)?;
        let code: Vec<&str> = sql.lines().map(|line| line.split("--").next().unwrap_or_default()).collect();
        let plain = code.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        Ok((row.get(0)?, row.get(1)?, plain))
    });
    all.unwrap().map(Result::unwrap).collect()
}

fn number(connection: &Connection, pragma: &str) -> i32 {
    connection.query_row(&format!("pragma {pragma}"), [], |row| row.get(0)).unwrap()
}

fn backups(place: &Workplace) -> Vec<PathBuf> {
    let files = std::fs::read_dir(place.folder.path()).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|ending| ending == "backup")).collect()
}

fn is_upgraded(old: &Old) {
    let place = Workplace::new();
    let key = old.leave(&place);
    let before: Vec<_> = {
        let file = Connection::open(place.db()).unwrap();
        old.tables.iter().map(|table| old.rows(&file, table)).collect()
    };

    let server = place.serve();
    assert!(!place.folder.path().join("holdfast.db.first-run").exists(), "there is a tenant already");
    let timeline = server.get("/api/v1/compliance-timeline").key(&key).expect(200).json();
    assert!(timeline["meta"]["total"].as_u64().unwrap() > 0, "synced at the start that upgraded");
    let findings = server.get("/api/v1/findings").key(&key).expect(200).json();
    if let Some(finding) = findings["data"].get(0) {
        let words =
            finding["title"].as_str().unwrap().split_whitespace().take(3).collect::<Vec<_>>().join("+");
        let found = server.get(&format!("/api/v2/search?q={words}")).key(&key).expect(200).json();
        let is_it = |hit: &serde_json::Value| hit["id"] == finding["id"];
        assert!(
            found["data"].as_array().unwrap().iter().any(is_it),
            "what was there before is found: {words}"
        );
    }
    assert_eq!(findings["data"].get(0).is_some(), old.tables.contains(&"finding"));
    assert!(server.stop(Duration::from_secs(10)).success());
    assert_eq!(place.failed(&["check"], 0), "");
    assert!(place.done(&["audit", "verify"]).starts_with("sound"));
    assert!(place.done(&["audit", "export"]).contains(&format!("from schema version {}", old.version)));

    let upgraded = Connection::open(place.db()).unwrap();
    assert_eq!(number(&upgraded, "user_version"), holdfast::store::SCHEMA_VERSION);
    let fresh = Connection::open_in_memory().unwrap();
    fresh.execute_batch(include_str!("../../schema.sql")).unwrap();
    assert_eq!(schema(&upgraded), schema(&fresh));
    for (table, before) in old.tables.iter().zip(&before) {
        let after = old.rows(&upgraded, table);
        match *table {
            // The requests of this test are in it: the key was used and its window saved.
            "api_key" => assert_eq!((&after[0][..9], after.len()), (&before[0][..9], before.len())),
            "rate_window" => assert!(after.len() >= before.len()),
            _ => assert_eq!(&after, before, "{table}"),
        }
    }

    let [backup] = backups(&place).try_into().unwrap();
    assert_eq!(mode(&backup), 0o600);
    let copy = Connection::open(&backup).unwrap();
    assert_eq!(number(&copy, "user_version"), old.version);
    for (table, before) in old.tables.iter().zip(&before) {
        assert_eq!(&old.rows(&copy, table), before, "{table} in the copy");
    }
    assert!(place.serve().stop(Duration::from_secs(10)).success());
    assert_eq!(backups(&place).len(), 1, "a second start upgrades nothing");
}

#[test]
fn a_file_of_version_1_keeps_its_rows_and_gets_todays_schema() {
    is_upgraded(&VERSION_1);
}

#[test]
fn a_file_of_version_2_keeps_its_rows_and_gets_todays_schema() {
    is_upgraded(&VERSION_2);
}

#[test]
fn a_command_beside_no_server_upgrades_too() {
    let place = Workplace::new();
    VERSION_1.leave(&place);
    place.done(&["tenant", "list"]);
    let upgraded = Connection::open(place.db()).unwrap();
    assert_eq!(number(&upgraded, "user_version"), holdfast::store::SCHEMA_VERSION);
    assert_eq!(backups(&place).len(), 1);
}
