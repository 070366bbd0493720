//! How the service is, and how what it does by itself ended.

words! {
    /// How the service is: `degraded` still serves, `down` does not.
    Status { Ok = "ok", Degraded = "degraded", Down = "down" }
}

words! {
    /// How a check ended. `low` is a warning: nothing is refused yet.
    Verdict { Ok = "ok", Low = "low", Failed = "failed" }
}

words! {
    /// How a job's run ended; `stuck` has not ended although its time is over.
    Outcome { Ok = "ok", Failed = "failed", Panicked = "panicked", Stuck = "stuck" }
}

words! {
    /// How a rule of the auto-heal is: it looks after nothing at the moment, it has just healed something,
    /// or it tried and could not.
    RuleState { Watching = "watching", Healed = "healed", Failing = "failing" }
}

/// The share of an hour, a day or a week during which the service was up, in per cent, rounded down to
/// two digits: only a whole one is 100.
pub fn uptime_pct(up_minutes: u64, all_minutes: u64) -> f64 {
    if all_minutes == 0 {
        return 100.0;
    }
    let share = up_minutes.min(all_minutes) as f64 / all_minutes as f64;
    (share * 10_000.0).floor() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_week_is_a_hundred() {
        assert_eq!(uptime_pct(10_080, 10_080), 100.0);
        assert_eq!(uptime_pct(10_079, 10_080), 99.99);
        assert_eq!(uptime_pct(0, 5), 0.0);
        assert_eq!(uptime_pct(0, 0), 100.0);
        assert_eq!(uptime_pct(7, 5), 100.0, "two samples in one minute do not make up for a missing one");
    }
}
