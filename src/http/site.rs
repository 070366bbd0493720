//! The site: what people see of the service, handed in, since the plumbing knows no page.

use super::route::Route;
use crate::domain::language::Language;
use crate::error::Error;

/// What the service shows to people, beside the API's table.
pub struct Site {
    /// Its rows.
    pub pages: &'static [Route],
    /// How it tells of an error.
    pub error_page: fn(&Mishap) -> Result<String, Error>,
}

/// An error, as a page tells it.
pub struct Mishap<'a> {
    /// The status.
    pub status: u16,
    /// The sentence that the API would give.
    pub text: &'a str,
    /// The language of whoever reads it.
    pub language: Language,
    /// By which the operator finds it in the log.
    pub request_id: &'a str,
}
