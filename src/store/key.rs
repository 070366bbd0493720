//! API keys in use: finding them, and keeping them at hand.
//!
//! Keys that were used lately are kept in memory. A revocation leaves memory before
//! its caller gets the answer; a change by another process empties memory within a
//! second. Unknown keys are looked up each time and leave nothing behind.

use super::secret::{self, Digest};
use super::version::Version;
use super::{Store, failed};
use crate::domain::actor::Actor;
use crate::domain::audit::Event;
use crate::domain::key::Secret;
use crate::domain::permission::Permissions;
use crate::error::Error;
use rusqlite::{OptionalExtension, Row};
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
    /// What people call it.
    pub name: String,
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

impl LiveKey {
    /// The key as the one who acts.
    pub fn actor(&self) -> Actor {
        Actor::key(&self.id, &self.name)
    }
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

impl Store {
    /// The live key behind a secret, if there is one. Revoked and expired keys are as unknown as unknown ones.
    pub fn find_key(&self, key: &Secret) -> Result<Option<Arc<LiveKey>>, Error> {
        let digest = secret::digest_of(key);
        let now_ms = self.clock.now_ms();
        let found = match self.keys.get(&digest) {
            Some(known) => Some(known),
            None => self.look_up(digest)?,
        };
        let Some(key) = found else { return Ok(None) };
        if key.expires_at_ms.is_some_and(|end| now_ms >= end) {
            self.note_refusal(Event::ExpiredKeyUsed, &key.tenant_id, key.actor(), None);
            return Ok(None);
        }
        self.keys.note_use(&key, now_ms);
        Ok(Some(key))
    }

    fn look_up(&self, digest: Digest) -> Result<Option<Arc<LiveKey>>, Error> {
        let generation = self.keys.generation.load(Ordering::SeqCst);
        let found = self.read(|connection| {
            connection
                .prepare_cached(
                    "select id, tenant_id, permissions, prefix, expires_at, last_used_at, name
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
                        name: row.get(6)?,
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
}

/// A permission that this binary does not know makes the key unreadable rather than more powerful.
pub(super) fn permissions(row: &Row, column: usize) -> rusqlite::Result<Permissions> {
    let list: String = row.get(column)?;
    Permissions::parse_list(&list).map_err(|fault| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, fault.into())
    })
}
