//! Randomness, handed in: the system's for secrets and identifiers, or a seeded
//! row of numbers so that a test is exact.

use crate::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where random bytes come from.
#[derive(Clone, Debug)]
pub struct Chance(Option<Arc<AtomicU64>>);

impl Chance {
    /// The operating system's generator.
    pub fn system() -> Chance {
        Chance(None)
    }

    /// The same bytes in every run; for tests only, never for secrets that count.
    pub fn seeded(seed: u64) -> Chance {
        Chance(Some(Arc::new(AtomicU64::new(seed))))
    }

    /// `N` random bytes.
    pub fn bytes<const N: usize>(&self) -> Result<[u8; N], Error> {
        let mut bytes = [0; N];
        match &self.0 {
            None => {
                getrandom::fill(&mut bytes)
                    .map_err(|cause| Error::internal("reading random bytes", cause))?;
            }
            Some(state) => bytes.iter_mut().for_each(|byte| *byte = next_byte(state)),
        }
        Ok(bytes)
    }
}

impl Chance {
    /// A number from 0 to 1; the middle if there is no randomness to be had.
    pub fn share(&self) -> f64 {
        self.bytes::<2>().map_or(0.5, |bytes| f64::from(u16::from_le_bytes(bytes)) / f64::from(u16::MAX))
    }
}

/// One step of splitmix64, top byte.
fn next_byte(state: &AtomicU64) -> u8 {
    let step = 0x9e37_79b9_7f4a_7c15_u64;
    let mut mixed = state.fetch_add(step, Ordering::SeqCst).wrapping_add(step);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed >> 56) as u8
}
