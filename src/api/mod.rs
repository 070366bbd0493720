//! JSON handlers. Each takes a checked request and a handle that says what it may
//! touch, and gives an answer.

pub mod index;
pub mod metrics;
pub mod openapi;
pub mod ops;
pub mod public;
pub mod v1;
pub mod v2;
