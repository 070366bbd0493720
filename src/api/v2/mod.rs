//! API v2: one file a noun, where a list is more than a dataset of the build.

pub mod alert;
pub mod performance;
pub mod score;
pub mod search;
pub mod timeline;
