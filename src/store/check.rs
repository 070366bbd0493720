//! `holdfast check`: looks at a whole database without changing it.

use super::file::{self, SCHEMA_VERSION};
use super::search;
use crate::error::Error;
use rusqlite::Connection;
use std::path::Path;

/// Faults shown at the most.
const SHOWN_MAX: usize = 20;

/// What is wrong with the database; nothing, if it is sound.
pub fn check(path: &Path) -> Result<Vec<String>, Error> {
    let connection = file::open_read_only(path)?;
    let version = file::recognise(&connection, path)?;
    let mut faults = Vec::new();
    if version < SCHEMA_VERSION {
        faults.push(format!(
            "schema version {version} is older than {SCHEMA_VERSION}: `holdfast serve` upgrades it"
        ));
    }
    let broken = |cause: rusqlite::Error| file::refusal(path, &format!("could not be checked ({cause})"));
    faults.extend(self::faults(&connection).map_err(broken)?);
    if version == SCHEMA_VERSION {
        faults.extend(search::faults(&connection).map_err(broken)?);
    }
    Ok(faults)
}

/// Is it a database of this binary's schema?
pub fn is_current(path: &Path) -> bool {
    let version = file::open_read_only(path).and_then(|connection| file::recognise(&connection, path));
    version.is_ok_and(|version| version == SCHEMA_VERSION)
}

/// What is wrong with the rows of an open database, whatever its version.
pub(super) fn faults(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut faults = integrity(connection)?;
    faults.extend(foreign_keys(connection)?);
    Ok(faults)
}

fn integrity(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut rows = connection.prepare(&format!("pragma integrity_check({SHOWN_MAX})"))?;
    let lines = rows.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").map(|line| format!("integrity: {line}")).collect())
}

fn foreign_keys(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut rows = connection.prepare(&format!(
        "select \"table\", \"parent\", count(*) from pragma_foreign_key_check group by 1, 2 limit {SHOWN_MAX}"
    ))?;
    let faults = rows.query_map([], |row| {
        let (table, parent, count): (String, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(format!("foreign keys: {count} rows of {table} point to no row of {parent}"))
    })?;
    faults.collect()
}
