//! The one writer: a thread that takes acts from a queue and commits them in groups.
//!
//! With synchronous=FULL a commit costs a wait for the disk whatever it holds, so
//! acts that arrive while one commit is under way share the next. A failing act
//! undoes itself and nobody else. The answer to an act leaves after its commit,
//! never before. While the barrier is closed only upkeep is done, and after an error
//! of the disk the connection is opened anew.

use super::barrier::Barrier;
use super::failed;
use crate::error::Error;
use rusqlite::Connection;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Acts that wait at the most; the next writer waits for a place.
const QUEUE_MAX: usize = 1024;
/// Acts in one commit at the most.
const GROUP_MAX: usize = 64;
/// How often the writer looks whether another process changed the file.
const FOREIGN_CHECK: Duration = Duration::from_millis(400);
/// How long a checkpoint waits for readers: writers wait behind it.
const CHECKPOINT_WAIT: Duration = Duration::from_millis(100);
/// How long everything else waits for another process.
const BUSY_WAIT: Duration = Duration::from_secs(5);

/// The handle to the writer's thread.
pub struct Writer {
    queue: SyncSender<Message>,
    thread: JoinHandle<Result<(), Error>>,
}

enum Message {
    Act(Box<dyn Act>),
    Checkpoint(SyncSender<Result<bool, Error>>),
    Stop,
}

/// What the writer's thread needs beside its connection.
pub struct Surroundings {
    /// What stands between an act and the disk.
    pub barrier: Arc<Barrier>,
    /// Opens the connection anew.
    pub reopen: Box<dyn Fn() -> Result<Connection, Error> + Send>,
    /// Called when another process changed the file.
    pub on_foreign_change: Box<dyn Fn() + Send>,
}

/// One act in the queue.
trait Act: Send {
    /// Does the work inside the open transaction; false if it has to be undone.
    fn run(&mut self, connection: &Connection) -> bool;
    /// Tells the caller, after the commit. `fault` says why the whole group failed, if it did.
    fn tell(self: Box<Self>, fault: Option<&str>);
    /// Is it done even while nothing else is written?
    fn is_upkeep(&self) -> bool;
    /// What went wrong on our side.
    fn fault(&self) -> Option<String>;
}

struct Waiting<T, F> {
    work: Option<F>,
    upkeep: bool,
    outcome: Option<Result<T, Error>>,
    caller: SyncSender<Result<T, Error>>,
}

impl<T: Send, F: FnOnce(&Connection) -> Result<T, Error> + Send> Act for Waiting<T, F> {
    fn run(&mut self, connection: &Connection) -> bool {
        let Some(work) = self.work.take() else { return false };
        let outcome = catch_unwind(AssertUnwindSafe(|| work(connection)))
            .unwrap_or_else(|_| Err(Error::Internal("a write panicked".into())));
        let done = outcome.is_ok();
        self.outcome = Some(outcome);
        done
    }

    fn tell(self: Box<Self>, fault: Option<&str>) {
        let outcome = match (fault, self.outcome) {
            (None, Some(outcome)) => outcome,
            // What the act itself found wrong is the better answer, whatever befell the group.
            (Some(_), Some(Err(own))) => Err(own),
            (Some(fault), Some(Ok(_)) | None) => Err(Error::Internal(fault.to_owned())),
            (None, None) => Err(Error::Internal("a write was not run".into())),
        };
        // The caller may have gone away; the write stands all the same.
        let _ = self.caller.send(outcome);
    }

    fn is_upkeep(&self) -> bool {
        self.upkeep
    }

    fn fault(&self) -> Option<String> {
        match &self.outcome {
            Some(Err(Error::Internal(text))) => Some(text.clone()),
            Some(_) | None => None,
        }
    }
}

impl Writer {
    /// Starts the thread.
    pub fn start(connection: Connection, around: Surroundings) -> Result<Writer, Error> {
        let (queue, waiting) = sync_channel(QUEUE_MAX);
        let thread = std::thread::Builder::new()
            .name("writer".into())
            .spawn(move || run(connection, &waiting, &around))
            .map_err(|cause| Error::internal("starting the writer", cause))?;
        Ok(Writer { queue, thread })
    }

    /// Queues an act and waits until it is on the disk, or undone.
    pub fn act<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.wait_for(work, false)
    }

    /// Likewise, and even while the barrier is closed: what makes room needs a little of it.
    pub fn upkeep<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.wait_for(work, true)
    }

    /// Folds the log into the file and empties it. False: a reader was in the way.
    pub fn checkpoint(&self) -> Result<bool, Error> {
        let (caller, answer) = sync_channel(1);
        self.queue.send(Message::Checkpoint(caller)).map_err(|_| gone())?;
        answer.recv().map_err(|_| gone())?
    }

    fn wait_for<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
        upkeep: bool,
    ) -> Result<T, Error> {
        let (caller, answer) = sync_channel(1);
        let act = Box::new(Waiting { work: Some(work), upkeep, outcome: None, caller });
        self.queue.send(Message::Act(act)).map_err(|_| gone())?;
        answer.recv().map_err(|_| gone())?
    }

    /// Is the thread running?
    pub fn is_alive(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Lets the queue run empty, then closes the file.
    pub fn stop(self) -> Result<(), Error> {
        let _ = self.queue.send(Message::Stop);
        drop(self.queue);
        self.thread.join().map_err(|_| Error::Internal("the writer panicked".into()))?
    }
}

fn gone() -> Error {
    Error::Internal("the writer has stopped".into())
}

fn run(mut connection: Connection, queue: &Receiver<Message>, around: &Surroundings) -> Result<(), Error> {
    let mut known_version = data_version(&connection);
    let mut stopping = false;
    while !stopping {
        let first = match queue.recv_timeout(FOREIGN_CHECK) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Disconnected) => Some(Message::Stop),
            Err(RecvTimeoutError::Timeout) => None,
        };
        let Taken { group, checkpoints, stop } = take(first, queue);
        stopping = stop;
        if !group.is_empty() && commit(&connection, group, &around.barrier) {
            // A connection whose disk failed may hold pages that were never stored.
            match (around.reopen)() {
                Ok(fresh) => {
                    connection = fresh;
                    known_version = None;
                }
                Err(error) => log::error!("opening the database anew: {error}"),
            }
        }
        for caller in checkpoints {
            let _ = caller.send(checkpoint(&connection));
        }
        // This connection is the process's only writer, so a moved version is somebody else's doing.
        let version = data_version(&connection);
        if version != known_version {
            known_version = version;
            (around.on_foreign_change)();
        }
    }
    // Fold the log into the file: what is left is one file that can be copied.
    let _ = checkpoint(&connection);
    connection.close().map_err(|(_, cause)| Error::internal("closing the database", cause))
}

/// What was taken from the queue for one commit.
#[derive(Default)]
struct Taken {
    group: Vec<Box<dyn Act>>,
    checkpoints: Vec<SyncSender<Result<bool, Error>>>,
    stop: bool,
}

fn take(first: Option<Message>, queue: &Receiver<Message>) -> Taken {
    let mut taken = Taken::default();
    let mut next = first;
    while let Some(message) = next {
        match message {
            Message::Act(act) => taken.group.push(act),
            Message::Checkpoint(caller) => taken.checkpoints.push(caller),
            Message::Stop => taken.stop = true,
        }
        let more = !taken.group.is_empty() && taken.group.len() < GROUP_MAX;
        next = if more { queue.try_recv().ok() } else { None };
    }
    taken
}

fn checkpoint(connection: &Connection) -> Result<bool, Error> {
    let _ = connection.busy_timeout(CHECKPOINT_WAIT);
    let busy = connection.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get::<_, bool>(0));
    let _ = connection.busy_timeout(BUSY_WAIT);
    busy.map(|busy| !busy).map_err(|cause| Error::internal("folding the log into the file", cause))
}

fn data_version(connection: &Connection) -> Option<i64> {
    connection.query_row("pragma data_version", [], |row| row.get(0)).ok()
}

/// True: the disk failed.
fn commit(connection: &Connection, group: Vec<Box<dyn Act>>, barrier: &Barrier) -> bool {
    let mut group = match barrier.refusal() {
        None => group,
        Some(reason) => {
            let (upkeep, refused): (Vec<_>, Vec<_>) = group.into_iter().partition(|act| act.is_upkeep());
            refused.into_iter().for_each(|act| act.tell(Some(&reason)));
            upkeep
        }
    };
    if group.is_empty() {
        return false;
    }
    let fault = run_group(connection, &mut group).err();
    if fault.is_some() && !connection.is_autocommit() {
        let _ = connection.execute_batch("rollback");
    }
    let text = fault.map(|fault| format!("committing: {fault}"));
    let faults: Vec<String> = group.iter().filter_map(|act| act.fault()).chain(text.clone()).collect();
    let broken = barrier.count(&faults);
    for act in group {
        act.tell(text.as_deref());
    }
    broken
}

fn run_group(connection: &Connection, group: &mut [Box<dyn Act>]) -> Result<(), Error> {
    connection.execute_batch("begin immediate").map_err(failed)?;
    for (position, act) in group.iter_mut().enumerate() {
        // The first needs no savepoint: undoing it undoes nobody else. An import that is alone is thereby spared
        // the copies of all pages it changes, which SQLite walks over at the end of every statement.
        let first = position == 0;
        if !first {
            connection.execute_batch("savepoint act").map_err(failed)?;
        }
        let done = act.run(connection);
        if connection.is_autocommit() {
            // A full disk makes SQLite undo the whole transaction, not only this act.
            return Err(Error::Internal("the transaction was undone by the database".into()));
        }
        let end = match (first, done) {
            (true, true) => continue,
            (true, false) => "rollback; begin immediate",
            (false, true) => "release act",
            (false, false) => "rollback to act; release act",
        };
        connection.execute_batch(end).map_err(failed)?;
    }
    connection.execute_batch("commit").map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{Disk, Reserve};
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn fruit(path: &std::path::Path) -> Connection {
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch("pragma journal_mode = wal; create table fruit (name text unique) strict;")
            .unwrap();
        connection
    }

    fn around(path: &std::path::Path, on_foreign_change: impl Fn() + Send + 'static) -> (Surroundings, Disk) {
        let disk = Disk::standing_at(1000, 1000);
        let reserve = Reserve { disk: disk.clone(), bytes: 100 };
        let file = path.to_owned();
        let around = Surroundings {
            barrier: Arc::new(Barrier::new(path.to_owned(), reserve)),
            reopen: Box::new(move || Connection::open(&file).map_err(failed)),
            on_foreign_change: Box::new(on_foreign_change),
        };
        (around, disk)
    }

    fn add(writer: &Writer, name: &'static str) -> Result<(), Error> {
        writer.act(move |connection| {
            connection.execute("insert into fruit values (?1)", [name]).map(|_| ()).map_err(failed)
        })
    }

    #[test]
    fn a_failing_or_panicking_act_undoes_itself_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let writer = Writer::start(fruit(&path), around(&path, || {}).0).unwrap();
        add(&writer, "pear").unwrap();
        assert!(add(&writer, "pear").is_err());
        let half: Result<(), Error> = writer.act(|connection| {
            connection.execute("insert into fruit values ('half')", []).map_err(failed)?;
            panic!("in the middle")
        });
        assert!(half.is_err());
        add(&writer, "plum").unwrap();
        writer.stop().unwrap();
        let names: i64 = Connection::open(&path)
            .unwrap()
            .query_row("select count(*) from fruit", [], |row| row.get(0))
            .unwrap();
        assert_eq!(names, 2);
    }

    #[test]
    fn of_a_group_each_that_succeeds_is_kept_wherever_the_failing_ones_stand() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("create table fruit (name text) strict").unwrap();
        for good in [[false, true, true], [true, false, true], [true, true, false], [false, false, true]] {
            connection.execute("delete from fruit", []).unwrap();
            let mut answers = Vec::new();
            let mut group: Vec<Box<dyn Act>> = Vec::new();
            for (position, good) in good.into_iter().enumerate() {
                let (caller, answer) = sync_channel(1);
                answers.push(answer);
                let work = move |connection: &Connection| {
                    let name = position.to_string();
                    connection.execute("insert into fruit values (?1)", [name]).map_err(failed)?;
                    if good { Ok(()) } else { Err(Error::NotFound("fruit")) }
                };
                group.push(Box::new(Waiting { work: Some(work), upkeep: false, outcome: None, caller }));
            }
            commit(&connection, group, &around(std::path::Path::new("none.db"), || {}).0.barrier);
            let told: Vec<bool> = answers.iter().map(|answer| answer.recv().unwrap().is_ok()).collect();
            assert_eq!(told, good);
            let kept: Vec<usize> = connection
                .prepare("select cast(name as integer) from fruit order by 1")
                .and_then(|mut rows| rows.query_map([], |row| row.get::<_, i64>(0))?.collect())
                .map(|kept: Vec<i64>| kept.into_iter().map(|position| position as usize).collect())
                .unwrap();
            let expected: Vec<usize> = (0..3).filter(|position| good[*position]).collect();
            assert_eq!(kept, expected, "{good:?}");
            assert!(connection.is_autocommit());
        }
    }

    #[test]
    fn a_change_by_another_connection_is_noticed_and_an_own_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let seen = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&seen);
        let count = move || {
            counter.fetch_add(1, Ordering::SeqCst);
        };
        let writer = Writer::start(fruit(&path), around(&path, count).0).unwrap();
        add(&writer, "pear").unwrap();
        assert_eq!(seen.load(Ordering::SeqCst), 0);
        Connection::open(&path).unwrap().execute("insert into fruit values ('fig')", []).unwrap();
        add(&writer, "plum").unwrap();
        writer.stop().unwrap();
        assert_eq!(seen.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn without_room_only_upkeep_is_done_and_with_room_everything_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let (around, disk) = around(&path, || {});
        let writer = Writer::start(fruit(&path), around).unwrap();
        add(&writer, "pear").unwrap();
        disk.set_free(99);
        let refused = add(&writer, "plum").unwrap_err().to_string();
        assert!(refused.contains("100 bytes are free"), "{refused}");
        writer
            .upkeep(|connection| connection.execute("delete from fruit", []).map(|_| ()).map_err(failed))
            .unwrap();
        assert!(writer.checkpoint().unwrap());
        disk.set_free(100);
        add(&writer, "plum").unwrap();
        writer.stop().unwrap();
    }

    #[test]
    fn after_an_error_of_the_disk_the_connection_is_opened_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let (mut around, _) = around(&path, || {});
        let opened = Arc::new(AtomicUsize::new(0));
        let (counter, reopen) = (Arc::clone(&opened), around.reopen);
        around.reopen = Box::new(move || {
            counter.fetch_add(1, Ordering::SeqCst);
            reopen()
        });
        let writer = Writer::start(fruit(&path), around).unwrap();
        let broken = || writer.act(|_| Err::<(), _>(Error::internal("writing", "disk I/O error")));
        assert!(broken().is_err() && broken().is_err());
        add(&writer, "pear").unwrap();
        assert_eq!(opened.load(Ordering::SeqCst), 2);
        for _ in 0..3 {
            assert!(broken().is_err());
        }
        let refused = add(&writer, "plum").unwrap_err().to_string();
        assert!(refused.contains("until a restart"), "{refused}");
        writer.stop().unwrap();
    }
}
