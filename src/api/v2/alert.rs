//! Alerts: what needs the tenant's attention now.

use crate::app::App;
use crate::domain::alert::STATUSES;
use crate::domain::finding::Severity;
use crate::domain::query::{LIMIT, OFFSET, Param, SEARCH, filter};
use crate::health;
use crate::http::envelope::v2_list;
use crate::http::{Answer, Request};
use crate::store::Tenant;

/// What the list may be asked for.
pub static PARAMS: &[Param] = &[
    LIMIT,
    OFFSET,
    SEARCH,
    filter("level", Severity::NAMES, "Only alerts of this severity."),
    filter("status", STATUSES, "Only open alerts, which all are: one that is dealt with is gone."),
];

/// A page of alerts, worst first and then newest first.
pub fn list(request: &Request, tenant: &Tenant, app: &App) -> Answer {
    v2_list(&tenant.alerts(&request.query, &app.config.leads, health::alerts(app))?)
}
