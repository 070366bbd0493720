//! What was done to an object, and what people wrote about it.

use super::{Names, Told};
use crate::domain::actor::ActorKind;
use crate::domain::day::Day;
use crate::domain::history::{Act, Change, Entry};
use crate::pdf::document::{Block, Cell, Column, Table};
use crate::pdf::words;
use serde_json::Value;

/// The most characters of a field before or after a change; an earlier text may be long, and fifty of them longer.
const VALUE_MAX: usize = 1_000;

/// Notes and history, newest first.
pub fn sections(told: Told, names: &Names) -> Vec<Block> {
    let mut blocks = vec![Block::Heading("Notes".into())];
    if told.notes.items.is_empty() {
        blocks.push(Block::Remark("Nobody has written a note.".into()));
    } else {
        let rows = told.notes.shown().iter().map(|note| {
            let who = actor(note.actor, &note.actor_name, &note.actor_id);
            vec![words::moment(note.at).into(), who.into(), note.body.as_str().into()]
        });
        blocks.push(table("Note", rows.collect()));
        blocks.extend(told.notes.remark());
    }
    blocks.push(Block::Heading("History, newest first".into()));
    if told.history.items.is_empty() {
        blocks.push(Block::Remark("Nothing is recorded.".into()));
    } else {
        let rows = told.history.shown().iter().map(|entry| {
            let who = actor(entry.actor, &entry.actor_name, &entry.actor_id);
            vec![words::moment(entry.at).into(), who.into(), act(entry, names).into()]
        });
        blocks.push(table("What", rows.collect()));
        blocks.extend(told.history.remark());
    }
    blocks
}

fn table(what: &'static str, rows: Vec<Vec<Cell>>) -> Block {
    let columns = vec![
        Column { head: "When", share: 2.5 },
        Column { head: "Who", share: 1.9 },
        Column { head: what, share: 5.6 },
    ];
    Block::Table(Table { columns, rows })
}

fn actor(kind: ActorKind, name: &Option<String>, id: &Option<String>) -> String {
    let called = name.clone().or_else(|| id.clone()).unwrap_or_default();
    match kind {
        ActorKind::User => called,
        ActorKind::Key => format!("API key {called}"),
        ActorKind::Clock => "Holdfast".to_owned(),
        ActorKind::CommandLine => "Command line".to_owned(),
    }
}

fn act(entry: &Entry, names: &Names) -> String {
    let what = match entry.act {
        Act::Created => "Recorded",
        Act::Imported => "Imported",
        Act::Deleted => return "Deleted".to_owned(),
        Act::Changed if entry.changes.is_empty() => "Changed",
        Act::Changed => "",
    };
    let head = Some(what.to_owned()).filter(|what| !what.is_empty());
    let changes = entry.changes.iter().map(|change| told(change, names));
    head.into_iter().chain(changes).collect::<Vec<_>>().join("\n")
}

fn told(change: &Change, names: &Names) -> String {
    let label = words::label(&change.field);
    let (before, after) = (value(change, &change.before, names), value(change, &change.after, names));
    match before.len() + after.len() > 120 || before.contains('\n') || after.contains('\n') {
        true => format!("{label}, before:\n{before}\n{label}, after:\n{after}"),
        false => format!("{label}: {before} → {after}"),
    }
}

fn value(change: &Change, value: &Value, names: &Names) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => text_of(&change.field, text, names),
        Value::Array(items) if items.is_empty() => "nothing".to_owned(),
        Value::Array(items) => {
            let said = items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned));
            clipped(&said.collect::<Vec<_>>().join(", "))
        }
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => clipped(&value.to_string()),
    }
}

fn text_of(field: &str, text: &str, names: &Names) -> String {
    match field {
        "status" | "severity" | "priority" | "type" | "framework" => words::word(text),
        "programme_id" | "test_case_id" => match names.get(text) {
            Some(name) => format!("{name} ({text})"),
            None => text.to_owned(),
        },
        _ if field.ends_with("_on") => Day::parse(text).map_or_else(|| text.to_owned(), words::day),
        _ if field.ends_with("_at") => {
            crate::clock::parse_rfc3339(text).map_or_else(|| text.to_owned(), words::moment)
        }
        _ => clipped(text),
    }
}

fn clipped(text: &str) -> String {
    let more = text.chars().count().saturating_sub(VALUE_MAX);
    if more == 0 {
        return text.to_owned();
    }
    let kept: String = text.chars().take(VALUE_MAX).collect();
    let more = words::count(u64::try_from(more).unwrap_or(u64::MAX), "more character", "more characters");
    format!("{kept}… ({more})")
}
