//! How the service is: a few quick looks, each with its limit. Nothing here waits
//! for long, and nothing tells of a path, a tenant or a person.

use crate::app::App;
use crate::domain::alert::Alert;
use crate::domain::upkeep::{Status, Verdict};
use serde_json::{Map, Value};
use std::sync::atomic::Ordering;

/// Below this share of the disk people are warned.
const LOW_SHARE: u64 = 10;

/// One look.
#[derive(Clone, Debug)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// What was found.
    pub verdict: Verdict,
    /// The figure, where there is one.
    pub value: Option<u64>,
    /// What it may be.
    pub limit: Option<u64>,
    /// How long the look took.
    pub duration_us: u64,
}

/// All looks, and what follows.
#[derive(Clone, Debug)]
pub struct Report {
    /// How the service is.
    pub status: Status,
    /// Why.
    pub checks: Vec<Check>,
}

/// One row: its name, whether the service is down without it, and the look.
type Look = (&'static str, bool, fn(&App) -> Found);

struct Found {
    verdict: Verdict,
    value: Option<u64>,
    limit: Option<u64>,
}

/// Every look.
static LOOKS: &[Look] = &[
    ("database_read", true, read),
    ("database_write", false, |app| plain(app.store.write_refusal().is_none())),
    ("integrity", true, |app| plain(!app.store.is_damaged())),
    ("disk", false, disk),
    ("wal", false, wal),
    ("jobs", false, jobs),
    ("accepting", true, |app| plain(!app.stopping.load(Ordering::SeqCst))),
];

/// Looks at everything.
pub fn look(app: &App) -> Report {
    let mut status = Status::Ok;
    let mut checks = Vec::with_capacity(LOOKS.len());
    for (name, vital, look) in LOOKS {
        let began_us = app.clock.elapsed_us();
        let Found { verdict, value, limit } = look(app);
        let duration_us = app.clock.elapsed_us().saturating_sub(began_us);
        if verdict == Verdict::Failed {
            status = status.max(if *vital { Status::Down } else { Status::Degraded });
        }
        checks.push(Check { name, verdict, value, limit, duration_us });
    }
    Report { status, checks }
}

/// The alert of a service that is not well.
pub fn alerts(app: &App) -> Vec<Alert> {
    let report = look(app);
    let status = match report.status {
        Status::Ok => None,
        Status::Degraded | Status::Down => Some(report.status.name()),
    };
    let failed = report.checks.iter().filter(|check| check.verdict == Verdict::Failed);
    let failing: Vec<&str> = failed.map(|check| check.name).collect();
    status.map(|status| Alert::of_health(status, &failing, app.clock.now_ms())).into_iter().collect()
}

impl Report {
    /// The verdict of each check, by its name.
    pub fn verdicts(&self) -> Map<String, Value> {
        self.checks.iter().map(|check| (check.name.into(), check.verdict.name().into())).collect()
    }
}

fn plain(good: bool) -> Found {
    Found { verdict: if good { Verdict::Ok } else { Verdict::Failed }, value: None, limit: None }
}

fn read(app: &App) -> Found {
    let probed = app.store.probe_reader();
    if let Err(error) = &probed {
        log::error!("health: {error}");
    }
    plain(probed.is_ok())
}

fn disk(app: &App) -> Found {
    let limit = app.store.reserve_bytes();
    let Some(space) = app.store.space() else {
        return Found { verdict: Verdict::Low, value: None, limit: Some(limit) };
    };
    let verdict = match space.free_bytes {
        free if free < limit => Verdict::Failed,
        free if free < space.total_bytes / LOW_SHARE => Verdict::Low,
        _ => Verdict::Ok,
    };
    Found { verdict, value: Some(space.free_bytes), limit: Some(limit) }
}

/// A log over its limit is a warning: the auto-heal folds it.
fn wal(app: &App) -> Found {
    let (bytes, limit) = (app.store.file_bytes().1, app.config.wal_limit_bytes);
    let verdict = if bytes > limit { Verdict::Low } else { Verdict::Ok };
    Found { verdict, value: Some(bytes), limit: Some(limit) }
}

fn jobs(app: &App) -> Found {
    let ill = app.ledger.jobs().iter().filter(|job| job.is_ill()).count() as u64;
    Found { verdict: if ill > 0 { Verdict::Failed } else { Verdict::Ok }, value: Some(ill), limit: Some(0) }
}
