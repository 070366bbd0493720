//! Technical performance: what each route did since the start.

use crate::app::App;
use crate::domain::fold::fold;
use crate::domain::query::{LIMIT, OFFSET, Param, SEARCH};
use crate::http::envelope::v2_slice;
use crate::http::{Answer, Request};
use crate::shape::{Is, Shape, Shown, percent, text, whole};
use serde_json::{Value, json};

/// What the list may be asked for.
pub static PARAMS: &[Param] = &[LIMIT, OFFSET, SEARCH];

/// What the figures of a route look like.
pub static FIGURES: Shape = Shape {
    name: "RoutePerformance",
    fields: &[
        text("route").says("Its method and path.").such_as(r#""GET /api/v1/findings""#),
        whole("requests").says("Since the start of the service."),
        percent("error_rate_pct").says("Share of them that were answered with 5xx.").such_as("0.0"),
        Shown::new("p50_ms", Is::Number).says("Half of the requests took no longer.").such_as("0.4"),
        Shown::new("p95_ms", Is::Number).says("All but one in twenty took no longer.").such_as("1.2"),
        Shown::new("p99_ms", Is::Number).says("All but one in a hundred took no longer.").such_as("3.1"),
    ],
};

/// A page of routes, in the order of the table; those that nobody asked are left out. An error is a 5xx.
pub fn overview(request: &Request, app: &App) -> Answer {
    let words: Vec<String> =
        request.query.get("search").unwrap_or_default().split_whitespace().map(fold).collect();
    let routes = app.meter.overview().filter(|(route, ..)| {
        let route = fold(route);
        words.iter().all(|word| route.contains(word.as_str()))
    });
    let figures = routes.map(|(route, tally, latency)| {
        let error_rate_pct = tally.server_errors as f64 / tally.requests as f64 * 100.0;
        json!({
            "route": route,
            "requests": tally.requests,
            "error_rate_pct": (error_rate_pct * 10.0).round() / 10.0,
            "p50_ms": milliseconds(latency.p50_us),
            "p95_ms": milliseconds(latency.p95_us),
            "p99_ms": milliseconds(latency.p99_us),
        })
    });
    v2_slice(figures.collect::<Vec<Value>>(), &request.query)
}

fn milliseconds(micros: f64) -> f64 {
    micros.round() / 1000.0
}
