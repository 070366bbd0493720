//! What was done to an object, and what people wrote about it.

use super::{Pen, Told};
use crate::domain::actor::ActorKind;
use crate::domain::day::Day;
use crate::domain::history::{Act, Change, Entry};
use crate::pdf::document::{Block, Cell, Table};
use serde_json::Value;

/// The most characters of a field before or after a change; an earlier text may be long, and fifty of them longer.
const VALUE_MAX: usize = 1_000;

/// Notes and history, newest first.
pub fn sections(pen: Pen, told: Told) -> Vec<Block> {
    let mut blocks = vec![pen.heading("document.notes")];
    if told.notes.items.is_empty() {
        blocks.push(pen.remark("document.no_note"));
    } else {
        let rows = told.notes.shown().iter().map(|note| {
            let who = actor(pen, note.actor, &note.actor_name, &note.actor_id);
            vec![pen.moment(Some(note.at)).into(), who.into(), note.body.as_str().into()]
        });
        blocks.push(table(pen, "history.note", rows.collect()));
        blocks.extend(told.notes.remark(pen));
    }
    blocks.push(pen.heading("document.history"));
    if told.history.items.is_empty() {
        blocks.push(pen.remark("document.nothing"));
    } else {
        let rows = told.history.shown().iter().map(|entry| {
            let who = actor(pen, entry.actor, &entry.actor_name, &entry.actor_id);
            vec![pen.moment(Some(entry.at)).into(), who.into(), act(pen, entry).into()]
        });
        blocks.push(table(pen, "document.what", rows.collect()));
        blocks.extend(told.history.remark(pen));
    }
    blocks
}

fn table(pen: Pen, what: &str, rows: Vec<Vec<Cell>>) -> Block {
    let columns = vec![
        pen.column_of("document.when", 2.5),
        pen.column_of("document.who", 1.9),
        pen.column_of(what, 5.6),
    ];
    Block::Table(Table { columns, rows })
}

fn actor(pen: Pen, kind: ActorKind, name: &Option<String>, id: &Option<String>) -> String {
    let called = name.as_ref().or(id.as_ref());
    match kind {
        ActorKind::User => called.cloned().unwrap_or_else(|| pen.words.t("actor.user").to_owned()),
        ActorKind::Key => pen.words.say("actor.key", &[("name", called.map_or("", String::as_str))]),
        ActorKind::Clock => pen.words.t("actor.clock").to_owned(),
        ActorKind::CommandLine => pen.words.t("actor.command_line").to_owned(),
    }
}

fn act(pen: Pen, entry: &Entry) -> String {
    let what = match entry.act {
        Act::Created => Some(pen.words.t("document.created")),
        Act::Imported => Some(pen.words.t("document.imported")),
        Act::Deleted => return pen.words.t("document.deleted").to_owned(),
        Act::Changed if entry.changes.is_empty() => Some(pen.words.t("document.changed")),
        Act::Changed => None,
    };
    let changes = entry.changes.iter().map(|change| told(pen, change));
    what.map(str::to_owned).into_iter().chain(changes).collect::<Vec<_>>().join("\n")
}

fn told(pen: Pen, change: &Change) -> String {
    let label = pen.label(&change.field);
    let (before, after) = (value(pen, change, &change.before), value(pen, change, &change.after));
    if before.len() + after.len() <= 120 && !before.contains('\n') && !after.contains('\n') {
        return format!("{label}: {before} → {after}");
    }
    let head = |key: &str| pen.words.say(key, &[("field", &label)]);
    [head("document.before"), before, head("document.after"), after].join("\n")
}

fn value(pen: Pen, change: &Change, value: &Value) -> String {
    let none = || pen.words.t("cell.none").to_owned();
    match value {
        Value::Null => none(),
        Value::String(text) => text_of(pen, &change.field, text),
        Value::Array(items) if items.is_empty() => none(),
        Value::Array(items) => {
            let said = items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned));
            clipped(pen, &said.collect::<Vec<_>>().join(", "))
        }
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => clipped(pen, &value.to_string()),
    }
}

fn text_of(pen: Pen, field: &str, text: &str) -> String {
    match field {
        "status" | "severity" | "priority" | "type" | "framework" => pen.words.word(text),
        "programme_id" | "test_case_id" => match pen.names.get(text) {
            Some(name) => format!("{name} ({text})"),
            None => text.to_owned(),
        },
        _ if field.ends_with("_on") => {
            Day::parse(text).map_or_else(|| text.to_owned(), |day| pen.words.day(day))
        }
        _ if field.ends_with("_at") => {
            crate::clock::parse_rfc3339(text).map_or_else(|| text.to_owned(), |at| pen.words.moment(at))
        }
        _ => clipped(pen, text),
    }
}

fn clipped(pen: Pen, text: &str) -> String {
    let more = text.chars().count().saturating_sub(VALUE_MAX);
    if more == 0 {
        return text.to_owned();
    }
    let kept: String = text.chars().take(VALUE_MAX).collect();
    format!("{kept}… ({})", pen.words.count("document.more", super::whole_number(more)))
}
