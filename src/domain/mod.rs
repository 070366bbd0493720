//! What the words mean. No I/O, no SQL, no HTTP: the same input gives the same answer.
//!
//! A *tenant* is one customer; a *key* acts for a tenant with *permissions*; a
//! *form* says what a body may hold, a *query* what an address may ask for, and a
//! *limit* how often.

pub mod form;
pub mod id;
pub mod json;
pub mod key;
pub mod limit;
pub mod page;
pub mod permission;
pub mod query;
pub mod risk;
pub mod user;
pub mod webhook;
