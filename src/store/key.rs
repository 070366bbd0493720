//! API keys: making, finding, revoking.
//!
//! Keys that were used lately are kept in memory. A revocation leaves memory before
//! its caller gets the answer; a change by another process empties memory within a
//! second. Unknown keys are looked up each time and leave nothing behind.

use super::secret::{self, Digest};
use super::version::Version;
use super::{Store, Tenant, failed};
use crate::domain::id::{self, Kind};
use crate::domain::key::{ApiKey, Secret};
use crate::domain::permission::{Permission, Permissions};
use crate::domain::user::Role;
use crate::error::Error;
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Keys in memory at the most; one more empties it.
const RING_MAX: usize = 100_000;
/// A use is written down at most this often per key.
const LAST_USE_EVERY_MS: i64 = 3_600_000;

/// A key that counted when it was looked up.
#[derive(Debug)]
pub struct LiveKey {
    /// `key_…`
    pub id: String,
    /// Whose it is.
    pub tenant_id: String,
    /// What it may do.
    pub permissions: Permissions,
    /// Its first characters, for the log.
    pub prefix: String,
    /// When it stops counting.
    pub expires_at_ms: Option<i64>,
    /// The version of its tenant's data.
    pub version: Version,
    last_used_at_ms: AtomicI64,
}

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

/// Keys in memory.
#[derive(Default)]
pub(super) struct KeyRing {
    keys: RwLock<HashMap<Digest, Arc<LiveKey>>>,
    /// Moves at every change, so that a look-up that began before it cannot put back what it read.
    generation: AtomicU64,
    /// Uses that wait to be written down.
    used: Mutex<Vec<(Arc<LiveKey>, i64)>>,
}

impl KeyRing {
    fn get(&self, digest: &Digest) -> Option<Arc<LiveKey>> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).get(digest).cloned()
    }

    fn put(&self, digest: Digest, key: &Arc<LiveKey>, generation: u64) {
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        if self.generation.load(Ordering::SeqCst) != generation {
            return;
        }
        if keys.len() >= RING_MAX {
            keys.clear();
        }
        keys.insert(digest, Arc::clone(key));
    }

    /// Forgets every key; each is looked up again at its next use.
    pub fn forget_all(&self) {
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        self.generation.fetch_add(1, Ordering::SeqCst);
        keys.clear();
    }

    fn note_use(&self, key: &Arc<LiveKey>, now_ms: i64) {
        let before = key.last_used_at_ms.load(Ordering::Relaxed);
        if now_ms - before < LAST_USE_EVERY_MS {
            return;
        }
        let ours = key.last_used_at_ms.compare_exchange(before, now_ms, Ordering::Relaxed, Ordering::Relaxed);
        if ours.is_ok() {
            self.used.lock().unwrap_or_else(PoisonError::into_inner).push((Arc::clone(key), now_ms));
        }
    }
}

impl Tenant<'_> {
    /// Makes a key with the caller's permissions but `manage_keys`, which ends when the caller's ends:
    /// no key grows more powerful, or lives longer, than the one that made it.
    pub fn create_key(&self, name: &str, caller: &LiveKey) -> Result<(ApiKey, Secret), Error> {
        let new = NewKey {
            name: name.to_owned(),
            permissions: caller.permissions.without(Permission::ManageKeys),
            expires_at_ms: caller.expires_at_ms,
            created_by: Some(caller.id.clone()),
        };
        self.store.create_key(&self.id, new)
    }
}

impl Store {
    /// The live key behind a secret, if there is one. Revoked and expired keys are as unknown as unknown ones.
    pub fn find_key(&self, key: &Secret) -> Result<Option<Arc<LiveKey>>, Error> {
        let digest = secret::digest_of(key);
        let now_ms = self.clock.now_ms();
        let found = match self.keys.get(&digest) {
            Some(known) => Some(known),
            None => self.look_up(digest)?,
        };
        let live = found.filter(|key| key.expires_at_ms.is_none_or(|end| now_ms < end));
        if let Some(key) = &live {
            self.keys.note_use(key, now_ms);
        }
        Ok(live)
    }

    fn look_up(&self, digest: Digest) -> Result<Option<Arc<LiveKey>>, Error> {
        let generation = self.keys.generation.load(Ordering::SeqCst);
        let found = self.read(|connection| {
            connection
                .prepare_cached(
                    "select id, tenant_id, permissions, prefix, expires_at, last_used_at
                     from api_key where hash = ?1 and revoked_at is null",
                )?
                .query_row([digest], |row| {
                    let tenant_id: String = row.get(1)?;
                    Ok(LiveKey {
                        id: row.get(0)?,
                        version: self.versions.of(&tenant_id),
                        tenant_id,
                        permissions: permissions(row, 2)?,
                        prefix: row.get(3)?,
                        expires_at_ms: row.get(4)?,
                        last_used_at_ms: AtomicI64::new(
                            row.get::<_, Option<i64>>(5)?.unwrap_or(i64::MIN / 2),
                        ),
                    })
                })
                .optional()
        })?;
        let found = found.map(Arc::new);
        if let Some(key) = &found {
            self.keys.put(digest, key, generation);
        }
        Ok(found)
    }

    /// Makes a key for a tenant, unless it has as many as it may.
    pub fn create_key(&self, tenant_id: &str, new: NewKey) -> Result<(ApiKey, Secret), Error> {
        let live_max = self.keys_max;
        let now_ms = self.clock.now_ms();
        let id = id::new(Kind::Key, now_ms, &self.chance)?;
        let secret = Secret::make(&self.chance)?;
        let digest = secret::digest_of(&secret);
        let key = ApiKey {
            id,
            tenant_id: tenant_id.to_owned(),
            name: new.name,
            prefix: secret.shown().to_owned(),
            permissions: new.permissions,
            created_at_ms: now_ms,
            expires_at_ms: new.expires_at_ms,
            last_used_at_ms: None,
            revoked_at_ms: None,
        };
        let created_by = new.created_by;
        let key = self.write(move |connection| {
            refuse_too_many(connection, &key.tenant_id, now_ms, live_max)?;
            insert_key(connection, &key, digest, created_by.as_deref()).map(|()| key)
        })?;
        Ok((key, secret))
    }

    /// A tenant's keys, newest first, revoked ones included.
    pub fn keys(&self, tenant_id: &str) -> Result<Vec<ApiKey>, Error> {
        self.read(|connection| {
            let mut rows = connection.prepare_cached(
                "select id, tenant_id, name, prefix, permissions, created_at, expires_at, last_used_at, revoked_at
                 from api_key where tenant_id = ?1 order by created_at desc, id desc",
            )?;
            let keys = rows.query_map([tenant_id], key_of_row)?;
            keys.collect()
        })
    }

    /// Revokes a key; from the answer on it is refused.
    pub fn revoke_key(&self, id: &str) -> Result<(), Error> {
        let now_ms = self.clock.now_ms();
        let wanted = id.to_owned();
        let known = self.write(move |connection| {
            let sql = "update api_key set revoked_at = coalesce(revoked_at, ?2) where id = ?1";
            connection.execute(sql, (&wanted, now_ms)).map_err(failed)
        })?;
        self.keys.forget_all();
        if known == 1 { Ok(()) } else { Err(Error::invalid(format!("there is no key `{id}`"))) }
    }

    /// Writes down which keys were used since the last call. Best effort: a use that is lost is no loss.
    pub fn save_key_uses(&self) -> Result<(), Error> {
        let used = std::mem::take(&mut *self.keys.used.lock().unwrap_or_else(PoisonError::into_inner));
        if used.is_empty() {
            return Ok(());
        }
        self.write(move |connection| {
            let mut update = connection
                .prepare_cached("update api_key set last_used_at = ?3 where tenant_id = ?1 and id = ?2")
                .map_err(failed)?;
            for (key, at_ms) in used {
                update.execute((&key.tenant_id, &key.id, at_ms)).map_err(failed)?;
            }
            Ok(())
        })
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
        let password_hash = secret::hash_password(password, &self.chance)?;
        let tenant_id = id::new(Kind::Tenant, now_ms, &self.chance)?;
        let user_id = id::new(Kind::User, now_ms, &self.chance)?;
        let secret = Secret::make(&self.chance)?;
        let key = ApiKey {
            id: id::new(Kind::Key, now_ms, &self.chance)?,
            tenant_id: tenant_id.clone(),
            name: "first key".into(),
            prefix: secret.shown().to_owned(),
            permissions: Permissions::all(),
            created_at_ms: now_ms,
            expires_at_ms: None,
            last_used_at_ms: None,
            revoked_at_ms: None,
        };
        let (tenant, email) = (tenant.to_owned(), email.to_owned());
        self.write(move |connection| {
            super::tenant::insert_tenant(connection, &tenant_id, &tenant, now_ms)?;
            let owner = super::user::NewUser {
                tenant_id: &tenant_id,
                id: &user_id,
                email: &email,
                role: Role::Owner,
                password_hash: &password_hash,
                now_ms,
            };
            super::user::insert_user(connection, &owner)?;
            insert_key(connection, &key, secret::digest_of(&secret), None)?;
            before_commit(&secret)
        })
    }
}

fn refuse_too_many(
    connection: &Connection,
    tenant_id: &str,
    now_ms: i64,
    live_max: usize,
) -> Result<(), Error> {
    let live: i64 = connection
        .query_row(
            "select count(*) from api_key
             where tenant_id = ?1 and revoked_at is null and (expires_at is null or expires_at > ?2)",
            (tenant_id, now_ms),
            |row| row.get(0),
        )
        .map_err(failed)?;
    if usize::try_from(live).unwrap_or(usize::MAX) < live_max {
        return Ok(());
    }
    Err(Error::invalid(format!("the tenant has {live} live keys, which is the most; revoke one first")))
}

fn insert_key(
    connection: &Connection,
    key: &ApiKey,
    digest: Digest,
    created_by: Option<&str>,
) -> Result<(), Error> {
    connection
        .execute(
            "insert into api_key
               (tenant_id, id, hash, prefix, name, permissions, created_by, created_at, expires_at)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            (
                &key.tenant_id,
                &key.id,
                digest,
                &key.prefix,
                &key.name,
                key.permissions.to_list(),
                created_by,
                key.created_at_ms,
                key.expires_at_ms,
            ),
        )
        .map(|_| ())
        .map_err(|cause| match cause.sqlite_error_code() {
            // The tenant was deleted while its key was at work.
            Some(rusqlite::ErrorCode::ConstraintViolation) => Error::NotFound("tenant"),
            Some(_) | None => failed(cause),
        })
}

fn key_of_row(row: &Row) -> rusqlite::Result<ApiKey> {
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

/// A permission that this binary does not know makes the key unreadable rather than more powerful.
fn permissions(row: &Row, column: usize) -> rusqlite::Result<Permissions> {
    let list: String = row.get(column)?;
    Permissions::parse_list(&list).map_err(|fault| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, fault.into())
    })
}
