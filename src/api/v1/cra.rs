//! CRA reports. What is due and what is late follows the clock, so no answer is kept.

use crate::domain::cra::{Kind, Severity, Status};
use crate::domain::query::{LIMIT, OFFSET, Param, SEARCH, filter};
use crate::http::envelope::{v1_item, v1_list};
use crate::http::{Answer, Reply, Request};
use crate::store::{Listed, Tenant};

/// What the list may be asked for.
pub static PARAMS: &[Param] = &[
    LIMIT,
    OFFSET,
    SEARCH,
    filter("status", Status::NAMES, "Only reports with this status."),
    filter("kind", Kind::NAMES, "Only reports of this kind."),
    filter("severity", Severity::NAMES, "Only reports of this severity."),
];

/// A page of CRA reports.
pub fn list(request: &Request, tenant: &Tenant) -> Answer {
    let listed = tenant.cra_reports(&request.query)?;
    let now_ms = tenant.now_ms();
    let items = listed.items.iter().map(|report| report.shown(now_ms)).collect();
    v1_list(&Listed { items, total: listed.total, page: listed.page })
}

/// One CRA report.
pub fn show(request: &Request, tenant: &Tenant) -> Answer {
    let report = tenant.cra_report(request.id())?;
    Ok(Reply::json(&v1_item(report.shown(tenant.now_ms()))))
}

/// Changes a CRA report.
pub fn change(request: &Request, tenant: &Tenant) -> Answer {
    let report = tenant.change_cra_report(request.id(), request.body.clone())?;
    Ok(Reply::json(&v1_item(report.shown(tenant.now_ms()))))
}
