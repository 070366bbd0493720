//! Failed attempts to sign in, on the disk, so that a restart forgives nothing.
//!
//! An attempt is counted as failed before the password is looked at, in the act that also decides whether it
//! is looked at; success takes the count back. A thousand attempts at once are a thousand in a row.

use super::failed;
use crate::domain::throttle::{Failures, source_name};
use crate::error::Error;
use crate::payload::digest_bytes;
use rusqlite::{Connection, OptionalExtension};
use std::net::IpAddr;

/// Rows at the most; beyond it the oldest go.
const ROWS_MAX: i64 = 100_000;
/// What nobody tried for so long is forgotten.
const FORGET_MS: i64 = 86_400_000;

/// Whose attempts are counted. The account is named by a digest, whether there is one or not: the table tells
/// nothing, and its rows are small.
#[derive(Clone, Debug)]
pub struct Attempt {
    account: Vec<u8>,
    source: Option<Vec<u8>>,
}

impl Attempt {
    /// An attempt on an account, by its address, from a source.
    pub fn new(email: &str, address: Option<IpAddr>) -> Attempt {
        Attempt {
            account: digest_bytes(email.as_bytes()).to_vec(),
            source: address.map(|address| source_name(address).into_bytes()),
        }
    }

    /// Seconds to wait before this attempt is looked at; 0 for now.
    pub fn wait(&self, connection: &Connection, now_ms: i64) -> rusqlite::Result<u64> {
        let account = read(connection, "account", &self.account)?.account_wait(now_ms);
        let source = match &self.source {
            Some(name) => read(connection, "source", name)?.source_wait(now_ms),
            None => 0,
        };
        Ok(account.max(source))
    }

    /// Counts it as failed, unless it has to wait: then nothing is counted, and `Some` says how long.
    pub fn claim(&self, connection: &Connection, now_ms: i64) -> Result<Option<u64>, Error> {
        let wait = self.wait(connection, now_ms).map_err(failed)?;
        if wait > 0 {
            return Ok(Some(wait));
        }
        let account = read(connection, "account", &self.account).map_err(failed)?;
        write(connection, "account", &self.account, &account.fail_account(now_ms))?;
        if let Some(name) = &self.source {
            let source = read(connection, "source", name).map_err(failed)?;
            write(connection, "source", name, &source.fail_source(now_ms))?;
        }
        Ok(None)
    }

    /// It was the right password after all.
    pub fn forgive(&self, connection: &Connection) -> Result<(), Error> {
        connection
            .prepare_cached("delete from throttle where kind = 'account' and name = ?1")
            .and_then(|mut row| row.execute([&self.account]))
            .map_err(failed)?;
        let Some(name) = &self.source else { return Ok(()) };
        let source = read(connection, "source", name).map_err(failed)?;
        write(connection, "source", name, &source.forgive_source())
    }
}

/// Forgets what is old, and what is too much.
pub fn forget(connection: &Connection, now_ms: i64) -> Result<(), Error> {
    let old = "delete from throttle where last_at < ?1 or last_at > ?2";
    let too_many = "delete from throttle where last_at <
        (select last_at from throttle order by last_at desc limit 1 offset ?1)";
    connection
        .execute(old, (now_ms - FORGET_MS, now_ms + FORGET_MS))
        .and_then(|_| connection.execute(too_many, [ROWS_MAX]))
        .map(|_| ())
        .map_err(failed)
}

fn read(connection: &Connection, kind: &str, name: &[u8]) -> rusqlite::Result<Failures> {
    let sql = "select failures, since, last_at, blocked_until from throttle where kind = ?1 and name = ?2";
    let known = connection
        .prepare_cached(sql)?
        .query_row((kind, name), |row| {
            Ok(Failures {
                count: row.get(0)?,
                since: row.get(1)?,
                last_at: row.get(2)?,
                blocked_until: row.get(3)?,
            })
        })
        .optional()?;
    Ok(known.unwrap_or_default())
}

fn write(connection: &Connection, kind: &str, name: &[u8], failures: &Failures) -> Result<(), Error> {
    let sql = "insert or replace into throttle (kind, name, failures, since, last_at, blocked_until)
               values (?1, ?2, ?3, ?4, ?5, ?6)";
    let row = (kind, name, failures.count, failures.since, failures.last_at, failures.blocked_until);
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(row))
        .map(|_| ())
        .map_err(failed)
}
