//! Tests through the front door: a real socket, a real database file, the real binary.

#![expect(clippy::disallowed_methods, reason = "a test waits for real processes and sockets")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod acts;
mod alert;
mod architecture;
mod audit;
mod backup;
mod cli;
mod client;
mod contract;
mod cra;
mod deadline;
mod delivery;
mod docs;
mod faults;
mod finding;
mod history;
mod house;
mod import;
mod key;
mod limits;
mod mail;
mod matrix;
mod openapi;
mod ops;
mod outbox;
mod pages;
mod pdf;
mod people;
mod person;
mod process;
mod programme;
mod receiver;
mod reference;
mod risk;
mod scan;
mod search;
mod server;
mod store;
mod timeline;
mod upgrade;
mod v2;
mod webhook;
mod workspace_csv;
mod workspace_door;
mod workspace_edit;
mod workspace_german;
mod workspace_import;
mod workspace_pdf;
mod workspace_settings;
mod workspace_work;
