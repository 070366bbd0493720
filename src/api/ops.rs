//! Operational endpoints: what the service knows of itself, and nothing that helps an attacker.

use crate::app::{App, PLATFORM_VERSION};
use crate::clock::rfc3339;
use crate::http::{Answer, Reply};
use crate::shape::{self, Is, Shape, Shown, flag, list, percent, text, whole, word};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

/// Health, as it is shown.
pub static HEALTH: Shape = Shape {
    name: "Health",
    fields: &[
        word("status", &["ok", "degraded", "down"]),
        text("version").such_as(r#""0.1.0""#),
        whole("uptime_seconds").such_as("86400"),
        Shown::new("checks", Is::Keyed(&Is::Word(&["ok", "failed"]))).says("Each check by its name."),
    ],
};
/// A sign of life, as it is shown.
pub static ALIVE: Shape = Shape { name: "Alive", fields: &[word("status", &["ok"])] };
/// The answer to a ping, as it is shown.
pub static PONG: Shape = Shape { name: "Pong", fields: &[flag("pong"), shape::time("time")] };
/// The rate of errors, as it is shown.
pub static ERROR_RATE: Shape = Shape {
    name: "ErrorRate",
    fields: &[whole("window_seconds").such_as("3600"), list("routes", &Is::Record(&ROUTE_ERRORS))],
};
static ROUTE_ERRORS: Shape = Shape {
    name: "RouteErrors",
    fields: &[
        text("route").such_as(r#""GET /api/v1/findings""#),
        whole("requests").such_as("1200"),
        whole("errors").such_as("0"),
        percent("rate_pct").such_as("0.0"),
    ],
};

/// `GET /api/healthz`: the process is alive and its loop turns. It touches nothing else.
pub fn healthz(_: &App) -> Answer {
    Ok(Reply::json_bytes(&br#"{"status":"ok"}"#[..]))
}

/// `GET /api/ping`
pub fn ping(app: &App) -> Answer {
    Ok(Reply::json_bytes(format!(r#"{{"pong":true,"time":"{}"}}"#, rfc3339(app.clock.now_ms()))))
}

/// `GET /api/health`: down when rows cannot be read or the service is stopping, degraded when the writer
/// has died.
pub fn health(app: &App) -> Answer {
    let reads = app.store.probe_reader();
    if let Err(error) = &reads {
        log::error!("health: {error}");
    }
    let writes = app.store.is_writer_alive();
    let stopping = app.stopping.load(Ordering::SeqCst);
    let status = match (reads.is_ok() && !stopping, writes) {
        (false, _) => "down",
        (true, false) => "degraded",
        (true, true) => "ok",
    };
    let word = |good: bool| if good { "ok" } else { "failed" };
    let body = json!({
        "status": status,
        "version": PLATFORM_VERSION,
        "uptime_seconds": app.clock.elapsed_ms() / 1000,
        "checks": {
            "database_read": word(reads.is_ok()),
            "database_write": word(writes),
            "accepting": word(!stopping),
        },
    });
    Ok(if status == "down" { Reply::unavailable(&body) } else { Reply::json(&body) })
}

/// `GET /api/errors/500-rate`: 5xx answers per route over the last hour; routes that nobody asked are left out.
pub fn error_rate(app: &App) -> Answer {
    let routes: Vec<Value> = app
        .meter
        .last_hour(app.clock.elapsed_us())
        .filter(|(_, requests, _)| *requests > 0)
        .map(|(route, requests, errors)| {
            let rate_pct = (errors as f64 / requests as f64 * 1000.0).round() / 10.0;
            json!({ "route": route, "requests": requests, "errors": errors, "rate_pct": rate_pct })
        })
        .collect();
    Ok(Reply::json(&json!({ "window_seconds": 3600, "routes": routes })))
}
