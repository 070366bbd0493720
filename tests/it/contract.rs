//! Walks the whole table: what holds for every route is tested on every route.

use crate::house::House;
use holdfast::config::Metrics;
use holdfast::domain::query::ParamKind;
use holdfast::http::route::{Credentials, Gives, Handler, Route, Scope, Tier, Verb};
use holdfast::routes::ROUTES;
use serde_json::{Value, json};

/// A sample identifier for a path, and a value for what it needs; a path without one fails the walk.
fn target(route: &Route) -> String {
    let path = match route.path.split_once('{') {
        None => route.path.to_owned(),
        Some(("/api/v1/dora/measures/", _)) => "/api/v1/dora/measures/DORA-05-02".into(),
        Some((beginning, rest)) => {
            format!("{beginning}unused{}", rest.split_once('}').map_or("", |(_, tail)| tail))
        }
    };
    let needed = route.asks.iter().filter(|param| matches!(param.kind, ParamKind::Needed { .. }));
    needed.fold(path, |path, param| with(&path, &format!("{}=risk", param.name)))
}

/// An address with one more parameter.
fn with(target: &str, parameter: &str) -> String {
    format!("{target}{}{parameter}", if target.contains('?') { '&' } else { '?' })
}

/// Counts its own requests, so it says something new each time.
fn changes_by_itself(route: &Route) -> bool {
    route.tier == Tier::Service || route.path == "/api/v2/performance/overview"
}

/// A valid body for a form; a form without one fails the walk.
fn sample(route: &Route) -> Option<Value> {
    Some(match route.takes?.name {
        "NewKey" => json!({ "name": "walker" }),
        "NewProvider" => json!({ "name": "walker" }),
        "NewArrangement" => json!({ "provider_id": "unused", "service": "s", "criticality": "standard" }),
        "Analyze" => json!({ "basis": "count" }),
        "ThresholdPatch" => json!({ "provider_concentration_pct": 30 }),
        "NewWebhook" => json!({
            "name": "w", "channel": "slack", "url": "https://hooks.slack.com/services/x", "events": ["finding.created"],
        }),
        "Nothing" => json!({}),
        "WebhookPatch" => json!({ "active": false }),
        "NewFinding" => json!({ "title": "a finding", "severity": "low" }),
        "FindingPatch" => json!({ "status": "in_progress" }),
        "TestCasePatch" => json!({ "status": "in_progress" }),
        "CraReportPatch" => json!({ "title": "t" }),
        other => panic!("no sample for the form {other}"),
    })
}

/// What a good request to a route of an empty tenant answers.
fn expected(route: &Route) -> u16 {
    match route.name().as_str() {
        _ if !route.handler.is_available() => 501,
        // There is nothing to analyse, and no provider to name.
        "POST /api/v1/concentration-risk/analyze" | "POST /api/v1/concentration-risk/arrangements" => 422,
        "GET /api/v1/concentration-risk/latest" => 404,
        _ if route.path.contains('{') && route.handler.scope() == Scope::Tenant => 404,
        _ => route.gives.status(),
    }
}

fn keyed() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(|route| route.tier.credentials() != Credentials::None)
}

fn unlimited() -> House {
    House::with(|config| {
        config.limits = None;
        config.metrics = Metrics::On;
    })
}

#[test]
fn without_a_live_key_every_keyed_route_is_401_with_one_and_the_same_body() {
    let house = unlimited();
    let unknown = holdfast::domain::key::Secret::make(&holdfast::chance::Chance::seeded(9)).unwrap();
    for route in keyed() {
        let call = || house.call(route.verb.name(), &target(route));
        let bodies = [
            call().expect(401),
            call().key(unknown.reveal()).expect(401),
            call().key("nonsense").expect(401),
            call().key(&house.ours.expired).expect(401),
            call().key(&house.ours.revoked).expect(401),
            call().header("Authorization", "Basic abc").expect(401),
        ];
        for answer in &bodies {
            assert_eq!(answer.body, bodies[0].body, "{}", route.name());
            assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer"));
            assert!(answer.header("etag").is_none());
        }
    }
}

#[test]
fn a_key_without_the_permission_gets_403_before_anything_else_is_looked_at() {
    let house = unlimited();
    for route in keyed().filter(|route| route.needs.is_some()) {
        let answer = house
            .call(route.verb.name(), &target(route))
            .key(&house.ours.reader)
            .body("not even JSON")
            .expect(403);
        let permission = route.needs.unwrap().name();
        assert!(answer.error().contains(permission), "{}", route.name());
    }
}

#[test]
fn the_right_key_reaches_every_route() {
    let house = unlimited();
    for route in keyed() {
        let mut call = house.call(route.verb.name(), &target(route)).key(&house.ours.all);
        if let Some(body) = sample(route) {
            call = call.json(&body);
        }
        let answer = call.send();
        assert_eq!(
            answer.status,
            expected(route),
            "{}: {}",
            route.name(),
            String::from_utf8_lossy(&answer.body)
        );
        assert_eq!(answer.header("x-api-version"), (route.tier == Tier::V1).then_some("2026-11-01"));
    }
}

#[test]
fn v1_takes_either_header_and_v2_only_bearer() {
    let house = unlimited();
    let ours = &house.ours;
    for route in keyed().filter(|route| route.verb == Verb::Get && expected(route) == 200) {
        let call = || house.get(&target(route));
        let plain = if route.tier == Tier::V1 { 200 } else { 401 };
        call().header("X-API-Key", &ours.reader).expect(plain);
        call().header("authorization", &format!("bEaReR {}", ours.reader)).expect(200);
        call().key(&ours.reader).header("X-API-Key", &ours.reader).expect(200);
        let both = if route.tier == Tier::V1 { 401 } else { 200 };
        call().key(&ours.reader).header("X-API-Key", &ours.writer).expect(both);
        call().key(&ours.reader).key(&ours.reader).expect(401);
        house.get(&with(&target(route), &format!("api_key={}", ours.reader))).expect(401);
    }
}

#[test]
fn a_wrong_method_is_405_with_allow_on_every_path() {
    let house = unlimited();
    for route in ROUTES {
        let here: Vec<&Route> = ROUTES.iter().filter(|other| other.path == route.path).collect();
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"] {
            if here.iter().any(|other| other.verb.name() == method) {
                continue;
            }
            let answer = house.call(method, &target(route)).expect(405);
            let allow = answer.header("allow").unwrap();
            for other in &here {
                assert!(allow.split(", ").any(|name| name == other.verb.name()), "{allow}");
            }
            assert!(!allow.contains(method), "{method}: {allow}");
            assert!(answer.error().contains("possible"), "{}", route.name());
        }
    }
}

#[test]
fn head_answers_like_get_without_a_body() {
    let house = unlimited();
    for route in ROUTES.iter().filter(|route| route.verb == Verb::Get) {
        let get = house.get(&target(route)).key(&house.ours.reader).send();
        let head = house.call("HEAD", &target(route)).key(&house.ours.reader).send();
        assert_eq!(head.status, get.status, "{}", route.name());
        assert!(head.body.is_empty(), "{}", route.name());
        // What the service tells of itself changes from one request to the next.
        let steady: &[&str] = if changes_by_itself(route) { &[] } else { &["content-length", "etag"] };
        for name in ["content-type", "cache-control"].iter().chain(steady) {
            assert_eq!(head.header(name), get.header(name), "{} {name}", route.name());
        }
    }
}

#[test]
fn a_successful_get_has_an_etag_that_gives_304_and_operational_routes_have_none() {
    let house = unlimited();
    for route in ROUTES.iter().filter(|route| route.verb == Verb::Get && expected(route) == 200) {
        let call = || house.get(&target(route)).key(&house.ours.reader);
        let first = call().expect(200);
        let Some(etag) = first.header("etag").map(str::to_owned) else {
            assert_eq!(route.tier, Tier::Service, "{}", route.name());
            assert_eq!(first.header("cache-control"), Some("no-store"));
            continue;
        };
        if changes_by_itself(route) {
            continue;
        }
        for given in [etag.clone(), format!("W/{etag}"), format!("\"other\", {etag}"), "*".into()] {
            let again = call().header("If-None-Match", &given).expect(304);
            assert!(again.body.is_empty());
            assert_eq!(again.header("etag"), Some(etag.as_str()));
            assert_eq!(again.header("cache-control"), first.header("cache-control"));
        }
        call().header("If-None-Match", "\"other\"").expect(200);
    }
}

#[test]
fn unknown_or_repeated_parameters_are_422_on_keyed_routes_and_ignored_on_open_ones() {
    let house = unlimited();
    for route in ROUTES.iter().filter(|route| route.verb == Verb::Get && expected(route) == 200) {
        let address = with(&target(route), "colour=red");
        let call = house.get(&address).key(&house.ours.reader);
        if route.tier.checks_query() {
            let answer = call.expect(422);
            assert!(answer.json()["fields"]["colour"].is_string(), "{}", route.name());
        } else {
            call.expect(200);
        }
        if let Some(param) = route.asks.first() {
            let twice = format!("{}?{1}=1&{1}=1", route.path.replace("{id}", "x"), param.name);
            let answer = house.get(&twice).key(&house.ours.reader).expect(422);
            assert!(answer.json()["fields"][param.name].is_string(), "{}", route.name());
        }
    }
}

#[test]
fn bad_bodies_are_422_on_every_route_that_takes_one() {
    let house = unlimited();
    for route in ROUTES.iter().filter(|route| route.takes.is_some()) {
        let deep = format!("{{\"name\":{}{}}}", "[".repeat(1000), "]".repeat(1000));
        for body in ["", "{", "[]", "null", "\"x\"", "{\"a\":1,\"a\":1}", "{\"name\":\"\u{1}\"}", &deep] {
            if body.is_empty() && route.optional_body {
                continue;
            }
            let answer =
                house.call(route.verb.name(), &target(route)).key(&house.ours.all).body(body).expect(422);
            assert!(!answer.error().is_empty(), "{}", route.name());
        }
        let bytes = b"{\"name\":\"\xff\"}".to_vec();
        house.call(route.verb.name(), &target(route)).key(&house.ours.all).body(bytes).expect(422);
        let unknown = json!({ "no_such_field": 1 });
        let answer =
            house.call(route.verb.name(), &target(route)).key(&house.ours.all).json(&unknown).expect(422);
        assert!(answer.json()["fields"]["no_such_field"].is_string(), "{}", route.name());
        let large = format!("{{\"name\":\"{}\"}}", "x".repeat(256 * 1024));
        let answer =
            house.call(route.verb.name(), &target(route)).key(&house.ours.all).body(large).expect(413);
        assert!(answer.error().contains("262144"), "{}", route.name());
    }
}

#[test]
fn every_answer_has_its_headers() {
    let house = unlimited();
    for route in ROUTES {
        for key in [Some(&house.ours.reader), None] {
            let mut call =
                house.call(route.verb.name(), &target(route)).header("X-Request-Id", "abc.DEF_1-2");
            if let Some(key) = key {
                call = call.key(key);
            }
            let answer = call.send();
            assert_eq!(answer.header("x-request-id"), Some("abc.DEF_1-2"), "{}", route.name());
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{}", route.name());
            assert!(answer.header("server").is_none());
            let open = route.tier.is_open_to_browsers();
            assert_eq!(answer.header("access-control-allow-origin"), open.then_some("*"), "{}", route.name());
            let kind = answer.header("content-type").unwrap();
            let expected = match route.gives {
                Gives::Csv if answer.status == 200 => "text/csv; charset=utf-8",
                Gives::Figures => "text/plain; version=0.0.4; charset=utf-8",
                Gives::Item
                | Gives::List
                | Gives::All
                | Gives::Created
                | Gives::CreatedOrShown
                | Gives::Csv
                | Gives::Nothing => "application/json",
            };
            assert_eq!(kind, expected, "{}", route.name());
        }
    }
}

#[test]
fn a_request_id_that_is_not_plain_is_replaced() {
    let house = unlimited();
    let long = "x".repeat(65);
    for id in ["", "a b", "a\"b", &long, "ä"] {
        let answer = house.get("/api/ping").header("X-Request-Id", id).expect(200);
        let given = answer.header("x-request-id").unwrap();
        assert_ne!(given, id);
        assert!(given.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'), "{given}");
    }
    let first = house.get("/api/ping").expect(200);
    let second = house.get("/api/ping").expect(200);
    assert_ne!(first.header("x-request-id"), second.header("x-request-id"));
}

#[test]
fn preflights_are_answered_on_open_routes_only() {
    let house = unlimited();
    let open = house.call("OPTIONS", "/api/measures").header("Origin", "https://example.com").expect(204);
    assert_eq!(open.header("access-control-allow-origin"), Some("*"));
    assert!(open.header("allow").unwrap().contains("GET"));
    let closed =
        house.call("OPTIONS", "/api/v1/findings").header("Origin", "https://example.com").expect(405);
    assert_eq!(closed.header("access-control-allow-origin"), None);
}

#[test]
fn an_unknown_path_is_404_with_and_without_a_key() {
    let house = unlimited();
    for path in [
        "/nothing",
        "/api/",
        "/api/nothing",
        "/api/v1",
        "/api/v1/findings/",
        "/api/v3",
        "/API/ping",
        "/api//ping",
        "*",
    ] {
        let answer = house.get(path).expect(404);
        assert!(answer.error().contains("nothing"), "{path}");
        house.get(path).key(&house.ours.all).expect(404);
    }
}

#[test]
fn the_indexes_and_counts_are_read_from_the_table() {
    let house = unlimited();
    let stats = house.get("/api/stats").expect(200).json();
    assert_eq!(stats["routes_count"], json!(ROUTES.len()));
    assert_eq!(stats.as_object().unwrap().len(), 6, "the bare record of the specification");
    let index = house.get("/api").expect(200).json();
    for route in ROUTES.iter().filter(|route| route.tier == Tier::Public) {
        let listed = index["data"].as_array().unwrap().iter().find(|entry| entry["path"] == route.path);
        assert_eq!(listed.unwrap()["description"], route.says);
    }
    let v2 = house.get("/api/v2").key(&house.ours.reader).expect(200).json();
    let rows = ROUTES.iter().filter(|route| route.tier == Tier::V2).count();
    assert_eq!(v2["data"].as_array().unwrap().len(), rows);
    let modules = house.get("/api/modules").expect(200).json();
    let listed: usize = modules["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|module| module["routes"].as_array().unwrap().len())
        .sum();
    assert_eq!(listed, ROUTES.len());
}

/// The routes of the specification's sections 4.2 to 4.5.
const SPECIFIED: &[&str] = &[
    "GET /api/v1/programmes",
    "GET /api/v1/programmes/{id}",
    "GET /api/v1/test-cases",
    "GET /api/v1/test-cases/{id}",
    "GET /api/v1/findings",
    "GET /api/v1/findings/{id}",
    "GET /api/v1/compliance-status",
    "GET /api/v1/compliance-status/dora",
    "GET /api/v1/compliance-status/marisk",
    "GET /api/v1/compliance-status/iso-27001",
    "GET /api/v1/compliance-status/cra",
    "GET /api/v1/dora/measures",
    "GET /api/v1/dora/measures/{id}",
    "GET /api/v1/compliance-timeline",
    "POST /api/v1/compliance-timeline/sync",
    "POST /api/v1/concentration-risk/analyze",
    "GET /api/v1/concentration-risk/latest",
    "GET /api/v1/concentration-risk/breaches",
    "GET /api/v1/concentration-risk/thresholds",
    "PATCH /api/v1/concentration-risk/thresholds",
    "GET /api/v1/vulnerability-scan/latest",
    "POST /api/v1/keys",
    "GET /api/v1/webhooks",
    "POST /api/v1/webhooks",
    "GET /api/v1/webhooks/{webhook}",
    "PUT /api/v1/webhooks/{webhook}",
    "PATCH /api/v1/webhooks/{webhook}",
    "DELETE /api/v1/webhooks/{webhook}",
    "GET /api/v1/cra/reports/{id}",
    "PATCH /api/v1/cra/reports/{id}",
    "GET /api/v1/exports/measures/csv",
    "GET /api/v1/exports/measures/json",
    "GET /api",
    "GET /api/risk-register",
    "GET /api/vendor-scorecard",
    "GET /api/incident-drills",
    "GET /api/gap-analysis",
    "GET /api/measures",
    "GET /api/evidence",
    "GET /api/radar",
    "GET /api/modules",
    "GET /api/stats",
    "GET /api/health",
    "GET /api/health-detailed",
    "GET /api/health/history",
    "GET /api/healthz",
    "GET /api/ping",
    "GET /api/auto-heal/status",
    "GET /api/errors/500-rate",
    "GET /api/cron/info",
    "GET /api/actions/disk-report",
    "GET /api/v2",
    "GET /api/v2/risk-register",
    "GET /api/v2/vendor-scorecard",
    "GET /api/v2/incident-drills",
    "GET /api/v2/gap-analysis",
    "GET /api/v2/compliance-timeline",
    "GET /api/v2/compliance-training",
    "GET /api/v2/vendor-risk-assessment",
    "GET /api/v2/dashboard-widgets",
    "GET /api/v2/alerts",
    "GET /api/v2/performance/overview",
    "GET /api/v2/compliance-scores",
    "GET /api/v2/search",
];

#[test]
fn the_specification_names_no_route_that_the_table_lacks() {
    for name in SPECIFIED {
        assert!(ROUTES.iter().any(|route| route.name() == *name), "{name}");
    }
    for route in ROUTES.iter().filter(|route| !SPECIFIED.contains(&route.name().as_str())) {
        assert!(route.extension, "{} is an extension and does not say so", route.name());
    }
}

#[test]
fn data_scopes_are_those_of_the_specification() {
    for route in ROUTES.iter().filter(|route| route.tier == Tier::V1) {
        let path = route.path;
        let expected = if path.starts_with("/api/v1/compliance-status")
            || path.starts_with("/api/v1/dora")
            || path.starts_with("/api/v1/exports")
        {
            Scope::Shared
        } else if path.starts_with("/api/v1/compliance-timeline")
            || path.starts_with("/api/v1/vulnerability-scan")
        {
            Scope::Platform
        } else {
            Scope::Tenant
        };
        assert_eq!(route.handler.scope(), expected, "{}", route.name());
    }
}

#[test]
fn a_request_is_counted_under_its_route() {
    let house = unlimited();
    let row = ROUTES.iter().position(|route| route.path == "/api/ping").unwrap();
    house.get("/api/ping").expect(200);
    house.call("DELETE", "/api/ping").expect(405);
    let tally = house.service().house.app.meter.tally(row);
    assert_eq!((tally.requests, tally.client_errors, tally.server_errors), (2, 1, 0));
}

#[test]
fn fixed_payloads_stand_only_where_nothing_can_be_asked() {
    for route in ROUTES.iter().filter(|route| matches!(route.handler, Handler::Once(_) | Handler::Whole(_))) {
        assert!(
            route.asks.is_empty() && route.takes.is_none() && route.verb == Verb::Get,
            "{}",
            route.name()
        );
    }
}
