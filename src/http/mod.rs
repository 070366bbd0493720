//! Plumbing: from a socket to a handler and back. It knows no resource.
//!
//! The way of a request: `server` accepts and reads under limits; `router` finds the
//! row; `gate` asks for the key, the rate limit and the permission; `dispatch` checks
//! query and body and calls the row's handler; `reply` turns the answer, or the
//! error, into bytes.

mod cache;
mod cookie;
pub mod describe;
pub mod dispatch;
mod encoding;
mod entrance;
pub mod envelope;
mod finish;
mod gate;
pub mod peer;
pub mod prepared;
pub mod reply;
pub mod request;
pub mod route;
pub mod router;
mod scope;
pub mod server;
pub mod site;
mod stream;
mod tier;
pub mod tls;
pub mod visit;

pub use reply::{Answer, Reply};
pub use request::{Caller, Request};
pub use visit::{Notice, Visit};
