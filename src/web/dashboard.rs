//! The dashboard.

use super::frame::Frame;
use super::{asset, render};
use crate::error::Error;
use crate::http::{Answer, Reply, Visit};
use askama::Template;

#[derive(Template)]
#[template(path = "dashboard.html")]
struct Dashboard {
    frame: Frame,
}

/// `GET /`
pub fn page(visit: &Visit) -> Answer {
    Ok(Reply::html(made(visit)?))
}

fn made(visit: &Visit) -> Result<String, Error> {
    render(&Dashboard { frame: Frame::of(visit, "/")? })
}
