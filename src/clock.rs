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
    rfc3339_bytes(wall_ms).into_iter().map(char::from).collect()
}

/// The same as bytes. Lists show two times a record, so this is plain arithmetic: the day of a 400-year
/// cycle gives the year, which begins in March so that a leap day is its last.
pub fn rfc3339_bytes(wall_ms: i64) -> [u8; 20] {
    const DAYS_OF_CYCLE: i64 = 146_097;
    /// From 1 March of the year 0 to 1 January 1970.
    const DAYS_TO_1970: i64 = 719_468;
    let seconds = wall_ms.div_euclid(1000);
    let days = seconds.div_euclid(86_400) + DAYS_TO_1970;
    let second_of_day = seconds.rem_euclid(86_400);
    let day_of_cycle = days.rem_euclid(DAYS_OF_CYCLE);
    let leap_days = day_of_cycle / 1_460 - day_of_cycle / 36_524 + day_of_cycle / 146_096;
    let year_of_cycle = (day_of_cycle - leap_days) / 365;
    let day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_cycle + 400 * days.div_euclid(DAYS_OF_CYCLE) + i64::from(month <= 2);
    let mut text = *b"0000-00-00T00:00:00Z";
    let mut write = |place: usize, number: i64| {
        let digits = number.rem_euclid(100).unsigned_abs() as u8;
        text[place] = b'0' + digits / 10;
        text[place + 1] = b'0' + digits % 10;
    };
    write(0, year / 100);
    write(2, year);
    write(5, month);
    write(8, day);
    write(11, second_of_day / 3_600);
    write(14, second_of_day / 60 % 60);
    write(17, second_of_day % 60);
    text
}

/// Reads a date as HTTP writes it, `Sun, 15 Nov 2026 08:00:00 GMT`, into milliseconds.
pub fn parse_http_date(text: &str) -> Option<i64> {
    let zoned = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(zoned.as_millisecond())
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
        assert_eq!(parse_http_date("Sun, 15 Nov 2026 08:00:00 GMT"), Some(1_794_729_600_000));
        assert_eq!(parse_http_date("soon"), None);
    }

    proptest::proptest! {
        /// From the year 0 to the end of 9999.
        #[test]
        fn times_are_those_of_a_calendar_library(wall_ms in -62_167_219_200_000_i64..=253_402_207_200_000) {
            let second = Timestamp::from_second(wall_ms.div_euclid(1000)).unwrap();
            assert_eq!(rfc3339(wall_ms), second.to_string());
        }
    }

    #[test]
    fn a_jump_of_the_wall_clock_leaves_durations_alone() {
        let clock = Clock::standing_at(1_000);
        clock.advance_ms(500);
        clock.jump_to(0);
        assert_eq!((clock.now_ms(), clock.elapsed_ms()), (0, 500));
    }
}
