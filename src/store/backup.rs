//! Backups: a whole copy of a database that may be in use, verified before it gets its name.
//!
//! `vacuum into` reads one snapshot and holds up no writer. The copy is built under
//! another name, looked through, synced, and only then renamed, with its SHA-256
//! beside it: under its final name there is never half a backup.

use super::check;
use super::file::{self, beside, refusal, remove_if_there, sync_folder};
use super::secret::digest_of_file;
use crate::chance::Chance;
use crate::disk::Disk;
use crate::domain::day::Day;
use crate::error::Error;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Nightly copies that are kept: the newest, and of the older ones one a week.
const DAILY_MAX: usize = 7;
const WEEKLY_MAX: usize = 4;

/// A backup that was made.
#[derive(Clone, Debug)]
pub struct Backup {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Rows in it.
    pub rows: u64,
    /// SHA-256, as hexadecimal digits.
    pub sha256: String,
}

/// Copies a database, whether it is in use or not, to a file.
pub fn backup(source: &Path, target: &Path, disk: &Disk, chance: &Chance) -> Result<Backup, Error> {
    let (source, target) = (&file::resolve(source), &file::resolve(target));
    refuse_target(source, target)?;
    let connection = open_source(source)?;
    refuse_without_room(source, target, disk)?;
    let unfinished = beside(target, &format!("new-{}", crate::payload::hex(&chance.bytes::<8>()?)));
    let made = copy(&connection, source, &unfinished).and_then(|rows| name(&unfinished, target, rows));
    if made.is_err() {
        let _ = remove_if_there(&unfinished);
        let _ = remove_if_there(&sidecar(&unfinished));
    }
    made
}

/// The file with a backup's SHA-256, as `sha256sum -c` reads it.
pub fn sidecar(path: &Path) -> PathBuf {
    beside(path, "sha256")
}

fn cannot(target: &Path, cause: &dyn Display) -> Error {
    Error::Internal(format!("the backup {} cannot be made ({cause})", target.display()))
}

/// A backup may take the place of an older one, and of nothing else.
fn refuse_target(source: &Path, target: &Path) -> Result<(), Error> {
    if source == target {
        return Err(cannot(target, &"it is the database itself"));
    }
    if !target.exists() {
        return Ok(());
    }
    let older = file::open_read_only(target).and_then(|older| file::recognise(&older, target));
    older.map(|_| ()).map_err(|_| cannot(target, &"there is another file of that name"))
}

fn open_source(source: &Path) -> Result<Connection, Error> {
    if !source.exists() {
        return Err(refusal(source, "does not exist"));
    }
    file::recognise_bytes(source)?;
    // A file that cannot be written can still be copied.
    let writable = file::refuse_protected(source).and_then(|()| file::connect(source));
    let connection = writable.or_else(|_| file::open_read_only(source))?;
    file::recognise(&connection, source)?;
    // The copy is another file; this one is only read.
    connection
        .execute_batch("pragma query_only = off; pragma temp_store = memory;")
        .map_err(|cause| refusal(source, &format!("cannot be read ({cause})")))?;
    Ok(connection)
}

fn refuse_without_room(source: &Path, target: &Path, disk: &Disk) -> Result<(), Error> {
    let needed = fs::metadata(source).map_or(0, |meta| meta.len());
    match disk.space(target) {
        Some(space) if space.free_bytes < needed => {
            let text = format!("{needed} bytes are needed, and {} are free", space.free_bytes);
            Err(cannot(target, &text))
        }
        Some(_) | None => Ok(()),
    }
}

/// Builds the copy, looks through it and syncs it; gives its rows.
fn copy(connection: &Connection, source: &Path, unfinished: &Path) -> Result<u64, Error> {
    let fault = |cause: &dyn Display| cannot(unfinished, cause);
    // Made first, so that nobody else may read it at any moment.
    let new = OpenOptions::new().write(true).create_new(true).mode(0o600).open(unfinished);
    drop(new.map_err(|cause| fault(&cause))?);
    let before = census(connection).map_err(|cause| fault(&cause))?;
    connection.execute("vacuum into ?1", [unfinished.to_string_lossy()]).map_err(|cause| fault(&cause))?;
    let after = census(connection).map_err(|cause| fault(&cause))?;
    let rows = verify(unfinished, source, &before, &after)?;
    fs::File::open(unfinished).and_then(|file| file.sync_all()).map_err(|cause| fault(&cause))?;
    Ok(rows)
}

/// Rows of each table at one moment, and the number that moves with every change by others.
struct Census {
    version: i64,
    rows: BTreeMap<String, i64>,
}

fn census(connection: &Connection) -> rusqlite::Result<Census> {
    let version = connection.query_row("pragma data_version", [], |row| row.get(0))?;
    let mut names = connection
        .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'")?;
    let names: Vec<String> = names.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut rows = BTreeMap::new();
    for name in names {
        let sql = format!("select count(*) from \"{}\"", name.replace('"', "\"\""));
        let count = connection.query_row(&sql, [], |row| row.get(0))?;
        rows.insert(name, count);
    }
    Ok(Census { version, rows })
}

/// The copy is sound and has the rows that the database has. While others write, rows move between the two
/// counts; then a table must at least be there, and not be empty if it never was.
fn verify(copy: &Path, source: &Path, before: &Census, after: &Census) -> Result<u64, Error> {
    let fault = |cause: &dyn Display| cannot(copy, cause);
    let connection = file::open_read_only(copy)?;
    file::recognise(&connection, copy)?;
    let faults = check::faults(&connection).map_err(|cause| fault(&cause))?;
    if let Some(first) = faults.first() {
        return Err(refusal(source, &format!("gave a copy that is not sound: {first}")));
    }
    let copied = census(&connection).map_err(|cause| fault(&cause))?.rows;
    let quiet = before.version == after.version && before.rows == after.rows;
    for (table, rows) in &after.rows {
        let Some(found) = copied.get(table) else {
            return Err(fault(&format!("the table {table} is missing in it")));
        };
        let never_empty = *rows > 0 && before.rows.get(table).is_some_and(|rows| *rows > 0);
        if quiet && found != rows || never_empty && *found == 0 {
            return Err(fault(&format!("of the table {table} {found} rows came over, of {rows}")));
        }
    }
    Ok(copied.values().map(|rows| u64::try_from(*rows).unwrap_or(0)).sum())
}

/// Gives the finished copy its name, and its SHA-256 a place beside it.
fn name(unfinished: &Path, target: &Path, rows: u64) -> Result<Backup, Error> {
    let fault = |cause: std::io::Error| cannot(target, &cause);
    let (sha256, bytes) = digest_of_file(unfinished).map_err(fault)?;
    let file_name = target.file_name().unwrap_or_default().to_string_lossy();
    let beside_it = sidecar(unfinished);
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside_it).map_err(fault)?;
    file.write_all(format!("{sha256}  {file_name}\n").as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(fault)?;
    // An older SHA-256 beside a newer copy would make a good one look damaged, so it goes first.
    remove_if_there(&sidecar(target)).map_err(fault)?;
    fs::rename(unfinished, target).map_err(fault)?;
    fs::rename(&beside_it, sidecar(target)).map_err(fault)?;
    sync_folder(target).map_err(fault)?;
    Ok(Backup { path: target.to_owned(), bytes, rows, sha256 })
}

/// The name of a night's backup.
pub fn nightly_name(day: Day) -> String {
    format!("holdfast-{day}.db")
}

/// Removes nightly backups that are too old: the seven newest stay, and of the older ones the newest of each
/// week, four at the most. Other files are left alone. Gives how many went.
pub fn rotate(folder: &Path) -> Result<usize, Error> {
    let fault = |cause: std::io::Error| Error::internal("looking through the backups", cause);
    let mut days = Vec::new();
    for entry in fs::read_dir(folder).map_err(fault)? {
        let name = entry.map_err(fault)?.file_name().to_string_lossy().into_owned();
        let Some((day, rest)) = name.strip_prefix("holdfast-").and_then(|rest| rest.split_at_checked(10))
        else {
            continue;
        };
        match (Day::parse(day), rest) {
            (Some(day), ".db") => days.push(day),
            // Left by a process that was killed in the middle.
            (Some(_), rest) if rest.starts_with(".db.new-") => {
                remove_if_there(&folder.join(&name)).map_err(fault)?
            }
            (Some(_) | None, _) => {}
        }
    }
    let old = too_old(days);
    for day in &old {
        let path = folder.join(nightly_name(*day));
        remove_if_there(&path).and_then(|()| remove_if_there(&sidecar(&path))).map_err(fault)?;
    }
    Ok(old.len())
}

fn too_old(mut days: Vec<Day>) -> Vec<Day> {
    days.sort_unstable_by(|one, other| other.cmp(one));
    let mut weeks = Vec::new();
    days.into_iter()
        .skip(DAILY_MAX)
        .filter(|day| {
            // 1970-01-01 was a Thursday: weeks begin on Monday.
            let week = (day.start_ms() / 86_400_000 + 3).div_euclid(7);
            if weeks.contains(&week) || weeks.len() == WEEKLY_MAX {
                return true;
            }
            weeks.push(week);
            false
        })
        .collect()
}

/// The newest backup in a folder, for the log line of a damaged database.
pub fn newest(folder: &Path) -> Option<String> {
    let names = fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| name.starts_with("holdfast-") && name.ends_with(".db")).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_year_of_nights_leaves_seven_days_and_four_weeks() {
        let mut kept: Vec<Day> = Vec::new();
        let first = Day::parse("2026-01-01").unwrap();
        for night in 0..365 {
            let today = first.plus_days(night);
            kept.push(today);
            let old = too_old(kept.clone());
            kept.retain(|day| !old.contains(day));
            assert!(kept.len() <= DAILY_MAX + WEEKLY_MAX);
        }
        let kept: Vec<String> = kept.iter().map(Day::to_string).collect();
        // 2026-12-31 is a Thursday; the weekly ones are Sundays, but for the week that is still leaving.
        assert_eq!(
            kept,
            [
                "2026-12-06",
                "2026-12-13",
                "2026-12-20",
                "2026-12-24",
                "2026-12-25",
                "2026-12-26",
                "2026-12-27",
                "2026-12-28",
                "2026-12-29",
                "2026-12-30",
                "2026-12-31"
            ]
        );
    }
}
