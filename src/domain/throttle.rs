//! How long somebody who failed to sign in has to wait.
//!
//! Per account: from the fifth failure in a row on, the next attempt waits 1, 2, 4 … seconds, never more than a
//! quarter of an hour: nobody is locked out for good. Per source: thirty failures within a quarter of an hour
//! close the door for another. An attempt counts as failed while it is under way, so that many at once do not
//! slip through together.

use std::net::IpAddr;

/// Failures in a row that cost nothing.
const FREE: u32 = 5;
const QUARTER_MS: i64 = 900_000;
/// Failures of one source within a quarter of an hour.
const SOURCE_MAX: u32 = 30;

/// What is remembered of an account, or of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Failures {
    /// How many: in a row for an account, within the window for a source.
    pub count: u32,
    /// Since when they are counted.
    pub since: i64,
    /// The last one.
    pub last_at: i64,
    /// Until when a source is refused.
    pub blocked_until: Option<i64>,
}

impl Failures {
    /// Seconds until an account's next attempt is looked at; 0 for now.
    pub fn account_wait(&self, now_ms: i64) -> u64 {
        let Some(doublings) = self.count.checked_sub(FREE) else { return 0 };
        let wait_ms = 1_000_i64.checked_shl(doublings.min(20)).unwrap_or(QUARTER_MS).min(QUARTER_MS);
        left(self.last_at + wait_ms, wait_ms, now_ms)
    }

    /// Seconds until a source's next attempt is looked at; 0 for now.
    pub fn source_wait(&self, now_ms: i64) -> u64 {
        self.blocked_until.map_or(0, |until| left(until, QUARTER_MS, now_ms))
    }

    /// One more failure of an account.
    pub fn fail_account(self, now_ms: i64) -> Failures {
        let since = if self.count == 0 { now_ms } else { self.since };
        Failures { count: self.count.saturating_add(1), since, last_at: now_ms, blocked_until: None }
    }

    /// One more failure of a source.
    pub fn fail_source(self, now_ms: i64) -> Failures {
        let old = now_ms < self.since || now_ms - self.since >= QUARTER_MS;
        let (count, since) = if old { (1, now_ms) } else { (self.count + 1, self.since) };
        let blocked_until = (count >= SOURCE_MAX).then_some(now_ms + QUARTER_MS);
        Failures { count, since, last_at: now_ms, blocked_until }
    }

    /// The attempt of a source succeeded after all.
    pub fn forgive_source(self) -> Failures {
        let count = self.count.saturating_sub(1);
        let blocked_until = self.blocked_until.filter(|_| count >= SOURCE_MAX);
        Failures { count, blocked_until, ..self }
    }
}

/// Whole seconds until a moment, rounded up, and never more than the wait itself: the clock may have gone back.
fn left(until_ms: i64, wait_ms: i64, now_ms: i64) -> u64 {
    let left_ms = (until_ms - now_ms).clamp(0, wait_ms);
    u64::try_from(left_ms.div_euclid(1000) + i64::from(left_ms % 1000 > 0)).unwrap_or(0)
}

/// The name of a source: an IPv4 address, or the /64 of an IPv6 address, which is one customer.
pub fn source_name(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(inner) => inner.to_string(),
            None => {
                let [a, b, c, d, ..] = address.segments();
                format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_waits_from_the_fifth_failure_on_and_never_longer_than_a_quarter_of_an_hour() {
        let mut failures = Failures::default();
        let mut waits = Vec::new();
        for _ in 0..18 {
            failures = failures.fail_account(1_000);
            waits.push(failures.account_wait(1_000));
        }
        assert_eq!(waits, [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900, 900]);
        assert_eq!(failures.account_wait(901_000), 0);
        assert_eq!(failures.account_wait(900_001), 1);
        assert_eq!(failures.account_wait(-1_000_000_000), 900, "a clock set back lengthens nothing");
        assert_eq!(Failures { count: u32::MAX, ..failures }.fail_account(0).account_wait(0), 900);
    }

    #[test]
    fn thirty_failures_close_the_door_to_a_source_for_a_quarter_of_an_hour() {
        let mut failures = Failures::default();
        for _ in 0..29 {
            failures = failures.fail_source(0);
        }
        assert_eq!(failures.source_wait(0), 0);
        let closed = failures.fail_source(QUARTER_MS - 1);
        assert_eq!(closed.source_wait(QUARTER_MS - 1), 900);
        assert_eq!(closed.source_wait(2 * QUARTER_MS - 1), 0);
        assert_eq!(failures.fail_source(QUARTER_MS).count, 1, "a new window");
        assert_eq!(failures.fail_source(0).forgive_source().source_wait(0), 0, "a success is no failure");
    }

    #[test]
    fn an_ipv6_customer_is_one_source() {
        let name = |text: &str| source_name(text.parse().unwrap());
        assert_eq!(name("2001:db8:1:2:3:4:5:6"), name("2001:db8:1:2:ffff::1"));
        assert_ne!(name("2001:db8:1:2::1"), name("2001:db8:1:3::1"));
        assert_eq!(name("::ffff:192.0.2.7"), name("192.0.2.7"));
    }
}
