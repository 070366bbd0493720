//! CSV: the bytes of a spreadsheet become heads and rows of text, whatever program wrote them.
//!
//! Commas, semicolons (spreadsheets in German) or tabs (what the clipboard holds) between the cells; UTF-8 with or
//! without a mark in front. What a cell means is not known here.

use super::import::{Import, Part, read_table};
use super::spreadsheet;
use crate::error::Faults;

/// A file as it was read.
#[derive(Debug, PartialEq)]
pub struct Table {
    /// What stands between two cells.
    pub separator: char,
    /// The heads, in small letters.
    pub header: Vec<String>,
    /// Each row that is not empty: its line, and its cells.
    pub records: Vec<(u64, Vec<String>)>,
}

/// Reads a CSV file of one kind of rows. The header holds field names.
pub fn read(part: &'static Part, bytes: &[u8]) -> Result<Import, Faults> {
    let table = table(&text(bytes).map_err(whole)?).map_err(whole)?;
    let mut uneven = Faults::default();
    for (line, cells) in &table.records {
        if let Some(reason) = table.unevenness(cells) {
            uneven.add(&format!("line {line}"), reason);
        }
    }
    match uneven.fields.is_empty() {
        true => read_table(part, &table.header, table.records.into_iter()),
        false => Err(uneven),
    }
}

fn whole(summary: String) -> Faults {
    Faults { summary, ..Faults::default() }
}

impl Table {
    /// What is wrong with a row that has another number of cells than there are heads.
    pub fn unevenness(&self, cells: &[String]) -> Option<String> {
        let (cells, heads, separator) = (cells.len(), self.header.len(), name_of(self.separator));
        (cells != heads).then(|| {
            format!("has {cells} cells, and there are {heads} heads; put a cell that has a {separator} in it into quotation marks")
        })
    }
}

fn name_of(separator: char) -> &'static str {
    match separator {
        ';' => "semicolon",
        '\t' => "tab",
        _ => "comma",
    }
}

/// The text of a file, with one kind of line ends; or what is to be changed about it.
pub fn text(bytes: &[u8]) -> Result<String, String> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err("the file is UTF-16 and not UTF-8; save it as “CSV UTF-8” and choose it again".into());
    }
    // A byte order mark is what Excel puts in front.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|fault| {
        let line = 1 + bytes[..fault.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        format!(
            "the file is not UTF-8: line {line} has a letter in an older encoding; save it as “CSV UTF-8” and choose it again"
        )
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n"))
}

/// Heads and rows of a text whose lines end in one way.
pub fn table(text: &str) -> Result<Table, String> {
    let separator = separator_of(text);
    let broken = |fault: csv::Error| format!("the file is not valid CSV: {fault}");
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .delimiter(u8::try_from(separator).unwrap_or(b','))
        .from_reader(text.as_bytes());
    let heads = reader.headers().map_err(broken)?;
    let mut header: Vec<String> = heads.iter().map(|head| head.trim().to_lowercase()).collect();
    let mut records = Vec::new();
    for record in reader.records() {
        let record = record.map_err(broken)?;
        let (line, byte) = record.position().map_or((0, 0), |position| (position.line(), position.byte()));
        // A record begins where the one before ended: empty lines between them are counted here.
        let behind = usize::try_from(byte).ok().and_then(|byte| text.get(byte..)).unwrap_or_default();
        let empty = behind.bytes().take_while(|byte| *byte == b'\n').count();
        let line = line + u64::try_from(empty).unwrap_or(0);
        let cells: Vec<String> = record.iter().map(|cell| spreadsheet::meant(cell).to_owned()).collect();
        if cells.iter().any(|cell| !cell.trim().is_empty()) {
            records.push((line, cells));
        }
    }
    // Spreadsheets write columns that nobody uses.
    while header.last().is_some_and(String::is_empty) {
        header.pop();
    }
    let heads = header.len();
    for (_, cells) in &mut records {
        while cells.len() > heads && cells.last().is_some_and(String::is_empty) {
            cells.pop();
        }
    }
    Ok(Table { separator, header, records })
}

/// What stands between the heads: whichever of the three there is most of.
fn separator_of(text: &str) -> char {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let mut quoted = false;
    let mut counts = [(',', 0), (';', 0), ('\t', 0)];
    for letter in first.chars() {
        quoted ^= letter == '"';
        for (separator, count) in counts.iter_mut().filter(|_| !quoted) {
            *count += usize::from(letter == *separator);
        }
    }
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map_or(',', |(separator, _)| separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> Vec<(u64, Vec<String>)> {
        table(&super::text(text.as_bytes()).unwrap()).unwrap().records
    }

    #[test]
    fn one_table_in_every_spelling() {
        let cells = |line: u64, a: &str, b: &str| (line, vec![a.to_owned(), b.to_owned()]);
        let expected = [cells(2, "Müller, Söhne; Co", "DE"), cells(3, "two\nlines", "")];
        for file in [
            "name,country\n\"Müller, Söhne; Co\",DE\n\"two\nlines\",\n",
            "\u{feff}Name ; COUNTRY\r\n\"Müller, Söhne; Co\";DE\r\n\"two\r\nlines\";\r\n",
            "name\tcountry\rMüller, Söhne; Co\tDE\r\"two\rlines\"\t",
            "name;country;;\r\n\"Müller, Söhne; Co\";DE;;\r\n\"two\nlines\";;;\r\n;;;\r\n",
        ] {
            assert_eq!(records(file), expected, "{file:?}");
            assert_eq!(table(&text(file.as_bytes()).unwrap()).unwrap().header, ["name", "country"]);
        }
        assert_eq!(separator_of("\"a;b;c\",d"), ',');
        assert_eq!(separator_of("name"), ',');
    }

    #[test]
    fn lines_are_those_of_the_file() {
        let file = "name,country\na,DE\n\n\nb,DE\n\"c\nc\",DE\nd,DE\n";
        let lines: Vec<u64> = records(file).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [2, 5, 6, 8]);
    }

    #[test]
    fn what_is_not_utf_8_says_what_to_do() {
        let fault = text(b"name\nM\xfcller\n").unwrap_err();
        assert!(fault.contains("line 2") && fault.contains("CSV UTF-8"), "{fault}");
        assert!(text(b"\xff\xfen\0a\0").unwrap_err().contains("UTF-16"));
    }

    #[test]
    fn a_formula_is_text_and_its_guard_is_taken_away() {
        assert_eq!(
            records("name\n'=1+1\n=1+1\n'quoted'\n")
                .into_iter()
                .map(|(_, cells)| cells[0].clone())
                .collect::<Vec<_>>(),
            ["=1+1", "=1+1", "'quoted'"]
        );
    }
}
