//! The compliance timeline: platform-wide, so every key sees the same.

use crate::app::App;
use crate::domain::query::{LIMIT, OFFSET, Param, ParamKind, SEARCH, filter};
use crate::domain::timeline::Status;
use crate::http::envelope::{v1_item, v1_list};
use crate::http::{Answer, Reply, Request};
use serde_json::json;

/// Where a milestone stands.
pub const STATUS: Param = filter("status", Status::NAMES, "Only milestones that stand so today (UTC).");
/// What kind of milestone.
pub const CATEGORY: Param = Param {
    name: "category",
    kind: ParamKind::Text { max_chars: 64 },
    says: "Only milestones of this category; the operator's file may add some.",
};
const FRAMEWORK: Param = Param {
    name: "framework",
    kind: ParamKind::Text { max_chars: 64 },
    says: "Only milestones of this framework; the operator's file may add some.",
};

/// What the list may be asked for.
pub static PARAMS: &[Param] = &[LIMIT, OFFSET, SEARCH, STATUS, FRAMEWORK, CATEGORY];

/// A page of milestones, by date.
pub fn list(request: &Request, app: &App) -> Answer {
    v1_list(&app.store.milestones(&request.query)?)
}

/// Brings the timeline in line with the build and the operator's file.
pub fn sync(request: &Request, app: &App) -> Answer {
    Ok(Reply::json(&v1_item(json!(app.sync_timeline(request.caller()?.actor())?))))
}
