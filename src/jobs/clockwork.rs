//! The thread that looks at the clock, begins what is due, and sees what does not end.
//!
//! Distances are counted by the monotonic clock, so a wall clock that is set back or
//! forth makes no storm: at most every job runs once more.

use super::heal;
use super::{HOUR_MS, Job, MINUTE_MS, Schedule};
use crate::domain::upkeep::Outcome;
use crate::error::Error;
use crate::http::dispatch::House;
use crate::ledger::JobEntry;
use crate::store::JobRun;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long the thread sleeps between two looks at the clock.
const TICK: Duration = Duration::from_millis(250);
/// How long a stop waits for what is running.
const STOP_WAIT: Duration = Duration::from_secs(2);
/// With less room than this on its disk even a small write may fail.
const ROOM_MIN_BYTES: u64 = 1024 * 1024;
/// A job that is this late has missed its time.
const LATE_MS: u64 = MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS as i64;

/// The running clockwork.
pub struct Clockwork {
    stop: SyncSender<()>,
    /// Gives, at its end, the channel that stays open as long as a run goes on.
    thread: JoinHandle<Receiver<()>>,
}

/// When a job is due: by the monotonic clock, or by the wall clock for a time of the day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Due {
    elapsed_ms: Option<u64>,
    wall_ms: Option<i64>,
}

struct Slot {
    job: Job,
    due: Due,
    /// When a run of it was last stored, by the monotonic clock.
    stored_ms: Option<u64>,
    /// When the run began that was told to be stuck.
    told_ms: Option<u64>,
    /// It failed while the disk had no room.
    starved: bool,
}

impl Clockwork {
    /// Starts it.
    pub fn start(house: Arc<House>, jobs: &[Job]) -> Result<Clockwork, Error> {
        let slots = plan(&house, jobs)?;
        let (stop, stopped) = sync_channel(1);
        let (alive, running) = channel();
        let thread = std::thread::Builder::new()
            .name("jobs".into())
            .spawn(move || {
                turn(&house, slots, &stopped, &alive);
                running
            })
            .map_err(|cause| Error::internal("starting the jobs", cause))?;
        Ok(Clockwork { stop, thread })
    }

    /// Begins nothing more and waits a little for what is running.
    pub fn stop(self) {
        let _ = self.stop.send(());
        match self.thread.join() {
            Err(_) => log::error!("the thread of the jobs panicked"),
            // Every run holds the other end; nothing is ever sent.
            Ok(running) if running.recv_timeout(STOP_WAIT) == Err(RecvTimeoutError::Timeout) => {
                log::warn!("a job is still running and is left behind");
            }
            Ok(_) => {}
        }
    }
}

/// When each job is due for the first time. What should have run while the service was away runs now.
fn plan(house: &House, jobs: &[Job]) -> Result<Vec<Slot>, Error> {
    let app = &house.app;
    let runs = app.store.last_runs()?;
    let (now_ms, elapsed_ms) = (app.clock.now_ms(), app.clock.elapsed_ms());
    let mut entries = Vec::new();
    let mut slots = Vec::new();
    for job in jobs.iter().filter(|job| (job.wanted)(app)) {
        let last = runs.iter().find(|run| run.job == job.name);
        let due = first_due(job, last.map(|run| run.started_at_ms), now_ms, elapsed_ms);
        entries.push(JobEntry {
            name: job.name,
            schedule: job.schedule.text(),
            last_run_at_ms: last.map(|run| run.started_at_ms),
            outcome: last.map(|run| run.outcome),
            duration_ms: last.and_then(|run| u64::try_from(run.duration_ms).ok()),
            next_run_at_ms: due.wall_ms,
            ..JobEntry::default()
        });
        slots.push(Slot { job: *job, due, stored_ms: None, told_ms: None, starved: false });
    }
    app.ledger.begin(entries, heal::entries(house)?);
    Ok(slots)
}

impl Schedule {
    /// For people.
    pub fn text(self) -> String {
        match self {
            Schedule::Every(ms) if ms % HOUR_MS == 0 => format!("every {} h", ms / HOUR_MS),
            Schedule::Every(ms) if ms % MINUTE_MS == 0 => format!("every {} min", ms / MINUTE_MS),
            Schedule::Every(ms) if ms % 1000 == 0 => format!("every {} s", ms / 1000),
            Schedule::Every(ms) => format!("every {ms} ms"),
            Schedule::Daily(hour, minute) => format!("daily at {hour:02}:{minute:02} UTC"),
            Schedule::AtStart => "at start".into(),
        }
    }

    /// When it is due again after a run that begins now.
    fn next(self, now_ms: i64, elapsed_ms: u64) -> Due {
        match self {
            Schedule::Every(ms) => Due {
                elapsed_ms: Some(elapsed_ms + ms),
                wall_ms: Some(now_ms.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX))),
            },
            Schedule::Daily(hour, minute) => {
                let time_ms = (i64::from(hour) * 60 + i64::from(minute)) * MINUTE_MS as i64;
                let today = now_ms.div_euclid(DAY_MS) * DAY_MS + time_ms;
                Due { elapsed_ms: None, wall_ms: Some(if today > now_ms { today } else { today + DAY_MS }) }
            }
            Schedule::AtStart => Due::default(),
        }
    }

    /// When it should have run for the last time, given when it did, if its runs are far enough apart to be
    /// missed over a restart. A run in the future is of a clock that has been set back.
    fn owed_since(self, last_ms: i64, now_ms: i64) -> Option<i64> {
        let owed_ms = match self {
            Schedule::Every(ms) if ms >= HOUR_MS => {
                last_ms.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX))
            }
            Schedule::Daily(..) => self.next(now_ms, 0).wall_ms?.saturating_sub(DAY_MS),
            Schedule::Every(_) | Schedule::AtStart => return None,
        };
        (last_ms < owed_ms && owed_ms <= now_ms).then_some(owed_ms)
    }
}

fn first_due(job: &Job, last_ms: Option<i64>, now_ms: i64, elapsed_ms: u64) -> Due {
    let owed_ms = last_ms.and_then(|last_ms| job.schedule.owed_since(last_ms, now_ms));
    let at_start = job.at_start || job.schedule == Schedule::AtStart;
    match owed_ms {
        // Its time was while the service was away.
        Some(owed_ms) => Due { elapsed_ms: Some(elapsed_ms), wall_ms: Some(owed_ms) },
        None if at_start => Due { elapsed_ms: Some(elapsed_ms), wall_ms: Some(now_ms) },
        None => job.schedule.next(now_ms, elapsed_ms),
    }
}

fn turn(house: &Arc<House>, mut slots: Vec<Slot>, stopped: &Receiver<()>, alive: &Sender<()>) {
    while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        let room = has_room(house);
        for (position, slot) in slots.iter_mut().enumerate() {
            look(house, position, slot, alive, room);
        }
    }
}

/// Can jobs write at the moment?
fn has_room(house: &House) -> bool {
    let store = &house.app.store;
    store.write_refusal().is_none() && store.space().is_none_or(|space| space.free_bytes >= ROOM_MIN_BYTES)
}

fn look(house: &Arc<House>, position: usize, slot: &mut Slot, alive: &Sender<()>, room: bool) {
    let clock = &house.app.clock;
    let (now_ms, elapsed_ms) = (clock.now_ms(), clock.elapsed_ms());
    if let Some(since_ms) = house.app.ledger.job(position, |entry| entry.running_since_ms).flatten() {
        if elapsed_ms.saturating_sub(since_ms) > slot.job.patience_ms && slot.told_ms != Some(since_ms) {
            slot.told_ms = Some(since_ms);
            see_stuck(house, position, slot.job.name, elapsed_ms - since_ms, alive);
        }
        return;
    }
    if slot.is_of_a_clock_set_back(now_ms) {
        slot.due = slot.job.schedule.next(now_ms, elapsed_ms);
        house.app.ledger.job(position, |entry| entry.next_run_at_ms = slot.due.wall_ms);
    }
    let failed = house.app.ledger.job(position, |entry| entry.outcome == Some(Outcome::Failed)) == Some(true);
    // What failed for want of room is done when there is some, not a day later.
    let again = failed && slot.starved && room;
    slot.starved = failed && (slot.starved || !room) && !again;
    let late_ms = slot.due.late_ms(now_ms, elapsed_ms).or(again.then_some(0));
    let Some(late_ms) = late_ms else { return };
    if late_ms > LATE_MS {
        log::warn!("job `{}` missed its time and is run now", slot.job.name);
        house.app.ledger.count_missed();
    }
    slot.due = slot.job.schedule.next(now_ms, elapsed_ms);
    begin(house, position, slot, alive);
}

impl Slot {
    /// A time of the day is never more than a day away.
    fn is_of_a_clock_set_back(&self, now_ms: i64) -> bool {
        self.due.wall_ms.is_some_and(|wall_ms| match self.job.schedule {
            Schedule::Daily(..) => wall_ms.saturating_sub(now_ms) > DAY_MS,
            Schedule::Every(_) | Schedule::AtStart => false,
        })
    }
}

impl Due {
    /// How late it is, if it is due. By the wall clock alone a distance is due only when it was missed:
    /// the machine slept, or somebody set the clock.
    fn late_ms(self, now_ms: i64, elapsed_ms: u64) -> Option<u64> {
        let by_wall = self.wall_ms.and_then(|wall_ms| u64::try_from(now_ms.saturating_sub(wall_ms)).ok());
        match self.elapsed_ms {
            Some(due_ms) => {
                let missed = by_wall.filter(|late_ms| *late_ms > LATE_MS);
                missed.max(elapsed_ms.checked_sub(due_ms))
            }
            None => by_wall,
        }
    }
}

/// A run that does not end is told once, and nothing is begun on top of it.
fn see_stuck(house: &Arc<House>, position: usize, name: &str, running_ms: u64, alive: &Sender<()>) {
    let started_at_ms = house.app.ledger.job(position, |entry| {
        entry.outcome = Some(Outcome::Stuck);
        entry.duration_ms = Some(running_ms);
        entry.hangs += 1;
        entry.last_run_at_ms
    });
    let Some(started_at_ms) = started_at_ms.flatten() else { return };
    log::error!("job `{name}` is stuck: it has been running for {running_ms} ms");
    let run = job_run(name, started_at_ms, running_ms, Outcome::Stuck);
    let (house, alive) = (Arc::clone(house), alive.clone());
    // On a thread of its own: what holds up the job may hold up this write too.
    let _ = std::thread::Builder::new().name("jobs".into()).spawn(move || {
        store(&house, run);
        drop(house);
        drop(alive);
    });
}

fn begin(house: &Arc<House>, position: usize, slot: &mut Slot, alive: &Sender<()>) {
    let (now_ms, elapsed_ms) = (house.app.clock.now_ms(), house.app.clock.elapsed_ms());
    let before = house.app.ledger.job(position, |entry| {
        entry.last_run_at_ms = Some(now_ms);
        entry.next_run_at_ms = slot.due.wall_ms;
        entry.running_since_ms = Some(elapsed_ms);
        entry.runs += 1;
        entry.outcome
    });
    let before = before.flatten();
    // Runs that come many times a minute are stored once a minute, and whenever their outcome changes.
    let fresh = slot.stored_ms.is_some_and(|at_ms| elapsed_ms.saturating_sub(at_ms) < MINUTE_MS);
    if !fresh {
        slot.stored_ms = Some(elapsed_ms);
    }
    let (job, shared, alive) = (slot.job, Arc::clone(house), alive.clone());
    let spawned = std::thread::Builder::new().name("job".into()).spawn(move || {
        let (outcome, error) = run(&job, &shared);
        let took_ms = shared.app.clock.elapsed_ms().saturating_sub(elapsed_ms);
        end(&shared, position, outcome, took_ms);
        tell(job.name, outcome, before, error);
        if !fresh || before != Some(outcome) {
            store(&shared, job_run(job.name, now_ms, took_ms, outcome));
        }
        drop(shared);
        drop(alive);
    });
    if let Err(cause) = spawned {
        log::error!("job `{}` could not begin: {cause}", slot.job.name);
        end(house, position, Outcome::Failed, 0);
    }
}

fn run(job: &Job, house: &House) -> (Outcome, Option<Error>) {
    match catch_unwind(AssertUnwindSafe(|| (job.run)(house))) {
        Ok(Ok(())) => (Outcome::Ok, None),
        Ok(Err(error)) => (Outcome::Failed, Some(error)),
        Err(_) => (Outcome::Panicked, None),
    }
}

fn end(house: &House, position: usize, outcome: Outcome, took_ms: u64) {
    house.app.ledger.job(position, |entry| {
        entry.running_since_ms = None;
        entry.outcome = Some(outcome);
        entry.duration_ms = Some(took_ms);
        match outcome {
            Outcome::Failed => entry.failures += 1,
            Outcome::Panicked => entry.panics += 1,
            Outcome::Ok | Outcome::Stuck => {}
        }
    });
}

/// A fault is told when it begins; one that lasts fills no log.
fn tell(name: &str, outcome: Outcome, before: Option<Outcome>, error: Option<Error>) {
    let level = if before == Some(outcome) { log::Level::Debug } else { log::Level::Error };
    match (outcome, error) {
        (Outcome::Ok, _) => {}
        (_, Some(error)) => log::log!(level, "job `{name}`: {error}"),
        (Outcome::Failed | Outcome::Panicked | Outcome::Stuck, None) => {
            log::log!(level, "job `{name}` panicked")
        }
    }
}

fn job_run(job: &str, started_at_ms: i64, took_ms: u64, outcome: Outcome) -> JobRun {
    let duration_ms = i64::try_from(took_ms).unwrap_or(i64::MAX);
    JobRun { job: job.to_owned(), started_at_ms, duration_ms, outcome }
}

fn store(house: &House, run: JobRun) {
    if let Err(error) = house.app.store.add_run(run) {
        log::debug!("a job's run was not stored: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::super::{at_start, daily, every};
    use super::*;
    use crate::app::App;
    use crate::chance::Chance;
    use crate::clock::Clock;
    use crate::config::{Config, Flags};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Condvar, Mutex};
    use tempfile::TempDir;

    /// 2026-11-15T08:00:00Z
    const START_MS: i64 = 1_794_729_600_000;

    fn house(folder: &TempDir, clock: &Clock) -> Arc<House> {
        house_on(folder, clock, &crate::disk::Disk::system())
    }

    fn house_on(folder: &TempDir, clock: &Clock, disk: &crate::disk::Disk) -> Arc<House> {
        let mut config = Config::read(&Flags::default(), &|_| None).unwrap();
        config.db = folder.path().join("test.db");
        config.reserve.disk = disk.clone();
        let app = App::open(config, clock.clone(), Chance::system(), Vec::new()).unwrap();
        Arc::new(House::new(app, &[], &crate::pages::SITE).unwrap())
    }

    /// One look at the clock, and the end of everything that was begun by it.
    fn tick(house: &Arc<House>, slots: &mut [Slot]) {
        let (alive, running) = channel();
        for (position, slot) in slots.iter_mut().enumerate() {
            look(house, position, slot, &alive, has_room(house));
        }
        drop(alive);
        assert_eq!(running.recv_timeout(Duration::from_secs(10)), Err(RecvTimeoutError::Disconnected));
    }

    #[test]
    fn a_job_that_fails_or_panics_is_counted_and_stops_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::standing_at(START_MS);
        let house = house(&folder, &clock);
        let jobs = [
            every("panics", 1000, |_| panic!("in the middle")),
            every("fails", 1000, |_| Err(Error::Internal("no luck".into()))),
            every("works", 1000, |_| Ok(())),
        ];
        let mut slots = plan(&house, &jobs).unwrap();
        for _ in 0..3 {
            clock.advance_ms(1000);
            tick(&house, &mut slots);
        }
        let told: Vec<_> = house
            .app
            .ledger
            .jobs()
            .iter()
            .map(|job| (job.outcome, job.runs, job.failures, job.panics))
            .collect();
        assert_eq!(
            told,
            [
                (Some(Outcome::Panicked), 3, 0, 3),
                (Some(Outcome::Failed), 3, 3, 0),
                (Some(Outcome::Ok), 3, 0, 0),
            ]
        );
        assert_eq!(house.app.store.last_runs().unwrap().len(), 3);
    }

    static GATE: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());
    static OTHERS: AtomicU64 = AtomicU64::new(0);

    #[test]
    fn a_job_that_hangs_is_seen_and_counted_once_and_the_others_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::standing_at(START_MS);
        let house = house(&folder, &clock);
        let jobs = [
            every("hangs", 1000, |_| {
                drop(GATE.1.wait_while(GATE.0.lock().unwrap(), |open| !*open).unwrap());
                Ok(())
            }),
            every("others", 1000, |_| {
                OTHERS.fetch_add(1, Ordering::SeqCst);
                Ok(())
            }),
        ];
        let mut slots = plan(&house, &jobs).unwrap();
        let (alive, running) = channel();
        for _ in 0..200 {
            clock.advance_ms(1000);
            for (position, slot) in slots.iter_mut().enumerate() {
                look(&house, position, slot, &alive, true);
            }
            // Until the other job has ended; the hanging one never sends anything either.
            let _ = running.recv_timeout(Duration::from_millis(3));
        }
        let hanging = house.app.ledger.jobs()[0].clone();
        assert_eq!((hanging.outcome, hanging.runs, hanging.hangs), (Some(Outcome::Stuck), 1, 1));
        assert!(crate::health::look(&house.app).status == crate::domain::upkeep::Status::Degraded);
        assert!(OTHERS.load(Ordering::SeqCst) > 100, "{}", OTHERS.load(Ordering::SeqCst));
        *GATE.0.lock().unwrap() = true;
        GATE.1.notify_all();
        drop(alive);
        assert_eq!(running.recv_timeout(Duration::from_secs(10)), Err(RecvTimeoutError::Disconnected));
        assert_eq!(house.app.ledger.jobs()[0].outcome, Some(Outcome::Ok), "it ended after all");
    }

    #[test]
    fn a_daily_job_whose_time_was_while_the_service_was_away_is_run_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::standing_at(START_MS);
        let jobs = [daily("night", 2, 30, |_| Ok(())), at_start("first", |_| Ok(()))];
        {
            let house = house(&folder, &clock);
            let mut slots = plan(&house, &jobs).unwrap();
            tick(&house, &mut slots);
            assert_eq!(house.app.ledger.jobs()[0].runs, 0, "it is eight o'clock");
            assert_eq!(house.app.ledger.jobs()[1].runs, 1);
            // 02:30 of the next day.
            clock.advance_ms(18 * 3_600_000 + 30 * 60_000);
            tick(&house, &mut slots);
            tick(&house, &mut slots);
            assert_eq!(house.app.ledger.jobs()[0].runs, 1);
            assert_eq!(house.app.ledger.take_missed(), 0);
        }
        // Away for two nights.
        clock.advance_ms(2 * DAY_MS + 3_600_000);
        let house = house(&folder, &clock);
        let mut slots = plan(&house, &jobs).unwrap();
        tick(&house, &mut slots);
        tick(&house, &mut slots);
        let night = house.app.ledger.jobs()[0].clone();
        assert_eq!((night.runs, house.app.ledger.take_missed()), (1, 1));
        assert_eq!(night.next_run_at_ms.map(crate::clock::rfc3339), Some("2026-11-19T02:30:00Z".into()));
    }

    #[test]
    fn a_clock_that_jumps_makes_no_storm() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::standing_at(START_MS);
        let house = house(&folder, &clock);
        let jobs = [
            every("second", 1000, |_| Ok(())),
            every("hour", HOUR_MS, |_| Ok(())),
            daily("night", 2, 30, |_| Ok(())),
        ];
        let mut slots = plan(&house, &jobs).unwrap();
        let hour = HOUR_MS as i64;
        let runs = || -> Vec<u64> { house.app.ledger.jobs().iter().map(|job| job.runs).collect() };
        for jump in [-hour, hour, -DAY_MS, 3650 * DAY_MS, -3650 * DAY_MS, i64::MIN / 4, i64::MAX / 4] {
            let before = runs();
            clock.jump_to(START_MS.saturating_add(jump));
            for _ in 0..5 {
                tick(&house, &mut slots);
            }
            for (after, before) in runs().iter().zip(before) {
                assert!(after - before <= 1, "{jump}: {:?}", runs());
            }
        }
        // Set back to 1970, the night still comes within a day.
        clock.jump_to(0);
        tick(&house, &mut slots);
        let before = runs()[2];
        for _ in 0..25 {
            clock.advance_ms(hour);
            tick(&house, &mut slots);
        }
        assert_eq!(runs()[2], before + 1);
    }

    #[test]
    fn quick_jobs_fill_neither_the_table_nor_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::standing_at(START_MS);
        let house = house(&folder, &clock);
        let jobs = [every("quick", 500, |_| Ok(())), every("slow", MINUTE_MS, |_| Ok(()))];
        let mut slots = plan(&house, &jobs).unwrap();
        for _ in 0..600 {
            clock.advance_ms(500);
            tick(&house, &mut slots);
        }
        let stored = |job: &str| {
            let connection = rusqlite::Connection::open(folder.path().join("test.db")).unwrap();
            let sql = "select count(*) from job_run where job = ?1";
            connection.query_row(sql, [job], |row| row.get::<_, i64>(0)).unwrap()
        };
        assert_eq!(house.app.ledger.jobs()[0].runs, 600);
        assert!((4..=6).contains(&stored("quick")), "{}", stored("quick"));
        for _ in 0..300 {
            clock.advance_ms(60_000);
            tick(&house, &mut slots);
        }
        assert_eq!(stored("slow"), 200);
    }

    #[test]
    fn a_daily_job_that_failed_for_want_of_room_runs_again_when_there_is_some() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::standing_at(START_MS);
        let disk = crate::disk::Disk::standing_at(u64::MAX / 2, u64::MAX / 2);
        let house = house_on(&folder, &clock, &disk);
        let write = |house: &House| house.app.store.create_tenant("x").map(|_| ());
        let mut slots = plan(&house, &[daily("night", 2, 30, write)]).unwrap();
        disk.set_free(0);
        clock.advance_ms(DAY_MS);
        for _ in 0..3 {
            tick(&house, &mut slots);
        }
        let told = || house.app.ledger.jobs()[0].clone();
        assert_eq!((told().outcome, told().runs), (Some(Outcome::Failed), 1), "no storm while there is none");
        disk.set_free(u64::MAX / 2);
        for _ in 0..3 {
            tick(&house, &mut slots);
        }
        assert_eq!((told().outcome, told().runs), (Some(Outcome::Ok), 2));
    }

    #[test]
    fn a_schedule_reads_like_a_sentence() {
        let texts =
            [Schedule::Every(500), Schedule::Every(60_000), Schedule::Daily(2, 30), Schedule::AtStart];
        assert_eq!(
            texts.map(Schedule::text),
            ["every 500 ms", "every 1 min", "daily at 02:30 UTC", "at start"]
        );
    }
}
