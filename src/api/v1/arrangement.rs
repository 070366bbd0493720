//! Arrangements of the register.

use crate::domain::arrangement::Criticality;
use crate::domain::query::{LIMIT, OFFSET, Param, ParamKind, SEARCH, filter};
use crate::http::envelope::{v1_item, v1_list};
use crate::http::{Answer, Reply, Request};
use crate::store::Tenant;
use serde_json::json;

/// What the list may be asked for.
pub static PARAMS: &[Param] = &[
    LIMIT,
    OFFSET,
    SEARCH,
    filter("criticality", Criticality::NAMES, "Only arrangements of this criticality."),
    Param {
        name: "provider_id",
        kind: ParamKind::Text { max_chars: 64 },
        says: "Only arrangements with this provider.",
    },
];

/// A page of arrangements.
pub fn list(request: &Request, tenant: &Tenant) -> Answer {
    v1_list(&tenant.arrangements(&request.query)?)
}

/// One arrangement.
pub fn show(request: &Request, tenant: &Tenant) -> Answer {
    Ok(Reply::json(&v1_item(json!(tenant.arrangement(request.id())?))))
}

/// Enters an arrangement.
pub fn create(request: &Request, tenant: &Tenant) -> Answer {
    let arrangement = tenant.create_arrangement(request.body.clone())?;
    let place = format!("/api/v1/concentration-risk/arrangements/{}", arrangement.id);
    Ok(Reply::created(&v1_item(json!(arrangement))).at(&place))
}

/// Deletes an arrangement.
pub fn delete(request: &Request, tenant: &Tenant) -> Answer {
    tenant.delete_arrangement(request.id())?;
    Ok(Reply::empty())
}
