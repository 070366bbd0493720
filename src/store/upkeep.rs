//! Upkeep of the file: how large it is, whether it is sound, and what makes room.
//!
//! What is deleted here is history that nobody asked to keep longer; it is deleted
//! even while ordinary writes are refused.

use super::file::{self, wal_of};
use super::{Store, failed};
use crate::disk::Space;
use crate::error::Error;
use rusqlite::Connection;

/// A lease further away than this was made by a clock that has been set back since.
const LEASE_MAX_MS: i64 = 3_600_000;

/// One table's size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFigures {
    /// Its name.
    pub name: String,
    /// Its pages and those of its indexes.
    pub bytes: u64,
    /// Its rows.
    pub rows: u64,
}

impl Store {
    /// Bytes of the file and of its log.
    pub fn file_bytes(&self) -> (u64, u64) {
        let size = |path| std::fs::metadata(path).map_or(0, |meta| meta.len());
        (size(self.path.clone()), size(wal_of(&self.path)))
    }

    /// The room on the database's disk, if the system tells.
    pub fn space(&self) -> Option<Space> {
        self.barrier.space()
    }

    /// Below so many free bytes nothing is written.
    pub fn reserve_bytes(&self) -> u64 {
        self.barrier.reserve_bytes()
    }

    /// Why nothing is written at the moment.
    pub fn write_refusal(&self) -> Option<String> {
        match self.writer.is_alive() {
            true => self.barrier.trouble(),
            false => Some("the writer has stopped".into()),
        }
    }

    /// Is the file known to be damaged?
    pub fn is_damaged(&self) -> bool {
        self.barrier.damage().is_some()
    }

    /// Folds the log into the file and empties it. False: a reader was in the way.
    pub fn checkpoint(&self) -> Result<bool, Error> {
        self.writer.checkpoint()
    }

    /// Looks at the whole file; a quick look passes over the indexes. Damage closes it for writes.
    pub fn verify(&self, quick: bool) -> Result<(), Error> {
        // A connection of its own: a long look must not hold one of the few readers.
        let connection = file::connect(&self.path)?;
        let pragma = if quick { "quick_check" } else { "integrity_check" };
        let verdict: rusqlite::Result<String> =
            connection.query_row(&format!("pragma {pragma}(1)"), [], |row| row.get(0));
        let orphans: rusqlite::Result<i64> =
            connection.query_row("select count(*) from pragma_foreign_key_check", [], |row| row.get(0));
        let damage = match (verdict, orphans) {
            (Ok(verdict), Ok(0)) if verdict == "ok" => return Ok(()),
            (Ok(verdict), Ok(0)) => verdict,
            (Ok(_), Ok(orphans)) => format!("{orphans} rows point to no row"),
            (Err(cause), _) | (_, Err(cause)) if !is_damage(&cause) => {
                return Err(Error::internal("checking the database", cause));
            }
            (Err(cause), _) | (_, Err(cause)) => cause.to_string(),
        };
        self.barrier.close(&damage);
        Err(Error::internal("the database is damaged; restore a backup", damage))
    }

    /// The size of every table. It walks the whole file, table by table, so that no reader stands in the
    /// way of a checkpoint for long.
    pub fn table_figures(&self) -> Result<Vec<TableFigures>, Error> {
        let names: Vec<String> = self.read(|connection| {
            let mut rows = connection.prepare(
                "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name",
            )?;
            let names = rows.query_map([], |row| row.get(0))?;
            names.collect()
        })?;
        names.into_iter().map(|name| self.read(|connection| figures(connection, name))).collect()
    }

    /// Deliveries whose worker is gone are free for another one.
    pub fn free_stuck_deliveries(&self) -> Result<usize, Error> {
        let now_ms = self.clock.now_ms();
        let stuck = "from delivery where state = 'sending' and (lease_until <= ?1 or lease_until > ?2)";
        let count: i64 = self.read(|connection| {
            let sql = format!("select count(*) {stuck}");
            connection.query_row(&sql, (now_ms, now_ms + LEASE_MAX_MS), |row| row.get(0))
        })?;
        if count == 0 {
            return Ok(0);
        }
        self.write(move |connection| {
            let free = "update delivery set state = 'pending', lease_until = null, next_at = ?1
                        where state = 'sending' and (lease_until <= ?1 or lease_until > ?2)";
            connection.execute(free, (now_ms, now_ms + LEASE_MAX_MS)).map_err(failed)
        })
    }
}

/// Does an error tell of a damaged file, and not of one that is busy?
fn is_damage(cause: &rusqlite::Error) -> bool {
    matches!(
        cause.sqlite_error_code(),
        Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase)
    )
}

fn figures(connection: &Connection, name: String) -> rusqlite::Result<TableFigures> {
    let parts: Vec<String> = {
        let mut rows = connection.prepare("select name from sqlite_schema where tbl_name = ?1")?;
        rows.query_map([&name], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?
    };
    let mut bytes = 0_i64;
    for part in parts {
        let pages = "select coalesce(sum(pgsize), 0) from dbstat where name = ?1";
        bytes += connection.query_row(pages, [part], |row| row.get::<_, i64>(0))?;
    }
    let counted = format!("select count(*) from \"{}\"", name.replace('"', "\"\""));
    let rows: i64 = connection.query_row(&counted, [], |row| row.get(0))?;
    let positive = |number: i64| u64::try_from(number).unwrap_or(0);
    Ok(TableFigures { name, bytes: positive(bytes), rows: positive(rows) })
}
