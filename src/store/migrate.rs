//! Upgrades of older files: numbered steps, each in a transaction of its own.
//!
//! Before the first step the file is copied, and the copy is verified, so that no
//! upgrade is the end of anybody's data.

use super::file::{SCHEMA, beside, refusal, remove_if_there, sync_folder};
use crate::clock::Clock;
use crate::error::Error;
use rusqlite::{Connection, OpenFlags};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// `steps()[n]` brings version `n + 1` to `n + 2`. A released step is never changed again.
///
/// What a version only adds stands in `schema.sql` behind a line of its own and is taken from there, so
/// that it is written once.
pub fn steps() -> Vec<&'static str> {
    let added = SCHEMA.split("\n-- Since version ").skip(1);
    // The rest of the marker's own line is no statement.
    added.map(|part| part.split_once('\n').map_or("", |(_, statements)| statements)).collect()
}

/// Brings a file of version `from` up to the version behind the last step.
pub fn upgrade(
    connection: &mut Connection,
    path: &Path,
    from: i32,
    steps: &[&str],
    clock: &Clock,
) -> Result<(), Error> {
    let first = usize::try_from(from - 1).map_err(|_| refusal(path, "has no schema version"))?;
    let Some(pending) = steps.get(first..).filter(|pending| !pending.is_empty()) else {
        return Ok(());
    };
    let copy = safe_copy(connection, path, from, clock)?;
    log::warn!("upgrading the database from schema version {from}; the copy before it is {}", copy.display());
    for (version, step) in (from + 1..).zip(pending) {
        run_step(connection, step, version).map_err(|cause| {
            refusal(path, &format!("could not be upgraded to version {version} ({cause})"))
        })?;
    }
    Ok(())
}

fn run_step(connection: &mut Connection, step: &str, version: i32) -> Result<(), String> {
    let text = |cause: rusqlite::Error| cause.to_string();
    let transaction = connection.transaction().map_err(text)?;
    transaction.execute_batch(step).map_err(text)?;
    transaction.pragma_update(None, "user_version", version).map_err(text)?;
    let broken: i64 = transaction
        .query_row("select count(*) from pragma_foreign_key_check", [], |row| row.get(0))
        .map_err(text)?;
    if broken > 0 {
        return Err(format!("{broken} rows would point nowhere"));
    }
    transaction.commit().map_err(text)
}

/// A whole copy beside the file, verified and synced.
fn safe_copy(connection: &Connection, path: &Path, from: i32, clock: &Clock) -> Result<PathBuf, Error> {
    let copy = beside(path, &format!("v{from}-{}.backup", clock.now_ms() / 1000));
    let cannot = |cause: &dyn std::fmt::Display| {
        refusal(path, &format!("was not upgraded, since no safe copy could be made ({cause})"))
    };
    remove_if_there(&copy).map_err(|cause| cannot(&cause))?;
    connection.execute("vacuum into ?1", [copy.to_string_lossy()]).map_err(|cause| cannot(&cause))?;
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o600)).map_err(|cause| cannot(&cause))?;
    verify(&copy).map_err(|cause| cannot(&cause))?;
    fs::File::open(&copy).and_then(|file| file.sync_all()).map_err(|cause| cannot(&cause))?;
    sync_folder(&copy).map_err(|cause| cannot(&cause))?;
    Ok(copy)
}

fn verify(copy: &Path) -> Result<(), String> {
    let text = |cause: rusqlite::Error| cause.to_string();
    let connection = Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(text)?;
    let verdict: String =
        connection.query_row("pragma integrity_check", [], |row| row.get(0)).map_err(text)?;
    if verdict == "ok" { Ok(()) } else { Err(verdict) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn old_file(path: &Path) -> Connection {
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch("create table fruit (name text) strict; insert into fruit values ('pear'); pragma user_version = 1;")
            .unwrap();
        connection
    }

    const GOOD: &[&str] =
        &["alter table fruit add column colour text;", "create table tree (id integer primary key) strict;"];

    #[test]
    fn pending_steps_run_in_order_after_a_verified_copy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.db");
        let mut connection = old_file(&path);
        upgrade(&mut connection, &path, 1, GOOD, &Clock::standing_at(5_000)).unwrap();
        let version: i32 = connection.query_row("pragma user_version", [], |row| row.get(0)).unwrap();
        assert_eq!(version, 3);
        connection.query_row("select colour from fruit", [], |_| Ok(())).unwrap();
        let copy = Connection::open(folder.path().join("old.db.v1-5.backup")).unwrap();
        let (name, version): (String, i32) = copy
            .query_row("select name, (select user_version from pragma_user_version) from fruit", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        assert_eq!((name.as_str(), version), ("pear", 1));
    }

    #[test]
    fn a_failing_step_leaves_the_version_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.db");
        let mut connection = old_file(&path);
        let steps = [GOOD[0], "create table half (id integer primary key) strict; select nonsense;"];
        let fault =
            upgrade(&mut connection, &path, 1, &steps, &Clock::standing_at(0)).unwrap_err().to_string();
        assert!(fault.contains("could not be upgraded to version 3"), "{fault}");
        let version: i32 = connection.query_row("pragma user_version", [], |row| row.get(0)).unwrap();
        let halves: i64 = connection
            .query_row("select count(*) from sqlite_schema where name = 'half'", [], |row| row.get(0))
            .unwrap();
        assert_eq!((version, halves), (2, 0));
    }

    #[test]
    fn without_room_for_the_copy_nothing_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.db");
        let mut connection = old_file(&path);
        let nowhere = folder.path().join("no-such-folder/old.db");
        assert!(upgrade(&mut connection, &nowhere, 1, GOOD, &Clock::standing_at(0)).is_err());
        let version: i32 = connection.query_row("pragma user_version", [], |row| row.get(0)).unwrap();
        assert_eq!(version, 1);
    }
}
