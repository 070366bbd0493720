//! Days and moments as people read them. Moments are shown in UTC; what a machine reads stands beside them.

use super::words::Words;
use crate::clock::rfc3339;
use crate::domain::day::Day;

const DAY_MS: i64 = 86_400_000;

/// `9 Nov 2026`
pub fn day(words: Words, day: Day) -> String {
    let text = day.to_string();
    let mut parts = text.split('-');
    let (year, month, date) = (parts.next(), parts.next(), parts.next());
    let number = |part: Option<&str>| part.and_then(|part| part.parse::<u32>().ok()).unwrap_or(0);
    let month = words.find(&format!("month.{}", number(month))).unwrap_or_default();
    let date = number(date).to_string();
    words.say("time.day", &[("day", &date), ("month", month), ("year", year.unwrap_or_default())])
}

/// `9 Nov 2026, 15:20 UTC`
pub fn moment(words: Words, wall_ms: i64) -> String {
    let iso = rfc3339(wall_ms);
    format!("{}, {} UTC", day(words, Day::of_ms(wall_ms)), iso.get(11..16).unwrap_or_default())
}

/// The days from a day to another; negative if it is over.
pub fn days_between(from: Day, to: Day) -> i64 {
    (to.start_ms() - from.start_ms()) / DAY_MS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::language::Language;

    #[test]
    fn days_and_moments_are_read_by_people() {
        let start = Day::parse("2026-11-09").unwrap();
        assert_eq!(day(Words::ENGLISH, start), "9 Nov 2026");
        assert_eq!(moment(Words::ENGLISH, start.start_ms() + 55_200_000), "9 Nov 2026, 15:20 UTC");
        let german = Words::in_language(Language::German);
        assert_eq!(moment(german, start.start_ms() + 55_200_000), "9. Nov. 2026, 15:20 UTC");
        assert_eq!(days_between(start, Day::parse("2026-11-05").unwrap()), -4);
    }
}
