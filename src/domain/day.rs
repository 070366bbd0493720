//! Days: what a due date is made of. No time of day, no zone; "today" is the UTC day.

use jiff::civil::Date;
use jiff::{Span, Timestamp, tz::TimeZone};
use serde::{Serialize, Serializer};
use std::fmt;

/// One day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(Date);

impl Day {
    /// The UTC day of a moment.
    pub fn of_ms(wall_ms: i64) -> Day {
        let moment = Timestamp::from_millisecond(wall_ms).unwrap_or(Timestamp::UNIX_EPOCH);
        Day(moment.to_zoned(TimeZone::UTC).date())
    }

    /// Reads `2026-11-15` and nothing else.
    pub fn parse(text: &str) -> Option<Day> {
        let plain = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        plain.then(|| text.parse().ok().map(Day)).flatten()
    }

    /// So many days later, or earlier.
    pub fn plus_days(self, days: i32) -> Day {
        Day(self.0.saturating_add(Span::new().days(days)))
    }

    /// The first moment of the day, UTC.
    pub fn start_ms(self) -> i64 {
        let start = self.0.to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp());
        start.map_or(0, Timestamp::as_millisecond)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0)
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

/// A moment one calendar month later: the same day, or the month's last if it has no such day.
pub fn plus_one_month(wall_ms: i64) -> i64 {
    let moment =
        Timestamp::from_millisecond(wall_ms).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(TimeZone::UTC);
    moment.saturating_add(Span::new().months(1)).timestamp().as_millisecond()
}

/// Serialises a stored moment as the API shows it.
pub fn as_time<S: Serializer>(wall_ms: &i64, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(&crate::clock::rfc3339(*wall_ms))
}

/// Likewise, where there may be none.
pub fn as_optional_time<S: Serializer>(wall_ms: &Option<i64>, out: S) -> Result<S::Ok, S::Error> {
    match wall_ms {
        Some(wall_ms) => as_time(wall_ms, out),
        None => out.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_one_spelling() {
        assert_eq!(Day::parse("2026-02-28").unwrap().plus_days(1).to_string(), "2026-03-01");
        for bad in ["2026-02-30", "2026-2-3", "20260203", "2026-02-03T00:00:00Z", "", "+002026-01-01"] {
            assert_eq!(Day::parse(bad), None, "{bad}");
        }
        assert_eq!(Day::of_ms(1_794_729_600_000).to_string(), "2026-11-15");
        assert_eq!(Day::parse("2026-11-15").unwrap().start_ms(), 1_794_700_800_000);
    }

    #[test]
    fn a_month_later_clamps_to_the_months_end() {
        let later =
            |text: &str| crate::clock::rfc3339(plus_one_month(crate::clock::parse_rfc3339(text).unwrap()));
        assert_eq!(later("2026-01-31T10:00:00Z"), "2026-02-28T10:00:00Z");
        assert_eq!(later("2028-01-31T10:00:00Z"), "2028-02-29T10:00:00Z");
        assert_eq!(later("2026-12-15T10:00:00Z"), "2027-01-15T10:00:00Z");
    }
}
