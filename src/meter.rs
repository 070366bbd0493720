//! Counters per route: how many requests, how they ended, how long they took, and the errors of the last hour.
//!
//! Plain atomics, indexed by the route's position in the table; one row more counts
//! what matched no route. Memory is fixed.

mod histogram;

use histogram::Histogram;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Minutes that are remembered.
const MINUTES: usize = 60;

/// All counters.
#[derive(Debug)]
pub struct Meter {
    names: Vec<String>,
    routes: Vec<RouteMeter>,
}

#[derive(Debug)]
struct RouteMeter {
    requests: AtomicU64,
    client_errors: AtomicU64,
    server_errors: AtomicU64,
    micros: AtomicU64,
    latency: Histogram,
    minutes: [Minute; MINUTES],
}

/// One minute of the ring. `number` says which minute it holds, so that old counts are not mistaken for new.
#[derive(Debug, Default)]
struct Minute {
    number: AtomicU32,
    requests: AtomicU32,
    errors: AtomicU32,
}

/// What one route did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Requests since the start.
    pub requests: u64,
    /// Of these, answered with 4xx.
    pub client_errors: u64,
    /// Of these, answered with 5xx.
    pub server_errors: u64,
    /// Time spent on them, in microseconds.
    pub micros: u64,
}

/// Times that 50, 95 and 99 of 100 requests kept within, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentiles {
    /// Half of the requests.
    pub p50_us: f64,
    /// All but one in twenty.
    pub p95_us: f64,
    /// All but one in a hundred.
    pub p99_us: f64,
}

impl Meter {
    /// Counters for routes of these names.
    pub fn new(names: Vec<String>) -> Meter {
        let route = || RouteMeter {
            requests: AtomicU64::new(0),
            client_errors: AtomicU64::new(0),
            server_errors: AtomicU64::new(0),
            micros: AtomicU64::new(0),
            latency: Histogram::default(),
            minutes: std::array::from_fn(|_| Minute::default()),
        };
        Meter { routes: std::iter::repeat_with(route).take(names.len() + 1).collect(), names }
    }

    /// Counts one answer. `route` is `None` where no route matched.
    pub fn count(&self, route: Option<usize>, status: u16, micros: u64, now_us: u64) {
        let Some(meter) = self.routes.get(route.unwrap_or(self.routes.len() - 1)) else { return };
        meter.requests.fetch_add(1, Ordering::Relaxed);
        meter.micros.fetch_add(micros, Ordering::Relaxed);
        meter.latency.count(micros);
        match status {
            500.. => meter.server_errors.fetch_add(1, Ordering::Relaxed),
            400..=499 => meter.client_errors.fetch_add(1, Ordering::Relaxed),
            0..=399 => 0,
        };
        meter.count_minute(now_us, status >= 500);
    }

    /// What a route did since the start.
    pub fn tally(&self, route: usize) -> Tally {
        let Some(meter) = self.routes.get(route) else { return Tally::default() };
        Tally {
            requests: meter.requests.load(Ordering::Relaxed),
            client_errors: meter.client_errors.load(Ordering::Relaxed),
            server_errors: meter.server_errors.load(Ordering::Relaxed),
            micros: meter.micros.load(Ordering::Relaxed),
        }
    }

    /// How the routes that anybody asked did since the start, in the order of the table.
    pub fn overview(&self) -> impl Iterator<Item = (&str, Tally, Percentiles)> {
        let rows = self.names.iter().enumerate().map(|(row, name)| (name.as_str(), self.tally(row), row));
        rows.filter(|(_, tally, _)| tally.requests > 0).map(|(name, tally, row)| {
            let [p50_us, p95_us, p99_us] = self.routes[row].latency.percentiles([0.50, 0.95, 0.99]);
            (name, tally, Percentiles { p50_us, p95_us, p99_us })
        })
    }

    /// What every route did since the start, by its name; what matched none is under `none`.
    pub fn tallies(&self) -> impl Iterator<Item = (&str, Tally)> {
        let names = self.names.iter().map(String::as_str).chain(std::iter::once("none"));
        names.enumerate().map(|(position, name)| (name, self.tally(position)))
    }

    /// Requests and 5xx answers of each route in the last hour, by its name.
    pub fn last_hour(&self, now_us: u64) -> impl Iterator<Item = (&str, u64, u64)> {
        self.names.iter().zip(&self.routes).map(move |(name, meter)| {
            let (requests, errors) = meter.last_hour(now_us);
            (name.as_str(), requests, errors)
        })
    }
}

impl RouteMeter {
    fn last_hour(&self, now_us: u64) -> (u64, u64) {
        let now = minute_number(now_us);
        let fresh = self.minutes.iter().filter(|minute| {
            let number = minute.number.load(Ordering::Relaxed);
            number != 0 && now - number.min(now) < MINUTES as u32
        });
        fresh.fold((0, 0), |(requests, errors), minute| {
            (
                requests + u64::from(minute.requests.load(Ordering::Relaxed)),
                errors + u64::from(minute.errors.load(Ordering::Relaxed)),
            )
        })
    }

    fn count_minute(&self, now_us: u64, is_error: bool) {
        let number = minute_number(now_us);
        let minute = &self.minutes[number as usize % MINUTES];
        if minute.number.load(Ordering::Relaxed) != number {
            // Two requests may both begin the minute; at worst one count is lost.
            minute.requests.store(0, Ordering::Relaxed);
            minute.errors.store(0, Ordering::Relaxed);
            minute.number.store(number, Ordering::Relaxed);
        }
        minute.requests.fetch_add(1, Ordering::Relaxed);
        if is_error {
            minute.errors.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Minutes since the start, from 1: zero marks a minute that was never used.
fn minute_number(now_us: u64) -> u32 {
    u32::try_from(now_us / 60_000_000).unwrap_or(u32::MAX - 1) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_is_remembered_and_no_more() {
        let meter = Meter::new(vec!["a".into(), "b".into()]);
        let hour = |now_us| {
            meter.last_hour(now_us).find(|(name, ..)| *name == "b").map(|(_, all, bad)| (all, bad)).unwrap()
        };
        meter.count(Some(1), 500, 10, 0);
        meter.count(Some(1), 200, 10, 59 * 60_000_000);
        assert_eq!(hour(59 * 60_000_000), (2, 1));
        assert_eq!(hour(60 * 60_000_000), (1, 0));
        meter.count(Some(1), 404, 10, 60 * 60_000_000);
        assert_eq!(hour(60 * 60_000_000), (2, 0));
        let tally = meter.tally(1);
        assert_eq!((tally.requests, tally.client_errors, tally.server_errors, tally.micros), (3, 1, 1, 30));
        meter.count(None, 404, 1, 0);
        assert_eq!(meter.tally(0).requests, 0);
    }
}
