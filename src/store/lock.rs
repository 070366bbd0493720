//! One server a database: an advisory lock on a file beside it, which the system
//! lets go of however the process ends.

use super::file::{beside, refusal, resolve};
use crate::error::Error;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Held as long as it lives.
#[derive(Debug)]
pub struct ServerLock {
    file: File,
}

impl ServerLock {
    /// Takes the lock, or says who is in the way.
    pub fn take(path: &Path) -> Result<ServerLock, Error> {
        let path = &resolve(path);
        let cannot = |cause: &dyn std::fmt::Display| refusal(path, &format!("cannot be locked ({cause})"));
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(beside(path, "lock"))
            .map_err(|cause| cannot(&cause))?;
        match file.try_lock() {
            Ok(()) => Ok(ServerLock { file }),
            Err(TryLockError::WouldBlock) => {
                Err(refusal(path, "is in use by another Holdfast server; stop that one first"))
            }
            Err(TryLockError::Error(cause)) => Err(cannot(&cause)),
        }
    }
}

impl Drop for ServerLock {
    /// Closing alone would not do: a process that was started meanwhile may still hold a copy of the file.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}
