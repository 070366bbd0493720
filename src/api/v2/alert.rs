//! Alerts: what needs the tenant's attention now.

use crate::app::App;
use crate::domain::alert::{Alert, STATUSES};
use crate::domain::finding::Severity;
use crate::domain::query::{LIMIT, OFFSET, Param, SEARCH, filter};
use crate::domain::upkeep::{Status, Verdict};
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
    v2_list(&tenant.alerts(&request.query, &app.config.leads, of_health(app))?)
}

/// The alert of a service that is not well.
fn of_health(app: &App) -> Vec<Alert> {
    let report = health::look(app);
    let status = match report.status {
        Status::Ok => None,
        Status::Degraded | Status::Down => Some(report.status.name()),
    };
    let failed = report.checks.iter().filter(|check| check.verdict == Verdict::Failed);
    let failing: Vec<&str> = failed.map(|check| check.name).collect();
    status.map(|status| Alert::of_health(status, &failing, app.clock.now_ms())).into_iter().collect()
}
