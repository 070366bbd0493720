//! Pages for people: each file makes one, from a template in `templates/`.
//!
//! Text is escaped by the template engine; a page holds no inline script or style and
//! names no outside address. What it may touch is said by its row's handler.

pub mod arrangement;
pub mod asset;
pub mod audit;
pub mod choose;
pub mod concentration;
pub mod confirm;
pub mod cra;
pub mod cra_form;
mod cra_text;
pub mod dashboard;
mod deed;
pub mod docs;
mod docs_route;
pub mod document;
pub mod error;
pub mod export;
mod fault;
pub mod finding;
pub mod finding_form;
pub mod finding_many;
pub mod frame;
pub mod health;
pub mod key;
pub mod library;
mod markup;
pub mod part;
pub mod picture;
mod plain;
pub mod profile;
pub mod programme;
pub mod provider;
pub mod register;
pub mod sign_in;
pub mod test_case;
pub mod time;
pub mod timeline;
pub mod user;
pub mod webhook;
pub mod words;

use crate::error::Error;
use askama::Template;

/// A template with its values, as text.
fn render(template: &impl Template) -> Result<String, Error> {
    template.render().map_err(|cause| Error::internal("writing a page", cause))
}
