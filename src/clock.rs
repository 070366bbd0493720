//! Time, handed in.
//!
//! The rule: nobody else in the house asks the system for the time. Two readings:
//! the wall clock, which people set and which may jump, for stored times; and the
//! monotonic one for durations and limits. A test moves both.

use jiff::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

/// The service's clock: the system's, or one that a test moves.
#[derive(Clone, Debug)]
pub struct Clock(Arc<Source>);

#[derive(Debug)]
enum Source {
    System { started: Instant },
    Moved { wall_ms: AtomicI64, elapsed_ms: AtomicI64 },
}

impl Clock {
    /// The system's clock; its monotonic reading starts at zero now.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the system's time")]
    pub fn system() -> Clock {
        Clock(Arc::new(Source::System { started: Instant::now() }))
    }

    /// A clock that stands at `wall_ms` until it is moved.
    pub fn standing_at(wall_ms: i64) -> Clock {
        Clock(Arc::new(Source::Moved { wall_ms: AtomicI64::new(wall_ms), elapsed_ms: AtomicI64::new(0) }))
    }

    /// Moves a standing clock forward, both readings. The system's clock stays as it is.
    pub fn advance_ms(&self, by_ms: i64) {
        if let Source::Moved { wall_ms, elapsed_ms } = &*self.0 {
            wall_ms.fetch_add(by_ms, Ordering::SeqCst);
            elapsed_ms.fetch_add(by_ms, Ordering::SeqCst);
        }
    }

    /// Sets the wall clock of a standing clock, as a person would: the monotonic reading does not move.
    pub fn jump_to(&self, new_wall_ms: i64) {
        if let Source::Moved { wall_ms, .. } = &*self.0 {
            wall_ms.store(new_wall_ms, Ordering::SeqCst);
        }
    }

    /// Wall clock, milliseconds since 1970 UTC.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the system's time")]
    pub fn now_ms(&self) -> i64 {
        match &*self.0 {
            Source::System { .. } => Timestamp::now().as_millisecond(),
            Source::Moved { wall_ms, .. } => wall_ms.load(Ordering::SeqCst),
        }
    }

    /// Microseconds since this clock was made; never goes back.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the system's time")]
    pub fn elapsed_us(&self) -> u64 {
        match &*self.0 {
            Source::System { started } => {
                u64::try_from(Instant::now().duration_since(*started).as_micros()).unwrap_or(u64::MAX)
            }
            Source::Moved { elapsed_ms, .. } => {
                u64::try_from(elapsed_ms.load(Ordering::SeqCst)).unwrap_or(0) * 1000
            }
        }
    }

    /// Milliseconds since this clock was made; never goes back.
    pub fn elapsed_ms(&self) -> u64 {
        self.elapsed_us() / 1000
    }
}

/// A stored time as the API shows it: RFC 3339, UTC, whole seconds.
pub fn rfc3339(wall_ms: i64) -> String {
    let second = Timestamp::from_second(wall_ms.div_euclid(1000)).unwrap_or(Timestamp::UNIX_EPOCH);
    second.to_string()
}

/// Reads an RFC 3339 time into milliseconds.
pub fn parse_rfc3339(text: &str) -> Option<i64> {
    text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_utc_with_whole_seconds() {
        assert_eq!(rfc3339(1_794_729_600_999), "2026-11-15T08:00:00Z");
        assert_eq!(rfc3339(-1), "1969-12-31T23:59:59Z");
        assert_eq!(parse_rfc3339("2026-11-15T09:00:00+01:00"), Some(1_794_729_600_000));
        assert_eq!(parse_rfc3339("2026-11-15"), None);
    }

    #[test]
    fn a_jump_of_the_wall_clock_leaves_durations_alone() {
        let clock = Clock::standing_at(1_000);
        clock.advance_ms(500);
        clock.jump_to(0);
        assert_eq!((clock.now_ms(), clock.elapsed_ms()), (0, 500));
    }
}
