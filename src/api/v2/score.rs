//! Compliance scores: what the platform's reference institution reaches in each framework, and beside it what
//! the tenant's own programmes show.

use crate::app::App;
use crate::domain::fold::fold;
use crate::domain::query::{LIMIT, OFFSET, Param, SEARCH, filter};
use crate::http::envelope::v2_slice;
use crate::http::{Answer, Request};
use crate::reference::compliance::{STATUSES, overview};
use crate::store::Tenant;
use serde_json::{Value, json};

/// What the list may be asked for.
pub static PARAMS: &[Param] =
    &[LIMIT, OFFSET, SEARCH, filter("status", STATUSES, "Only frameworks whose score has this status.")];

/// A page of frameworks, in the order of the compliance status.
pub fn list(request: &Request, tenant: &Tenant, app: &App) -> Answer {
    let query = &request.query;
    let words: Vec<String> = query.get("search").unwrap_or_default().split_whitespace().map(fold).collect();
    let mut scores = Vec::new();
    for mut score in frameworks(app) {
        let text = fold(&format!("{} {}", score["framework"], score["name"]));
        let is_asked = query.get("status").is_none_or(|status| score["status"] == status)
            && words.iter().all(|word| text.contains(word.as_str()));
        if is_asked {
            let framework = score["framework"].as_str().unwrap_or_default();
            score["own"] = json!(tenant.figures_of(framework)?);
            scores.push(score);
        }
    }
    v2_slice(scores, query)
}

fn frameworks(app: &App) -> Vec<Value> {
    match overview(&app.reference.catalogue)["frameworks"].take() {
        Value::Array(frameworks) => frameworks,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => Vec::new(),
    }
}
