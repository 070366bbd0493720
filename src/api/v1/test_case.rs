//! Test cases.

use crate::domain::query::{LIMIT, OFFSET, Param, ParamKind, SEARCH, filter};
use crate::domain::test_case::{Priority, Status, Type};
use crate::http::envelope::{v1_item, v1_list};
use crate::http::{Answer, Reply, Request};
use crate::store::Tenant;
use serde_json::json;

/// What the list may be asked for.
pub static PARAMS: &[Param] = &[
    LIMIT,
    OFFSET,
    SEARCH,
    filter("status", Status::NAMES, "Only test cases with this status."),
    filter("type", Type::NAMES, "Only test cases of this type."),
    filter("priority", Priority::NAMES, "Only test cases of this priority."),
    Param {
        name: "programme_id",
        kind: ParamKind::Text { max_chars: 64 },
        says: "Only test cases of this programme.",
    },
];

/// A page of test cases.
pub fn list(request: &Request, tenant: &Tenant) -> Answer {
    v1_list(&tenant.test_cases(&request.query)?)
}

/// One test case.
pub fn show(request: &Request, tenant: &Tenant) -> Answer {
    Ok(Reply::json(&v1_item(json!(tenant.test_case(request.id())?))))
}

/// Changes a test case.
pub fn change(request: &Request, tenant: &Tenant) -> Answer {
    let case = tenant.change_test_case(request.id(), request.body.clone())?;
    Ok(Reply::json(&v1_item(json!(case))))
}
