//! What the words mean. No I/O, no SQL, no HTTP: the same input gives the same answer.
//!
//! A *tenant* is one customer; a *key* acts for a tenant with *permissions*; a
//! *form* says what a body may hold, a *query* what an address may ask for, and a
//! *limit* how often.

pub mod actor;
pub mod address;
pub mod alert;
pub mod analysis;
pub mod arrangement;
pub mod audit;
pub mod bulk;
pub mod cra;
pub mod cra_form;
pub mod cvss_score;
pub mod day;
pub mod deadline;
pub mod delivery;
pub mod destination;
pub mod event;
pub mod finding;
pub mod fits;
pub mod fold;
pub mod form;
pub mod history;
pub mod id;
pub mod import;
pub mod import_csv;
pub mod json;
pub mod key;
pub mod language;
pub mod limit;
pub mod measure;
pub mod message;
pub mod moves;
pub mod multipart;
pub mod osv;
pub mod page;
pub mod password;
pub mod permission;
pub mod programme;
pub mod provider;
pub mod query;
pub mod register;
pub mod register_row;
pub mod report;
pub mod risk;
pub mod sarif;
pub mod scan;
pub mod search;
pub mod sent;
pub mod session;
pub mod shown;
pub mod spreadsheet;
pub mod test_case;
pub mod throttle;
pub mod timeline;
pub mod upkeep;
pub mod user;
pub mod values;
pub mod webhook;
pub mod what_if;
