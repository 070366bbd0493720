//! Records straight from columns to JSON, for lists that are asked for often.
//!
//! A page of fifty records has a thousand cells. Reading them into structs costs an
//! allocation for each text and a conversion for each day, there and back; here a cell is
//! written as it stands. The struct remains the truth: a test compares the two.

use super::list::{Filter, damaged};
use crate::domain::page::Page;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

/// A page of records, written already.
#[derive(Debug)]
pub struct Records {
    /// The records, with commas between them.
    pub json: Vec<u8>,
    /// Records on this page.
    pub count: usize,
    /// Records that match, on this page or not.
    pub total: u64,
    /// The page that was applied.
    pub page: Page,
}

/// How a column is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Text, or null.
    Text,
    /// Text; left out where there is none.
    TextIfAny,
    /// JSON already.
    Json,
    /// Milliseconds, shown as a time; or null.
    Time,
}

/// A column of a select, in its order: `,"name":` as it stands in the record, and how its value is written.
pub type Column = (&'static str, Cell);

/// A [`Column`] from its name and its kind.
macro_rules! column {
    ($name:literal, $cell:ident) => {
        (concat!(",\"", $name, "\":"), Cell::$cell)
    };
}
pub(super) use column;

/// What a record takes, roughly.
const RECORD_BYTES: usize = 640;

/// Writes the records of a page behind what `json` holds, of one moment with `total`.
pub fn records(
    connection: &Connection,
    (table, select, columns): (&'static str, &str, &[Column]),
    filter: &Filter,
    page: Page,
    mut json: Vec<u8>,
    total: impl FnOnce(&Connection) -> rusqlite::Result<u64>,
) -> rusqlite::Result<Records> {
    let moment = connection.unchecked_transaction()?;
    let total = total(&moment)?;
    let expected = usize::try_from(total.min(page.limit)).unwrap_or(0);
    json.reserve(RECORD_BYTES * (expected + 1));
    let begin = json.len();
    let written = filter.page(&moment, table, select, page, |row| write_record(&mut json, row, columns))?;
    if !written.is_empty() {
        json.pop();
    }
    // Once for the page instead of once for each cell: it tells damaged rows just as well.
    std::str::from_utf8(&json[begin..]).map_err(|cause| damaged(0, cause))?;
    Ok(Records { json, count: written.len(), total, page })
}

/// A record, and a comma behind it.
fn write_record(out: &mut Vec<u8>, row: &Row, columns: &[Column]) -> rusqlite::Result<()> {
    let begin = out.len();
    for (index, (name, cell)) in columns.iter().enumerate() {
        let value = row.get_ref(index)?;
        if *cell == Cell::TextIfAny && value == ValueRef::Null {
            continue;
        }
        out.extend_from_slice(name.as_bytes());
        match (value, cell) {
            (ValueRef::Null, _) => out.extend_from_slice(b"null"),
            (ValueRef::Integer(wall_ms), Cell::Time) => write_time(out, wall_ms),
            (ValueRef::Text(json), Cell::Json) => out.extend_from_slice(json),
            (ValueRef::Text(text), Cell::Text | Cell::TextIfAny) => write_text(out, text),
            (value, Cell::Text | Cell::TextIfAny | Cell::Json | Cell::Time) => {
                return Err(damaged(index, format!("{name} holds {:?}", value.data_type())));
            }
        }
    }
    if let Some(first) = out.get_mut(begin) {
        *first = b'{';
    }
    out.extend_from_slice(b"},");
    Ok(())
}

fn write_time(out: &mut Vec<u8>, wall_ms: i64) {
    out.push(b'"');
    out.extend_from_slice(&crate::clock::rfc3339_bytes(wall_ms));
    out.push(b'"');
}

/// A JSON string. Text is looked at sixteen bytes at a time, since hardly any of it needs escaping.
fn write_text(out: &mut Vec<u8>, text: &[u8]) {
    let is_special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    out.push(b'"');
    for chunk in text.chunks(16) {
        if !chunk.iter().fold(false, |special, byte| special | is_special(*byte)) {
            out.extend_from_slice(chunk);
            continue;
        }
        for byte in chunk {
            match byte {
                b'"' => out.extend_from_slice(b"\\\""),
                b'\\' => out.extend_from_slice(b"\\\\"),
                b'\n' => out.extend_from_slice(b"\\n"),
                control if is_special(*control) => {
                    out.extend_from_slice(format!("\\u{control:04x}").as_bytes());
                }
                plain => out.push(*plain),
            }
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn any_text_is_read_back(text in "(?s).{0,80}") {
            let mut out = Vec::new();
            write_text(&mut out, text.as_bytes());
            assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
        }
    }
}
