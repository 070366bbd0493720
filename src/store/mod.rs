//! Rows: the only SQL in the house.
//!
//! One writer, on a thread of its own, commits in groups; readers are read-only
//! connections from a pool. A method here is a whole act in one transaction, and a
//! write has been synced to the disk when it returns.

mod alert;
mod arrangement;
mod audit;
mod backup;
mod barrier;
mod bulk;
mod check;
mod cra;
mod deadline;
mod delivery;
mod event;
mod figures;
mod file;
mod finding;
mod history;
mod import;
mod import_nouns;
mod key;
mod key_admin;
mod language;
mod list;
mod lock;
mod migrate;
mod outbox;
mod overview;
mod pool;
mod programme;
mod provider;
mod rate;
mod record;
mod register;
mod restore;
mod risk;
mod runs;
mod scan;
mod search;
mod secret;
mod session;
mod sign_in;
mod sort;
mod tenant;
mod test_case;
mod throttle;
mod timeline;
mod upkeep;
mod user;
mod version;
mod webhook;
mod writer;

pub use audit::Verdict;
pub use backup::{Backup, backup, newest, nightly_name, rotate};
pub use check::{check, is_current};
pub use figures::Figures;
pub use file::SCHEMA_VERSION;
pub use finding::Filed;
pub use import::Imported;
pub use key::LiveKey;
pub use key_admin::{NewKey, Reach};
pub use list::Listed;
pub use lock::ServerLock;
pub use outbox::{Claim, Ended, Errand, Lane, Settled};
pub use overview::{Ages, Ahead, OnMeasure};
pub use rate::SavedWindow;
pub use record::Records;
pub use register::seal;
pub use restore::{Restored, restore};
pub use risk::Breaches;
pub use runs::{Heal, JobRun, Sample};
pub use search::{FoundText, Match};
pub use secret::{Digest, digest_of, make_password};
pub use sign_in::{PasswordChange, SignIn};
pub use sort::{
    ARRANGEMENT_SORTS, CRA_SORTS, FINDING_SORTS, PROGRAMME_SORTS, PROVIDER_SORTS, TEST_CASE_SORTS,
    WEBHOOK_SORTS,
};
pub use tenant::TenantRow;
pub use upkeep::TableFigures;
pub use user::Invitation;

use crate::chance::Chance;
use crate::clock::Clock;
use crate::disk::Reserve;
use crate::domain::actor::Actor;
use crate::domain::destination::Allowlist;
use crate::domain::id::{Kind, Sequence};
use crate::error::Error;
use crate::turns::Turns;
use barrier::Barrier;
use key::KeyRing;
use pool::Readers;
use rusqlite::Connection;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use version::Versions;
use writer::{Surroundings, Writer};

/// Passwords hashed at once, at the most.
const HASHES_AT_ONCE: usize = 4;
/// Those that wait for it.
const HASHES_WAITING: usize = 32;

/// The open database.
pub struct Store {
    path: PathBuf,
    purpose: Purpose,
    clock: Clock,
    chance: Chance,
    readers: Readers,
    writer: Writer,
    barrier: Arc<Barrier>,
    keys: Arc<KeyRing>,
    keys_max: usize,
    allowlist: Arc<Allowlist>,
    versions: Arc<Versions>,
    refusals: Arc<audit::Refusals>,
    turns: Turns,
    server_secret: OnceLock<secret::Digest>,
}

/// A handle bound to one tenant: what it reads and writes is that tenant's and nobody else's.
pub struct Tenant<'a> {
    store: &'a Store,
    id: String,
    actor: Actor,
}

/// What a write of a tenant's may use: the open transaction, whose rows, who writes and when.
struct Desk<'a> {
    connection: &'a Connection,
    tenant_id: &'a str,
    actor: &'a Actor,
    now_ms: i64,
    ids: &'a Sequence,
    /// Are rows of a file taken in? History says so.
    importing: Cell<bool>,
}

impl Desk<'_> {
    fn new_id(&self, kind: Kind) -> Result<String, Error> {
        Ok(self.ids.next(kind))
    }
}

impl Tenant<'_> {
    /// The time, as the store sees it.
    pub fn now_ms(&self) -> i64 {
        self.store.clock.now_ms()
    }

    /// The same handle, for somebody.
    pub fn by(mut self, actor: Actor) -> Self {
        self.actor = actor;
        self
    }

    fn read<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        self.store.read(query)
    }

    /// One act in one transaction. When it returns, the next read sees it: cached pages are of an older version.
    fn write<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Desk) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (tenant_id, actor, now_ms) = (self.id.clone(), self.actor.clone(), self.now_ms());
        let ids = Sequence::begin(now_ms, &self.store.chance)?;
        let done = self.store.write(move |connection| {
            let importing = Cell::new(false);
            act(&Desk { connection, tenant_id: &tenant_id, actor: &actor, now_ms, ids: &ids, importing })
        });
        self.store.versions.bump(&self.id);
        done
    }
}

/// What somebody opens the database for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To serve it, with the lock in hand; it is made if it is not there.
    Serve,
    /// To administer it beside a running server; it is made if it is not there.
    Provision,
    /// To administer it beside a running server; it has to be there.
    Administer,
}

impl Store {
    /// Opens the file, bringing an older one up to date. Every refusal is one clear line.
    /// `keys_max` bounds the live keys of a tenant; `allowlist` tells where its webhooks may send; without
    /// the `reserve` nothing is written.
    pub fn open(
        path: &Path,
        purpose: Purpose,
        keys_max: usize,
        allowlist: Arc<Allowlist>,
        reserve: Reserve,
        clock: Clock,
        chance: Chance,
    ) -> Result<Store, Error> {
        let path = file::resolve(path);
        let connection = file::open(&path, purpose, &clock, &chance)?;
        let keys = Arc::new(KeyRing::default());
        let versions = Arc::new(Versions::default());
        let barrier = Arc::new(Barrier::new(path.clone(), reserve));
        let on_foreign_change = {
            let (keys, versions) = (Arc::clone(&keys), Arc::clone(&versions));
            move || {
                keys.forget_all();
                versions.bump_all();
            }
        };
        let reopen = {
            let (path, clock, chance) = (path.clone(), clock.clone(), chance.clone());
            move || file::open(&path, Purpose::Administer, &clock, &chance)
        };
        let around = Surroundings {
            barrier: Arc::clone(&barrier),
            reopen: Box::new(reopen),
            on_foreign_change: Box::new(on_foreign_change),
        };
        let writer = Writer::start(connection, around)?;
        let readers = Readers::open(&path)?;
        let refusals = Arc::new(audit::Refusals::default());
        let (turns, server_secret) = (Turns::new(HASHES_AT_ONCE, HASHES_WAITING), OnceLock::new());
        Ok(Store {
            path,
            purpose,
            clock,
            chance,
            readers,
            writer,
            barrier,
            keys,
            keys_max,
            allowlist,
            versions,
            refusals,
            turns,
            server_secret,
        })
    }

    /// The handle to a tenant, by its id. What is done with it is the clock's doing unless `by` says whose.
    pub fn tenant(&self, id: &str) -> Tenant<'_> {
        Tenant { store: self, id: id.to_owned(), actor: Actor::clock() }
    }

    /// Can rows be read? For the health check, so it does not wait long for a reader.
    pub fn probe_reader(&self) -> Result<(), Error> {
        let reader = self.readers.get_soon()?;
        let read = reader.query_row("select count(*) from sqlite_schema", [], |row| row.get::<_, i64>(0));
        read.map(|_| ()).map_err(|cause| Error::internal("reading", cause))
    }

    /// Makes the pool of readers anew.
    pub fn rebuild_readers(&self) -> Result<(), Error> {
        self.readers.rebuild()
    }

    /// Holds every reader, as threads that hang would.
    #[cfg(test)]
    pub fn seize_readers(&self) -> Vec<pool::Reader> {
        std::iter::from_fn(|| self.readers.get_soon().ok()).collect()
    }

    /// Is the writer's thread alive? For the health check.
    pub fn is_writer_alive(&self) -> bool {
        self.writer.is_alive()
    }

    /// Waits for the writer's queue, folds the log into the file and closes it.
    pub fn close(self) -> Result<(), Error> {
        drop(self.readers);
        self.writer.stop()
    }

    fn read<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        let connection = self.readers.get()?;
        // The command line may take its time: it reads a whole tenant at once.
        let is_watched = self.purpose == Purpose::Serve;
        let watch = is_watched.then(|| pool::Watch::over(&connection, &self.clock)).transpose();
        watch.and_then(|_watch| query(&connection)).map_err(|cause| Error::internal("reading", cause))
    }

    fn write<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.writer.act(act)
    }
}

/// A failed statement of a write.
fn failed(cause: rusqlite::Error) -> Error {
    Error::internal("writing", cause)
}
