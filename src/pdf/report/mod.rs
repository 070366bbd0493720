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

use super::document::{Block, Cell, Column, Document, Fact, SheetForm, Sign};
use super::words::Wording;
use crate::domain::day::Day;
use crate::domain::history::{Entry, Note};
use std::collections::HashMap;

/// The most rows of one table; about 900 sheets. Whoever needs more takes the CSV.
pub const ROWS_MAX: usize = 10_000;

/// Who prints, for whom, when, and in which words.
#[derive(Clone, Copy)]
pub struct Printed<'a> {
    /// The tenant's name.
    pub tenant: &'a str,
    /// The person's name.
    pub by: &'a str,
    /// Milliseconds since 1970 UTC.
    pub at: i64,
    /// The reader's language.
    pub words: &'a dyn Wording,
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
        Part { items, total: whole_number(items.len()) }
    }

    /// Those that are shown.
    fn shown(&self) -> &'a [T] {
        &self.items[..self.items.len().min(ROWS_MAX)]
    }

    /// A line that says what is not shown.
    fn remark(&self, pen: Pen) -> Option<Block> {
        let shown = whole_number(self.shown().len());
        let parts = [("shown", pen.number(shown)), ("total", pen.number(self.total))];
        let parts = parts.each_ref().map(|(name, number)| (*name, number.as_str()));
        (self.total > shown).then(|| Block::Remark(pen.words.say("document.cut", &parts)))
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

fn whole_number(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn document(printed: Printed, kind: &str, title: &str, id: Option<&str>, sheet: SheetForm) -> Document {
    let (words, at) = (printed.words, printed.words.moment(printed.at));
    let fact = |key: &str, value: &str| Fact { name: words.t(key).to_owned(), value: value.into() };
    let mut facts = vec![fact("document.organisation", printed.tenant)];
    facts.extend(id.map(|id| fact("document.reference", id)));
    facts.push(fact("document.printed", &at));
    facts.push(fact("document.printed_by", printed.by));
    let foot = words.say("document.foot", &[("at", &at), ("person", printed.by)]);
    Document {
        kind: words.t(kind).to_owned(),
        title: title.to_owned(),
        lead: String::new(),
        facts,
        tenant: printed.tenant.to_owned(),
        printed_at: printed.at,
        foot: id.map(|id| format!("{id} · ")).unwrap_or_default() + &foot,
        sheet_of: words.t("document.sheet_of"),
        missing: words.t("document.missing"),
        language: words.language(),
        sheet,
        blocks: Vec::new(),
    }
}

/// Writes values in the reader's words: those of one noun, on one day.
#[derive(Clone, Copy)]
struct Pen<'a> {
    words: &'a dyn Wording,
    noun: &'static str,
    today: Day,
    names: &'a Names,
}

impl<'a> Pen<'a> {
    fn of(printed: Printed<'a>, noun: &'static str, names: &'a Names) -> Pen<'a> {
        Pen { words: printed.words, noun, today: Day::of_ms(printed.at), names }
    }

    /// The same for another noun, in a table of it.
    fn about(self, noun: &'static str) -> Pen<'a> {
        Pen { noun, ..self }
    }

    fn label(self, field: &str) -> String {
        self.words.field(self.noun, field)
    }

    fn fact(self, field: &str, value: impl Into<Cell>) -> Fact {
        Fact { name: self.label(field), value: value.into() }
    }

    /// A column of a field.
    fn column(self, field: &str, share: f32) -> Column {
        Column { head: self.label(field), share }
    }

    /// A column of something else.
    fn column_of(self, key: &str, share: f32) -> Column {
        Column { head: self.words.t(key).to_owned(), share }
    }

    fn heading(self, key: &str) -> Block {
        Block::Heading(self.words.t(key).to_owned())
    }

    fn remark(self, key: &str) -> Block {
        Block::Remark(self.words.t(key).to_owned())
    }

    fn number(self, number: u64) -> String {
        self.words.count("document.number", number)
    }

    fn day(self, day: Option<Day>) -> String {
        day.map(|day| self.words.day(day)).unwrap_or_default()
    }

    fn moment(self, at: Option<i64>) -> String {
        at.map(|at| self.words.moment(at)).unwrap_or_default()
    }

    /// An id with its name, if that is known.
    fn named(self, id: &str) -> Cell {
        match self.names.get(id) {
            Some(name) => Cell::from(name.as_str()).below(id),
            None => id.into(),
        }
    }

    /// Measures, one a line, with their titles.
    fn measures(self, ids: &[String]) -> String {
        let line = |id: &String| match self.names.get(id) {
            Some(title) => format!("{id} {title}"),
            None => id.clone(),
        };
        ids.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// A section of text; nothing written is said too.
    fn section(self, field: &str, text: &Option<String>) -> [Block; 2] {
        let text = match text.as_deref().map(str::trim) {
            Some(text) if !text.is_empty() => Block::Paragraph(text.to_owned()),
            Some(_) | None => self.remark("document.nothing"),
        };
        [Block::Heading(self.label(field)), text]
    }

    /// The due day of something, and by how much it is missed.
    fn due(self, day: Option<Day>, pending: bool) -> Cell {
        match self.late(day, pending) {
            Some(late) => Cell::from(self.day(day)).below(late).sign(Sign::Late),
            None => self.day(day).into(),
        }
    }

    /// `4 days late`, if it is.
    fn late(self, day: Option<Day>, pending: bool) -> Option<String> {
        let days = (self.today.start_ms() - day?.start_ms()) / 86_400_000;
        let days = u64::try_from(days).ok().filter(|days| pending && *days > 0)?;
        Some(self.words.count("due.late", days))
    }
}

fn optional_text(text: &Option<String>) -> String {
    text.clone().unwrap_or_default()
}
