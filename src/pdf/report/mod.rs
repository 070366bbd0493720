//! What stands in the document of each noun: the same as on its page.
//!
//! The rule: every field that v1 shows is in the noun's own document. Where a list is not shown to its end, a
//! line says so.

mod finding;
mod history;
mod programme;
mod test_case;

pub use finding::{finding_document, findings_document};
pub use programme::programme_document;
pub use test_case::test_case_document;

use super::document::{Block, Cell, Document, Fact, SheetForm, Sign};
use super::words;
use crate::domain::day::Day;
use crate::domain::history::{Entry, Note};
use std::collections::HashMap;

/// The most rows of one table; about 900 sheets. Whoever needs more takes the CSV.
pub const ROWS_MAX: usize = 10_000;

/// Who prints, for whom, and when.
#[derive(Clone, Copy, Debug)]
pub struct Printed<'a> {
    /// The tenant's name.
    pub tenant: &'a str,
    /// The person's name.
    pub by: &'a str,
    /// Milliseconds since 1970 UTC.
    pub at: i64,
}

/// What ids are called: programmes, test cases and measures.
pub type Names = HashMap<String, String>;

/// The rows that were read, and how many there are.
#[derive(Debug)]
pub struct Part<'a, T> {
    /// In the order of the page.
    pub items: &'a [T],
    /// All of them, shown or not.
    pub total: u64,
}

impl<'a, T> Part<'a, T> {
    /// Rows that are all there are.
    pub fn whole(items: &'a [T]) -> Part<'a, T> {
        Part { items, total: u64::try_from(items.len()).unwrap_or(u64::MAX) }
    }

    /// Those that are shown.
    fn shown(&self) -> &'a [T] {
        &self.items[..self.items.len().min(ROWS_MAX)]
    }

    /// A line that says what is not shown.
    fn remark(&self) -> Option<Block> {
        let shown = u64::try_from(self.shown().len()).unwrap_or(u64::MAX);
        let rows = |number| words::count(number, "row", "rows");
        (self.total > shown)
            .then(|| Block::Remark(format!("The first {} of {} are shown.", rows(shown), rows(self.total))))
    }
}

/// What was done to an object and written about it, newest first.
#[derive(Debug)]
pub struct Told<'a> {
    /// Acts.
    pub history: Part<'a, Entry>,
    /// Notes.
    pub notes: Part<'a, Note>,
}

fn document(printed: Printed, kind: &'static str, title: &str, sheet: SheetForm) -> Document {
    Document {
        kind,
        title: title.to_owned(),
        lead: String::new(),
        reference: None,
        tenant: printed.tenant.to_owned(),
        printed_by: printed.by.to_owned(),
        printed_at: printed.at,
        language: words::LANGUAGE,
        sheet,
        blocks: Vec::new(),
    }
}

fn fact(field: &str, value: impl Into<Cell>) -> Fact {
    Fact { name: words::label(field), value: value.into() }
}

fn optional_text(text: &Option<String>) -> String {
    text.clone().unwrap_or_default()
}

fn optional_day(day: Option<Day>) -> String {
    day.map(words::day).unwrap_or_default()
}

fn optional_moment(at: Option<i64>) -> String {
    at.map(words::moment).unwrap_or_default()
}

/// An id with its name, if that is known.
fn named(id: &str, names: &Names) -> Cell {
    match names.get(id) {
        Some(name) => Cell::from(name.as_str()).below(id),
        None => id.into(),
    }
}

/// Measures, one a line, with their titles.
fn measures(ids: &[String], names: &Names) -> String {
    let line = |id: &String| match names.get(id) {
        Some(title) => format!("{id} {title}"),
        None => id.clone(),
    };
    ids.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A section of text; nothing written is said too.
fn section(blocks: &mut Vec<Block>, heading: &str, text: &Option<String>) {
    blocks.push(Block::Heading(heading.to_owned()));
    blocks.push(match text.as_deref().map(str::trim) {
        Some(text) if !text.is_empty() => Block::Paragraph(text.to_owned()),
        Some(_) | None => Block::Remark("Nothing is recorded.".to_owned()),
    });
}

/// The due day of something, and by how much it is missed.
fn due(day: Option<Day>, pending: bool, today: Day) -> Cell {
    match (day, late(day, pending, today)) {
        (Some(day), Some(late)) => Cell::from(words::day(day)).below(late).sign(Sign::Late),
        (day, _) => optional_day(day).into(),
    }
}

/// `4 days late`, if it is.
fn late(day: Option<Day>, pending: bool, today: Day) -> Option<String> {
    let days = (today.start_ms() - day?.start_ms()) / 86_400_000;
    let days = u64::try_from(days).ok().filter(|days| pending && *days > 0)?;
    Some(format!("{} late", words::count(days, "day", "days")))
}
