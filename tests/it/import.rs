//! Imports: all or nothing, every fault named, seen by a running server within a second.

use crate::process::{Workplace, wait_until};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn place_with_tenant() -> (Workplace, String) {
    let place = Workplace::new();
    place.done(&["tenant", "create", "A"]);
    let key = place.done(&["key", "create", "--tenant", "A", "--name", "k", "--permissions", "write"]);
    (place, key)
}

fn write(place: &Workplace, name: &str, text: &str) {
    std::fs::write(place.folder.path().join(name), text).unwrap();
}

#[test]
fn a_file_with_references_arrives_whole_in_its_order() {
    let (place, key) = place_with_tenant();
    let server = place.serve_with(&[("HOLDFAST_RATE_LIMITS", "off")]);
    let get = |path: &str| server.get(path).key(&key).expect(200).json();
    assert_eq!(get("/api/v1/findings")["meta"]["total"], json!(0));
    let file = json!({
        "programmes": [{ "ref": "p", "name": "Programme", "framework": "dora", "status": "active" }],
        "test_cases": [
            { "ref": "a", "programme_id": "p", "title": "A", "type": "penetration_test", "status": "failed" },
            { "programme_id": "p", "title": "B", "type": "tlpt", "status": "cancelled" },
            { "programme_id": "p", "title": "C", "type": "tlpt" },
        ],
        "findings": [
            { "title": "one", "severity": "high", "programme_id": "p", "test_case_id": "a", "external_id": "X-1" },
            { "title": "two", "severity": "low", "status": "closed", "closed_at": "2026-01-02T03:04:05Z" },
            { "title": "three", "severity": "low", "status": "risk_accepted", "acceptance_reason": "r",
              "acceptance_expires_on": "2099-01-01" },
        ],
    });
    write(&place, "data.json", &file.to_string());
    assert_eq!(place.done(&["import", "--tenant", "A", "data.json"]), "7 added, 0 updated");
    let took = wait_until(Duration::from_secs(5), "the import", || {
        get("/api/v1/findings?status=all")["meta"]["total"] == json!(3)
    });
    assert!(took < Duration::from_secs(1), "{took:?}");
    let findings = get("/api/v1/findings?status=all")["data"].clone();
    let titles: Vec<&str> =
        findings.as_array().unwrap().iter().map(|each| each["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["three", "two", "one"], "newest first: the file's order, turned round");
    assert_eq!(findings[1]["closed_at"], "2026-01-02T03:04:05Z");
    let programme = get("/api/v1/programmes")["data"][0].clone();
    assert_eq!(programme["test_case_count"], json!(3));
    assert_eq!(programme["progress_pct"], json!(50.0), "one of two that count has a result");
    assert_eq!(programme["open_finding_count"], json!(1));
    let case = get("/api/v1/test-cases?type=penetration_test")["data"][0].clone();
    assert_eq!(case["finding_count"], json!(1));
    assert!(case["executed_at"].is_string());

    let again = json!({ "findings": [{ "title": "renamed", "severity": "critical", "external_id": "X-1" }] });
    write(&place, "again.json", &again.to_string());
    assert_eq!(place.done(&["import", "--tenant", "A", "again.json"]), "0 added, 1 updated");
    wait_until(Duration::from_secs(1), "the update", || {
        get("/api/v1/findings?severity=critical")["meta"]["total"] == json!(1)
    });
    assert_eq!(get("/api/v1/findings?severity=critical")["data"][0]["programme_id"], programme["id"]);
}

#[test]
fn one_bad_row_imports_nothing_and_every_fault_is_a_line() {
    let (place, _) = place_with_tenant();
    let file = json!({
        "programmes": [{ "ref": "p", "name": "P", "framework": "dora" }],
        "findings": [
            { "title": "good", "severity": "low" },
            { "title": "", "severity": "worst" },
            { "title": "x", "severity": "low", "surprise": 1 },
        ],
    });
    write(&place, "bad.json", &file.to_string());
    let lines = place.failed(&["import", "--tenant", "A", "bad.json"], 1);
    for expected in [
        "findings[1].title: ",
        "findings[1].severity: ",
        "findings[2].surprise: ",
        "nothing was imported: 3 faults",
    ] {
        assert!(lines.contains(expected), "{lines}");
    }
    let deep = json!({
        "programmes": [{ "ref": "p", "name": "P", "framework": "dora" }, { "ref": "p", "name": "Q", "framework": "dora" }],
        "test_cases": [{ "programme_id": "nobody", "title": "t", "type": "tlpt" }],
        "findings": [{ "title": "x", "severity": "low", "status": "risk_accepted" }],
    });
    write(&place, "deep.json", &deep.to_string());
    let lines = place.failed(&["import", "--tenant", "A", "deep.json"], 1);
    for expected in ["programmes[1].ref: ", "test_cases[0].programme_id: ", "findings[0].acceptance_reason: "]
    {
        assert!(lines.contains(expected), "{lines}");
    }
    let connection = rusqlite::Connection::open(place.db()).unwrap();
    for table in ["programme", "test_case", "finding", "event"] {
        let rows: i64 =
            connection.query_row(&format!("select count(*) from {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 0, "{table}");
    }
    for (text, expected) in
        [("{", "not valid JSON"), ("[]", "must be a JSON object"), ("{\"fruit\": []}", "fruit: ")]
    {
        write(&place, "odd.json", text);
        assert!(place.failed(&["import", "--tenant", "A", "odd.json"], 1).contains(expected), "{text}");
    }
    assert!(place.failed(&["import", "--tenant", "A", "missing.json"], 1).contains("cannot be read"));
    assert!(place.failed(&["import", "--tenant", "Z", "odd.json"], 1).contains("fruit"));
}

#[test]
fn a_csv_file_is_read_with_its_lines_and_columns_named() {
    let (place, key) = place_with_tenant();
    write(
        &place,
        "findings.csv",
        "\u{feff}title,severity,measure_ids,due_on\r\n\"Weak, old cipher\",high,DORA-05-01; DORA-05-02,2027-01-01\r\nSecond,low,,\r\n",
    );
    assert!(place.failed(&["import", "--tenant", "A", "findings.csv"], 1).contains("--kind"));
    assert_eq!(
        place.done(&["import", "--tenant", "A", "findings.csv", "--kind", "findings"]),
        "2 added, 0 updated"
    );
    let server = place.serve();
    let data = server.get("/api/v1/findings?severity=high").key(&key).expect(200).json()["data"].clone();
    assert_eq!(data[0]["title"], "Weak, old cipher");
    assert_eq!(data[0]["measure_ids"], json!(["DORA-05-01", "DORA-05-02"]));
    write(&place, "bad.csv", "title,severity,colour\nx,worst,red\n");
    let lines = place.failed(&["import", "--tenant", "A", "bad.csv", "--kind", "findings"], 1);
    assert!(
        lines.contains("line 1, column colour: ") && lines.contains("line 2, column severity: "),
        "{lines}"
    );
}

#[test]
fn events_are_raised_unless_they_are_not_wanted() {
    let (place, _) = place_with_tenant();
    write(&place, "one.json", &json!({ "findings": [{ "title": "x", "severity": "low" }] }).to_string());
    place.done(&["import", "--tenant", "A", "one.json", "--no-events"]);
    let count = || -> i64 {
        let connection = rusqlite::Connection::open(place.db()).unwrap();
        connection
            .query_row("select count(*) from event where name = 'finding.created'", [], |row| row.get(0))
            .unwrap()
    };
    assert_eq!(count(), 0);
    place.done(&["import", "--tenant", "A", "one.json"]);
    assert_eq!(count(), 1);
}

#[test]
fn twenty_thousand_findings_are_imported() {
    let (place, key) = place_with_tenant();
    let rows: Vec<Value> = (0..20_000)
        .map(|number| json!({ "title": format!("finding {number}"), "severity": "medium", "description": "x".repeat(200) }))
        .collect();
    write(&place, "many.json", &json!({ "findings": rows }).to_string());
    let began = Instant::now();
    assert_eq!(place.done(&["import", "--tenant", "A", "many.json"]), "20000 added, 0 updated");
    eprintln!("20,000 findings took {:?} in this build", began.elapsed());
    let server = place.serve();
    let page = server.get("/api/v1/findings?limit=2&offset=19999").key(&key).expect(200).json();
    assert_eq!(page["meta"]["total"], json!(20_000));
    assert_eq!(page["data"][0]["title"], "finding 0");
}

/// A file with every part.
fn whole_file() -> Value {
    json!({
        "providers": [
            { "ref": "n", "name": "Nordwolke", "parent": "Nordgruppe", "sector": "cloud", "country": "DE", "region": "EU",
              "lei": "529900ODI3047E2LIV03" },
            { "ref": "k", "name": "Kernwerk", "external_id": "SUP-7" },
        ],
        "arrangements": [
            { "provider_id": "n", "service": "Hosting", "function": "Payments", "criticality": "critical",
              "technology": "containers", "country": "DE", "region": "EU", "annual_cost_eur": 120000.5,
              "substitutability": "difficult", "exit_plan": false },
            { "provider_id": "k", "service": "Ledger", "criticality": "standard" },
        ],
        "programmes": [{ "ref": "p", "name": "Programme", "framework": "dora", "status": "active", "starts_on": "2026-01-01" }],
        "test_cases": [
            { "ref": "t", "programme_id": "p", "title": "Restore", "type": "scenario_based", "status": "failed",
              "executed_at": "2026-10-01T10:00:00Z", "measure_ids": ["DORA-12-01"] },
        ],
        "findings": [
            { "title": "one", "severity": "high", "programme_id": "p", "test_case_id": "t", "due_on": null,
              "description": "Größe, Łódź, Αθήνα" },
            { "title": "two", "severity": "low", "status": "closed", "closed_at": "2026-01-02T03:04:05Z" },
            { "title": "three", "severity": "low", "status": "risk_accepted", "acceptance_reason": "r",
              "acceptance_expires_on": "2099-01-01" },
        ],
        "cra_reports": [
            { "kind": "severe_incident", "title": "Incident", "product_name": "App", "status": "notification_sent",
              "became_aware_at": "2026-10-01T10:00:00Z", "early_warning_sent_at": "2026-10-01T20:00:00Z",
              "notification_sent_at": "2026-10-03T10:00:00Z", "member_states": ["DE", "AT"],
              "submissions": [{ "stage": "early_warning", "submitted_at": "2026-10-01T20:00:00Z", "reference": "R-1" }] },
        ],
        "webhooks": [
            { "name": "Chat", "channel": "slack", "url": "https://hooks.slack.com/services/T/B/x",
              "events": ["finding.created"], "active": false },
        ],
        "thresholds": { "provider_concentration_pct": 20, "enabled": false },
    })
}

#[test]
fn an_export_imported_elsewhere_and_exported_again_is_the_same() {
    let (place, _) = place_with_tenant();
    place.done(&["tenant", "create", "B"]);
    write(&place, "whole.json", &whole_file().to_string());
    assert_eq!(place.done(&["import", "--tenant", "A", "whole.json"]), "11 added, 0 updated");
    place.done(&["export", "--tenant", "A", "--out", "first.json"]);
    assert_eq!(
        crate::process::mode(&place.folder.path().join("first.json")),
        0o600,
        "it holds webhook addresses"
    );
    place.done(&["import", "--tenant", "B", "first.json"]);
    let first = std::fs::read_to_string(place.folder.path().join("first.json")).unwrap();
    let second = place.done(&["export", "--tenant", "B"]);
    assert_eq!(first.trim(), second);
    let exported: Value = serde_json::from_str(&second).unwrap();
    for (part, rows) in whole_file().as_object().unwrap() {
        let count = |value: &Value| value.as_array().map(Vec::len);
        assert_eq!(count(&exported[part]), count(rows), "{part}");
    }
    for (part, row) in [
        ("findings", 0),
        ("findings", 2),
        ("cra_reports", 0),
        ("arrangements", 0),
        ("webhooks", 0),
        ("providers", 0),
    ] {
        for (field, value) in whole_file()[part][row].as_object().unwrap() {
            if ["ref", "programme_id", "test_case_id", "provider_id", "submissions"].contains(&field.as_str())
            {
                continue;
            }
            assert_eq!(&exported[part][row][field], value, "{part}[{row}].{field}");
        }
    }
    assert_eq!(exported["findings"][0]["test_case_id"], "test_cases-1");
    assert_eq!(exported["thresholds"]["provider_concentration_pct"], json!(20));
    assert!(place.failed(&["export", "--tenant", "Z"], 1).contains("no tenant"));
}

#[test]
fn a_refused_destination_or_provider_stops_the_whole_file() {
    let (place, _) = place_with_tenant();
    let mut file = whole_file();
    file["webhooks"][0]["url"] = json!("https://169.254.169.254/latest");
    file["arrangements"][1]["provider_id"] = json!("nobody");
    write(&place, "bad.json", &file.to_string());
    let lines = place.failed(&["import", "--tenant", "A", "bad.json"], 1);
    assert!(
        lines.contains("webhooks[0].url: ") && lines.contains("arrangements[1].provider_id: "),
        "{lines}"
    );
    assert_eq!(place.done(&["export", "--tenant", "A"]).matches("\"ref\"").count(), 0);
}

#[test]
fn the_demo_bank_is_served_again_and_never_over_somebodys_data() {
    let place = Workplace::new();
    let start = || {
        let mut command = place.command(&["demo", "--listen", "127.0.0.1:0"]);
        crate::process::Server::start(command.env("HOLDFAST_RATE_LIMITS", "off"))
    };
    let server = start();
    let text = std::fs::read_to_string(place.folder.path().join("holdfast-demo.db.first-run")).unwrap();
    let key = text.split_whitespace().find(|word| word.starts_with("hfast_")).unwrap().to_owned();
    let get = |path: &str| server.get(path).key(&key).expect(200).json();
    for (path, total) in [
        ("/api/v1/programmes", 4),
        ("/api/v1/test-cases", 40),
        ("/api/v1/findings?status=all", 60),
        ("/api/v1/cra/reports", 3),
        ("/api/v1/concentration-risk/providers", 12),
        ("/api/v1/concentration-risk/arrangements", 25),
    ] {
        assert_eq!(get(path)["meta"]["total"], json!(total), "{path}");
    }
    for status in ["open", "in_progress", "resolved", "closed", "risk_accepted", "false_positive"] {
        assert!(
            get(&format!("/api/v1/findings?status={status}"))["meta"]["total"].as_u64() > Some(0),
            "{status}"
        );
    }
    let breaches = get("/api/v1/concentration-risk/breaches")["data"].clone();
    let mut dimensions: Vec<&str> =
        breaches.as_array().unwrap().iter().map(|breach| breach["dimension"].as_str().unwrap()).collect();
    dimensions.dedup();
    assert_eq!(dimensions.len(), 2, "{breaches}");
    assert!(server.stop(Duration::from_secs(15)).success());
    let again = start();
    assert_eq!(again.printed.len(), 1, "served again as it is");
    drop(again);
    place.done(&["tenant", "create", "Mine", "--db", "mine.db"]);
    let line = place.failed(&["demo", "--db", "mine.db", "--listen", "127.0.0.1:0"], 1);
    assert!(line.contains("tenants of its own"), "{line}");
}
