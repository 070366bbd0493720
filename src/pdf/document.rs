//! What stands in a document, without a thought of how it looks.
//!
//! The rule: plain text in, nothing else. Whatever people wrote may stand in any field; what the font cannot
//! show is the typesetter's business.

/// A document that one can hand to an auditor.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// What kind of thing it shows: `Finding`.
    pub kind: String,
    /// What it is called.
    pub title: String,
    /// Where it stands, in a few words below the title.
    pub lead: String,
    /// What stands in the title block: whose it is, who printed it, when.
    pub facts: Vec<Fact>,
    /// Whose it is.
    pub tenant: String,
    /// When it was printed, milliseconds since 1970 UTC.
    pub printed_at: i64,
    /// The foot of every sheet.
    pub foot: String,
    /// At the right of it; `{n}` and `{total}` stand for the sheet and how many there are.
    pub sheet_of: &'static str,
    /// The last remark, if a character was replaced; `{sign}` stands for what it was replaced by.
    pub missing: &'static str,
    /// The language of its own words.
    pub language: &'static str,
    /// How the sheets lie.
    pub sheet: SheetForm,
    /// What stands in it, in reading order.
    pub blocks: Vec<Block>,
}

/// How the sheets lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SheetForm {
    /// A4, upright.
    Upright,
    /// A4, on its long side: for wide tables.
    Across,
}

/// One part of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Begins a section; it is a bookmark too.
    Heading(String),
    /// Names and values.
    Facts(Vec<Fact>),
    /// Text; line breaks stay.
    Paragraph(String),
    /// A remark of the document itself, in small letters.
    Remark(String),
    /// Rows under heads that come again on each page.
    Table(Table),
}

/// A name and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// What it says; nothing is shown as a dash.
    pub value: Cell,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its columns; the first names the row.
    pub columns: Vec<Column>,
    /// Its rows, a cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its head.
    pub head: String,
    /// Its share of the width, against the other columns' shares.
    pub share: f32,
}

/// What stands in a cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// The text; line breaks stay.
    pub text: String,
    /// A second, smaller text below it.
    pub below: String,
    /// A sign before the text that repeats what its word says.
    pub sign: Option<Sign>,
}

/// A sign that repeats what a word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Four bars, so many of them filled.
    Bars(u8),
    /// Late, or over a limit.
    Late,
}

impl Cell {
    /// The same with a second text below.
    pub fn below(mut self, text: impl Into<String>) -> Cell {
        self.below = text.into();
        self
    }

    /// The same with a sign.
    pub fn sign(mut self, sign: Sign) -> Cell {
        self.sign = Some(sign);
        self
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }
}
