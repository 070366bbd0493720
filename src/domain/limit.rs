//! Rate limits: a sliding window of exactly the last minute, per key.
//!
//! Pure: time comes in as monotonic milliseconds. The standard limit is soft (it is
//! served and marks an exceedance), the burst limit is hard (it is refused), and the
//! third exceedance within ten minutes blocks the key. A refused request takes no
//! slot and lengthens nothing.

use std::collections::VecDeque;

/// Length of the window.
pub const WINDOW_MS: u64 = 60_000;
/// Exceedances older than this are forgotten.
pub const EXCEEDANCE_MEMORY_MS: u64 = 600_000;
/// The exceedance with this number blocks.
pub const EXCEEDANCES_MAX: usize = 3;

/// The numbers of one tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Up to here a request is normal.
    pub standard: usize,
    /// Up to here it is served; equal to `standard` where there is no burst.
    pub burst: usize,
    /// How long the third exceedance blocks; zero where there are no blocks.
    pub block_ms: u64,
}

/// What one key did lately in one tier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Times of the served requests in the window, oldest first.
    pub admissions: VecDeque<u64>,
    /// Times of the remembered exceedances, oldest first; at most two, since the third blocks.
    pub exceedances: Vec<u64>,
    /// The end of the block, if there is one.
    pub blocked_until: Option<u64>,
}

/// The answer to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is served.
    Admitted(Allowance),
    /// It is refused.
    Refused(Refusal),
}

/// What is left after a served request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Requests left before the standard limit.
    pub remaining: usize,
    /// Seconds until there is one more (or, with none left, one again).
    pub reset_seconds: u64,
    /// This request marked an exceedance: worth storing before the answer leaves.
    pub exceeded: bool,
}

/// Why a request was refused and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The configured number that was hit.
    pub limit: usize,
    /// The smallest wait in whole seconds after which a lone request is served.
    pub retry_after_seconds: u64,
    /// Seconds until the standard limit has room again, for a client that wants to stay out of trouble.
    pub reset_seconds: u64,
    /// Blocked for repeated exceedances, not merely over the hard limit.
    pub blocked: bool,
    /// This very request began the block: worth storing before the answer leaves.
    pub newly_blocked: bool,
}

impl Refusal {
    /// One sentence for the caller.
    pub fn text(&self) -> String {
        let wait = self.retry_after_seconds;
        match self.blocked {
            true => format!("API key temporarily blocked after repeated overuse; try again in {wait} s"),
            false => format!("rate limit exceeded; try again in {wait} s"),
        }
    }
}

/// What a request at some moment would meet.
enum Outlook {
    Served,
    Exceeding,
    Hard,
    ThirdExceedance,
    Blocked { until: u64 },
}

impl Window {
    /// Decides about a request at `now` and remembers it. `now` never goes back.
    pub fn admit(&mut self, now: u64, rules: &Rules) -> Verdict {
        self.forget(now);
        match self.outlook(now, rules) {
            Outlook::Blocked { until } => Verdict::Refused(blocked(rules, until - now, false)),
            Outlook::Hard => Verdict::Refused(Refusal {
                limit: rules.burst,
                retry_after_seconds: self.wait_seconds(now, rules),
                reset_seconds: self.reset_seconds(now, rules),
                blocked: false,
                newly_blocked: false,
            }),
            Outlook::ThirdExceedance => {
                *self = Window { blocked_until: Some(now + rules.block_ms), ..Window::default() };
                Verdict::Refused(blocked(rules, rules.block_ms, true))
            }
            Outlook::Exceeding => {
                self.exceedances.push(now);
                self.serve(now, rules, true)
            }
            Outlook::Served => self.serve(now, rules, false),
        }
    }

    /// Nothing left to remember?
    pub fn is_idle(&mut self, now: u64) -> bool {
        self.forget(now);
        self.admissions.is_empty() && self.exceedances.is_empty() && self.blocked_until.is_none()
    }

    fn serve(&mut self, now: u64, rules: &Rules, exceeded: bool) -> Verdict {
        self.admissions.push_back(now);
        Verdict::Admitted(Allowance {
            remaining: rules.standard.saturating_sub(self.admissions.len()),
            reset_seconds: self.reset_seconds(now, rules),
            exceeded,
        })
    }

    /// Seconds until the admission leaves that brings the count below the standard limit.
    fn reset_seconds(&self, now: u64, rules: &Rules) -> u64 {
        let frees = self.admissions.get(self.admissions.len().saturating_sub(rules.standard));
        frees.map_or(0, |at| (at + WINDOW_MS - now).div_ceil(1000))
    }

    fn forget(&mut self, now: u64) {
        while self.admissions.front().is_some_and(|at| at + WINDOW_MS <= now) {
            self.admissions.pop_front();
        }
        self.exceedances.retain(|at| at + EXCEEDANCE_MEMORY_MS > now);
        if self.blocked_until.is_some_and(|until| until <= now) {
            self.blocked_until = None;
        }
    }

    /// What a request at `at` would meet, were it the next one.
    fn outlook(&self, at: u64, rules: &Rules) -> Outlook {
        if let Some(until) = self.blocked_until.filter(|until| *until > at) {
            return Outlook::Blocked { until };
        }
        let gone = self.admissions.partition_point(|admitted| admitted + WINDOW_MS <= at);
        let count = self.admissions.len() - gone;
        if count >= rules.burst {
            return Outlook::Hard;
        }
        let fresh = self.exceedances.last().is_none_or(|last| last + WINDOW_MS <= at);
        if count < rules.standard || !fresh {
            return Outlook::Served;
        }
        let remembered = self.exceedances.iter().filter(|past| **past + EXCEEDANCE_MEMORY_MS > at).count();
        if remembered + 1 >= EXCEEDANCES_MAX { Outlook::ThirdExceedance } else { Outlook::Exceeding }
    }

    /// Tries the whole seconds one by one: after a minute the window is empty, so this ends.
    fn wait_seconds(&self, now: u64, rules: &Rules) -> u64 {
        (1..=WINDOW_MS / 1000)
            .find(|wait| {
                matches!(self.outlook(now + wait * 1000, rules), Outlook::Served | Outlook::Exceeding)
            })
            .unwrap_or(WINDOW_MS / 1000)
    }
}

fn blocked(rules: &Rules, left_ms: u64, newly_blocked: bool) -> Refusal {
    Refusal {
        limit: rules.standard,
        retry_after_seconds: left_ms.div_ceil(1000).max(1),
        reset_seconds: left_ms.div_ceil(1000).max(1),
        blocked: true,
        newly_blocked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const V1: Rules = Rules { standard: 60, burst: 100, block_ms: 300_000 };
    const V2: Rules = Rules { standard: 60, burst: 60, block_ms: 0 };

    fn is_served(verdict: Verdict) -> bool {
        matches!(verdict, Verdict::Admitted(_))
    }

    fn refusal(verdict: Verdict) -> Refusal {
        match verdict {
            Verdict::Refused(refusal) => refusal,
            Verdict::Admitted(_) => panic!("served"),
        }
    }

    #[test]
    fn one_hundred_at_once_are_served_and_the_window_is_half_open() {
        let mut window = Window::default();
        let served = (0..110).filter(|_| is_served(window.admit(0, &V1))).count();
        assert_eq!(served, 100);
        assert_eq!(refusal(window.admit(0, &V1)).retry_after_seconds, 60);
        let late = refusal(window.admit(59_999, &V1));
        assert_eq!((late.limit, late.retry_after_seconds, late.blocked), (100, 1, false));
        assert!(is_served(window.admit(60_000, &V1)));
    }

    #[test]
    fn one_request_a_second_never_exceeds() {
        let mut window = Window::default();
        for second in 0..3_600 {
            assert!(is_served(window.admit(second * 1000, &V1)));
        }
        assert!(window.exceedances.is_empty());
    }

    #[test]
    fn the_third_exceedance_blocks_for_five_minutes_and_then_all_is_forgotten() {
        let mut window = Window::default();
        let mut served = 0;
        for minute in 0..3 {
            for _ in 0..61 {
                served += usize::from(is_served(window.admit(minute * 60_000, &V1)));
            }
        }
        assert_eq!(served, 182);
        let block = refusal(window.admit(120_000 + 1_000, &V1));
        assert_eq!((block.limit, block.retry_after_seconds, block.newly_blocked), (60, 299, false));
        assert_eq!(refusal(window.admit(120_000 + 299_999, &V1)).retry_after_seconds, 1);
        assert!(is_served(window.admit(120_000 + 300_000, &V1)));
        assert!(window.exceedances.is_empty());
    }

    #[test]
    fn exceedances_seven_hundred_seconds_apart_never_block() {
        let mut window = Window::default();
        for round in 0..10 {
            for _ in 0..61 {
                assert!(is_served(window.admit(round * 700_000, &V1)));
            }
        }
    }

    #[test]
    fn v2_refuses_the_sixty_first() {
        let mut window = Window::default();
        let served = (0..70).filter(|_| is_served(window.admit(5, &V2))).count();
        assert_eq!(served, 60);
        let refused = refusal(window.admit(5, &V2));
        assert_eq!((refused.limit, refused.retry_after_seconds, refused.blocked), (60, 60, false));
    }

    /// The definition once more, by a whole history and no cleverness.
    #[derive(Clone, Default)]
    struct Model {
        served: Vec<u64>,
        exceeded: Vec<u64>,
        block_ends: Vec<u64>,
    }

    impl Model {
        fn decide(&mut self, now: u64, rules: &Rules) -> (bool, usize) {
            let start = self.block_ends.last().copied().unwrap_or(0);
            if now < start {
                return (false, rules.standard);
            }
            let since = |times: &[u64], span: u64| times.iter().filter(|at| now - **at < span).count();
            let in_window = since(&self.served, 60_000);
            if in_window >= rules.burst {
                return (false, rules.burst);
            }
            let lately = self.exceeded.iter().any(|at| now - at < 60_000);
            if in_window >= rules.standard && !lately {
                if since(&self.exceeded, 600_000) == 2 {
                    self.block_ends.push(now + rules.block_ms);
                    self.served.clear();
                    self.exceeded.clear();
                    return (false, rules.standard);
                }
                self.exceeded.push(now);
            }
            self.served.push(now);
            (true, 0)
        }

        fn wait(&self, now: u64, rules: &Rules) -> u64 {
            (1..1_000)
                .find(|wait| self.clone().decide(now + wait * 1000, rules).0)
                .expect("some wait suffices")
        }
    }

    fn schedules() -> impl Strategy<Value = Vec<(u64, usize)>> {
        let gap = prop_oneof![0..50u64, 500..1_500u64, 10_000..70_000u64, 100_000..700_000u64];
        prop::collection::vec((gap, 1..70usize), 1..40)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn decisions_and_waits_equal_the_models(schedule in schedules(), burst in 60..110usize) {
            for rules in [Rules { burst, ..V1 }] {
                let (mut window, mut model, mut now) = (Window::default(), Model::default(), 0);
                for (gap, requests) in &schedule {
                    now += gap;
                    for request in 0..*requests {
                        let before = model.clone();
                        let verdict = window.admit(now, &rules);
                        let (served, limit) = model.decide(now, &rules);
                        prop_assert_eq!(is_served(verdict), served);
                        if let Verdict::Refused(refused) = verdict {
                            prop_assert_eq!(refused.limit, limit);
                            // The model finds its wait by trying all: once a burst is enough of that.
                            if refused.newly_blocked || request + 1 == *requests {
                                let known = if refused.newly_blocked { &model } else { &before };
                                prop_assert_eq!(refused.retry_after_seconds, known.wait(now, &rules));
                            }
                        }
                    }
                }
            }
        }

        #[test]
        fn no_window_ever_holds_more_than_the_burst(gaps in prop::collection::vec(0..2_000u64, 300)) {
            let (mut window, mut now, mut served) = (Window::default(), 0, Vec::new());
            for gap in gaps {
                now += gap;
                if is_served(window.admit(now, &V1)) {
                    served.push(now);
                }
            }
            for end in &served {
                let count = served.iter().filter(|at| **at <= *end && end - **at < 60_000).count();
                prop_assert!(count <= 100);
            }
        }

        #[test]
        fn a_client_that_obeys_the_header_is_never_refused(pauses in prop::collection::vec(0..30u64, 400)) {
            let (mut window, mut now) = (Window::default(), 0);
            for pause in pauses {
                now += pause;
                match window.admit(now, &V1) {
                    Verdict::Admitted(left) if left.remaining == 0 => now += left.reset_seconds * 1000,
                    Verdict::Admitted(_) => {}
                    Verdict::Refused(_) => prop_assert!(false, "refused at {now}"),
                }
            }
        }
    }
}
