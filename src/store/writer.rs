//! The one writer: a thread that takes acts from a queue and commits them in groups.
//!
//! With synchronous=FULL a commit costs a wait for the disk whatever it holds, so
//! acts that arrive while one commit is under way share the next. A failing act
//! undoes itself and nobody else. The answer to an act leaves after its commit,
//! never before.

use super::failed;
use crate::error::Error;
use rusqlite::Connection;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Acts that wait at the most; the next writer waits for a place.
const QUEUE_MAX: usize = 1024;
/// Acts in one commit at the most.
const GROUP_MAX: usize = 64;
/// How often the writer looks whether another process changed the file.
const FOREIGN_CHECK: Duration = Duration::from_millis(400);

/// The handle to the writer's thread.
pub struct Writer {
    queue: SyncSender<Message>,
    thread: JoinHandle<Result<(), Error>>,
}

enum Message {
    Act(Box<dyn Act>),
    Stop,
}

/// One act in the queue.
trait Act: Send {
    /// Does the work inside the open transaction; false if it has to be undone.
    fn run(&mut self, connection: &Connection) -> bool;
    /// Tells the caller, after the commit. `fault` says why the whole group failed, if it did.
    fn tell(self: Box<Self>, fault: Option<&str>);
}

struct Waiting<T, F> {
    work: Option<F>,
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
            (Some(fault), Some(Ok(_)) | None) => Err(Error::internal("committing", fault)),
            (None, None) => Err(Error::Internal("a write was not run".into())),
        };
        // The caller may have gone away; the write stands all the same.
        let _ = self.caller.send(outcome);
    }
}

impl Writer {
    /// Starts the thread. `on_foreign_change` is called when another process changed the file.
    pub fn start(
        connection: Connection,
        on_foreign_change: impl Fn() + Send + 'static,
    ) -> Result<Writer, Error> {
        let (queue, waiting) = sync_channel(QUEUE_MAX);
        let thread = std::thread::Builder::new()
            .name("writer".into())
            .spawn(move || run(connection, &waiting, &on_foreign_change))
            .map_err(|cause| Error::internal("starting the writer", cause))?;
        Ok(Writer { queue, thread })
    }

    /// Queues an act and waits until it is on the disk, or undone.
    pub fn act<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (caller, answer) = sync_channel(1);
        let act = Box::new(Waiting { work: Some(work), outcome: None, caller });
        let gone = || Error::Internal("the writer has stopped".into());
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

fn run(
    connection: Connection,
    queue: &Receiver<Message>,
    on_foreign_change: &impl Fn(),
) -> Result<(), Error> {
    let mut known_version = data_version(&connection);
    let mut stopping = false;
    while !stopping {
        let mut group = Vec::new();
        match queue.recv_timeout(FOREIGN_CHECK) {
            Ok(Message::Act(act)) => group.push(act),
            Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => stopping = true,
            Err(RecvTimeoutError::Timeout) => {}
        }
        while !group.is_empty() && group.len() < GROUP_MAX {
            match queue.try_recv() {
                Ok(Message::Act(act)) => group.push(act),
                Ok(Message::Stop) => stopping = true,
                Err(_) => break,
            }
        }
        if !group.is_empty() {
            commit(&connection, group);
        }
        // This connection is the process's only writer, so a moved version is somebody else's doing.
        let version = data_version(&connection);
        if version != known_version {
            known_version = version;
            on_foreign_change();
        }
    }
    // Fold the log into the file: what is left is one file that can be copied.
    let _ = connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()));
    connection.close().map_err(|(_, cause)| Error::internal("closing the database", cause))
}

fn data_version(connection: &Connection) -> Option<i64> {
    connection.query_row("pragma data_version", [], |row| row.get(0)).ok()
}

fn commit(connection: &Connection, mut group: Vec<Box<dyn Act>>) {
    let fault = run_group(connection, &mut group).err();
    if fault.is_some() && !connection.is_autocommit() {
        let _ = connection.execute_batch("rollback");
    }
    let text = fault.map(|fault| fault.to_string());
    for act in group {
        act.tell(text.as_deref());
    }
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
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn fruit(path: &std::path::Path) -> Connection {
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch("pragma journal_mode = wal; create table fruit (name text unique) strict;")
            .unwrap();
        connection
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
        let writer = Writer::start(fruit(&path), || {}).unwrap();
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
                group.push(Box::new(Waiting { work: Some(work), outcome: None, caller }));
            }
            commit(&connection, group);
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
        let writer = Writer::start(fruit(&path), move || {
            counter.fetch_add(1, Ordering::SeqCst);
        })
        .unwrap();
        add(&writer, "pear").unwrap();
        assert_eq!(seen.load(Ordering::SeqCst), 0);
        Connection::open(&path).unwrap().execute("insert into fruit values ('fig')", []).unwrap();
        add(&writer, "plum").unwrap();
        writer.stop().unwrap();
        assert_eq!(seen.load(Ordering::SeqCst), 1);
    }
}
