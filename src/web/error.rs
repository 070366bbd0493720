//! The page of an error: what it may be, the way on, and the request's number.

use super::{asset, render};
use crate::app::PLATFORM_VERSION;
use crate::error::Error;
use crate::http::site::Mishap;
use askama::Template;

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    status: u16,
    title: &'static str,
    text: &'a str,
    request_id: &'a str,
    version: &'static str,
}

/// The page. A fault of the server tells nothing of itself.
pub fn page(mishap: &Mishap) -> Result<String, Error> {
    let (title, text) = match mishap.status {
        404 => (
            "This page does not exist",
            "The address may be mistyped, or what was here may have been deleted.",
        ),
        403 => ("You may not do this", mishap.text),
        405 => ("This is not possible here", mishap.text),
        500.. => {
            ("Something went wrong on our side", "The request was not carried out. Try again in a moment.")
        }
        _ => ("This request cannot be answered", mishap.text),
    };
    let request_id = mishap.request_id;
    render(&ErrorPage { status: mishap.status, title, text, request_id, version: PLATFORM_VERSION })
}
