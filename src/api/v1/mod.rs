//! API v1: one file a noun.

pub mod compliance;
pub mod finding;
pub mod key;
pub mod measure;
pub mod programme;
pub mod test_case;
pub mod timeline;
