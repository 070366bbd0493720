//! Alerts: what needs the tenant's attention now.

use crate::app::App;
use crate::domain::alert::{Alert, STATUSES};
use crate::domain::finding::Severity;
use crate::domain::query::{LIMIT, OFFSET, Param, SEARCH, filter};
use crate::http::envelope::v2_list;
use crate::http::{Answer, Request};
use crate::store::Tenant;
use std::sync::atomic::Ordering;

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
    v2_list(&tenant.alerts(&request.query, &app.config.leads, health(app))?)
}

/// The alert of a service that is not well.
fn health(app: &App) -> Vec<Alert> {
    let checks = [
        ("database_read", "down", app.store.probe_reader().is_ok()),
        ("accepting", "down", !app.stopping.load(Ordering::SeqCst)),
        ("database_write", "degraded", app.store.is_writer_alive()),
    ];
    let failing: Vec<&str> = checks.iter().filter(|(.., good)| !good).map(|(name, ..)| *name).collect();
    let status = checks.iter().find(|(.., good)| !good).map(|(_, status, _)| *status);
    status.map(|status| Alert::of_health(status, &failing, app.clock.now_ms())).into_iter().collect()
}
