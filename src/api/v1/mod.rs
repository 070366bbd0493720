//! API v1: one file a noun.

pub mod arrangement;
pub mod compliance;
pub mod cra;
pub mod finding;
pub mod key;
pub mod measure;
pub mod programme;
pub mod provider;
pub mod risk;
pub mod scan;
pub mod test_case;
pub mod timeline;
pub mod webhook;
