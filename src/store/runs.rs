//! What the service remembers of itself: samples of its health, runs of its jobs,
//! and what its rules healed. All of it is bounded.

use super::{Store, failed};
use crate::domain::upkeep::{Outcome, Status};
use crate::error::Error;
use rusqlite::Connection;

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
/// Runs that are kept of each job.
const RUNS_MAX: i64 = 200;

/// How the service was at a moment; `checks` is a JSON object.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// When.
    pub at_ms: i64,
    /// How it was.
    pub status: Status,
    /// The verdict of each check.
    pub checks: String,
}

/// A run of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRun {
    /// Which job.
    pub job: String,
    /// When it began.
    pub started_at_ms: i64,
    /// How long it took.
    pub duration_ms: i64,
    /// How it ended.
    pub outcome: Outcome,
}

/// What a rule has done so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Heal {
    /// Which rule.
    pub rule: String,
    /// How often.
    pub heal_count: u64,
    /// When last.
    pub last_healed_at_ms: i64,
}

impl Store {
    /// Stores a sample.
    pub fn add_sample(&self, sample: Sample) -> Result<(), Error> {
        // Upkeep: the minutes without room are those that people look for later.
        self.writer.upkeep(move |connection| {
            let sql = "insert or replace into health_sample (at, status, checks) values (?1, ?2, ?3)";
            let values = (sample.at_ms, sample.status.name(), sample.checks);
            connection.prepare_cached(sql).and_then(|mut row| row.execute(values)).map(|_| ()).map_err(failed)
        })
    }

    /// The samples of the last days, oldest first. Those of a clock that has been set back are left out.
    pub fn samples(&self, days: i64) -> Result<Vec<Sample>, Error> {
        let now_ms = self.clock.now_ms();
        self.read(|connection| {
            let mut rows = connection.prepare_cached(
                "select at, status, checks from health_sample where at > ?1 and at <= ?2 order by at",
            )?;
            let samples = rows.query_map((now_ms - days * DAY_MS, now_ms + MINUTE_MS), |row| {
                Ok(Sample {
                    at_ms: row.get(0)?,
                    status: super::list::word(row, "status", Status::parse)?,
                    checks: row.get(2)?,
                })
            })?;
            samples.collect()
        })
    }

    /// Stores a run of a job. Of each job the newest are kept.
    pub fn add_run(&self, run: JobRun) -> Result<(), Error> {
        self.write(move |connection| add_run(connection, &run).map_err(failed))
    }

    /// The newest run of each job.
    pub fn last_runs(&self) -> Result<Vec<JobRun>, Error> {
        self.read(|connection| {
            let mut rows = connection.prepare(
                "select job, max(started_at) as started_at, duration_ms, outcome from job_run group by job",
            )?;
            let runs = rows.query_map([], |row| {
                Ok(JobRun {
                    job: row.get(0)?,
                    started_at_ms: row.get(1)?,
                    duration_ms: row.get(2)?,
                    outcome: super::list::word(row, "outcome", Outcome::parse)?,
                })
            })?;
            runs.collect()
        })
    }

    /// Counts that a rule healed something.
    pub fn add_heal(&self, rule: &'static str) -> Result<(), Error> {
        let now_ms = self.clock.now_ms();
        self.writer.upkeep(move |connection| {
            let sql = "insert into heal (rule, heal_count, last_healed_at) values (?1, 1, ?2)
                       on conflict do update set heal_count = heal_count + 1, last_healed_at = ?2";
            connection.execute(sql, (rule, now_ms)).map(|_| ()).map_err(failed)
        })
    }

    /// What every rule has done so far.
    pub fn heals(&self) -> Result<Vec<Heal>, Error> {
        self.read(|connection| {
            let mut rows = connection.prepare("select rule, heal_count, last_healed_at from heal")?;
            let heals = rows.query_map([], |row| {
                Ok(Heal {
                    rule: row.get(0)?,
                    heal_count: u64::try_from(row.get::<_, i64>(1)?).unwrap_or(0),
                    last_healed_at_ms: row.get(2)?,
                })
            })?;
            heals.collect()
        })
    }

    /// Deletes samples older than so many days, and runs older than that; gives how many rows went. Rows of
    /// a far future are of a clock that has been set back: they would never grow old, so they go too.
    pub fn prune_history(&self, days: i64) -> Result<usize, Error> {
        let now_ms = self.clock.now_ms();
        let (oldest, newest) = (now_ms - days * DAY_MS, now_ms + DAY_MS);
        self.writer.upkeep(move |connection| {
            let samples = "delete from health_sample where at <= ?1 or at > ?2";
            // A job that runs once a day would else have no last run.
            let runs = "delete from job_run where (started_at <= ?1 or started_at > ?2)
                        and exists (select 1 from job_run as later
                                    where later.job = job_run.job and later.started_at > job_run.started_at
                                      and later.started_at <= ?2)";
            let samples = connection.execute(samples, (oldest, newest)).map_err(failed)?;
            let runs = connection.execute(runs, (oldest, newest)).map_err(failed)?;
            // An idempotency key counts for a day; a tenant that went quiet would keep its last ones.
            let keys = "delete from idempotency where created_at <= ?1";
            let keys = connection.execute(keys, [now_ms - DAY_MS]).map_err(failed)?;
            Ok(samples + runs + keys)
        })
    }
}

fn add_run(connection: &Connection, run: &JobRun) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "insert or replace into job_run (job, started_at, duration_ms, outcome) values (?1, ?2, ?3, ?4)",
        )?
        .execute((&run.job, run.started_at_ms, run.duration_ms, run.outcome.name()))?;
    connection
        .prepare_cached(
            "delete from job_run where job = ?1 and started_at <=
               (select started_at from job_run where job = ?1 order by started_at desc limit 1 offset ?2)",
        )?
        .execute((&run.job, RUNS_MAX))?;
    Ok(())
}
