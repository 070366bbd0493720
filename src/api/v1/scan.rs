//! The latest vulnerability scan: platform-wide, so every key sees the same.

use crate::app::App;
use crate::domain::query::{Param, filter};
use crate::domain::scan::Source;
use crate::http::envelope::v1_record;
use crate::http::{Answer, Request};

/// What it may be asked for.
pub static PARAMS: &[Param] = &[filter("source", Source::NAMES, "Only scans of this source.")];

/// The newest scan, of whatever source.
pub fn latest(request: &Request, app: &App) -> Answer {
    let source = request.query.get("source").and_then(Source::parse);
    Ok(v1_record(app.store.latest_scan(source)?.as_bytes()))
}
