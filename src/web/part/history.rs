//! The history of an object and the notes that people wrote, newest first, with the form for another note.

use super::super::words::Words;
use super::cell::{Cell, badge};
use crate::domain::actor::ActorKind;
use crate::domain::history::{Act as Deed, Change, Entry, Note};
use crate::domain::page::Page;
use crate::domain::user::Act;
use crate::error::Error;
use crate::http::Visit;
use askama::Template;
use serde_json::Value;

/// So many of each are shown.
const SHOWN_MAX: u64 = 50;
/// A changed text is shown up to so many characters.
const CHANGE_CHARS_MAX: usize = 120;

struct Line {
    at: i64,
    who: String,
    says: String,
    when: Cell,
    key_step: bool,
    /// From and to of a status.
    moved: Option<(Cell, Cell)>,
    /// Field, before, after.
    changes: Vec<(String, String, String)>,
    note: Option<String>,
}

/// The history of an object.
#[derive(Template)]
#[template(path = "part/history.html")]
pub struct History {
    words: Words,
    token: String,
    /// Where a note is sent; empty where none can be written.
    notes_at: String,
    lines: Vec<Line>,
    older: bool,
}

impl History {
    /// The history of an object. `notes_at` is the path that takes a note, empty if none can be written.
    pub fn of(visit: &Visit, noun: &str, object_id: &str, notes_at: &str) -> Result<History, Error> {
        let (words, tenant) = (Words::of(visit), visit.tenant()?);
        let page = Page { limit: SHOWN_MAX, offset: 0 };
        let (acts, notes) = (tenant.history(object_id, page)?, tenant.notes(object_id, page)?);
        let older = acts.total > SHOWN_MAX || notes.total > SHOWN_MAX;
        let mut lines: Vec<Line> = acts.items.iter().map(|entry| of_entry(words, noun, entry)).collect();
        lines.extend(notes.items.into_iter().map(|note| of_note(words, note)));
        lines.sort_by_key(|line| std::cmp::Reverse(line.at));
        let notes_at = if visit.may(Act::ChangeData) { notes_at } else { "" };
        Ok(History { words, token: visit.token.clone(), notes_at: notes_at.to_owned(), lines, older })
    }
}

fn of_entry(words: Words, noun: &str, entry: &Entry) -> Line {
    let status = entry.changes.iter().find(|change| change.field == "status");
    let moved = status.and_then(|change| {
        let cell = |value: &Value| value.as_str().map(|word| badge(words, word));
        Some((cell(&change.before)?, cell(&change.after)?))
    });
    let is_moved = moved.is_some();
    let rest = entry.changes.iter().filter(|change| change.field != "status" || !is_moved);
    let says = match entry.act {
        Deed::Created => "history.created",
        Deed::Imported => "history.imported",
        Deed::Changed if is_moved => "history.moved",
        Deed::Changed => "history.changed",
        Deed::Deleted => "history.deleted",
    };
    Line {
        at: entry.at,
        who: who(words, entry.actor, entry.actor_name.as_deref()),
        says: words.t(says).to_owned(),
        when: Cell::moment(words, entry.at),
        key_step: entry.act != Deed::Changed || is_moved,
        moved,
        changes: rest.map(|change| shown_change(words, noun, change)).collect(),
        note: None,
    }
}

fn of_note(words: Words, note: Note) -> Line {
    Line {
        at: note.at,
        who: who(words, note.actor, note.actor_name.as_deref()),
        says: words.t("history.noted").to_owned(),
        when: Cell::moment(words, note.at),
        key_step: false,
        moved: None,
        changes: Vec::new(),
        note: Some(note.body),
    }
}

/// Who acted, in words.
pub fn who(words: Words, kind: ActorKind, name: Option<&str>) -> String {
    match kind {
        ActorKind::User => name.unwrap_or(words.t("actor.user")).to_owned(),
        ActorKind::Key => words.say("actor.key", &[("name", name.unwrap_or_default())]),
        ActorKind::Clock => words.t("actor.clock").to_owned(),
        ActorKind::CommandLine => words.t("actor.command_line").to_owned(),
    }
}

/// A changed field: its name, before and after.
pub fn shown_change(words: Words, noun: &str, change: &Change) -> (String, String, String) {
    let text = |value: &Value| {
        let text = match value {
            Value::Null => words.t("cell.none").to_owned(),
            Value::String(text) => text.clone(),
            Value::Array(items) => {
                let items: Vec<String> =
                    items.iter().map(|item| item.as_str().map_or(item.to_string(), str::to_owned)).collect();
                items.join(", ")
            }
            Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
        };
        match text.char_indices().nth(CHANGE_CHARS_MAX) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    };
    (words.field(noun, &change.field), text(&change.before), text(&change.after))
}
