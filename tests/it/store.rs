//! The database file: whatever is wrong with it is said in one line, and it is never made worse.

use crate::process::{Workplace, wait_until};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// A database with something in it, closed in order.
fn filled() -> Workplace {
    let place = Workplace::new();
    place.done(&["tenant", "create", "A"]);
    for number in 0..40 {
        let name = format!("key {number} {}", "x".repeat(200));
        place.done(&["key", "create", "--tenant", "A", "--name", &name]);
    }
    place
}

fn refused(place: &Workplace, expected: &str) {
    let before = std::fs::read(place.db()).unwrap();
    for arguments in [vec!["serve", "--listen", "127.0.0.1:0"], vec!["check"], vec!["tenant", "list"]] {
        let output = place.run(&arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {text}");
        assert_eq!(text.trim().lines().count(), 1, "{text}");
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
    assert!(std::fs::read(place.db()).unwrap() == before, "the file was changed");
}

#[test]
fn empty_truncated_and_foreign_files_are_refused_and_left_alone() {
    let good = std::fs::read(filled().db()).unwrap();
    for (length, expected) in [
        (0, "is empty"),
        (1, "not an SQLite file"),
        (100, "damaged"),
        (4095, "damaged"),
        (good.len() / 2, "damaged"),
    ] {
        let place = Workplace::new();
        std::fs::write(place.db(), &good[..length]).unwrap();
        refused(&place, expected);
    }
    let place = Workplace::new();
    std::fs::write(
        place.db(),
        "PK\u{3}\u{4} some other file entirely, long enough to have a header of its own",
    )
    .unwrap();
    refused(&place, "not an SQLite file");
    let place = Workplace::new();
    rusqlite::Connection::open(place.db()).unwrap().execute_batch("create table t (x)").unwrap();
    refused(&place, "not a Holdfast database");
}

#[test]
fn a_newer_file_is_refused() {
    let place = filled();
    rusqlite::Connection::open(place.db()).unwrap().pragma_update(None, "user_version", 999).unwrap();
    refused(&place, "newer than this binary");
}

#[test]
fn a_write_protected_file_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let place = filled();
    std::fs::set_permissions(place.db(), std::fs::Permissions::from_mode(0o400)).unwrap();
    let line = place.failed(&["serve", "--listen", "127.0.0.1:0"], 1);
    assert!(line.contains("write-protected"), "{line}");
}

#[test]
fn damaged_pages_never_make_a_panic_or_a_changed_file() {
    let good = std::fs::read(filled().db()).unwrap();
    for seed in 0..40_u64 {
        let place = Workplace::new();
        let mut bytes = good.clone();
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
        for _ in 0..64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let position = 16 + (state >> 16) as usize % (bytes.len() - 16);
            bytes[position] = (state >> 8) as u8;
        }
        std::fs::write(place.db(), &bytes).unwrap();
        let output = place.run(&["check"]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 1)), "seed {seed}: {text}");
        assert!(!text.contains("panicked"), "seed {seed}: {text}");
        assert!(std::fs::read(place.db()).unwrap() == bytes, "seed {seed}");
    }
}

#[test]
fn a_database_holds_what_schema_sql_says() {
    let place = filled();
    let fresh = rusqlite::Connection::open_in_memory().unwrap();
    fresh.execute_batch(include_str!("../../schema.sql")).unwrap();
    let served = rusqlite::Connection::open(place.db()).unwrap();
    assert_eq!(schema(&served), schema(&fresh));
    let version: i32 = served.query_row("pragma user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, holdfast::store::SCHEMA_VERSION);
}

fn schema(connection: &rusqlite::Connection) -> BTreeMap<String, String> {
    let mut rows = connection.prepare("select name, sql from sqlite_schema where sql is not null").unwrap();
    let pairs = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    pairs.collect::<rusqlite::Result<_>>().unwrap()
}

#[test]
fn every_table_is_strict_and_tenant_tables_begin_with_their_tenant() {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    connection.execute_batch(include_str!("../../schema.sql")).unwrap();
    let mut tables = connection
        .prepare("select name, strict from pragma_table_list where schema = 'main' and type = 'table'")
        .unwrap();
    let tables: Vec<(String, bool)> = tables
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    for (name, strict) in tables.iter().filter(|(name, _)| !name.starts_with("sqlite_")) {
        assert!(strict, "{name} is not strict");
        let mut columns = connection.prepare("select name, pk from pragma_table_info(?1)").unwrap();
        let columns: Vec<(String, i64)> = columns
            .query_map([name], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap();
        if columns.iter().any(|(column, _)| column == "tenant_id") {
            assert_eq!(columns[0], ("tenant_id".to_owned(), 1), "{name}");
        }
    }
}

/// `HOLDFAST_KILL_CYCLES=500 cargo test acknowledged` for a longer run.
fn kill_cycles() -> u64 {
    std::env::var("HOLDFAST_KILL_CYCLES").ok().and_then(|text| text.parse().ok()).unwrap_or(30)
}

/// Writes until the server is gone; gives what was acknowledged: a key, or a finding's id.
fn write_until_killed(
    address: std::net::SocketAddr,
    manager: &str,
    writer: usize,
    cycle: u64,
) -> Vec<String> {
    let mut acknowledged = Vec::new();
    for number in 0.. {
        let title = format!("{cycle}-{writer}-{number}");
        let (path, body, field) = match writer % 2 {
            0 => ("/api/v1/keys", format!("{{\"name\":\"{title}\"}}"), "key"),
            _ => ("/api/v1/findings", format!("{{\"title\":\"{title}\",\"severity\":\"low\"}}"), "id"),
        };
        match post_to(address, manager, path, &body, field) {
            Some(value) => acknowledged.push(value),
            None => break,
        }
    }
    acknowledged
}

#[test]
fn acknowledged_writes_survive_kill_nine() {
    let place = Workplace::new();
    let mut acknowledged: Vec<String> = Vec::new();
    let mut manager = String::new();
    for cycle in 0..kill_cycles() {
        let server = place.serve_with(&[("HOLDFAST_RATE_LIMITS", "off"), ("HOLDFAST_KEYS_MAX", "1000000")]);
        if cycle == 0 {
            manager = place.first_key();
        }
        let address = server.address;
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let manager = manager.clone();
                std::thread::spawn(move || write_until_killed(address, &manager, writer, cycle))
            })
            .collect();
        std::thread::sleep(Duration::from_millis(50 + 37 * (cycle % 11)));
        server.kill();
        for writer in writers {
            acknowledged.extend(writer.join().unwrap());
        }
    }
    assert!(acknowledged.len() > 300, "only {} writes", acknowledged.len());
    let server = place.serve_with(&[("HOLDFAST_RATE_LIMITS", "off")]);
    for value in &acknowledged {
        match value.strip_prefix("fnd_") {
            Some(_) => server.get(&format!("/api/v1/findings/{value}")).key(&manager).expect(200),
            None => server.get("/api/v1/dora/measures?limit=1").key(value).expect(200),
        };
    }
    let total =
        server.get("/api/v1/findings?limit=1").key(&manager).expect(200).json()["meta"]["total"].clone();
    assert!(server.stop(Duration::from_secs(15)).success());
    assert!(place.done(&["check"]).contains("sound"));
    let connection = rusqlite::Connection::open(place.db()).unwrap();
    let count = |sql: &str| -> i64 { connection.query_row(sql, [], |row| row.get(0)).unwrap() };
    let findings = count("select count(*) from finding");
    assert_eq!(
        count("select count(*) from event where name = 'finding.created'"),
        findings,
        "event and state go together"
    );
    assert_eq!(total, serde_json::json!(findings), "the kept totals are right");
    let history = "select count(*) from history where act = 'created' and kind = 'finding'";
    assert_eq!(count(history), findings, "history and state go together");
    let made = count("select count(*) from audit where event = 'key_created'");
    assert_eq!(made, count("select count(*) from api_key"), "audit log and state go together");
    drop(connection);
    assert!(place.done(&["audit", "verify"]).starts_with("sound"), "no kill breaks the chain");
    // Not even `check` leaves a log behind.
    assert!(!Path::new(&format!("{}-wal", place.db().display())).exists(), "an orderly end leaves one file");
}

/// Makes a key; `None` when the server went away.
fn post(address: std::net::SocketAddr, manager: &str, body: &str) -> Option<String> {
    post_to(address, manager, "/api/v1/keys", body, "key")
}

/// Sends a body; the named field of an acknowledged answer, or `None` when there was none.
fn post_to(
    address: std::net::SocketAddr,
    manager: &str,
    path: &str,
    body: &str,
    field: &str,
) -> Option<String> {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(address).ok()?;
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-Key: {manager}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    if !answer.starts_with("HTTP/1.1 201") {
        return None;
    }
    let (_, rest) = answer.split_once(&format!("\"{field}\":\""))?;
    rest.split('"').next().map(str::to_owned)
}

#[test]
fn a_full_disk_refuses_writes_and_serves_reads_until_there_is_room_again() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mount = |options: &str| {
        std::process::Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&disk).status()
    };
    if !mount("size=2m").is_ok_and(|status| status.success()) {
        eprintln!("no right to mount here: the full disk is not tested");
        return;
    }
    let _unmount = Unmount(disk.clone());
    let place = Workplace::new();
    let db = disk.join("holdfast.db");
    let mut command = place.command(&["serve", "--listen", "127.0.0.1:0", "--db", db.to_str().unwrap()]);
    let server = crate::process::Server::start(
        // No reserve: here SQLite itself meets the end of the disk.
        command
            .env("HOLDFAST_RATE_LIMITS", "off")
            .env("HOLDFAST_KEYS_MAX", "1000000")
            .env("HOLDFAST_DISK_RESERVE_MIB", "0"),
    );
    let text = std::fs::read_to_string(disk.join("holdfast.db.first-run")).unwrap();
    let key = text.split_whitespace().find(|word| word.starts_with("hfast_")).unwrap().to_owned();
    std::fs::write(disk.join("ballast"), vec![0; 1_200_000]).unwrap();
    let body = format!("{{\"name\":\"{}\"}}", "x".repeat(255));
    let mut made = Vec::new();
    while let Some(new) = post(server.address, &key, &body) {
        made.push(new);
        assert!(made.len() < 20_000, "the disk never filled");
    }
    let refused = crate::client::Call::new(server.address, "POST", "/api/v1/keys")
        .key(&key)
        .body(body.clone())
        .expect(500);
    assert_eq!(refused.body, br#"{"error":"internal server error"}"#);
    for key in made.iter().rev().take(5) {
        server.get("/api/v1/dora/measures?limit=1").key(key).expect(200);
    }
    std::fs::remove_file(disk.join("ballast")).unwrap();
    wait_until(Duration::from_secs(5), "writing after the disk has room", || {
        post(server.address, &key, &body).is_some()
    });
    for key in &made {
        server.get("/api/v1/dora/measures?limit=1").key(key).expect(200);
    }
}

struct Unmount(std::path::PathBuf);

impl Drop for Unmount {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
