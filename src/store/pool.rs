//! Readers: read-only connections in a pool, which can be made anew when it has failed.

use super::file;
use crate::error::Error;
use r2d2_sqlite::SqliteConnectionManager;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

/// Readers at the most. Bounded reads run on the loop's own threads, so a few suffice.
const READERS_MAX: u32 = 6;
/// How long a request waits for a reader before it gives up.
const READER_WAIT: Duration = Duration::from_secs(5);
/// How long the health check waits: it runs on the loop.
const PROBE_WAIT: Duration = Duration::from_millis(250);

type Pool = r2d2::Pool<SqliteConnectionManager>;
/// A reader, given back when dropped.
pub type Reader = r2d2::PooledConnection<SqliteConnectionManager>;

/// The pool.
pub struct Readers {
    path: PathBuf,
    pool: RwLock<Pool>,
}

impl Readers {
    /// Opens the first reader.
    pub fn open(path: &Path) -> Result<Readers, Error> {
        Ok(Readers { path: path.to_owned(), pool: RwLock::new(build(path)?) })
    }

    /// A reader.
    pub fn get(&self) -> Result<Reader, Error> {
        self.pool().get().map_err(|cause| Error::internal("waiting for a reader", cause))
    }

    /// A reader soon, or none.
    pub fn get_soon(&self) -> Result<Reader, Error> {
        self.pool().get_timeout(PROBE_WAIT).map_err(|cause| Error::internal("waiting for a reader", cause))
    }

    /// A new pool in the place of the old one. Whoever still holds a reader of the old one keeps it; it is
    /// closed when it comes back.
    pub fn rebuild(&self) -> Result<(), Error> {
        let fresh = build(&self.path)?;
        *self.pool.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    fn pool(&self) -> Pool {
        self.pool.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn build(path: &Path) -> Result<Pool, Error> {
    let manager =
        SqliteConnectionManager::file(path).with_flags(file::reader_flags()).with_init(file::set_up_reader);
    r2d2::Pool::builder()
        .max_size(READERS_MAX)
        .min_idle(Some(1))
        .test_on_check_out(false)
        .connection_timeout(READER_WAIT)
        .build(manager)
        .map_err(|cause| Error::internal("opening readers", cause))
}
