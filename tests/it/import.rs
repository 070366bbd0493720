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
