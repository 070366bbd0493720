//! Readers: read-only connections in a pool, which can be made anew when it has failed.
//!
//! Nobody reads for longer than `READ_MAX_MS` while the file is served: the log cannot shrink below a reader.

use super::file;
use crate::clock::Clock;
use crate::error::Error;
use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

/// Readers at the most. Bounded reads run on the loop's own threads, so a few suffice.
const READERS_MAX: u32 = 6;
/// How long a request waits for a reader before it gives up.
const READER_WAIT: Duration = Duration::from_secs(5);
/// How long the health check waits: it runs on the loop.
const PROBE_WAIT: Duration = Duration::from_millis(250);

/// After so long a read is broken off.
const READ_MAX_MS: u64 = 5_000;
/// Steps of SQLite between two looks at the clock: some milliseconds, so that a short read has none.
const STEPS_BETWEEN_LOOKS: i32 = 200_000;

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

/// Watches over a read: it is broken off when it takes too long.
pub struct Watch<'a>(&'a Connection);

impl<'a> Watch<'a> {
    /// Begins now.
    pub fn over(connection: &'a Connection, clock: &Clock) -> rusqlite::Result<Watch<'a>> {
        let (clock, began_ms) = (clock.clone(), clock.elapsed_ms());
        let is_over = move || clock.elapsed_ms().saturating_sub(began_ms) > READ_MAX_MS;
        connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(is_over))?;
        Ok(Watch(connection))
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if let Err(cause) = self.0.progress_handler(0, None::<fn() -> bool>) {
            log::warn!("a reader keeps its watch: {cause}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_takes_too_long_is_broken_off_and_the_next_one_is_not() {
        let (connection, clock) = (Connection::open_in_memory().unwrap(), Clock::standing_at(0));
        let count = |to: i64| {
            let sql = format!(
                "with recursive n (i) as (select 1 union all select i + 1 from n where i < {to}) select count(*) from n"
            );
            connection.query_row(&sql, [], |row| row.get::<_, i64>(0))
        };
        let watch = Watch::over(&connection, &clock).unwrap();
        clock.advance_ms(5_000);
        assert_eq!(count(100_000), Ok(100_000));
        clock.advance_ms(1);
        let cause = count(i64::MAX).unwrap_err();
        assert_eq!(cause.sqlite_error_code(), Some(rusqlite::ErrorCode::OperationInterrupted));
        drop(watch);
        assert_eq!(count(100_000), Ok(100_000));
    }
}
