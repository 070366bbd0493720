//! Programmes.

use crate::domain::programme::{Framework, Status};
use crate::domain::query::{LIMIT, OFFSET, Param, SEARCH, filter};
use crate::http::envelope::{v1_item, v1_list};
use crate::http::{Answer, Reply, Request};
use crate::store::Tenant;
use serde_json::json;

/// What the list may be asked for.
pub static PARAMS: &[Param] = &[
    LIMIT,
    OFFSET,
    SEARCH,
    filter("status", Status::NAMES, "Only programmes with this status."),
    filter("framework", Framework::NAMES, "Only programmes of this framework."),
];

/// A page of programmes.
pub fn list(request: &Request, tenant: &Tenant) -> Answer {
    v1_list(&tenant.programmes(&request.query)?)
}

/// One programme.
pub fn show(request: &Request, tenant: &Tenant) -> Answer {
    Ok(Reply::json(&v1_item(json!(tenant.programme(request.id())?))))
}
