//! Turns at hashing passwords: each costs 19 MiB and a core for a while, so only a few run at once, some wait,
//! and the rest is told to come back.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// At once at the most, whatever the machine has.
const AT_ONCE_MAX: usize = 4;
/// Waiting at the most.
const QUEUE_MAX: usize = 32;

/// Who hashes, and who waits.
pub struct Turns {
    at_once: usize,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Default)]
struct State {
    running: usize,
    waiting: usize,
}

/// A turn; given back when dropped.
pub struct Turn<'a>(&'a Turns);

impl Turns {
    /// As many as the machine has cores, and no more than four.
    pub fn new() -> Turns {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Turns::at_most(cores.min(AT_ONCE_MAX))
    }

    fn at_most(at_once: usize) -> Turns {
        Turns { at_once, state: Mutex::default(), freed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a turn; `None` when too many wait already.
    pub fn take(&self) -> Option<Turn<'_>> {
        let mut state = self.state();
        if state.running >= self.at_once {
            if state.waiting >= QUEUE_MAX {
                return None;
            }
            state.waiting += 1;
            state = self
                .freed
                .wait_while(state, |state| state.running >= self.at_once)
                .unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        state.running += 1;
        Some(Turn(self))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.state().running -= 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_run_thirty_two_wait_and_the_next_is_refused() {
        let turns = Turns::at_most(2);
        let (first, second) = (turns.take(), turns.take());
        assert!(first.is_some() && second.is_some());
        std::thread::scope(|scope| {
            let waiters: Vec<_> = (0..QUEUE_MAX).map(|_| scope.spawn(|| turns.take().is_some())).collect();
            while turns.state().waiting < QUEUE_MAX {
                std::thread::yield_now();
            }
            assert!(turns.take().is_none(), "too many");
            drop((first, second));
            assert!(waiters.into_iter().all(|waiter| waiter.join().unwrap()));
        });
        assert!(turns.take().is_some());
        assert_eq!(turns.state().running, 0);
    }
}
