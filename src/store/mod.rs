//! Rows: the only SQL in the house.
//!
//! One writer, on a thread of its own, commits in groups; readers are read-only
//! connections from a pool. A method here is a whole act in one transaction, and a
//! write has been synced to the disk when it returns.

mod check;
mod file;
mod key;
mod lock;
mod migrate;
mod rate;
mod secret;
mod tenant;
mod user;
mod writer;

pub use check::check;
pub use file::SCHEMA_VERSION;
pub use key::{LiveKey, NewKey};
pub use lock::ServerLock;
pub use rate::SavedWindow;
pub use secret::{Digest, digest_of, make_password};
pub use tenant::TenantRow;

use crate::chance::Chance;
use crate::clock::Clock;
use crate::error::Error;
use key::KeyRing;
use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use writer::Writer;

/// Readers at the most. Bounded reads run on the loop's own threads, so a few suffice.
const READERS_MAX: u32 = 6;
/// How long a request waits for a reader before it gives up.
const READER_WAIT: Duration = Duration::from_secs(5);

/// The open database.
pub struct Store {
    path: PathBuf,
    clock: Clock,
    chance: Chance,
    readers: r2d2::Pool<SqliteConnectionManager>,
    writer: Writer,
    keys: Arc<KeyRing>,
    keys_max: usize,
}

/// A handle bound to one tenant: what it reads and writes is that tenant's and nobody else's.
pub struct Tenant<'a> {
    store: &'a Store,
    key: Arc<LiveKey>,
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
    /// `keys_max` bounds the live keys of a tenant.
    pub fn open(
        path: &Path,
        purpose: Purpose,
        keys_max: usize,
        clock: Clock,
        chance: Chance,
    ) -> Result<Store, Error> {
        let connection = file::open(path, purpose, &clock)?;
        let keys = Arc::new(KeyRing::default());
        let on_foreign_change = {
            let keys = Arc::clone(&keys);
            move || keys.forget_all()
        };
        let writer = Writer::start(connection, on_foreign_change)?;
        let manager = SqliteConnectionManager::file(path)
            .with_flags(file::reader_flags())
            .with_init(file::set_up_reader);
        let readers = r2d2::Pool::builder()
            .max_size(READERS_MAX)
            .min_idle(Some(1))
            .test_on_check_out(false)
            .connection_timeout(READER_WAIT)
            .build(manager)
            .map_err(|cause| Error::internal("opening readers", cause))?;
        Ok(Store { path: path.to_owned(), clock, chance, readers, writer, keys, keys_max })
    }

    /// Where the database is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The handle to the tenant for which a key acts.
    pub fn tenant(&self, key: Arc<LiveKey>) -> Tenant<'_> {
        Tenant { store: self, key }
    }

    /// Can rows be read? For the health check.
    pub fn probe_reader(&self) -> Result<(), Error> {
        self.read(|connection| connection.query_row("select 1", [], |_| Ok(())))
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
        let connection =
            self.readers.get().map_err(|cause| Error::internal("waiting for a reader", cause))?;
        query(&connection).map_err(|cause| Error::internal("reading", cause))
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
