//! The start page, until the workspace takes its place.

use super::{asset, render};
use crate::app::PLATFORM_VERSION;
use crate::error::Error;
use crate::http::route::{Made, Makings};
use askama::Template;

#[derive(Template)]
#[template(path = "start.html")]
struct StartPage<'a> {
    contact: Option<&'a str>,
    base_url: &'a str,
    routes: usize,
    measures: usize,
    version: &'static str,
}

/// `GET /`
pub fn page(makings: &Makings) -> Result<Made, Error> {
    let page = StartPage {
        contact: makings.contact,
        base_url: makings.base_url,
        routes: makings.routes.len(),
        measures: makings.reference.catalogue.measures.data.len(),
        version: PLATFORM_VERSION,
    };
    Ok(Made::Html(render(&page)?))
}
