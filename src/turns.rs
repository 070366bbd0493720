//! Turns at what costs memory and a core for a while: only a few run at once, some wait, and the rest is told to
//! come back. The hash of a password takes 19 MiB, the document of ten thousand findings about 100.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Who works, and who waits.
pub struct Turns {
    at_once: usize,
    queue_max: usize,
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
    /// As many at once as the machine has cores, and no more than `at_once`; `queue_max` wait.
    pub fn new(at_once: usize, queue_max: usize) -> Turns {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Turns::at_most(cores.min(at_once), queue_max)
    }

    fn at_most(at_once: usize, queue_max: usize) -> Turns {
        Turns { at_once, queue_max, state: Mutex::default(), freed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a turn; `None` when too many wait already.
    pub fn take(&self) -> Option<Turn<'_>> {
        let mut state = self.state();
        if state.running >= self.at_once {
            if state.waiting >= self.queue_max {
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
    fn some_run_some_wait_and_the_next_is_refused() {
        let turns = Turns::at_most(2, 32);
        let (first, second) = (turns.take(), turns.take());
        assert!(first.is_some() && second.is_some());
        std::thread::scope(|scope| {
            let waiters: Vec<_> = (0..32).map(|_| scope.spawn(|| turns.take().is_some())).collect();
            while turns.state().waiting < 32 {
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
