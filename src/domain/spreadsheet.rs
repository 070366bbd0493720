//! Spreadsheets: RFC 4180 with CRLF, and no cell that a program would run as a formula.

use crate::error::Error;

/// Writes a header and rows.
pub fn write(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Result<Vec<u8>, Error> {
    let broken = |cause: csv::Error| Error::internal("writing CSV", cause);
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(header).map_err(broken)?;
    for row in rows {
        writer.write_record(row.iter().map(|cell| harmless(cell))).map_err(broken)?;
    }
    writer.into_inner().map_err(|cause| Error::internal("writing CSV", cause))
}

/// What a formula may begin with, in one program or another.
const BEGINNINGS: [char; 8] = ['=', '+', '-', '@', '\t', '\r', '\n', '\0'];

/// A cell that begins like a formula gets an apostrophe in front, unless it is a plain number.
fn harmless(cell: &str) -> String {
    if is_dangerous(cell) { format!("'{cell}") } else { cell.to_owned() }
}

/// A cell as it was before it was made harmless.
pub fn meant(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|_| is_dangerous(cell)).unwrap_or(cell)
}

/// Would a program take it for a formula, with or without apostrophes in front? Those count, so that each is
/// read back as it was.
fn is_dangerous(cell: &str) -> bool {
    let bare = cell.trim_start_matches('\'');
    bare.starts_with(BEGINNINGS) && bare.parse::<f64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(cell: &str) -> String {
        let bytes = write(&["a", "b"], [vec![cell.to_owned(), "x".into()]].into_iter()).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn cells_are_quoted_as_rfc_4180_says() {
        assert_eq!(one("plain"), "a,b\r\nplain,x\r\n");
        assert_eq!(one("a \"b\", c"), "a,b\r\n\"a \"\"b\"\", c\",x\r\n");
        assert_eq!(one("two\nlines"), "a,b\r\n\"two\nlines\",x\r\n");
    }

    #[test]
    fn what_looks_like_a_formula_is_text() {
        for cell in ["=1+1", "+cmd", "-2+3", "@sum", "\tx", "\rx", "\0x", "\n=1"] {
            let text = one(cell);
            let first = text.split_once("\r\n").unwrap().1.trim_start_matches('"');
            assert!(first.starts_with('\''), "{cell:?} gave {text:?}");
            assert_eq!(meant(&harmless(cell)), cell, "an import reads what was meant");
        }
        assert_eq!(one("-12.5"), "a,b\r\n-12.5,x\r\n", "a number is a number");
        assert_eq!((meant("'tis"), meant("-12.5"), meant("")), ("'tis", "-12.5", ""));
    }

    #[test]
    fn every_cell_is_read_back_as_it_was() {
        for cell in
            ["=1", "'=1", "''=1", "'", "''", "'x", "-5", "'-5", "-5x", "'-5x", "", "\t", "O'Neill", "@"]
        {
            assert_eq!(meant(&harmless(cell)), cell, "{cell:?}");
        }
    }
}
