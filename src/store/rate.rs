//! Rate windows, so that a restart forgives nothing.
//!
//! Times are stored as distances from the moment of saving, and how long the process was
//! away is told by the wall clock. If that was set back meanwhile, counts are forgotten;
//! a block is kept, though never for longer than a block lasts.

use super::{Store, failed};
use crate::domain::limit::{EXCEEDANCE_MEMORY_MS, WINDOW_MS, Window};
use crate::error::Error;
use rusqlite::Connection;

/// One key's window in one tier, ready to be stored: times are ages in milliseconds at `saved_at_ms`.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedWindow {
    /// Whose key.
    pub tenant_id: String,
    /// Which key.
    pub key_id: String,
    /// `v1` or `v2`.
    pub tier: &'static str,
    /// Wall clock at saving.
    pub saved_at_ms: i64,
    /// How long ago each request was served, oldest first.
    pub admission_ages_ms: Vec<u32>,
    /// How long ago each exceedance was, oldest first.
    pub exceedance_ages_ms: Vec<u32>,
    /// Wall clock at the end of the block.
    pub blocked_until_ms: Option<i64>,
}

impl SavedWindow {
    /// What is to be stored of a window at `now` (monotonic) and `wall_ms`.
    pub fn of(
        window: &Window,
        tenant_id: &str,
        key_id: &str,
        tier: &'static str,
        now: u64,
        wall_ms: i64,
    ) -> SavedWindow {
        let age = |at: &u64| u32::try_from(now.saturating_sub(*at)).unwrap_or(u32::MAX);
        let left = |until: u64| i64::try_from(until.saturating_sub(now)).unwrap_or(0);
        SavedWindow {
            tenant_id: tenant_id.to_owned(),
            key_id: key_id.to_owned(),
            tier,
            saved_at_ms: wall_ms,
            admission_ages_ms: window.admissions.iter().map(age).collect(),
            exceedance_ages_ms: window.exceedances.iter().map(age).collect(),
            blocked_until_ms: window.blocked_until.map(|until| wall_ms + left(until)),
        }
    }

    /// The window as it is now, `origin` being the monotonic reading that stands for `wall_ms`.
    pub fn revive(&self, origin: u64, wall_ms: i64, block_ms: u64) -> Window {
        let left =
            self.blocked_until_ms.map(|until| u64::try_from(until - wall_ms).unwrap_or(0).min(block_ms));
        let blocked_until = left.filter(|left| *left > 0).map(|left| origin + left);
        let Ok(away) = u64::try_from(wall_ms - self.saved_at_ms) else {
            return Window { blocked_until, ..Window::default() };
        };
        let still = |ages: &[u32], memory: u64| -> Vec<u64> {
            let ages = ages.iter().map(|age| u64::from(*age) + away).filter(|age| *age < memory);
            ages.map(|age| origin.saturating_sub(age)).collect()
        };
        Window {
            admissions: still(&self.admission_ages_ms, WINDOW_MS).into(),
            exceedances: still(&self.exceedance_ages_ms, EXCEEDANCE_MEMORY_MS),
            blocked_until,
        }
    }
}

impl Store {
    /// Stores windows, replacing what was there; idle ones are removed. They are taken on the writer's
    /// thread, in the order of the queue, so that no older picture overwrites a younger one.
    pub fn save_windows(
        &self,
        take: impl FnOnce() -> Vec<SavedWindow> + Send + 'static,
    ) -> Result<(), Error> {
        self.write(move |connection| take().iter().try_for_each(|window| save(connection, window)))
    }

    /// All stored windows.
    pub fn load_windows(&self) -> Result<Vec<SavedWindow>, Error> {
        self.read(|connection| {
            let mut rows = connection.prepare(
                "select tenant_id, key_id, tier, saved_at, admissions, exceedances, blocked_until from rate_window",
            )?;
            let windows = rows.query_map([], |row| {
                let tier: String = row.get(2)?;
                Ok(SavedWindow {
                    tenant_id: row.get(0)?,
                    key_id: row.get(1)?,
                    tier: if tier == "v1" { "v1" } else { "v2" },
                    saved_at_ms: row.get(3)?,
                    admission_ages_ms: unpack(&row.get::<_, Vec<u8>>(4)?),
                    exceedance_ages_ms: unpack(&row.get::<_, Vec<u8>>(5)?),
                    blocked_until_ms: row.get(6)?,
                })
            })?;
            windows.collect()
        })
    }
}

fn save(connection: &Connection, window: &SavedWindow) -> Result<(), Error> {
    let idle = window.admission_ages_ms.is_empty()
        && window.exceedance_ages_ms.is_empty()
        && window.blocked_until_ms.is_none();
    let id = (&window.tenant_id, &window.key_id, window.tier);
    if idle {
        let sql = "delete from rate_window where tenant_id = ?1 and key_id = ?2 and tier = ?3";
        return connection
            .prepare_cached(sql)
            .and_then(|mut row| row.execute(id))
            .map(|_| ())
            .map_err(failed);
    }
    // A key that was deleted meanwhile has no window to keep: the select finds nothing to insert.
    let sql = "insert or replace into rate_window
                 (tenant_id, key_id, tier, saved_at, admissions, exceedances, blocked_until)
               select tenant_id, id, ?3, ?4, ?5, ?6, ?7 from api_key where tenant_id = ?1 and id = ?2";
    let values = (
        id.0,
        id.1,
        id.2,
        window.saved_at_ms,
        pack(&window.admission_ages_ms),
        pack(&window.exceedance_ages_ms),
        window.blocked_until_ms,
    );
    connection.prepare_cached(sql).and_then(|mut row| row.execute(values)).map(|_| ()).map_err(failed)
}

fn pack(ages: &[u32]) -> Vec<u8> {
    ages.iter().flat_map(|age| age.to_le_bytes()).collect()
}

fn unpack(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window() -> Window {
        Window {
            admissions: [10_000, 65_000, 70_000].into(),
            exceedances: vec![1_000, 65_000],
            blocked_until: Some(170_000),
        }
    }

    #[test]
    fn a_window_survives_a_short_absence_with_its_ages() {
        let saved = SavedWindow::of(&window(), "tnt_1", "key_1", "v1", 70_000, 1_000_000);
        let revived = saved.revive(500_000, 1_002_000, 300_000);
        assert_eq!(revived.admissions, [493_000, 498_000], "the oldest has left the window");
        assert_eq!(revived.exceedances, [429_000, 493_000]);
        assert_eq!(revived.blocked_until, Some(598_000));
    }

    #[test]
    fn a_clock_set_back_or_far_forward_does_no_harm() {
        let saved = SavedWindow::of(&window(), "tnt_1", "key_1", "v1", 70_000, 1_000_000);
        let back = saved.revive(0, 0, 300_000);
        assert_eq!(back.blocked_until, Some(300_000), "a block never lasts longer than a block");
        assert!(
            back.admissions.is_empty() && back.exceedances.is_empty(),
            "stamps of the future count for nothing"
        );
        assert!(saved.revive(0, i64::MAX / 2, 300_000).is_idle(0));
    }
}
