//! Vulnerability scans: platform-wide rows, each the JSON with which it is answered.

use super::{Store, failed};
use crate::domain::id::{self, Kind};
use crate::domain::scan::{Report, Source};
use crate::error::Error;
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};

/// Scans of one source that are kept.
const KEPT: i64 = 30;
/// A scan of ourselves that says what the one before said is not stored again so soon: a restart changes nothing.
const SAME_MS: i64 = 12 * 3_600_000;

impl Store {
    /// Stores a scan as the newest one, and gives its JSON.
    pub fn keep_scan(&self, report: Report) -> Result<String, Error> {
        let now_ms = self.clock.now_ms();
        let id = id::new(Kind::Scan, now_ms, &self.chance)?;
        self.write(move |connection| {
            let newest: Option<i64> = connection
                .query_row("select max(scanned_at) from scan", [], |row| row.get(0))
                .map_err(failed)?;
            // The newest must be the last one stored, even within a millisecond or when the clock went back.
            let scanned_at = newest.map_or(now_ms, |newest| now_ms.max(newest + 1));
            insert(connection, &id, scanned_at, &report).map_err(failed)
        })
    }

    /// Stores a scan of ourselves, unless it says what the last one said and that is fresh. True if stored.
    pub fn keep_own_scan(&self, report: Report) -> Result<bool, Error> {
        let last = self.read(|connection| newest(connection, Some(Source::Own)))?;
        let now_ms = self.clock.now_ms();
        if let Some((scanned_at, body)) = last
            && (0..SAME_MS).contains(&(now_ms - scanned_at))
            && content(serde_json::from_str(&body).unwrap_or_default()) == content(json!(report.shown("", 0)))
        {
            return Ok(false);
        }
        self.keep_scan(report).map(|_| true)
    }

    /// The newest scan, of a source or of any, in the JSON with which it is answered.
    pub fn latest_scan(&self, source: Option<Source>) -> Result<String, Error> {
        let found = self.read(|connection| newest(connection, source))?;
        found.map(|(_, body)| body).ok_or(Error::NotFound("vulnerability scan"))
    }
}

fn newest(connection: &Connection, source: Option<Source>) -> rusqlite::Result<Option<(i64, String)>> {
    let pick = |row: &rusqlite::Row| Ok((row.get(0)?, row.get(1)?));
    match source {
        None => connection
            .prepare_cached("select scanned_at, body from scan order by scanned_at desc limit 1")?
            .query_row([], pick),
        Some(source) => connection
            .prepare_cached(
                "select scanned_at, body from scan where source = ?1 order by scanned_at desc limit 1",
            )?
            .query_row([source.name()], pick),
    }
    .optional()
}

/// What a scan says, apart from its name and its time.
fn content(mut scan: Value) -> Value {
    if let Some(scan) = scan.as_object_mut() {
        scan.remove("id");
        scan.remove("scanned_at");
    }
    scan
}

fn insert(connection: &Connection, id: &str, scanned_at: i64, report: &Report) -> rusqlite::Result<String> {
    let body = json!(report.shown(id, scanned_at)).to_string();
    let source = report.source.name();
    connection
        .prepare_cached("insert into scan (id, source, scanned_at, body) values (?1, ?2, ?3, ?4)")?
        .execute((id, source, scanned_at, &body))?;
    connection
        .prepare_cached(
            "delete from scan where source = ?1 and scanned_at <=
               (select scanned_at from scan where source = ?1 order by scanned_at desc limit 1 offset ?2)",
        )?
        .execute((source, KEPT))?;
    Ok(body)
}
