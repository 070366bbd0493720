//! What the service does by itself, as it is right now: jobs, rules and figures that
//! are costly to take. Memory is fixed: one entry a job and a rule.

use crate::domain::upkeep::{Outcome, RuleState};
use crate::payload::Payload;
use crate::store::TableFigures;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A job and its latest run.
#[derive(Clone, Debug, Default)]
pub struct JobEntry {
    /// Its name.
    pub name: &'static str,
    /// When it runs, for people.
    pub schedule: String,
    /// When it last began.
    pub last_run_at_ms: Option<i64>,
    /// How that ended; none as long as it never did.
    pub outcome: Option<Outcome>,
    /// How long that took.
    pub duration_ms: Option<u64>,
    /// When it runs next; none for one that runs only at start.
    pub next_run_at_ms: Option<i64>,
    /// Since when it is running, by the monotonic clock.
    pub running_since_ms: Option<u64>,
    /// Runs since the start.
    pub runs: u64,
    /// Of these, ended with an error.
    pub failures: u64,
    /// Of these, panicked.
    pub panics: u64,
    /// Of these, took longer than they may.
    pub hangs: u64,
}

impl JobEntry {
    /// Is something wrong with it?
    pub fn is_ill(&self) -> bool {
        match self.outcome {
            Some(Outcome::Failed | Outcome::Panicked | Outcome::Stuck) => true,
            Some(Outcome::Ok) | None => false,
        }
    }
}

/// A rule of the auto-heal.
#[derive(Clone, Debug)]
pub struct RuleEntry {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// How it is.
    pub state: RuleState,
    /// When it last looked.
    pub last_run_at_ms: Option<i64>,
    /// When it last healed something.
    pub last_healed_at_ms: Option<i64>,
    /// How often it did.
    pub heal_count: u64,
}

/// Sizes of all tables, and when they were taken.
#[derive(Clone, Debug)]
pub struct Tables {
    /// When.
    pub as_of_ms: i64,
    /// Each table's.
    pub tables: Vec<TableFigures>,
}

/// The history as it is sent, and how many samples were added since the start.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Moves with every sample.
    pub version: u64,
    /// What is sent, if it was made since the last sample.
    pub payload: Option<Arc<Payload>>,
}

/// All of it.
#[derive(Debug, Default)]
pub struct Ledger {
    jobs: Mutex<Vec<JobEntry>>,
    rules: Mutex<Vec<RuleEntry>>,
    tables: Mutex<Option<Tables>>,
    history: Mutex<History>,
    missed: AtomicU64,
}

fn open<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ledger {
    /// Begins anew with these jobs and rules.
    pub fn begin(&self, jobs: Vec<JobEntry>, rules: Vec<RuleEntry>) {
        *open(&self.jobs) = jobs;
        *open(&self.rules) = rules;
    }

    /// Every job.
    pub fn jobs(&self) -> Vec<JobEntry> {
        open(&self.jobs).clone()
    }

    /// Changes the entry of a job, by its position.
    pub fn job<T>(&self, position: usize, change: impl FnOnce(&mut JobEntry) -> T) -> Option<T> {
        open(&self.jobs).get_mut(position).map(change)
    }

    /// Every rule.
    pub fn rules(&self) -> Vec<RuleEntry> {
        open(&self.rules).clone()
    }

    /// Changes the entry of a rule, by its position.
    pub fn rule<T>(&self, position: usize, change: impl FnOnce(&mut RuleEntry) -> T) -> Option<T> {
        open(&self.rules).get_mut(position).map(change)
    }

    /// The sizes of the tables, as last taken.
    pub fn tables(&self) -> Option<Tables> {
        open(&self.tables).clone()
    }

    /// Keeps the sizes of the tables.
    pub fn keep_tables(&self, tables: Tables) {
        *open(&self.tables) = Some(tables);
    }

    /// The history as it is sent.
    pub fn history(&self) -> History {
        open(&self.history).clone()
    }

    /// Keeps the history as it was made from samples of a version, unless there are newer ones by now.
    pub fn keep_history(&self, version: u64, payload: &Arc<Payload>) {
        let mut history = open(&self.history);
        if history.version == version {
            history.payload = Some(Arc::clone(payload));
        }
    }

    /// There is a new sample: the history is made anew when it is next asked for.
    pub fn forget_history(&self) {
        let mut history = open(&self.history);
        *history = History { version: history.version + 1, payload: None };
    }

    /// A job that had missed its time was run.
    pub fn count_missed(&self) {
        self.missed.fetch_add(1, Ordering::SeqCst);
    }

    /// How many, since somebody last asked.
    pub fn take_missed(&self) -> u64 {
        self.missed.swap(0, Ordering::SeqCst)
    }
}
