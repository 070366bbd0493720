//! Holdfast: compliance and operational resilience in one executable.
//!
//! The house has levels; a module uses only those below it:
//!
//! ```text
//! 6  main  lib  cli                    wiring
//! 5  routes                            the table
//! 4  api        jobs                   JSON, clockwork
//! 3  http                              plumbing
//! 2  app                               the running service's parts
//! 1  config  reference  store  limiter  meter  payload
//! 0  domain  error  clock  chance      meaning
//! ```
//!
//! ARCHITECTURE.md walks a request through it.

pub mod api;
pub mod app;
pub mod chance;
pub mod cli;
pub mod clock;
pub mod config;
pub mod domain;
pub mod error;
pub mod http;
pub mod jobs;
pub mod limiter;
pub mod meter;
pub mod payload;
pub mod reference;
pub mod routes;
pub mod service;
pub mod store;
