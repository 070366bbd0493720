//! Tenants.

use super::{Store, audit, failed};
use crate::domain::actor::Actor;
use crate::domain::audit::{Entry, Event, Outcome};
use crate::domain::id::{self, Kind};
use crate::error::Error;
use rusqlite::{Connection, OptionalExtension};

/// A tenant as the command line lists it.
#[derive(Debug, PartialEq)]
pub struct TenantRow {
    /// `tnt_…`
    pub id: String,
    /// Its name; unique.
    pub name: String,
    /// When it was made.
    pub created_at_ms: i64,
    /// Keys that are not revoked.
    pub keys: i64,
    /// People.
    pub users: i64,
}

impl Store {
    /// Makes a tenant and gives its id.
    pub fn create_tenant(&self, name: &str) -> Result<String, Error> {
        let name = checked_name(name)?;
        let now_ms = self.clock.now_ms();
        let id = id::new(Kind::Tenant, now_ms, &self.chance)?;
        self.write(move |connection| insert_tenant(connection, &id, &name, now_ms).map(|()| id))
    }

    /// All tenants by name.
    pub fn tenants(&self) -> Result<Vec<TenantRow>, Error> {
        self.read(|connection| {
            let mut rows = connection.prepare_cached(
                "select id, name, created_at,
                        (select count(*) from api_key where tenant_id = tenant.id and revoked_at is null),
                        (select count(*) from user_account where tenant_id = tenant.id)
                 from tenant order by name",
            )?;
            let tenants = rows.query_map([], |row| {
                Ok(TenantRow {
                    id: row.get(0)?,
                    name: row.get(1)?,
                    created_at_ms: row.get(2)?,
                    keys: row.get(3)?,
                    users: row.get(4)?,
                })
            })?;
            tenants.collect()
        })
    }

    /// Deletes a tenant with all that is its own.
    pub fn delete_tenant(&self, name: &str) -> Result<(), Error> {
        let (id, name, now_ms) = (self.tenant_id(name)?, name.to_owned(), self.clock.now_ms());
        self.write(move |connection| {
            connection.execute("delete from tenant where id = ?1", [&id]).map_err(failed)?;
            note(connection, Event::TenantDeleted, &id, &name, now_ms)
        })?;
        self.keys.forget_all();
        Ok(())
    }

    /// The id behind a name.
    pub fn tenant_id(&self, name: &str) -> Result<String, Error> {
        let found = self.read(|connection| {
            connection.query_row("select id from tenant where name = ?1", [name], |row| row.get(0)).optional()
        })?;
        found.ok_or_else(|| {
            Error::invalid(format!("there is no tenant `{name}`; `holdfast tenant list` shows all"))
        })
    }
}

pub(super) fn checked_name(name: &str) -> Result<String, Error> {
    let name = name.trim();
    match name.chars().count() {
        1..=255 if !name.chars().any(char::is_control) => Ok(name.to_owned()),
        _ => Err(Error::invalid("a name has 1 to 255 characters, none of them a control character")),
    }
}

pub(super) fn insert_tenant(connection: &Connection, id: &str, name: &str, now_ms: i64) -> Result<(), Error> {
    let added = connection
        .execute(
            "insert into tenant (id, name, created_at) values (?1, ?2, ?3) on conflict do nothing",
            (id, name, now_ms),
        )
        .map_err(failed)?;
    if added == 0 {
        return Err(Error::invalid(format!("there is already a tenant `{name}`")));
    }
    note(connection, Event::TenantCreated, id, name, now_ms)
}

/// Tenants come and go at the command line only.
fn note(connection: &Connection, event: Event, id: &str, name: &str, now_ms: i64) -> Result<(), Error> {
    let entry = Entry {
        event,
        result: Outcome::Done,
        tenant: Some(id.to_owned()),
        actor: Actor::command_line(),
        object_id: Some(id.to_owned()),
        detail: Some(name.to_owned()),
    };
    audit::push(connection, now_ms, &entry)
}
