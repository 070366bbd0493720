//! A histogram of latencies in fixed memory: buckets that grow with what they hold.
//!
//! Each power of two is cut into sixteen, so that a percentile is off by 3 % at the most; below sixteen
//! microseconds every one has its own. Counting is one addition without a lock.

use std::sync::atomic::{AtomicU32, Ordering};

/// Buckets of each power of two.
const STEPS: usize = 16;
const STEP_BITS: u32 = STEPS.trailing_zeros();
/// Powers of two that are told apart: up to 2^27 microseconds, two minutes. What took longer counts as that.
const POWERS: usize = 24;
const BUCKETS: usize = STEPS * POWERS;

/// How often something took how long.
#[derive(Debug)]
pub struct Histogram {
    buckets: [AtomicU32; BUCKETS],
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { buckets: std::array::from_fn(|_| AtomicU32::new(0)) }
    }
}

impl Histogram {
    /// Counts one.
    pub fn count(&self, micros: u64) {
        self.buckets[bucket_of(micros)].fetch_add(1, Ordering::Relaxed);
    }

    /// The microseconds that these shares of all kept within; zero while there are none.
    pub fn percentiles<const N: usize>(&self, shares: [f64; N]) -> [f64; N] {
        let counts: Vec<u64> =
            self.buckets.iter().map(|bucket| u64::from(bucket.load(Ordering::Relaxed))).collect();
        let total: u64 = counts.iter().sum();
        shares.map(|share| {
            let wanted = (total as f64 * share).ceil().max(1.0) as u64;
            let mut seen = 0;
            let bucket = counts.iter().position(|count| {
                seen += count;
                seen >= wanted
            });
            bucket.map_or(0.0, middle_of)
        })
    }
}

fn bucket_of(micros: u64) -> usize {
    let power = micros.max(1).ilog2();
    if power < STEP_BITS {
        return micros as usize;
    }
    let step = (micros >> (power - STEP_BITS)) as usize - STEPS;
    (STEPS * (power - STEP_BITS + 1) as usize + step).min(BUCKETS - 1)
}

fn middle_of(bucket: usize) -> f64 {
    if bucket < STEPS {
        return bucket as f64;
    }
    let width = (1_u64 << (bucket / STEPS - 1)) as f64;
    width * ((STEPS + bucket % STEPS) as f64 + 0.5) - 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_off_by_three_percent_at_the_most() {
        for micros in (0..200_000).chain((200_000..130_000_000).step_by(99_991)) {
            let histogram = Histogram::default();
            histogram.count(micros);
            let [told] = histogram.percentiles([0.5]);
            assert!((told - micros as f64).abs() <= 0.032 * micros as f64, "{micros}: {told}");
        }
    }

    #[test]
    fn buckets_follow_each_other_and_nothing_falls_off() {
        let mut last = 0;
        for micros in 0..1_000_000 {
            let bucket = bucket_of(micros);
            assert!(bucket == last || bucket == last + 1, "{micros}");
            last = bucket;
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_list() {
        let histogram = Histogram::default();
        assert_eq!(histogram.percentiles([0.5, 0.99]), [0.0, 0.0]);
        (1..=1000).for_each(|micros| histogram.count(micros * 10));
        let told = histogram.percentiles([0.50, 0.95, 0.99]);
        for (told, exact) in told.into_iter().zip([5000.0, 9500.0, 9900.0]) {
            assert!((told / exact - 1.0).abs() < 0.032, "{told} for {exact}");
        }
    }
}
