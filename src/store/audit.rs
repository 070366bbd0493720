//! The audit log: rows in a chain, written with the act that they tell of.
//!
//! Each row's hash covers the hash before it, so a row that is changed, added or taken out is seen. The end of
//! the chain can only be held against a copy: `verify` tells the last hash.

use super::list::{Listed, word};
use super::{Desk, Store, Tenant, failed};
use crate::domain::actor::{Actor, ActorKind};
use crate::domain::audit::{Budget, Entry, Event, Outcome, Row};
use crate::domain::day::Day;
use crate::domain::query::Query;
use crate::error::Error;
use crate::payload::digest_bytes;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};
use std::sync::{Mutex, MutexGuard, PoisonError};

const SELECT: &str = "select number, at, event, result, tenant, actor, actor_id, actor_name, address, object_id, detail, hash from audit";
/// What the first row is chained to.
const GENESIS: [u8; 32] = [0; 32];
/// Refusals that wait to be written, at the most.
const WAITING_MAX: usize = 256;

/// What a walk over the chain found.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    /// Every row fits.
    Sound {
        /// How many rows.
        rows: u64,
        /// The hash of the last one, to be held against a copy.
        last: [u8; 32],
    },
    /// The first row that does not fit.
    Broken {
        /// Its number.
        number: i64,
    },
}

/// Refusals at the door: how many are written, and those that wait for it.
#[derive(Default)]
pub(super) struct Refusals {
    budget: Mutex<Budget>,
    waiting: Mutex<Vec<(i64, Entry)>>,
}

impl Refusals {
    /// Takes one if the budget allows it.
    pub fn admit(&self, mut entry: Entry, caller: Option<&str>, now_ms: i64) -> Option<Entry> {
        let left_out = lock(&self.budget).admit(entry.event, caller, now_ms)?;
        if left_out > 0 {
            let told = entry.detail.map(|detail| format!("{detail}; ")).unwrap_or_default();
            entry.detail = Some(format!("{told}{left_out} refusals before this one were left out"));
        }
        Some(entry)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store {
    /// Notes a refusal that changed nothing; it is written within half a second, and within the budget.
    pub fn note_refusal(&self, event: Event, tenant: &str, actor: Actor, detail: Option<String>) {
        let now_ms = self.clock.now_ms();
        let caller = actor.id.clone().unwrap_or_default();
        let entry = Entry {
            event,
            result: Outcome::Refused,
            tenant: Some(tenant.to_owned()),
            actor,
            object_id: None,
            detail,
        };
        let Some(entry) = self.refusals.admit(entry, Some(&caller), now_ms) else { return };
        let mut waiting = lock(&self.refusals.waiting);
        if waiting.len() < WAITING_MAX {
            waiting.push((now_ms, entry));
        }
    }

    /// Writes the refusals that wait.
    pub fn save_refusals(&self) -> Result<(), Error> {
        let waiting = std::mem::take(&mut *lock(&self.refusals.waiting));
        if waiting.is_empty() {
            return Ok(());
        }
        self.write(move |connection| waiting.iter().try_for_each(|(at, entry)| push(connection, *at, entry)))
    }

    /// Writes a row for an act that touches no table: a backup, a restore, a changed setting.
    pub fn note_act(&self, event: Event, actor: Actor, detail: Option<String>) -> Result<(), Error> {
        let now_ms = self.clock.now_ms();
        let entry = Entry { event, result: Outcome::Done, tenant: None, actor, object_id: None, detail };
        self.write(move |connection| push(connection, now_ms, &entry))
    }

    /// Walks the whole chain.
    pub fn verify_audit(&self) -> Result<Verdict, Error> {
        self.read(|connection| {
            let moment = connection.unchecked_transaction()?;
            let (mut number, mut last) = anchor(&moment)?;
            let mut count = 0;
            let mut rows = moment.prepare(&format!("{SELECT} order by number"))?;
            let mut rows = rows.query([])?;
            while let Some(row) = rows.next()? {
                let stored: [u8; 32] = row.get(11)?;
                // A word that nobody writes is a changed one.
                let Ok(row) = of_row(row) else { return Ok(Verdict::Broken { number: row.get(0)? }) };
                if row.number != number + 1 || hash(&last, &row) != stored {
                    return Ok(Verdict::Broken { number: row.number });
                }
                (number, last, count) = (row.number, stored, count + 1);
            }
            Ok(Verdict::Sound { rows: count, last })
        })
    }

    /// Hands over every row in its order, with its hash.
    pub fn export_audit(
        &self,
        mut take: impl FnMut(&Row, &[u8; 32]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut outcome = Ok(());
        self.read(|connection| {
            let mut rows = connection.prepare(&format!("{SELECT} order by number"))?;
            let mut rows = rows.query([])?;
            while let Some(row) = rows.next()? {
                outcome = take(&of_row(row)?, &row.get(11)?);
                if outcome.is_err() {
                    break;
                }
            }
            Ok(())
        })?;
        outcome
    }

    /// Takes away all rows from before a moment, and anchors the chain behind them; gives how many went.
    pub fn prune_audit(&self, before_ms: i64) -> Result<usize, Error> {
        let now_ms = self.clock.now_ms();
        self.write(move |connection| {
            // Rows go in their order: one that is younger keeps all behind it.
            let sql = "select number, hash from audit
                       where number < coalesce((select min(number) from audit where at >= ?1), 9223372036854775807)
                       order by number desc limit 1";
            let last: Option<(i64, [u8; 32])> = connection
                .query_row(sql, [before_ms], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
                .map_err(failed)?;
            let Some((number, hash)) = last else { return Ok(0) };
            connection
                .execute("insert into audit_anchor (number, hash) values (?1, ?2)", (number, hash))
                .map_err(failed)?;
            let gone = connection.execute("delete from audit where number <= ?1", [number]).map_err(failed)?;
            let entry = Entry {
                event: Event::AuditPruned,
                result: Outcome::Done,
                tenant: None,
                actor: Actor::command_line(),
                object_id: None,
                detail: Some(format!("{gone} rows up to number {number}")),
            };
            push(connection, now_ms, &entry).map(|()| gone)
        })
    }
}

impl Tenant<'_> {
    /// A page of the tenant's rows, newest first: of one kind of `event`, of one actor (`who`), `from` one day `to`
    /// another, as the query asks.
    pub fn audit(&self, query: &Query) -> Result<Listed<Row>, Error> {
        let page = query.page();
        let (clauses, mut values) = wanted(&self.id, query);
        self.read(|connection| {
            let moment = connection.unchecked_transaction()?;
            let total: i64 = moment
                .prepare_cached(&format!("select count(*) from audit where {clauses}"))?
                .query_row(params_from_iter(&values), |row| row.get(0))?;
            for number in [page.limit, page.offset] {
                values.push(Value::from(i64::try_from(number).unwrap_or(i64::MAX)));
            }
            // What is left out is walked over in an index, without fetching the rows.
            let (limit, offset) = (values.len() - 1, values.len());
            let sql = format!(
                "{SELECT} where number in (select number from audit where {clauses}
                   order by at desc, number desc limit ?{limit} offset ?{offset})
                 order by at desc, number desc"
            );
            let mut rows = moment.prepare_cached(&sql)?;
            let items = rows.query_map(params_from_iter(&values), of_row)?;
            let items = items.collect::<rusqlite::Result<_>>()?;
            Ok(Listed { items, total: u64::try_from(total).unwrap_or(0), page })
        })
    }

    /// Notes that data left the house; `object_id` is the one object, if it is one.
    pub fn note_export(&self, what: &str, object_id: Option<&str>) -> Result<(), Error> {
        let (what, object_id) = (what.to_owned(), object_id.map(str::to_owned));
        self.write(move |desk| note(desk, Event::DataExported, object_id.as_deref(), Some(what)))
    }
}

/// The conditions of a page of the log, and their values.
fn wanted(tenant_id: &str, query: &Query) -> (String, Vec<Value>) {
    let day = |name: &str| query.get(name).and_then(Day::parse);
    let text = |name: &str| query.get(name).map(|text| Value::from(text.to_owned()));
    // One person's rows are fewer than those of a kind: by the plus that index is left alone.
    let event = if query.get("who").is_some() { "+event =" } else { "event =" };
    let conditions = [
        (event, text("event")),
        ("actor_id =", text("who")),
        ("at >=", day("from").map(|day| Value::from(day.start_ms()))),
        ("at <", day("to").map(|day| Value::from(day.plus_days(1).start_ms()))),
    ];
    let (mut clauses, mut values) = ("tenant = ?1".to_owned(), vec![Value::from(tenant_id.to_owned())]);
    for (condition, value) in conditions {
        if let Some(value) = value {
            values.push(value);
            clauses.push_str(&format!(" and {condition} ?{}", values.len()));
        }
    }
    (clauses, values)
}

/// Writes down an act of a tenant's actor, in its transaction.
pub(super) fn note(
    desk: &Desk,
    event: Event,
    object_id: Option<&str>,
    detail: Option<String>,
) -> Result<(), Error> {
    let entry = Entry {
        event,
        result: Outcome::Done,
        tenant: Some(desk.tenant_id.to_owned()),
        actor: desk.actor.clone(),
        object_id: object_id.map(str::to_owned),
        detail,
    };
    push(desk.connection, desk.now_ms, &entry)
}

/// Writes down that a file of an older version was brought up to date.
pub(super) fn note_upgrade(connection: &Connection, from: i32, now_ms: i64) -> Result<(), Error> {
    let entry = Entry {
        event: Event::Migrated,
        result: Outcome::Done,
        tenant: None,
        actor: Actor::command_line(),
        object_id: None,
        detail: Some(format!("from schema version {from}")),
    };
    push(connection, now_ms, &entry)
}

/// Adds a row to the chain.
pub(super) fn push(connection: &Connection, now_ms: i64, entry: &Entry) -> Result<(), Error> {
    let (number, last) = end(connection).map_err(failed)?;
    let row = Row {
        number: number + 1,
        at: now_ms,
        event: entry.event,
        result: entry.result,
        tenant: entry.tenant.clone(),
        actor: entry.actor.kind,
        actor_id: entry.actor.id.clone(),
        actor_name: entry.actor.name.clone(),
        address: entry.actor.address.map(|address| address.to_string()),
        object_id: entry.object_id.clone(),
        detail: entry.detail.clone(),
    };
    let sql = "insert into audit (number, at, event, result, tenant, actor, actor_id, actor_name, address,
                 object_id, detail, hash)
               values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| {
            statement.execute((
                row.number,
                row.at,
                row.event.name(),
                row.result.name(),
                &row.tenant,
                row.actor.name(),
                &row.actor_id,
                &row.actor_name,
                &row.address,
                &row.object_id,
                &row.detail,
                hash(&last, &row),
            ))
        })
        .map(|_| ())
        .map_err(failed)
}

fn hash(before: &[u8; 32], row: &Row) -> [u8; 32] {
    digest_bytes(&[before.as_slice(), &row.covered()].concat())
}

/// Number and hash of the last row, or of what the next one is chained to.
fn end(connection: &Connection) -> rusqlite::Result<(i64, [u8; 32])> {
    let last = connection
        .prepare_cached("select number, hash from audit order by number desc limit 1")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    last.map_or_else(|| anchor(connection), Ok)
}

fn anchor(connection: &Connection) -> rusqlite::Result<(i64, [u8; 32])> {
    let anchor = connection
        .prepare_cached("select number, hash from audit_anchor order by number desc limit 1")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(anchor.unwrap_or((0, GENESIS)))
}

fn of_row(row: &rusqlite::Row) -> rusqlite::Result<Row> {
    Ok(Row {
        number: row.get(0)?,
        at: row.get(1)?,
        event: word(row, 2, Event::parse)?,
        result: word(row, 3, Outcome::parse)?,
        tenant: row.get(4)?,
        actor: word(row, 5, ActorKind::parse)?,
        actor_id: row.get(6)?,
        actor_name: row.get(7)?,
        address: row.get(8)?,
        object_id: row.get(9)?,
        detail: row.get(10)?,
    })
}
