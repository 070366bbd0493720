//! Concentration risk: analyses, breaches, thresholds.

use crate::domain::query::{LIMIT, OFFSET, Param, SEARCH};
use crate::domain::risk::Basis;
use crate::http::envelope::{v1_item, v1_list_with, v1_record};
use crate::http::{Answer, Reply, Request};
use crate::shape::{Shown, flag};
use crate::store::Tenant;
use serde_json::json;

/// What the list of breaches may be asked for.
pub static BREACH_PARAMS: &[Param] = &[LIMIT, OFFSET, SEARCH];

/// What `meta` of the breaches has beside.
pub static BREACH_META: &[Shown] = &[flag("enabled").says("Whether breaches are reported at all.")];

/// Runs an analysis and stores it; with `what_if` it is only answered.
pub fn analyze(request: &Request, tenant: &Tenant) -> Answer {
    let basis = request.body.text("basis").and_then(Basis::parse).unwrap_or(Basis::Criticality);
    if let Some(what_if) = request.body.record("what_if") {
        return Ok(Reply::json(&v1_item(json!(tenant.analyse_supposed(basis, &what_if)?))));
    }
    let analysis = tenant.analyse(basis)?;
    Ok(Reply::created(&v1_item(json!(analysis))).at("/api/v1/concentration-risk/latest"))
}

/// The latest analysis.
pub fn latest(_: &Request, tenant: &Tenant) -> Answer {
    Ok(v1_record(tenant.latest_analysis()?.as_bytes()))
}

/// Where the latest analysis exceeds the thresholds of now.
pub fn breaches(request: &Request, tenant: &Tenant) -> Answer {
    let breaches = tenant.breaches(&request.query)?;
    v1_list_with(&breaches.listed, json!({ "enabled": breaches.enabled }))
}

/// The thresholds.
pub fn thresholds(_: &Request, tenant: &Tenant) -> Answer {
    Ok(Reply::json(&v1_item(json!(tenant.thresholds()?))))
}

/// Changes the thresholds; absent fields keep their value.
pub fn change_thresholds(request: &Request, tenant: &Tenant) -> Answer {
    Ok(Reply::json(&v1_item(json!(tenant.change_thresholds(request.body.clone())?))))
}
