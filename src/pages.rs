//! The pages: every address that people open in a browser, as rows like those of the API.
//!
//! They are no part of the API: not counted in `/api/stats`, not in the OpenAPI document.

use crate::http::route::Handler::{AtStart, Open};
use crate::http::route::{Route, asset, page};
use crate::http::site::Site;
use crate::web;

/// What the service shows to people.
pub static SITE: Site = Site { pages: PAGES, error_page: web::error::page };

/// Every page.
pub static PAGES: &[Route] = &[
    page("/", AtStart(web::start::page)).says("What this is, and where to go."),
    page("/docs", AtStart(web::docs::page)).says("The API documentation."),
    asset("/assets/{name}", Open(web::asset::show)).says("Stylesheet, script and pictures of the pages."),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::route::Tier;

    #[test]
    fn pages_stand_outside_the_api_and_say_one_sentence() {
        for row in PAGES {
            assert!(matches!(row.tier, Tier::Page | Tier::Asset), "{}", row.path);
            assert!(row.path.starts_with('/') && !row.path.starts_with("/api"), "{}", row.path);
            assert!(row.says.ends_with('.') && !row.says.contains(". "), "{}", row.path);
        }
    }
}
