//! The reference data as it is authored: files under `data/reference`, their
//! records, what is derived from them, and the public bodies they make.
//!
//! This folder is compiled twice: into the build script, which refuses data that
//! do not fit and compresses the bodies once, and into the binary, which reads the
//! same records for filters and figures. So it uses nothing of the rest of the house.

pub mod body;
pub mod catalogue;
pub mod check;
pub mod record;
pub mod words;

pub use catalogue::Catalogue;
