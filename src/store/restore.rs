//! Restoring a backup: the replaced file is kept, and nothing of it leaks into the new one.
//!
//! A write-ahead log beside a file that it does not belong to is replayed without a
//! word, so database, log and index of the log are moved aside together. Until the
//! copy is whole nothing is moved; a restore that was cut off is simply run again.

use super::backup::sidecar;
use super::check;
use super::file::{self, beside, refusal, remove_if_there, shm_of, sync_folder, wal_of};
use super::lock::ServerLock;
use super::secret::digest_of_file;
use crate::clock::Clock;
use crate::error::Error;
use rusqlite::Connection;
use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What does not outlive a restore: it belongs to the moment of the backup, not to now.
const FORGOTTEN: &[(&str, &str)] = &[
    ("rate_window", "delete from rate_window"),
    ("session", "delete from session"),
    (
        "delivery",
        "update delivery set state = 'cancelled', lease_until = null where state in ('pending', 'sending')",
    ),
];

/// What a restore did.
#[derive(Clone, Debug)]
pub struct Restored {
    /// Where the replaced file is now, if there was one.
    pub replaced: Option<PathBuf>,
    /// Keys that were revoked after the backup and live again: id and name.
    pub live_again: Vec<(String, String)>,
}

/// Puts a backup in the place of a database that nobody serves.
pub fn restore(path: &Path, backup: &Path, clock: &Clock) -> Result<Restored, Error> {
    let (path, backup) = (&file::resolve(path), &file::resolve(backup));
    if path == backup {
        return Err(refusal(backup, "is the one that is to be replaced; name a backup"));
    }
    let _lock = ServerLock::take(path)?;
    let digest = verify(backup)?;
    let unfinished = beside(path, "restoring");
    let prepared = prepare(backup, &unfinished, &digest);
    if prepared.is_err() {
        let _ = remove_if_there(&unfinished);
    }
    prepared?;
    let live_again = revoked_since(path, &unfinished);
    let replaced = put_in_place(path, &unfinished, clock)
        .map_err(|cause| refusal(path, &format!("could not be replaced ({cause}); run the restore again")))?;
    Ok(Restored { replaced, live_again })
}

/// Is it a whole and sound backup? Gives its digest.
fn verify(backup: &Path) -> Result<String, Error> {
    let unreadable = |cause: std::io::Error| refusal(backup, &format!("cannot be read ({cause})"));
    if !backup.exists() {
        return Err(refusal(backup, "does not exist"));
    }
    if wal_of(backup).exists() {
        return Err(refusal(
            backup,
            "has a log beside it: it is in use, and no backup; `holdfast backup` makes one",
        ));
    }
    file::recognise_bytes(backup)?;
    let (digest, _) = digest_of_file(backup).map_err(unreadable)?;
    match fs::read_to_string(sidecar(backup)) {
        Ok(text) if text.split_whitespace().next() != Some(digest.as_str()) => {
            return Err(refusal(backup, "is damaged: its SHA-256 is not the one in the file beside it"));
        }
        Ok(_) => {}
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {}
        Err(cause) => return Err(unreadable(cause)),
    }
    let connection = file::open_read_only(backup)?;
    file::recognise(&connection, backup)?;
    let faults = check::faults(&connection)
        .map_err(|cause| refusal(backup, &format!("is damaged ({cause}); choose another backup")))?;
    match faults.first() {
        Some(fault) => Err(refusal(backup, &format!("is damaged ({fault}); choose another backup"))),
        None => Ok(digest),
    }
}

/// A copy beside the database, byte for byte, without what belongs to the past.
fn prepare(backup: &Path, unfinished: &Path, digest: &str) -> Result<(), Error> {
    let cannot = |cause: &dyn Display| refusal(backup, &format!("could not be copied ({cause})"));
    remove_if_there(unfinished).map_err(|cause| cannot(&cause))?;
    let mut source = fs::File::open(backup).map_err(|cause| cannot(&cause))?;
    let mut target = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(unfinished)
        .map_err(|cause| cannot(&cause))?;
    std::io::copy(&mut source, &mut target)
        .and_then(|_| target.sync_all())
        .map_err(|cause| cannot(&cause))?;
    let (copied, _) = digest_of_file(unfinished).map_err(|cause| cannot(&cause))?;
    if copied != digest {
        return Err(cannot(&"the copy differs from it"));
    }
    forget(unfinished).map_err(|cause| cannot(&cause))?;
    fs::File::open(unfinished).and_then(|file| file.sync_all()).map_err(|cause| cannot(&cause))
}

fn forget(path: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.query_row("pragma journal_mode = delete", [], |_| Ok(()))?;
    let transaction = connection.transaction()?;
    for (table, statement) in FORGOTTEN {
        if transaction.table_exists(None, *table)? {
            transaction.execute(statement, [])?;
        }
    }
    transaction.commit()?;
    connection.close().map_err(|(_, cause)| cause)
}

/// Keys that the replaced file knows as revoked and the restored one as live. A replaced file that cannot
/// be read tells nothing; that is often why it is replaced.
fn revoked_since(path: &Path, restored: &Path) -> Vec<(String, String)> {
    let keys = |path: &Path, sql: &str| -> Option<Vec<(String, String)>> {
        let connection = file::open_read_only(path).ok()?;
        let mut rows = connection.prepare(sql).ok()?;
        let pairs = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).ok()?;
        pairs.collect::<rusqlite::Result<_>>().ok()
    };
    let revoked = keys(path, "select id, name from api_key where revoked_at is not null").unwrap_or_default();
    let live = keys(restored, "select id, name from api_key where revoked_at is null").unwrap_or_default();
    revoked.into_iter().filter(|(id, _)| live.iter().any(|(known, _)| known == id)).collect()
}

/// First the database, then its log: a log without its database is refused at the next start, a database
/// without its log would silently be an older one.
fn put_in_place(path: &Path, unfinished: &Path, clock: &Clock) -> std::io::Result<Option<PathBuf>> {
    let mut aside = beside(path, &format!("replaced-{}", clock.now_ms() / 1000));
    while aside.exists() {
        aside.as_mut_os_string().push("-again");
    }
    let replaced = move_if_there(path, &aside)?;
    move_if_there(&wal_of(path), &wal_of(&aside))?;
    move_if_there(&shm_of(path), &shm_of(&aside))?;
    sync_folder(path)?;
    fs::rename(unfinished, path)?;
    sync_folder(path)?;
    Ok(replaced.then_some(aside))
}

fn move_if_there(from: &Path, to: &Path) -> std::io::Result<bool> {
    match fs::rename(from, to) {
        Ok(()) => Ok(true),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(cause),
    }
}
