//! DORA measures, as far as other nouns point to them. The catalogue itself is reference data.

/// The ids of all measures, written by the build from the catalogue.
pub static MEASURE_IDS: &[&str] = include!(concat!(env!("OUT_DIR"), "/measure_ids.rs"));
