//! Alerts and scores: raised by time and deeds, gone when their cause is, and nobody else's.

use crate::house::{House, START_MS};
use holdfast::clock::rfc3339;
use holdfast::domain::import::read_json;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// The end of the first day: the clock starts at eight.
const MIDNIGHT_MS: i64 = START_MS + 16 * HOUR_MS;

fn quiet() -> House {
    House::with(|config| config.limits = None)
}

fn import(house: &House, tenant: &str, file: Value) {
    let store = &house.service().house.app.store;
    let import = read_json(file.to_string().as_bytes()).unwrap();
    store.tenant(&store.tenant_id(tenant).unwrap()).import(import, false).unwrap();
}

fn page(house: &House, query: &str) -> Value {
    house.get(&format!("/api/v2/alerts?{query}")).key(&house.ours.reader).expect(200).json()
}

fn alerts(house: &House) -> Vec<Value> {
    let body = page(house, "");
    assert_eq!(body["meta"]["total"], json!(body["data"].as_array().unwrap().len()));
    body["data"].as_array().unwrap().clone()
}

/// Type, severity and since when, of each.
fn brief(house: &House) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let all = alerts(house);
    all.iter().map(|each| (text(&each["type"]), text(&each["severity"]), text(&each["raised_at"]))).collect()
}

fn one(kind: &str, severity: &str, raised_ms: i64) -> Vec<(String, String, String)> {
    vec![(kind.to_owned(), severity.to_owned(), rfc3339(raised_ms))]
}

fn move_to(house: &House, wall_ms: i64) {
    house.clock.jump_to(wall_ms);
}

#[test]
fn a_finding_is_announced_in_the_last_quarter_and_overdue_after_its_day() {
    let house = quiet();
    let made = house
        .call("POST", "/api/v1/findings")
        .key(&house.ours.writer)
        .json(&json!({ "title": "Weak cipher", "severity": "critical" }))
        .expect(201)
        .json();
    let id = made["data"]["id"].as_str().unwrap();
    assert_eq!(made["data"]["due_on"], "2026-11-22");
    let due_at = MIDNIGHT_MS + 7 * DAY_MS;
    let last_ms = due_at - 1_000;
    let near_from = last_ms - (last_ms - START_MS) / 4;
    move_to(&house, near_from - 1);
    assert_eq!(brief(&house), []);
    move_to(&house, near_from);
    assert_eq!(brief(&house), one("deadline_approaching", "critical", near_from));
    move_to(&house, due_at - 1);
    assert_eq!(brief(&house), one("deadline_approaching", "critical", near_from));
    move_to(&house, due_at);
    assert_eq!(brief(&house), one("finding_overdue", "critical", due_at));
    let alert = alerts(&house).remove(0);
    assert_eq!(
        alert,
        json!({
            "id": format!("finding_overdue:{id}"), "type": "finding_overdue", "severity": "critical",
            "title": "Weak cipher", "message": "The finding was due on 2026-11-22 and is not finished.",
            "source": { "type": "finding", "id": id }, "raised_at": rfc3339(due_at),
        })
    );
    let patch = |status: &str| {
        let body = json!({ "status": status });
        house
            .call("PATCH", &format!("/api/v1/findings/{id}"))
            .key(&house.ours.writer)
            .json(&body)
            .expect(200);
    };
    patch("in_progress");
    patch("resolved");
    assert_eq!(brief(&house).len(), 1, "resolved is not verified yet");
    patch("closed");
    assert_eq!(brief(&house), []);
}

#[test]
fn a_long_running_finding_is_announced_a_week_ahead() {
    let house = quiet();
    let body = json!({ "title": "x", "severity": "low", "due_on": "2027-11-15" });
    house.call("POST", "/api/v1/findings").key(&house.ours.writer).json(&body).expect(201);
    let due_at = MIDNIGHT_MS + 365 * DAY_MS - 1_000;
    move_to(&house, due_at - 7 * DAY_MS - 1);
    assert_eq!(brief(&house), []);
    move_to(&house, due_at - 7 * DAY_MS);
    assert_eq!(brief(&house), one("deadline_approaching", "low", due_at - 7 * DAY_MS));
}

#[test]
fn a_test_case_counts_until_it_is_done() {
    let house = quiet();
    let case = |number: u32, status: &str, due_on: &str| {
        json!({
            "external_id": number.to_string(), "programme_id": "p", "title": status, "type": "tlpt", "status": status,
            "due_on": due_on, "priority": "high",
        })
    };
    let cases = [
        case(1, "planned", "2026-11-14"),
        case(2, "blocked", "2026-12-31"),
        case(3, "passed", "2026-11-14"),
        case(4, "cancelled", "2026-11-14"),
    ];
    let programme = json!({ "ref": "p", "external_id": "p", "name": "p", "framework": "dora" });
    import(&house, "ours", json!({ "programmes": [programme], "test_cases": cases }));
    assert_eq!(brief(&house), one("test_case_overdue", "high", MIDNIGHT_MS - DAY_MS));
    move_to(&house, MIDNIGHT_MS + 45 * DAY_MS);
    let found: Vec<String> = brief(&house).into_iter().map(|(kind, ..)| kind).collect();
    assert_eq!(found, ["deadline_approaching", "test_case_overdue"], "the newer first");
}

#[test]
fn cra_clocks_are_shown_while_they_run() {
    let house = quiet();
    let report = json!({
        "kind": "severe_incident", "title": "Breach", "product_name": "App", "became_aware_at": rfc3339(START_MS),
    });
    let silent = json!({ "kind": "severe_incident", "title": "Unknown", "product_name": "App" });
    import(&house, "ours", json!({ "cra_reports": [report, silent] }));
    assert_eq!(brief(&house), one("cra_clock", "medium", START_MS));
    move_to(&house, START_MS + 18 * HOUR_MS);
    assert_eq!(brief(&house), one("cra_clock", "high", START_MS));
    let due_at = START_MS + 24 * HOUR_MS;
    move_to(&house, due_at + 1);
    assert_eq!(brief(&house), one("cra_clock", "critical", due_at));
    move_to(&house, START_MS + 73 * HOUR_MS);
    let found = alerts(&house);
    let messages: Vec<&str> = found.iter().map(|alert| alert["message"].as_str().unwrap()).collect();
    assert_eq!(messages.len(), 2);
    assert!(messages[0].contains("notification was due") && messages[1].contains("early warning was due"));
    let id = found[0]["source"]["id"].as_str().unwrap();
    let patch = |status: &str| {
        let body = json!({ "status": status });
        house
            .call("PATCH", &format!("/api/v1/cra/reports/{id}"))
            .key(&house.ours.writer)
            .json(&body)
            .expect(200);
    };
    patch("early_warning_sent");
    assert_eq!(brief(&house), one("cra_clock", "critical", START_MS + 72 * HOUR_MS));
    patch("notification_sent");
    assert_eq!(
        brief(&house),
        one("cra_clock", "medium", START_MS + 73 * HOUR_MS),
        "the final report's month"
    );
    patch("final_report_sent");
    assert_eq!(brief(&house), []);
}

fn register() -> Value {
    json!({
        "providers": [{ "ref": "a", "name": "Nimbus", "sector": "cloud" }],
        "arrangements": [
            { "provider_id": "a", "service": "s", "criticality": "critical", "region": "EU", "technology": "t" },
        ],
    })
}

#[test]
fn breaches_last_as_long_as_the_thresholds_say_and_the_review_comes_round() {
    let house = quiet();
    import(&house, "ours", register());
    let call = |method: &str, path: &str, body: Value| {
        let address = format!("/api/v1/concentration-risk/{path}");
        house.call(method, &address).key(&house.ours.writer).json(&body).send().json()
    };
    call("PATCH", "thresholds", json!({ "review_frequency_days": 40 }));
    assert_eq!(brief(&house), []);
    let analysis = call("POST", "analyze", json!({}))["data"].clone();
    let found = alerts(&house);
    assert_eq!(found.len(), 4, "one value in each dimension has all");
    for alert in &found {
        assert_eq!((&alert["type"], &alert["severity"]), (&json!("concentration_breach"), &json!("high")));
        assert_eq!(alert["source"], json!({ "type": "analysis", "id": analysis["id"] }));
        assert_eq!(alert["raised_at"], analysis["analysed_at"]);
    }
    let ids: std::collections::BTreeSet<&str> =
        found.iter().map(|alert| alert["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 4, "{ids:?}");
    assert_eq!(page(&house, "search=nimbus+provider")["meta"]["total"], 1);
    call("PATCH", "thresholds", json!({ "enabled": false }));
    assert_eq!(brief(&house), []);
    let due_at = MIDNIGHT_MS + 40 * DAY_MS;
    let last_ms = due_at - 1_000;
    let near_from = last_ms - (last_ms - START_MS) / 4;
    move_to(&house, near_from - 1);
    assert_eq!(brief(&house), []);
    move_to(&house, near_from);
    assert_eq!(brief(&house), one("deadline_approaching", "medium", near_from));
    move_to(&house, due_at);
    assert_eq!(brief(&house), one("review_overdue", "high", due_at));
    call("POST", "analyze", json!({}));
    assert_eq!(brief(&house), []);
}

#[test]
fn a_webhook_that_fails_is_shown_while_it_is_active() {
    let house = quiet();
    let hook = json!({
        "name": "Ops", "channel": "slack", "url": "https://hooks.slack.com/services/x", "events": ["finding.created"],
    });
    let made = house.call("POST", "/api/v1/webhooks").key(&house.ours.writer).json(&hook).expect(201).json();
    assert_eq!(brief(&house), []);
    let connection = Connection::open(&house.config.db).unwrap();
    connection.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
    connection
        .execute("update webhook set failing_since = ?1, last_outcome = 'http_500'", [START_MS - HOUR_MS])
        .unwrap();
    assert_eq!(brief(&house), one("webhook_failing", "high", START_MS - HOUR_MS));
    assert!(alerts(&house)[0]["message"].as_str().unwrap().contains("http_500"));
    let address = format!("/api/v1/webhooks/{}", made["data"]["id"].as_str().unwrap());
    house.call("PATCH", &address).key(&house.ours.writer).json(&json!({ "active": false })).expect(200);
    assert_eq!(brief(&house), []);
}

#[test]
fn a_service_that_is_not_well_says_so() {
    let house = quiet();
    house.service().house.app.stopping.store(true, Ordering::SeqCst);
    assert_eq!(brief(&house), one("health_degraded", "critical", START_MS));
    assert_eq!(alerts(&house)[0]["source"], json!({ "type": "platform", "id": "health" }));
    house.service().house.app.stopping.store(false, Ordering::SeqCst);
    assert_eq!(brief(&house), []);
}

#[test]
fn the_worst_comes_first_and_filters_narrow() {
    let house = quiet();
    let finding = |severity: &str, due_on: &str| json!({ "title": format!("{severity} Größe {due_on}"), "severity": severity, "due_on": due_on });
    let mut findings = Vec::new();
    for day in 10..14 {
        for severity in ["low", "critical", "informational", "high", "medium"] {
            findings.push(finding(severity, &format!("2026-11-{day}")));
        }
    }
    import(&house, "ours", json!({ "findings": findings }));
    let titles: Vec<String> =
        alerts(&house).iter().map(|alert| alert["title"].as_str().unwrap().to_owned()).collect();
    let mut expected = Vec::new();
    for severity in ["critical", "high", "medium", "low", "informational"] {
        for day in (10..14).rev() {
            expected.push(format!("{severity} Größe 2026-11-{day}"));
        }
    }
    assert_eq!(titles, expected);
    for (query, total) in [
        ("level=high", 4),
        ("status=open", 20),
        ("level=low&status=open&limit=1", 4),
        ("search=GROSSE+2026-11-12", 5),
        ("level=medium&search=11-12", 1),
        ("search=nothing", 0),
    ] {
        assert_eq!(page(&house, query)["meta"]["total"], json!(total), "{query}");
    }
    for query in ["level=vast", "status=closed", "severity=high", "limit=0", "offset=x"] {
        house.get(&format!("/api/v2/alerts?{query}")).key(&house.ours.reader).expect(422);
    }
}

#[test]
fn alerts_and_scores_of_others_are_not_ours() {
    let house = quiet();
    let mut file = register();
    file["programmes"] = json!([{ "ref": "p", "name": "canary7c1e", "framework": "dora" }]);
    file["test_cases"] =
        json!([{ "programme_id": "p", "title": "canary7c1e", "type": "tlpt", "due_on": "2026-11-01" }]);
    file["findings"] =
        json!([{ "programme_id": "p", "title": "canary7c1e", "severity": "high", "due_on": "2026-11-01" }]);
    file["cra_reports"] = json!([{
        "kind": "severe_incident", "title": "canary7c1e", "product_name": "x", "became_aware_at": rfc3339(START_MS),
    }]);
    let scores =
        |key: &str| house.get("/api/v2/compliance-scores").key(key).expect(200).json()["data"].clone();
    let before = scores(&house.ours.reader);
    import(&house, "theirs", file);
    let analyze = "/api/v1/concentration-risk/analyze";
    house.call("POST", analyze).key(&house.theirs.writer).expect(201);
    let theirs = house.get("/api/v2/alerts").key(&house.theirs.reader).expect(200).json();
    assert_eq!(theirs["meta"]["total"], 7);
    assert_eq!(page(&house, "")["meta"]["total"], 0);
    assert_eq!(scores(&house.ours.reader), before);
    assert_ne!(scores(&house.theirs.reader), before);
}

#[test]
fn scores_stand_beside_the_tenants_own_figures() {
    let house = quiet();
    let case =
        |status: &str| json!({ "programme_id": "p", "title": status, "type": "tlpt", "status": status });
    let finding = |status: &str, due_on: &str| json!({ "programme_id": "p", "title": status, "severity": "low", "status": status, "due_on": due_on });
    import(
        &house,
        "ours",
        json!({
            "programmes": [
                { "ref": "p", "name": "p", "framework": "marisk" }, { "ref": "q", "name": "q", "framework": "nis2" },
            ],
            "test_cases": [case("passed"), case("passed"), case("failed"), case("planned"), case("cancelled")],
            "findings": [
                finding("open", "2026-11-14"), finding("resolved", "2026-11-15"), finding("closed", "2026-11-14"),
                { "title": "of no programme", "severity": "low" },
            ],
        }),
    );
    let get = |path: &str| house.get(path).key(&house.ours.reader).expect(200).json();
    let scores = get("/api/v2/compliance-scores");
    let platform = get("/api/v1/compliance-status")["data"]["frameworks"].clone();
    assert_eq!(scores["meta"]["total"], 4);
    for (score, platform) in scores["data"].as_array().unwrap().iter().zip(platform.as_array().unwrap()) {
        for (name, value) in platform.as_object().unwrap() {
            assert_eq!(&score[name], value, "{name}");
        }
        let own = match score["framework"].as_str().unwrap() {
            "marisk" => json!({
                "programmes": 1, "test_cases": 5, "passed": 2, "failed": 1, "progress_pct": 75.0, "passed_pct": 66.7,
                "open_findings": 2, "overdue_findings": 1,
            }),
            _ => json!({
                "programmes": 0, "test_cases": 0, "passed": 0, "failed": 0, "progress_pct": null, "passed_pct": null,
                "open_findings": 0, "overdue_findings": 0,
            }),
        };
        assert_eq!(score["own"], own);
    }
    for bad in ["level=high", "status=open", "framework=dora"] {
        house.get(&format!("/api/v2/compliance-scores?{bad}")).key(&house.ours.reader).expect(422);
    }
}
