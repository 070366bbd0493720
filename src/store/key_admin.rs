//! API keys: making, listing, revoking; and the first start, which makes the first of all.

use super::key::{LiveKey, permissions};
use super::secret::{self, Digest};
use super::{Desk, Store, Tenant, audit, failed, history, tenant, user};
use crate::domain::actor::Actor;
use crate::domain::audit::Event;
use crate::domain::form::Values;
use crate::domain::id::{Kind, Sequence};
use crate::domain::key::{ApiKey, Expiry, Secret};
use crate::domain::permission::{Permission, Permissions};
use crate::domain::user::Role;
use crate::error::Error;
use rusqlite::{Connection, OptionalExtension, Row};
use std::cell::Cell;

const SELECT: &str = "select id, tenant_id, name, prefix, permissions, created_at, expires_at, last_used_at, revoked_at from api_key";

/// What a new key is to be.
#[derive(Debug)]
pub struct NewKey {
    /// What people call it.
    pub name: String,
    /// What it may do.
    pub permissions: Permissions,
    /// When it stops counting, if ever.
    pub expires_at_ms: Option<i64>,
    /// The key that made it, if one did.
    pub created_by: Option<String>,
}

/// How far a revocation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// That key.
    Alone,
    /// That key and every key that it, or one of its own, made.
    WithDescendants,
}

impl Tenant<'_> {
    /// Makes a key with the caller's permissions but `manage_keys`, which ends when the caller's ends:
    /// no key grows more powerful, or lives longer, than the one that made it.
    pub fn create_key(&self, name: &str, caller: &LiveKey) -> Result<(ApiKey, Secret), Error> {
        self.make_key(NewKey {
            name: name.to_owned(),
            permissions: caller.permissions.without(Permission::ManageKeys),
            expires_at_ms: caller.expires_at_ms,
            created_by: Some(caller.id.clone()),
        })
    }

    /// Makes a key, unless the tenant has as many as it may. The secret is shown now and never again.
    pub fn make_key(&self, new: NewKey) -> Result<(ApiKey, Secret), Error> {
        let live_max = self.store.keys_max;
        let secret = Secret::make(&self.store.chance)?;
        let (digest, prefix) = (secret::digest_of(&secret), secret.shown().to_owned());
        let key = self.write(move |desk| {
            refuse_too_many(desk, live_max)?;
            insert(desk, new, digest, prefix)
        })?;
        Ok((key, secret))
    }

    /// Makes a key for somebody in the workspace, out of values that passed the form `WORKSPACE_KEY`.
    pub fn make_workspace_key(&self, values: &Values) -> Result<(ApiKey, Secret), Error> {
        let expiry = values.text("expires").and_then(Expiry::parse).unwrap_or(Expiry::Days365);
        let (mut name, mut permissions) = (String::new(), Vec::new());
        values.set_text("name", &mut name);
        values.set_texts("permissions", &mut permissions);
        let permissions = permissions.iter().filter_map(|name| Permission::parse(name));
        self.make_key(NewKey {
            name,
            permissions: permissions.fold(Permissions::default(), Permissions::with),
            expires_at_ms: expiry.at_ms(self.now_ms()),
            created_by: self.actor.id.clone(),
        })
    }

    /// The tenant's keys, newest first, revoked ones included.
    pub fn keys(&self) -> Result<Vec<ApiKey>, Error> {
        self.store.keys(&self.id)
    }

    /// Revokes a key, alone or with all that came of it; from the answer on they are refused. Gives how many
    /// were live until now.
    pub fn revoke_key(&self, id: &str, reach: Reach) -> Result<usize, Error> {
        let id = id.to_owned();
        let revoked = self.write(move |desk| {
            let ids = reached(desk, &id, reach)?;
            if ids.is_empty() {
                return Err(Error::NotFound("key"));
            }
            let mut revoked = 0;
            for id in ids {
                revoked += usize::from(revoke(desk, &id)?);
            }
            Ok(revoked)
        });
        self.store.keys.forget_all();
        revoked
    }
}

impl Store {
    /// Makes a key for a tenant, at the command line.
    pub fn create_key(&self, tenant_id: &str, new: NewKey) -> Result<(ApiKey, Secret), Error> {
        self.tenant(tenant_id).by(Actor::command_line()).make_key(new)
    }

    /// A tenant's keys, newest first, revoked ones included.
    pub fn keys(&self, tenant_id: &str) -> Result<Vec<ApiKey>, Error> {
        self.read(|connection| {
            let sql = format!("{SELECT} where tenant_id = ?1 order by created_at desc, id desc");
            let mut rows = connection.prepare_cached(&sql)?;
            let keys = rows.query_map([tenant_id], of_row)?;
            keys.collect()
        })
    }

    /// Revokes a key by its id alone, at the command line.
    pub fn revoke_key(&self, id: &str) -> Result<(), Error> {
        let tenant_id: Option<String> = self.read(|connection| {
            let sql = "select tenant_id from api_key where id = ?1";
            connection.query_row(sql, [id], |row| row.get(0)).optional()
        })?;
        let tenant_id = tenant_id.ok_or_else(|| Error::invalid(format!("there is no key `{id}`")))?;
        self.tenant(&tenant_id).by(Actor::command_line()).revoke_key(id, Reach::Alone).map(|_| ())
    }

    /// The first start: a tenant, its owner and a key, in one act. `before_commit` gets the secret, and
    /// may still refuse: nobody is left with a key that was never shown.
    pub fn first_run(
        &self,
        tenant: &str,
        email: &str,
        password: &str,
        before_commit: impl FnOnce(&Secret) -> Result<(), Error> + Send + 'static,
    ) -> Result<(), Error> {
        let now_ms = self.clock.now_ms();
        let hash = secret::hash_password(password, &self.chance)?;
        let secret = Secret::make(&self.chance)?;
        let ids = Sequence::begin(now_ms, &self.chance)?;
        let tenant_id = ids.next(Kind::Tenant);
        let (tenant, email) = (tenant.to_owned(), email.to_owned());
        self.write(move |connection| {
            let actor = Actor::command_line();
            tenant::insert_tenant(connection, &tenant_id, &tenant, now_ms)?;
            let importing = Cell::new(false);
            let desk =
                Desk { connection, tenant_id: &tenant_id, actor: &actor, now_ms, ids: &ids, importing };
            let owner = user::insert(&desk, &email, "", Role::Owner, &hash)?;
            audit::note(&desk, Event::UserCreated, Some(&owner), Some(format!("{email}, owner")))?;
            let new = NewKey {
                name: "first key".into(),
                permissions: Permissions::all(),
                expires_at_ms: None,
                created_by: None,
            };
            insert(&desk, new, secret::digest_of(&secret), secret.shown().to_owned())?;
            before_commit(&secret)
        })
    }
}

fn refuse_too_many(desk: &Desk, live_max: usize) -> Result<(), Error> {
    let live: i64 = desk
        .connection
        .query_row(
            "select count(*) from api_key
             where tenant_id = ?1 and revoked_at is null and (expires_at is null or expires_at > ?2)",
            (desk.tenant_id, desk.now_ms),
            |row| row.get(0),
        )
        .map_err(failed)?;
    if usize::try_from(live).unwrap_or(usize::MAX) < live_max {
        return Ok(());
    }
    Err(Error::invalid(format!("the tenant has {live} live keys, which is the most; revoke one first")))
}

fn insert(desk: &Desk, new: NewKey, digest: Digest, prefix: String) -> Result<ApiKey, Error> {
    let key = ApiKey {
        id: desk.new_id(Kind::Key)?,
        tenant_id: desk.tenant_id.to_owned(),
        name: new.name,
        prefix,
        permissions: new.permissions,
        created_at_ms: desk.now_ms,
        expires_at_ms: new.expires_at_ms,
        last_used_at_ms: None,
        revoked_at_ms: None,
    };
    let sql = "insert into api_key
                 (tenant_id, id, hash, prefix, name, permissions, created_by, created_at, expires_at)
               values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let row = (
        &key.tenant_id,
        &key.id,
        digest,
        &key.prefix,
        &key.name,
        key.permissions.to_list(),
        new.created_by,
        key.created_at_ms,
        key.expires_at_ms,
    );
    desk.connection.execute(sql, row).map_err(|cause| match cause.sqlite_error_code() {
        // The tenant was deleted while its key was at work.
        Some(rusqlite::ErrorCode::ConstraintViolation) => Error::NotFound("tenant"),
        Some(_) | None => failed(cause),
    })?;
    history::created(desk, &key)?;
    audit::note(desk, Event::KeyCreated, Some(&key.id), Some(key.permissions.to_list()))?;
    Ok(key)
}

/// The key and, if asked for, all that came of it.
fn reached(desk: &Desk, id: &str, reach: Reach) -> Result<Vec<String>, Error> {
    let sql = match reach {
        Reach::Alone => "select id from api_key where tenant_id = ?1 and id = ?2",
        Reach::WithDescendants => {
            "with recursive line (id) as (
               select id from api_key where tenant_id = ?1 and id = ?2
               union select api_key.id from api_key join line on created_by = line.id where tenant_id = ?1)
             select id from line"
        }
    };
    let mut rows = desk.connection.prepare_cached(sql).map_err(failed)?;
    let ids = rows.query_map((desk.tenant_id, id), |row| row.get(0)).map_err(failed)?;
    ids.collect::<rusqlite::Result<_>>().map_err(failed)
}

/// Revokes one key; false if it was revoked before.
fn revoke(desk: &Desk, id: &str) -> Result<bool, Error> {
    let before = find(desk.connection, desk.tenant_id, id).map_err(failed)?;
    if before.revoked_at_ms.is_some() {
        return Ok(false);
    }
    desk.connection
        .prepare_cached("update api_key set revoked_at = ?3 where tenant_id = ?1 and id = ?2")
        .and_then(|mut row| row.execute((desk.tenant_id, id, desk.now_ms)))
        .map_err(failed)?;
    let after = ApiKey { revoked_at_ms: Some(desk.now_ms), ..before.clone() };
    history::changed(desk, &before, &after)?;
    audit::note(desk, Event::KeyRevoked, Some(id), None)?;
    Ok(true)
}

fn find(connection: &Connection, tenant_id: &str, id: &str) -> rusqlite::Result<ApiKey> {
    connection
        .prepare_cached(&format!("{SELECT} where tenant_id = ?1 and id = ?2"))?
        .query_row((tenant_id, id), of_row)
}

fn of_row(row: &Row) -> rusqlite::Result<ApiKey> {
    Ok(ApiKey {
        id: row.get(0)?,
        tenant_id: row.get(1)?,
        name: row.get(2)?,
        prefix: row.get(3)?,
        permissions: permissions(row, 4)?,
        created_at_ms: row.get(5)?,
        expires_at_ms: row.get(6)?,
        last_used_at_ms: row.get(7)?,
        revoked_at_ms: row.get(8)?,
    })
}
