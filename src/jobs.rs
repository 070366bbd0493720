//! Clockwork: what the service does by itself, as rows.
//!
//! A row is a name, a schedule and a function. Each run has a thread of its own, so
//! that one that fails, panics or hangs is seen, counted, and stops nobody else.

pub mod clockwork;
mod heal;
mod upkeep;

use crate::app::App;
use crate::domain::actor::Actor;
use crate::error::Error;
use crate::http::dispatch::House;

const SECOND_MS: u64 = 1000;
const MINUTE_MS: u64 = 60 * SECOND_MS;
const HOUR_MS: u64 = 60 * MINUTE_MS;

/// How long a run may take before it counts as stuck.
const PATIENCE_MS: u64 = MINUTE_MS;

/// When a job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Again and again, so many milliseconds after it last began.
    Every(u64),
    /// Once a day at a time of the UTC day: hour and minute.
    Daily(u8, u8),
    /// Once, when the service has started.
    AtStart,
}

/// One job.
#[derive(Clone, Copy)]
pub struct Job {
    /// What it is called.
    pub name: &'static str,
    /// When it runs.
    pub schedule: Schedule,
    /// What it does.
    pub run: fn(&House) -> Result<(), Error>,
    /// It runs at start as well.
    pub at_start: bool,
    /// How long it may take before it counts as stuck.
    pub patience_ms: u64,
    /// Does this installation want it?
    pub wanted: fn(&App) -> bool,
}

/// A job that runs again and again.
pub const fn every(name: &'static str, every_ms: u64, run: fn(&House) -> Result<(), Error>) -> Job {
    let schedule = Schedule::Every(every_ms);
    Job { name, schedule, run, at_start: false, patience_ms: PATIENCE_MS, wanted: |_| true }
}

/// A job that runs once a day, UTC.
pub const fn daily(name: &'static str, hour: u8, minute: u8, run: fn(&House) -> Result<(), Error>) -> Job {
    Job { schedule: Schedule::Daily(hour, minute), ..every(name, 0, run) }
}

/// A job that runs once, at start.
pub const fn at_start(name: &'static str, run: fn(&House) -> Result<(), Error>) -> Job {
    Job { schedule: Schedule::AtStart, ..every(name, 0, run) }
}

impl Job {
    /// It runs at start as well.
    pub const fn and_at_start(self) -> Job {
        Job { at_start: true, ..self }
    }

    /// It may take long: so many milliseconds.
    pub const fn may_take_ms(self, patience_ms: u64) -> Job {
        Job { patience_ms, ..self }
    }

    /// Only some installations want it.
    pub const fn if_wanted(self, wanted: fn(&App) -> bool) -> Job {
        Job { wanted, ..self }
    }
}

/// Every job.
pub static JOBS: &[Job] = &[
    every("rate counts", 500, |house| house.app.save_counts()),
    every("acceptance expiry", MINUTE_MS, |house| house.app.store.reopen_expired_acceptances().map(|_| ())),
    every("deadlines", MINUTE_MS, |house| house.app.store.tell_deadlines(house.app.config.leads).map(|_| ()))
        .and_at_start(),
    every("delivery clean-up", HOUR_MS, |house| house.app.store.prune_deliveries()),
    every("expired sessions", 10 * MINUTE_MS, |house| house.app.store.forget_expired_sessions().map(|_| ())),
    every("health sample", MINUTE_MS, upkeep::sample).and_at_start(),
    every("auto-heal", 2 * SECOND_MS, heal::look_after),
    every("checkpoint", 10 * MINUTE_MS, |house| house.app.store.checkpoint().map(|_| ())),
    every("timeline sync", 6 * HOUR_MS, |house| house.app.sync_timeline(Actor::clock()).map(|_| ())),
    every("disk figures", 6 * HOUR_MS, upkeep::measure).and_at_start().may_take_ms(HOUR_MS),
    at_start("start check", |house| upkeep::verify(house, true)).may_take_ms(HOUR_MS),
    every("self-scan", 24 * HOUR_MS, |house| house.app.scan_self()).and_at_start().may_take_ms(HOUR_MS),
    daily("retention", 2, 0, upkeep::retain),
    daily("nightly backup", 2, 30, upkeep::back_up)
        .may_take_ms(HOUR_MS)
        .if_wanted(|app| app.config.backup_dir.is_some()),
    daily("integrity check", 3, 30, |house| upkeep::verify(house, false)).may_take_ms(HOUR_MS),
];
