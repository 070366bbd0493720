//! Findings.

use crate::domain::finding::Severity;
use crate::domain::query::{LIMIT, OFFSET, Param, ParamKind, SEARCH, filter};
use crate::error::Error;
use crate::http::envelope::{LIST_BEGIN, v1_item, v1_records};
use crate::http::{Answer, Reply, Request};
use crate::store::{Filed, Tenant};
use serde_json::json;

/// The words of `status` in the list: each status, and all of them.
const STATUS_FILTER: &[&str] =
    &["open", "in_progress", "resolved", "closed", "risk_accepted", "false_positive", "all"];
/// The longest idempotency key.
const ONCE_CHARS_MAX: usize = 255;

/// What the list may be asked for.
pub static PARAMS: &[Param] = &[
    LIMIT,
    OFFSET,
    SEARCH,
    filter(
        "status",
        STATUS_FILTER,
        "Only findings with this status; `all` for all. Without it: the open ones.",
    ),
    filter("severity", Severity::NAMES, "Only findings of this severity."),
    Param {
        name: "programme_id",
        kind: ParamKind::Text { max_chars: 64 },
        says: "Only findings of this programme.",
    },
    Param {
        name: "test_case_id",
        kind: ParamKind::Text { max_chars: 64 },
        says: "Only findings of this test case.",
    },
    filter("overdue", &["true", "false"], "Only findings that are, or are not, overdue."),
];

/// A page of findings; the open ones unless a status is asked for.
pub fn list(request: &Request, tenant: &Tenant) -> Answer {
    Ok(v1_records(tenant.findings(&request.query, LIST_BEGIN.to_vec())?))
}

/// One finding.
pub fn show(request: &Request, tenant: &Tenant) -> Answer {
    Ok(Reply::json(&v1_item(json!(tenant.finding(request.id())?))))
}

/// Files a finding; with an `Idempotency-Key` once in a day.
pub fn create(request: &Request, tenant: &Tenant) -> Answer {
    let fits = |key: &str| {
        (1..=ONCE_CHARS_MAX).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
    };
    if request.once.as_ref().is_some_and(|key| !fits(key)) {
        let text =
            format!("the header Idempotency-Key must have 1 to {ONCE_CHARS_MAX} visible ASCII characters");
        return Err(Error::invalid(text));
    }
    let (Filed::New(finding) | Filed::Before(finding)) =
        tenant.file_finding(request.body.clone(), request.once.clone())?;
    Ok(Reply::created(&v1_item(json!(finding))).at(&format!("/api/v1/findings/{}", finding.id)))
}

/// Changes a finding.
pub fn change(request: &Request, tenant: &Tenant) -> Answer {
    let finding = tenant.change_finding(request.id(), request.body.clone())?;
    Ok(Reply::json(&v1_item(json!(finding))))
}
