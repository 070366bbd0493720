//! Operational endpoints: what the service knows of itself, and nothing that helps an attacker.

use crate::app::{App, PLATFORM_VERSION};
use crate::clock::rfc3339;
use crate::domain::upkeep::{Outcome, RuleState, Status, Verdict, uptime_pct};
use crate::error::Error;
use crate::health;
use crate::http::{Answer, Reply};
use crate::payload::Payload;
use crate::shape::{self, Is, Shape, Shown, flag, list, percent, text, whole, word};
use crate::store::Sample;
use serde_json::{Value, json};
use std::fmt::Write;
use std::sync::Arc;

/// How many days of history are shown.
const HISTORY_DAYS: i64 = 7;
const MINUTE_MS: i64 = 60_000;

/// Health, as it is shown.
pub static HEALTH: Shape = Shape {
    name: "Health",
    fields: &[
        word("status", Status::NAMES),
        text("version").such_as(r#""0.1.0""#),
        whole("uptime_seconds").such_as("86400"),
        Shown::new("checks", Is::Keyed(&Is::Word(Verdict::NAMES))).says("Each check by its name."),
    ],
};
/// Health with its figures, as it is shown.
pub static HEALTH_DETAILED: Shape = Shape {
    name: "HealthDetailed",
    fields: &[
        word("status", Status::NAMES),
        text("version").such_as(r#""0.1.0""#),
        whole("uptime_seconds").such_as("86400"),
        Shown::new("checks", Is::Keyed(&Is::Record(&CHECK))).says("Each check by its name."),
    ],
};
static CHECK: Shape = Shape {
    name: "HealthCheck",
    fields: &[
        word("status", Verdict::NAMES).says("`low` is a warning."),
        whole("value").nullable().such_as("47244640256"),
        whole("limit").nullable().such_as("33554432"),
        Shown::new("duration_ms", Is::Number).such_as("0.02"),
    ],
};
/// The history of health, as it is shown.
pub static HISTORY: Shape = Shape {
    name: "HealthHistory",
    fields: &[
        Shown::new("uptime_pct", Is::Number)
            .such_as("99.98")
            .says("Minutes with a sample that is not `down`."),
        list("snapshots", &Is::Record(&SNAPSHOT)).says("One a minute, kept seven days, oldest first."),
    ],
};
static SNAPSHOT: Shape = Shape {
    name: "HealthSnapshot",
    fields: &[
        shape::time("at"),
        word("status", Status::NAMES),
        Shown::new("checks", Is::Keyed(&Is::Word(Verdict::NAMES))),
    ],
};
/// The rules of the auto-heal, as they are shown.
pub static AUTO_HEAL: Shape = Shape { name: "AutoHeal", fields: &[list("rules", &Is::Record(&RULE))] };
static RULE: Shape = Shape {
    name: "AutoHealRule",
    fields: &[
        text("name").such_as(r#""wal_over_limit""#),
        text("description"),
        word("state", RuleState::NAMES),
        shape::time("last_run_at").nullable(),
        shape::time("last_healed_at").nullable(),
        whole("heal_count").such_as("0"),
    ],
};
/// The jobs, as they are shown.
pub static CRON: Shape = Shape { name: "Cron", fields: &[list("jobs", &Is::Record(&JOB))] };
static JOB: Shape = Shape {
    name: "Job",
    fields: &[
        text("name").such_as(r#""nightly backup""#),
        text("schedule").such_as(r#""daily at 02:30 UTC""#),
        shape::time("last_run_at").nullable(),
        word("outcome", Outcome::NAMES).nullable().says("How the last run ended; null before the first."),
        whole("duration_ms").nullable(),
        shape::time("next_run_at").nullable(),
        flag("running"),
        whole("runs").says("Since the start."),
        whole("failures").such_as("0"),
        whole("panics").such_as("0"),
        whole("hangs").such_as("0"),
    ],
};
/// The disk report, as it is shown.
pub static DISK_REPORT: Shape = Shape {
    name: "DiskReport",
    fields: &[
        whole("database_bytes").such_as("249856"),
        whole("wal_bytes").such_as("4124152"),
        whole("free_bytes").nullable().such_as("47244640256"),
        whole("total_bytes").nullable().such_as("270582939648"),
        shape::time("tables_as_of").nullable().says("When the sizes below were taken: every six hours."),
        list("tables", &Is::Record(&TABLE)),
    ],
};
static TABLE: Shape = Shape {
    name: "TableSize",
    fields: &[text("name").such_as(r#""finding""#), whole("bytes"), whole("rows")],
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

/// `GET /api/health`: down when rows cannot be read or trusted or the service is stopping, degraded when
/// something else fails.
pub fn health(app: &App) -> Answer {
    let report = health::look(app);
    Ok(by_status(report.status, &told(app, report.status, Value::Object(report.verdicts()))))
}

/// `GET /api/health-detailed`: each check with its figure, its limit and how long the look took.
pub fn health_detailed(app: &App) -> Answer {
    let report = health::look(app);
    let checks = report.checks.iter().map(|check| {
        let told = json!({
            "status": check.verdict,
            "value": check.value,
            "limit": check.limit,
            "duration_ms": check.duration_us as f64 / 1000.0,
        });
        (check.name.to_owned(), told)
    });
    Ok(by_status(report.status, &told(app, report.status, Value::Object(checks.collect()))))
}

fn told(app: &App, status: Status, checks: Value) -> Value {
    json!({
        "status": status,
        "version": PLATFORM_VERSION,
        "uptime_seconds": app.clock.elapsed_ms() / 1000,
        "checks": checks,
    })
}

fn by_status(status: Status, body: &Value) -> Reply {
    match status {
        Status::Ok | Status::Degraded => Reply::json(body),
        Status::Down => Reply::unavailable(body),
    }
}

/// `GET /api/health/history`: a sample a minute. It is made once a minute, however often it is asked for.
pub fn history(app: &App) -> Answer {
    let kept = app.ledger.history();
    if let Some(payload) = kept.payload {
        return Ok(Reply::kept(&payload));
    }
    let payload = Arc::new(Payload::made(history_body(app)?));
    app.ledger.keep_history(kept.version, &payload);
    Ok(Reply::kept(&payload))
}

fn history_body(app: &App) -> Result<Vec<u8>, Error> {
    let samples = app.store.samples(HISTORY_DAYS)?;
    let mut text = String::with_capacity(64 + samples.len() * 200);
    let uptime_pct = json!(uptime(&samples, app.clock.now_ms()));
    let _ = write!(text, "{{\"uptime_pct\":{uptime_pct},\"snapshots\":[");
    for (position, sample) in samples.iter().enumerate() {
        let comma = if position == 0 { "" } else { "," };
        let (at, status) = (rfc3339(sample.at_ms), sample.status.name());
        // What was stored as JSON is shown as it is.
        let _ =
            write!(text, "{comma}{{\"at\":\"{at}\",\"status\":\"{status}\",\"checks\":{}}}", sample.checks);
    }
    text.push_str("]}");
    Ok(text.into_bytes())
}

/// A minute without a sample was a minute without the service, from the first sample on.
fn uptime(samples: &[Sample], now_ms: i64) -> f64 {
    let Some(first) = samples.first() else { return 100.0 };
    let up = samples.iter().filter(|sample| sample.status != Status::Down).count() as u64;
    // The minute that runs may have its sample still to come.
    let last_ms = samples.last().map_or(now_ms, |last| last.at_ms.max(now_ms - MINUTE_MS));
    let minutes = last_ms.saturating_sub(first.at_ms).div_euclid(MINUTE_MS) + 1;
    uptime_pct(up, u64::try_from(minutes).unwrap_or(0))
}

/// `GET /api/auto-heal/status`
pub fn auto_heal(app: &App) -> Answer {
    let rules: Vec<Value> = app
        .ledger
        .rules()
        .iter()
        .map(|rule| {
            json!({
                "name": rule.name,
                "description": rule.description,
                "state": rule.state,
                "last_run_at": rule.last_run_at_ms.map(rfc3339),
                "last_healed_at": rule.last_healed_at_ms.map(rfc3339),
                "heal_count": rule.heal_count,
            })
        })
        .collect();
    Ok(Reply::json(&json!({ "rules": rules })))
}

/// `GET /api/cron/info`
pub fn cron(app: &App) -> Answer {
    let jobs: Vec<Value> = app
        .ledger
        .jobs()
        .iter()
        .map(|job| {
            json!({
                "name": job.name,
                "schedule": job.schedule,
                "last_run_at": job.last_run_at_ms.map(rfc3339),
                "outcome": job.outcome,
                "duration_ms": job.duration_ms,
                "next_run_at": job.next_run_at_ms.map(rfc3339),
                "running": job.running_since_ms.is_some(),
                "runs": job.runs,
                "failures": job.failures,
                "panics": job.panics,
                "hangs": job.hangs,
            })
        })
        .collect();
    Ok(Reply::json(&json!({ "jobs": jobs })))
}

/// `GET /api/actions/disk-report`: sizes of tables are taken every few hours, since that reads the whole file.
pub fn disk_report(app: &App) -> Answer {
    let (database_bytes, wal_bytes) = app.store.file_bytes();
    let space = app.store.space();
    let figures = app.ledger.tables();
    let tables: Vec<Value> = figures
        .iter()
        .flat_map(|figures| &figures.tables)
        .map(|table| json!({ "name": table.name, "bytes": table.bytes, "rows": table.rows }))
        .collect();
    Ok(Reply::json(&json!({
        "database_bytes": database_bytes,
        "wal_bytes": wal_bytes,
        "free_bytes": space.map(|space| space.free_bytes),
        "total_bytes": space.map(|space| space.total_bytes),
        "tables_as_of": figures.map(|figures| rfc3339(figures.as_of_ms)),
        "tables": tables,
    })))
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
