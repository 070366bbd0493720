//! What a row says about itself: schemas, examples, failures. The OpenAPI document and the documentation page
//! are written from it, so that they cannot differ. It adds no facts of its own.

pub mod answer;
pub mod failure;
pub mod schema;

use super::route::{Gives, Route};

/// Where the OpenAPI document is served. It has no example: that would hold itself.
pub const DOCUMENT_PATH: &str = "/api/openapi.json";

/// `GET /api/v1/dora/measures/{id}` is called `get_v1_dora_measures_id`.
pub fn operation_id(route: &Route) -> String {
    let words = route.path.trim_start_matches("/api").replace(['/', '-', '.'], "_").replace(['{', '}'], "");
    format!("{}{}", route.verb.name().to_lowercase(), if words.is_empty() { "_index".into() } else { words })
}

/// What success means, in words.
pub fn success_text(route: &Route) -> &'static str {
    match route.gives {
        Gives::Item => "The object.",
        Gives::List => "A page of the list; `meta` tells count, total, limit and offset.",
        Gives::All => "The whole list.",
        Gives::Created | Gives::CreatedOrShown => "Created.",
        Gives::Csv => "A spreadsheet, RFC 4180.",
        Gives::Figures => "Figures in the text format of Prometheus; 404 while they are switched off.",
        Gives::Nothing => "Deleted; there is no body.",
    }
}
