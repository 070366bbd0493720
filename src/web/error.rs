//! The page of an error: what it may be, the way on, and the request's number.

use super::words::Words;
use super::{asset, fault, render};
use crate::app::PLATFORM_VERSION;
use crate::error::Error;
use crate::http::site::Mishap;
use askama::Template;

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    words: Words,
    status: u16,
    title: &'static str,
    text: String,
    request_id: &'a str,
    version: &'static str,
}

/// The page. A fault of the server tells nothing of itself.
pub fn page(mishap: &Mishap) -> Result<String, Error> {
    let words = Words::in_language(mishap.language);
    let told = || fault::said(words, mishap.text);
    let (title, text) = match mishap.status {
        404 => (words.t("error.not_found"), words.t("error.not_found_text").to_owned()),
        403 => (words.t("error.denied"), told()),
        405 => (words.t("error.not_possible"), told()),
        500.. => (words.t("error.ours"), words.t("error.ours_text").to_owned()),
        _ => (words.t("error.other"), told()),
    };
    let (status, request_id) = (mishap.status, mishap.request_id);
    render(&ErrorPage { words, status, title, text, request_id, version: PLATFORM_VERSION })
}
