//! Findings through the front door: filed, moved, listed, and nobody else's.

use crate::client::Call;
use crate::house::House;
use crate::process::{Server, Workplace, wait_until};
use serde_json::{Value, json};
use std::time::Duration;

fn quiet() -> House {
    House::with(|config| config.limits = None)
}

fn file(house: &House, key: &str, body: Value) -> Value {
    house.call("POST", "/api/v1/findings").key(key).json(&body).expect(201).json()["data"].clone()
}

fn patch(house: &House, id: &str, body: Value) -> Call {
    house.call("PATCH", &format!("/api/v1/findings/{id}")).key(&house.ours.writer).json(&body)
}

fn total(house: &House, query: &str) -> u64 {
    let body = house.get(&format!("/api/v1/findings?{query}")).key(&house.ours.reader).expect(200).json();
    assert_eq!(body["meta"]["count"], json!(body["data"].as_array().unwrap().len()));
    body["meta"]["total"].as_u64().unwrap()
}

#[test]
fn a_filed_finding_is_shown_listed_and_counted() {
    let house = quiet();
    let answer = house
        .call("POST", "/api/v1/findings")
        .key(&house.ours.writer)
        .json(&json!({ "title": "Weak cipher", "severity": "high", "measure_ids": ["DORA-09-04"] }))
        .expect(201);
    let data = answer.json()["data"].clone();
    let id = data["id"].as_str().unwrap();
    assert!(id.starts_with("fnd_") && id.len() == 30);
    assert_eq!(answer.header("location"), Some(format!("/api/v1/findings/{id}").as_str()));
    assert_eq!(data["status"], "open");
    assert_eq!(data["detected_on"], "2026-11-15");
    assert_eq!(data["due_on"], "2026-12-15");
    assert_eq!(data["created_at"], "2026-11-15T08:00:00Z");
    let shown = house.get(&format!("/api/v1/findings/{id}")).key(&house.ours.reader).expect(200).json();
    assert_eq!(shown["data"], data);
    let listed = house.get("/api/v1/findings").key(&house.ours.reader).expect(200).json();
    assert_eq!(listed["data"], json!([data]));
}

#[test]
fn the_list_shows_open_findings_unless_asked_otherwise_newest_first() {
    let house = quiet();
    let mut ids = Vec::new();
    for number in 0..7 {
        house.clock.advance_ms(1_000);
        let severity = ["critical", "low"][number % 2];
        let data = file(
            &house,
            &house.ours.writer,
            json!({ "title": format!("finding {number} Größe"), "severity": severity }),
        );
        ids.push(data["id"].as_str().unwrap().to_owned());
    }
    for status in ["in_progress", "resolved", "closed"] {
        patch(&house, &ids[0], json!({ "status": status })).expect(200);
    }
    patch(&house, &ids[1], json!({ "status": "false_positive" })).expect(200);
    let listed = house.get("/api/v1/findings?limit=3&offset=1").key(&house.ours.reader).expect(200).json();
    let seen: Vec<&str> =
        listed["data"].as_array().unwrap().iter().map(|each| each["id"].as_str().unwrap()).collect();
    assert_eq!(seen, [&ids[5], &ids[4], &ids[3]]);
    assert_eq!(
        listed["meta"],
        json!({ "version": "2026-11-01", "count": 3, "total": 5, "limit": 3, "offset": 1 })
    );
    assert_eq!(total(&house, ""), 5);
    assert_eq!(total(&house, "status=all"), 7);
    assert_eq!(total(&house, "status=closed"), 1);
    assert_eq!(total(&house, "severity=critical"), 3);
    assert_eq!(total(&house, "status=all&severity=critical"), 4);
    assert_eq!(total(&house, "search=GR%C3%96SSE"), 5, "sharp s is ss, and marks do not count");
    assert_eq!(total(&house, "search=gr%C3%B6%C3%9Fe+FINDING"), 5);
    assert_eq!(total(&house, "search=%25"), 0, "a percent sign is a percent sign");
    assert_eq!(total(&house, "overdue=true"), 0);
    house.clock.advance_ms(8 * 86_400_000);
    assert_eq!(total(&house, "overdue=true"), 3, "the critical ones are a week old");
    assert_eq!(total(&house, "overdue=false"), 2);
    assert_eq!(total(&house, "offset=99999999999999999999"), 5);
    for wrong in ["status=weird", "severity=Critical", "overdue=1", "limit=0", "programme=x"] {
        house.get(&format!("/api/v1/findings?{wrong}")).key(&house.ours.reader).expect(422);
    }
}

#[test]
fn only_the_allowed_moves_are_taken_and_a_refusal_changes_nothing() {
    let house = quiet();
    let data = file(&house, &house.ours.writer, json!({ "title": "t", "severity": "medium" }));
    let id = data["id"].as_str().unwrap();
    let refused = patch(&house, id, json!({ "status": "closed", "title": "changed" })).expect(422).json();
    let reason = refused["fields"]["status"].as_str().unwrap();
    assert!(reason.contains("in_progress, risk_accepted, false_positive"), "{reason}");
    let refused = patch(&house, id, json!({ "status": "risk_accepted" })).expect(422).json();
    assert_eq!(refused["fields"].as_object().unwrap().len(), 2);
    let shown = house.get(&format!("/api/v1/findings/{id}")).key(&house.ours.reader).expect(200).json();
    assert_eq!(shown["data"], data);
    let whole = patch(&house, id, data.clone()).expect(200).json();
    assert_eq!(whole["data"], data, "read, change, write works: what nobody may set is ignored");
}

#[test]
fn an_accepted_risk_reopens_by_itself_on_its_last_day() {
    let house = quiet();
    let data = file(&house, &house.ours.writer, json!({ "title": "t", "severity": "medium" }));
    let id = data["id"].as_str().unwrap();
    let acceptance = json!({ "status": "risk_accepted", "acceptance_reason": "small", "acceptance_expires_on": "2026-11-20" });
    patch(&house, id, acceptance).expect(200);
    let shown = || {
        house.get(&format!("/api/v1/findings/{id}")).key(&house.ours.reader).expect(200).json()["data"]
            .clone()
    };
    let store = &house.service().house.app.store;
    house.clock.advance_ms(4 * 86_400_000);
    assert_eq!(store.reopen_expired_acceptances().unwrap(), 0);
    assert_eq!(shown()["status"], "risk_accepted");
    house.clock.advance_ms(86_400_000);
    // Nobody asks for it: the service's own clockwork does it.
    wait_until(Duration::from_secs(10), "the reopening", || shown()["status"] == "open");
    assert_eq!(shown()["acceptance_reason"], json!(null));
    assert_eq!(store.reopen_expired_acceptances().unwrap(), 0);
}

#[test]
fn every_change_leaves_its_event() {
    let house = quiet();
    let data = file(&house, &house.ours.writer, json!({ "title": "t", "severity": "medium" }));
    let id = data["id"].as_str().unwrap();
    patch(&house, id, json!({ "owner": "anna" })).expect(200);
    patch(&house, id, json!({ "status": "in_progress" })).expect(200);
    patch(&house, id, json!({ "status": "closed" })).expect(422);
    let connection = rusqlite::Connection::open(&house.config.db).unwrap();
    let mut rows = connection.prepare("select name, payload from event order by id").unwrap();
    let events: Vec<(String, String)> =
        rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    let mut names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["finding.created", "finding.status_changed"]);
    let (_, moved) = events.iter().find(|(name, _)| name == "finding.status_changed").unwrap();
    let moved: Value = serde_json::from_str(moved).unwrap();
    assert_eq!(moved["data"]["previous_status"], "open");
    assert_eq!(moved["data"]["status"], "in_progress");
    assert_eq!(moved["tenant"]["name"], "ours");
}

#[test]
fn another_tenants_finding_does_not_exist_in_any_verb_or_field() {
    let house = quiet();
    let theirs =
        file(&house, &house.theirs.writer, json!({ "title": "canary-of-theirs", "severity": "high" }));
    let foreign = theirs["id"].as_str().unwrap();
    let unused = "fnd_01M7EFFGMWDVACXK3YEDBYE0NS";
    for method in ["GET", "PATCH"] {
        let answer = |id: &str| {
            let call = house.call(method, &format!("/api/v1/findings/{id}")).key(&house.ours.all);
            if method == "PATCH" {
                call.json(&json!({ "title": "stolen" })).expect(404)
            } else {
                call.expect(404)
            }
        };
        assert_eq!(answer(foreign).body, answer(unused).body, "{method}");
        answer("%00");
        answer("nonsense");
    }
    for field in ["programme_id", "test_case_id"] {
        for id in [foreign, "prg_01M7EFFGMWDVACXK3YEDBYE0NS", ""] {
            let body = json!({ "title": "t", "severity": "low", field: id });
            let call = house.call("POST", "/api/v1/findings").key(&house.ours.all).json(&body);
            if id.is_empty() {
                call.expect(201);
            } else {
                call.expect(422);
            }
        }
    }
    let seen = house.get("/api/v1/findings?status=all&search=canary").key(&house.ours.all).expect(200).json();
    assert_eq!(seen["meta"]["total"], json!(0));
    let still =
        house.get(&format!("/api/v1/findings/{foreign}")).key(&house.theirs.reader).expect(200).json();
    assert_eq!(still["data"], theirs);
}

#[test]
fn an_idempotency_key_files_once_in_a_day() {
    let house = quiet();
    let send = |key: &str, title: &str| {
        let body = json!({ "title": title, "severity": "low" });
        house
            .call("POST", "/api/v1/findings")
            .key(&house.ours.writer)
            .header("Idempotency-Key", key)
            .json(&body)
    };
    let first = send("run-1", "t").expect(201).json();
    assert_eq!(send("run-1", "t").expect(201).json(), first);
    assert!(send("run-1", "other").expect(422).error().contains("Idempotency-Key"));
    send("run-2", "t").expect(201);
    assert_eq!(total(&house, ""), 2);
    let theirs = house
        .call("POST", "/api/v1/findings")
        .key(&house.theirs.writer)
        .header("Idempotency-Key", "run-1")
        .json(&json!({ "title": "t", "severity": "low" }))
        .expect(201)
        .json();
    assert_ne!(theirs["data"]["id"], first["data"]["id"]);
    house.clock.advance_ms(86_400_000);
    assert_ne!(send("run-1", "t").expect(201).json()["data"]["id"], first["data"]["id"]);
    send(&"x".repeat(256), "t").expect(422);
}

#[test]
fn a_cached_page_never_outlives_a_write() {
    let house = quiet();
    for number in 1..=5 {
        file(&house, &house.ours.writer, json!({ "title": format!("t{number}"), "severity": "low" }));
        for _ in 0..2 {
            assert_eq!(total(&house, "limit=10"), number);
        }
    }
    let first = house.get("/api/v1/findings").key(&house.ours.reader).expect(200);
    let etag = first.header("etag").unwrap().to_owned();
    house.get("/api/v1/findings").key(&house.ours.reader).header("If-None-Match", &etag).expect(304);
    file(&house, &house.ours.writer, json!({ "title": "new", "severity": "low" }));
    house.get("/api/v1/findings").key(&house.ours.reader).header("If-None-Match", &etag).expect(200);
    let mine = house.get("/api/v1/findings").key(&house.theirs.reader).expect(200).json();
    assert_eq!(mine["meta"]["total"], json!(0), "the same address, another tenant");
}

/// A list is written from columns, a record from the struct: they must say the same.
#[test]
fn a_list_says_of_each_finding_what_its_record_says() {
    let place = Workplace::new();
    let mut demo = place.command(&["demo", "--db", "holdfast.db", "--listen", "127.0.0.1:0"]);
    let server = Server::start(demo.env("HOLDFAST_RATE_LIMITS", "off"));
    let key = place.first_key();
    let hostile = json!({ "findings": [{
        "external_id": "ext \"1\"",
        "title": "quote \" backslash \\ newline \n tab \t bell \u{7} Größe 💥 </script>",
        "description": "\u{2028}",
        "severity": "low",
        "status": "closed",
        "measure_ids": ["DORA-05-02", "DORA-09-04"],
    }] });
    std::fs::write(place.folder.path().join("hostile.json"), hostile.to_string()).unwrap();
    let tenants = place.done(&["tenant", "list"]);
    let cells = tenants.lines().nth(1).unwrap().split("  ");
    let tenant = cells.map(str::trim).filter(|cell| !cell.is_empty()).nth(1).unwrap().to_owned();
    place.done(&["import", "--tenant", &tenant, "hostile.json"]);
    wait_until(Duration::from_secs(5), "the import shows", || {
        let all = server.get("/api/v1/findings?status=all&limit=1").key(&key).expect(200).json();
        all["meta"]["total"] == 61
    });
    let all = server.get("/api/v1/findings?status=all&limit=500").key(&key).expect(200).json();
    assert_eq!(all["data"].as_array().unwrap().len(), 61);
    for listed in all["data"].as_array().unwrap() {
        let target = format!("/api/v1/findings/{}", listed["id"].as_str().unwrap());
        assert_eq!(&server.get(&target).key(&key).expect(200).json()["data"], listed);
    }
}
