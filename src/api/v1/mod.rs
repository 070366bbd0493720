//! API v1: one file a noun.

pub mod compliance;
pub mod key;
pub mod measure;
