//! Holdfast: compliance and operational resilience in one executable.
//!
//! The house has levels; a module uses only those below it:
//!
//! ```text
//! 10  cli                          commands
//!  9  service                      start, wait, stop
//!  8  routes  pages                the tables
//!  7  api  web  jobs               JSON, pages, clockwork
//!  6  http  health                 plumbing, checks
//!  5  app                          the running service's parts
//!  4  config                       settings
//!  3  limiter  scanner  ledger     rate windows, the scan of ourselves, runs of jobs
//!  2  reference  store             static data, rows
//!  1  payload  meter  pdf          prepared bytes, counters, documents
//!  0  domain  shape  error  clock  chance  disk  meaning
//! ```
//!
//! ARCHITECTURE.md walks a request through it.

#[macro_use]
pub mod shape;
#[macro_use]
mod closed_set;

pub mod api;
pub mod app;
pub mod chance;
pub mod cli;
pub mod clock;
pub mod config;
pub mod courier;
pub mod disk;
pub mod domain;
pub mod egress;
pub mod error;
pub mod health;
pub mod http;
pub mod jobs;
pub mod ledger;
pub mod limiter;
pub mod meter;
pub mod pages;
pub mod payload;
pub mod pdf;
pub mod reference;
pub mod routes;
pub mod scanner;
pub mod service;
pub mod store;
pub mod turns;
pub mod web;
