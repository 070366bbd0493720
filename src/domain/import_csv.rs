//! Import files in CSV: the bytes of a spreadsheet become the rows of one part, or every fault by line and column.

use super::import::{Import, Part, read_table};
use super::spreadsheet::meant;
use crate::error::Faults;

/// Reads a CSV file of one kind of rows. The header holds field names.
pub fn read(part: &'static Part, bytes: &[u8]) -> Result<Import, Faults> {
    let broken = |fault: csv::Error| Faults {
        summary: format!("the file is not valid CSV: {fault}"),
        ..Faults::default()
    };
    // A byte order mark is what Excel puts in front.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = csv::ReaderBuilder::new().from_reader(bytes);
    let header: Vec<String> =
        reader.headers().map_err(broken)?.iter().map(|name| name.trim().to_owned()).collect();
    let mut records = Vec::new();
    for record in reader.records() {
        let record = record.map_err(broken)?;
        let line = record.position().map_or(0, csv::Position::line);
        records.push((line, record.iter().map(|cell| meant(cell).to_owned()).collect()));
    }
    read_table(part, &header, records.into_iter())
}
