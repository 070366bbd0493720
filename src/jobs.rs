//! Clockwork: what the service does by itself, as rows. One thread runs them in turn.

use crate::error::Error;
use crate::http::dispatch::House;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// One job.
pub struct Job {
    /// What it is called in the log.
    pub name: &'static str,
    /// How often it runs.
    pub every_ms: u64,
    /// Does it run at the start too, right after it?
    pub at_start: bool,
    /// What it does.
    pub run: fn(&House) -> Result<(), Error>,
}

/// Every job.
pub static JOBS: &[Job] = &[
    Job { name: "rate counts", every_ms: 500, at_start: false, run: |house| house.app.save_counts() },
    Job { name: "deadlines", every_ms: 60_000, run: tell_deadlines, at_start: true },
    Job {
        name: "delivery clean-up",
        every_ms: 3_600_000,
        run: |house| house.app.store.prune_deliveries(),
        at_start: false,
    },
    Job { name: "acceptance expiry", every_ms: 60_000, at_start: false, run: reopen },
    Job { name: "expired sessions", every_ms: 600_000, at_start: false, run: forget_sessions },
    Job { name: "self-scan", every_ms: 86_400_000, at_start: true, run: |house| house.app.scan_self() },
];

fn tell_deadlines(house: &House) -> Result<(), Error> {
    house.app.store.tell_deadlines(house.app.config.leads).map(|_| ())
}

fn reopen(house: &House) -> Result<(), Error> {
    house.app.store.reopen_expired_acceptances().map(|_| ())
}

fn forget_sessions(house: &House) -> Result<(), Error> {
    house.app.store.forget_expired_sessions().map(|_| ())
}

/// How long the thread sleeps between two looks at the clock.
const TICK: Duration = Duration::from_millis(250);

/// The thread that runs the jobs.
pub struct Clockwork {
    stop: SyncSender<()>,
    thread: JoinHandle<()>,
}

impl Clockwork {
    /// Starts it.
    pub fn start(house: Arc<House>) -> Result<Clockwork, Error> {
        let (stop, stopped) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("jobs".into())
            .spawn(move || turn(&house, &stopped))
            .map_err(|cause| Error::internal("starting the jobs", cause))?;
        Ok(Clockwork { stop, thread })
    }

    /// Stops it after the job that is running.
    pub fn stop(self) {
        let _ = self.stop.send(());
        if self.thread.join().is_err() {
            log::error!("the thread of the jobs panicked");
        }
    }
}

fn turn(house: &House, stopped: &Receiver<()>) {
    let first = |job: &Job| house.app.clock.elapsed_ms() + if job.at_start { 0 } else { job.every_ms };
    let mut due: Vec<u64> = JOBS.iter().map(first).collect();
    while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        for (job, due_ms) in JOBS.iter().zip(&mut due) {
            let now_ms = house.app.clock.elapsed_ms();
            if now_ms >= *due_ms {
                *due_ms = now_ms + job.every_ms;
                run(job, house);
            }
        }
    }
}

/// A job that fails or panics is told to the log and runs again at its next time.
fn run(job: &Job, house: &House) {
    match catch_unwind(AssertUnwindSafe(|| (job.run)(house))) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => log::error!("job `{}`: {error}", job.name),
        Err(_) => log::error!("job `{}` panicked", job.name),
    }
}
