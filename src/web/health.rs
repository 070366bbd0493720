//! The health of the service, as everybody who is signed in may see it.

use super::frame::Frame;
use super::part::{Cell, Facts};
use super::words::Words;
use super::{asset, render};
use crate::app::PLATFORM_VERSION;
use crate::domain::upkeep::{Status, Verdict};
use crate::health;
use crate::http::{Answer, Reply, Visit};
use askama::Template;

struct Row {
    route: String,
    requests: String,
    errors: String,
}

#[derive(Template)]
#[template(path = "health.html")]
struct HealthPage {
    frame: Frame,
    status: Cell,
    facts: Facts,
    requests: String,
    errors: String,
    rows: Vec<Row>,
}

/// `GET /health`
pub fn page(visit: &Visit) -> Answer {
    let (words, app) = (Words::of(visit), visit.app);
    let report = health::look(app);
    let good = || Cell { class: "st st-ok", ..Cell::text(words.t("health.good")) };
    let verdict = |verdict: Verdict| match verdict {
        Verdict::Ok => good(),
        Verdict::Low => Cell { class: "st st-failed", ..Cell::text(words.t("health.low")) },
        Verdict::Failed => Cell { class: "st st-failed", ..Cell::text(words.t("health.bad")) },
    };
    let minutes = app.clock.elapsed_ms() / 60_000;
    let up = format!("{} d {} h {} min", minutes / 1440, minutes / 60 % 24, minutes % 60);
    let mut facts = Facts::default();
    for check in &report.checks {
        facts = facts.with(words.field("health", check.name), verdict(check.verdict));
    }
    let facts = facts
        .with(words.t("health.version"), Cell::text(PLATFORM_VERSION))
        .with(words.t("health.up"), Cell::text(up));
    let (mut requests, mut errors, mut rows) = (0, 0, Vec::new());
    for (route, asked, failed) in app.meter.last_hour(app.clock.elapsed_us()) {
        requests += asked;
        errors += failed;
        if failed > 0 {
            rows.push(Row {
                route: route.to_owned(),
                requests: words.number(asked),
                errors: words.number(failed),
            });
        }
    }
    let page = HealthPage {
        frame: Frame::of(visit, "/health")?,
        status: match report.status {
            Status::Ok => good(),
            Status::Degraded | Status::Down => {
                Cell { class: "st st-failed", ..Cell::text(words.word(report.status.name())) }
            }
        },
        facts,
        requests: words.count("health.requests", requests),
        errors: words.count("health.errors", errors),
        rows,
    };
    Ok(Reply::html(render(&page)?))
}
