//! Deadlines: from when on one is near. The lead rules of the contract are here and nowhere else; alerts
//! and the event `deadline.approaching` ask the same functions.

use super::day::Day;

const DAY_MS: i64 = 86_400_000;

/// How long before a deadline people are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leads {
    /// For findings and test cases.
    pub work_ms: i64,
    /// For stages of CRA reports.
    pub stage_ms: i64,
    /// For reviews of concentration risk.
    pub review_ms: i64,
}

impl Default for Leads {
    fn default() -> Leads {
        Leads { work_ms: 7 * DAY_MS, stage_ms: A_QUARTER, review_ms: 30 * DAY_MS }
    }
}

/// The lead of a stage of a CRA report: a quarter of its period, which every lead is cut to anyway.
pub const A_QUARTER: i64 = i64::MAX;

/// When what is due on a day is due: its last second, which people read as that day.
pub fn end_of(day: Day) -> i64 {
    day.plus_days(1).start_ms() - 1_000
}

/// The moment from which on a deadline is near: the lead before it, but never more than a quarter of the
/// whole period from `created_at` on.
pub fn near_from(created_at: i64, due_at: i64, lead_ms: i64) -> i64 {
    let quarter = due_at.saturating_sub(created_at) / 4;
    due_at - lead_ms.min(quarter).max(0)
}

/// Is a deadline near now? When it is over it is not near any more.
pub fn is_near(created_at: i64, due_at: i64, lead_ms: i64, now_ms: i64) -> bool {
    near_from(created_at, due_at, lead_ms) <= now_ms && now_ms < due_at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_near_within_its_lead_and_never_for_more_than_a_quarter() {
        let week = Leads::default().work_ms;
        let due = 100 * DAY_MS;
        assert!(!is_near(0, due, week, due - week - 1));
        assert!(is_near(0, due, week, due - week));
        assert!(is_near(0, due, week, due - 1));
        assert!(!is_near(0, due, week, due), "over is not near");
        let late = due - 8 * DAY_MS;
        assert!(!is_near(late, due, week, due - 2 * DAY_MS - 1), "of eight days the last two");
        assert!(is_near(late, due, week, due - 2 * DAY_MS));
        assert!(is_near(0, 24, A_QUARTER, 18) && !is_near(0, 24, A_QUARTER, 17));
    }

    #[test]
    fn what_was_due_before_it_was_made_is_never_near() {
        for now in [0, 9, 10, 11, 100] {
            assert!(!is_near(50, 10, 5, now), "{now}");
        }
    }

    #[test]
    fn a_day_ends_with_its_last_second() {
        let day = Day::parse("2026-11-15").unwrap();
        assert_eq!(crate::clock::rfc3339(end_of(day)), "2026-11-15T23:59:59Z");
    }
}
