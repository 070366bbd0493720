//! History and notes. An entry is written in the transaction of the act that it tells of.

use super::list::{Listed, damaged, word};
use super::{Desk, Tenant, failed};
use crate::domain::actor::ActorKind;
use crate::domain::form::Values;
use crate::domain::history::{self, Act, Change, Entry, Note, ObjectKind, Recorded};
use crate::domain::moves::NOTE;
use crate::domain::page::Page;
use crate::error::Error;
use rusqlite::Row;

impl Tenant<'_> {
    /// A page of what was done to an object, newest first.
    pub fn history(&self, object_id: &str, page: Page) -> Result<Listed<Entry>, Error> {
        let sql = "select number, at, act, actor, actor_id, actor_name, changes from history
             where tenant_id = ?1 and object_id = ?2 order by number desc limit ?3 offset ?4";
        let count = "select count(*) from history where tenant_id = ?1 and object_id = ?2";
        self.told(object_id, page, sql, count, entry_of)
    }

    /// A page of what people wrote about an object, newest first.
    pub fn notes(&self, object_id: &str, page: Page) -> Result<Listed<Note>, Error> {
        let sql = "select number, at, actor, actor_id, actor_name, body from note
             where tenant_id = ?1 and object_id = ?2 order by number desc limit ?3 offset ?4";
        let count = "select count(*) from note where tenant_id = ?1 and object_id = ?2";
        self.told(object_id, page, sql, count, note_of)
    }

    fn told<T>(
        &self,
        object_id: &str,
        page: Page,
        sql: &str,
        count: &str,
        map: fn(&Row) -> rusqlite::Result<T>,
    ) -> Result<Listed<T>, Error> {
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        self.read(|connection| {
            let moment = connection.unchecked_transaction()?;
            let total: i64 =
                moment.prepare_cached(count)?.query_row((&self.id, object_id), |row| row.get(0))?;
            let mut rows = moment.prepare_cached(sql)?;
            let slice = (&self.id, object_id, number(page.limit), number(page.offset));
            let items = rows.query_map(slice, map)?.collect::<rusqlite::Result<_>>()?;
            Ok(Listed { items, total: u64::try_from(total).unwrap_or(0), page })
        })
    }

    /// Writes a note on a programme, a test case, a finding or a CRA report.
    pub fn add_note(&self, object_id: &str, body: &str) -> Result<Note, Error> {
        let (object_id, body) = (object_id.to_owned(), body.to_owned());
        self.write(move |desk| {
            let Some((what, sql)) = noted(&object_id) else { return Err(Error::NotFound("object")) };
            let known: bool = desk
                .connection
                .prepare_cached(sql)
                .and_then(|mut row| row.query_row((desk.tenant_id, &object_id), |row| row.get(0)))
                .map_err(failed)?;
            if !known {
                return Err(Error::NotFound(what));
            }
            write_note(desk, &object_id, body)
        })
    }
}

/// Keeps the note that came with a change, if one did: why something was moved belongs to the move.
pub(super) fn remark(desk: &Desk, object_id: &str, values: &Values) -> Result<(), Error> {
    match values.text(NOTE.name).filter(|text| !text.trim().is_empty()) {
        Some(text) => write_note(desk, object_id, text.to_owned()).map(|_| ()),
        None => Ok(()),
    }
}

fn write_note(desk: &Desk, object_id: &str, body: String) -> Result<Note, Error> {
    let note = Note {
        number: next_note(desk, object_id)?,
        at: desk.now_ms,
        actor: desk.actor.kind,
        actor_id: desk.actor.id.clone(),
        actor_name: desk.actor.name.clone(),
        body,
    };
    insert_note(desk, object_id, &note)?;
    Ok(note)
}

/// What an id names, and how it is looked for, if one may write notes on it.
fn noted(object_id: &str) -> Option<(&'static str, &'static str)> {
    match object_id.split('_').next()? {
        "prg" => {
            Some(("programme", "select exists (select 1 from programme where tenant_id = ?1 and id = ?2)"))
        }
        "tc" => {
            Some(("test case", "select exists (select 1 from test_case where tenant_id = ?1 and id = ?2)"))
        }
        "fnd" => Some(("finding", "select exists (select 1 from finding where tenant_id = ?1 and id = ?2)")),
        "cra" => {
            Some(("cra report", "select exists (select 1 from cra_report where tenant_id = ?1 and id = ?2)"))
        }
        _ => None,
    }
}

fn next_note(desk: &Desk, object_id: &str) -> Result<i64, Error> {
    let sql = "select 1 + coalesce(max(number), 0) from note where tenant_id = ?1 and object_id = ?2";
    desk.connection
        .prepare_cached(sql)
        .and_then(|mut row| row.query_row((desk.tenant_id, object_id), |row| row.get(0)))
        .map_err(failed)
}

fn insert_note(desk: &Desk, object_id: &str, note: &Note) -> Result<(), Error> {
    let sql = "insert into note (tenant_id, object_id, number, at, actor, actor_id, actor_name, body)
               values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    desk.connection
        .prepare_cached(sql)
        .and_then(|mut row| {
            row.execute((
                desk.tenant_id,
                object_id,
                note.number,
                note.at,
                note.actor.name(),
                &note.actor_id,
                &note.actor_name,
                &note.body,
            ))
        })
        .map(|_| ())
        .map_err(failed)
}

/// Notes go with their object; its history stays.
pub(super) fn forget_notes(desk: &Desk, object_id: &str) -> Result<(), Error> {
    desk.connection
        .prepare_cached("delete from note where tenant_id = ?1 and object_id = ?2")
        .and_then(|mut row| row.execute((desk.tenant_id, object_id)))
        .map(|_| ())
        .map_err(failed)
}

/// Writes down that an object was made.
pub(super) fn created<R: Recorded>(desk: &Desk, object: &R) -> Result<(), Error> {
    let act = if desk.importing.get() { Act::Imported } else { Act::Created };
    write(desk, R::KIND, object.object_id(), act, &[])
}

/// Writes down what changed, if anything did.
pub(super) fn changed<R: Recorded>(desk: &Desk, before: &R, after: &R) -> Result<(), Error> {
    let changes = history::changes(before, after);
    if changes.is_empty() {
        return Ok(());
    }
    let act = if desk.importing.get() { Act::Imported } else { Act::Changed };
    write(desk, R::KIND, after.object_id(), act, &changes)
}

/// Writes down that something of a person changed that nobody may see.
pub(super) fn touched(desk: &Desk, user_id: &str, field: &str) -> Result<(), Error> {
    let hidden = || serde_json::Value::from("***");
    let change = Change { field: field.into(), before: hidden(), after: hidden() };
    write(desk, ObjectKind::User, user_id, Act::Changed, &[change])
}

/// Writes down that an object is gone, and what it was.
pub(super) fn deleted<R: Recorded>(desk: &Desk, object: &R) -> Result<(), Error> {
    let last = Change { field: R::KIND.name().into(), before: object.seen(), after: serde_json::Value::Null };
    write(desk, R::KIND, object.object_id(), Act::Deleted, &[last])
}

fn write(desk: &Desk, kind: ObjectKind, object_id: &str, act: Act, changes: &[Change]) -> Result<(), Error> {
    let changes = match changes.is_empty() {
        true => "[]".to_owned(),
        false => serde_json::to_string(changes).map_err(|cause| Error::internal("writing history", cause))?,
    };
    let sql = "insert into history
                 (tenant_id, object_id, number, kind, at, act, actor, actor_id, actor_name, changes)
               values (?1, ?2, 1 + coalesce((select max(number) from history where tenant_id = ?1 and object_id = ?2), 0),
                 ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    desk.connection
        .prepare_cached(sql)
        .and_then(|mut row| {
            row.execute((
                desk.tenant_id,
                object_id,
                kind.name(),
                desk.now_ms,
                act.name(),
                desk.actor.kind.name(),
                &desk.actor.id,
                &desk.actor.name,
                changes,
            ))
        })
        .map(|_| ())
        .map_err(failed)
}

fn entry_of(row: &Row) -> rusqlite::Result<Entry> {
    let changes: String = row.get(6)?;
    Ok(Entry {
        number: row.get(0)?,
        at: row.get(1)?,
        act: word(row, 2, Act::parse)?,
        actor: word(row, 3, ActorKind::parse)?,
        actor_id: row.get(4)?,
        actor_name: row.get(5)?,
        changes: serde_json::from_str(&changes).map_err(|cause| damaged(6, cause))?,
    })
}

fn note_of(row: &Row) -> rusqlite::Result<Note> {
    Ok(Note {
        number: row.get(0)?,
        at: row.get(1)?,
        actor: word(row, 2, ActorKind::parse)?,
        actor_id: row.get(3)?,
        actor_name: row.get(4)?,
        body: row.get(5)?,
    })
}
