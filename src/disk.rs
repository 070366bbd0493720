//! The disk under the database: its free space, the system's figure or one that a test sets, and whether it takes writes.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where the figures come from.
#[derive(Clone, Debug)]
pub struct Disk(Option<Arc<Standing>>);

#[derive(Debug)]
struct Standing {
    free_bytes: AtomicU64,
    total_bytes: u64,
}

/// How much room a disk has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Room that is left for us.
    pub free_bytes: u64,
    /// Its size.
    pub total_bytes: u64,
}

impl Disk {
    /// The system's figures.
    pub fn system() -> Disk {
        Disk(None)
    }

    /// A disk of a size with so much room, until a test says otherwise.
    pub fn standing_at(free_bytes: u64, total_bytes: u64) -> Disk {
        Disk(Some(Arc::new(Standing { free_bytes: AtomicU64::new(free_bytes), total_bytes })))
    }

    /// Sets the room of a standing disk. The system's stays as it is.
    pub fn set_free(&self, free_bytes: u64) {
        if let Some(standing) = &self.0 {
            standing.free_bytes.store(free_bytes, Ordering::SeqCst);
        }
    }

    /// The room on the disk that a file is on; none if the system does not tell.
    pub fn space(&self, file: &Path) -> Option<Space> {
        if let Some(standing) = &self.0 {
            let free_bytes = standing.free_bytes.load(Ordering::SeqCst);
            return Some(Space { free_bytes, total_bytes: standing.total_bytes });
        }
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let figures = rustix::fs::statvfs(folder).ok()?;
        Some(Space {
            free_bytes: figures.f_bavail.saturating_mul(figures.f_frsize),
            total_bytes: figures.f_blocks.saturating_mul(figures.f_frsize),
        })
    }
}

/// Is a file, or the disk it is on, closed for writing? It is not opened for that: closing it again would take
/// away the locks that the database holds on it.
pub fn is_protected(file: &Path) -> bool {
    use rustix::io::Errno;
    let refused = rustix::fs::access(file, rustix::fs::Access::WRITE_OK);
    matches!(refused, Err(Errno::PERM | Errno::ROFS | Errno::ACCESS))
}

/// Room that is kept for the last checkpoint: below it nothing new is written.
#[derive(Clone, Debug)]
pub struct Reserve {
    /// The disk.
    pub disk: Disk,
    /// How much has to stay free.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_tells_its_figures_and_a_standing_disk_those_it_was_given() {
        let here = Disk::system().space(Path::new("Cargo.toml")).unwrap();
        assert!(here.total_bytes > here.free_bytes && here.free_bytes > 0);
        let standing = Disk::standing_at(5, 100);
        standing.set_free(7);
        assert_eq!(standing.space(Path::new("x")), Some(Space { free_bytes: 7, total_bytes: 100 }));
    }
}
