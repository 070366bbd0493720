//! When nothing is written: the disk is nearly full, or the file can no longer be trusted.
//!
//! A refused write changes nothing and costs nothing; reads go on. Room that comes
//! back opens the barrier by itself, a damaged file keeps it closed until a restart. A file that has become
//! read-only does not close it: the next write tells whether it still is.

use crate::disk::{Reserve, Space, is_protected};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// So many broken commits in a row, and no further one is tried.
const BROKEN_MAX: u32 = 3;
/// What SQLite says when the disk, or the file, is at fault. Its texts are fixed, and an act's own error has
/// nothing else to be told by.
const BROKEN: &[&str] = &["disk I/O error", "disk image is malformed", "file is not a database"];
/// What it says when the file, or its disk, takes no writes.
const READ_ONLY: &str = "attempt to write a readonly database";

/// What stands between an act and the disk.
#[derive(Debug)]
pub struct Barrier {
    path: PathBuf,
    reserve: Reserve,
    broken: AtomicU32,
    is_read_only: AtomicBool,
    damage: Mutex<Option<String>>,
}

impl Barrier {
    /// Open, as long as the reserve is there.
    pub fn new(path: PathBuf, reserve: Reserve) -> Barrier {
        Barrier {
            path,
            reserve,
            broken: AtomicU32::new(0),
            is_read_only: AtomicBool::new(false),
            damage: Mutex::new(None),
        }
    }

    /// Why nothing is written at the moment.
    pub fn refusal(&self) -> Option<String> {
        if let Some(damage) = self.damage() {
            return Some(format!("writes are refused until a restart: {damage}"));
        }
        let space = self.space()?;
        (space.free_bytes < self.reserve.bytes)
            .then(|| format!("writes are refused while less than {} bytes are free", self.reserve.bytes))
    }

    /// Why the last write came to nothing, or the next one will.
    pub fn trouble(&self) -> Option<String> {
        let is_read_only = self.is_read_only.load(Ordering::SeqCst);
        self.refusal().or_else(|| is_read_only.then(|| "the file takes no writes".to_owned()))
    }

    /// The room on the database's disk.
    pub fn space(&self) -> Option<Space> {
        self.reserve.disk.space(&self.path)
    }

    /// How much has to stay free.
    pub fn reserve_bytes(&self) -> u64 {
        self.reserve.bytes
    }

    /// What is wrong with the file, if anything is known to be.
    pub fn damage(&self) -> Option<String> {
        self.damage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The file is damaged: nothing more is written to it.
    pub fn close(&self, damage: &str) {
        let mut known = self.damage.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            log::error!("no more writes until a restart: {damage}");
            *known = Some(damage.to_owned());
        }
    }

    /// Counts how a group of acts went. True: the disk failed it, so the connection cannot be trusted.
    pub fn count(&self, faults: &[String]) -> bool {
        let is_read_only = faults.iter().any(|fault| fault.contains(READ_ONLY))
            || (broken(faults).is_some() && is_protected(&self.path));
        self.is_read_only.store(is_read_only, Ordering::SeqCst);
        if is_read_only {
            return true;
        }
        let Some(fault) = broken(faults) else {
            self.broken.store(0, Ordering::SeqCst);
            return false;
        };
        if self.broken.fetch_add(1, Ordering::SeqCst) + 1 >= BROKEN_MAX {
            self.close(fault);
        }
        true
    }
}

/// The fault that the disk, or the file, is to blame for.
fn broken(faults: &[String]) -> Option<&String> {
    faults.iter().find(|fault| BROKEN.iter().any(|known| fault.contains(known)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Disk;

    fn barrier(free_bytes: u64) -> (Barrier, Disk) {
        let disk = Disk::standing_at(free_bytes, 1000);
        (Barrier::new("x.db".into(), Reserve { disk: disk.clone(), bytes: 100 }), disk)
    }

    #[test]
    fn it_closes_below_the_reserve_and_opens_by_itself() {
        let (barrier, disk) = barrier(100);
        assert_eq!(barrier.refusal(), None);
        disk.set_free(99);
        assert!(barrier.refusal().unwrap().contains("100 bytes"));
        disk.set_free(500);
        assert_eq!(barrier.refusal(), None);
    }

    #[test]
    fn a_read_only_file_is_told_and_tried_again() {
        let (barrier, _) = barrier(500);
        for _ in 0..5 {
            assert!(barrier.count(&["committing: writing: attempt to write a readonly database".to_owned()]));
            assert_eq!(barrier.refusal(), None);
            assert!(barrier.trouble().is_some());
        }
        assert!(!barrier.count(&[]));
        assert_eq!(barrier.trouble(), None);
    }

    #[test]
    fn three_broken_commits_in_a_row_close_it_for_good_and_two_do_not() {
        let (barrier, _) = barrier(500);
        let broken = ["committing: writing: disk I/O error".to_owned()];
        assert!(barrier.count(&broken) && barrier.count(&broken));
        assert!(!barrier.count(&["a fault of the caller's".to_owned()]));
        assert!(barrier.count(&broken) && barrier.count(&broken));
        assert_eq!(barrier.refusal(), None);
        assert!(barrier.count(&broken));
        assert!(barrier.refusal().unwrap().contains("disk I/O error"));
    }
}
