//! Programmes and test cases through the front door.

use crate::house::House;
use holdfast::domain::import::read_json;
use serde_json::{Value, json};

fn house_with_data() -> (House, Value) {
    let house = House::with(|config| config.limits = None);
    let file = json!({
        "programmes": [
            { "ref": "p", "name": "Resilience 2026", "framework": "dora", "status": "active", "starts_on": "2026-01-01" },
            { "name": "Certification", "framework": "iso-27001" },
        ],
        "test_cases": [
            { "programme_id": "p", "title": "Restore", "type": "scenario_based", "priority": "critical" },
            { "programme_id": "p", "title": "Pentest", "type": "penetration_test" },
        ],
    });
    let store = &house.service().house.app.store;
    for name in ["ours", "theirs"] {
        let import = read_json(file.to_string().as_bytes()).unwrap();
        store.tenant(&store.tenant_id(name).unwrap()).import(import, false).unwrap();
    }
    let programmes = house.get("/api/v1/programmes").key(&house.ours.reader).expect(200).json();
    (house, programmes)
}

#[test]
fn programmes_are_listed_filtered_and_shown() {
    let (house, programmes) = house_with_data();
    let get = |path: &str| house.get(path).key(&house.ours.reader);
    assert_eq!(programmes["meta"]["total"], json!(2), "ours, not theirs");
    assert_eq!(programmes["data"][1]["name"], "Resilience 2026");
    assert_eq!(programmes["data"][0]["status"], "draft");
    for (query, total) in
        [("status=active", 1), ("framework=iso-27001", 1), ("search=RESIL", 1), ("status=archived", 0)]
    {
        assert_eq!(
            get(&format!("/api/v1/programmes?{query}")).expect(200).json()["meta"]["total"],
            json!(total),
            "{query}"
        );
    }
    let allowed = get("/api/v1/programmes?framework=gdpr").expect(422).error();
    assert!(allowed.contains("cross-framework"), "{allowed}");
    let id = programmes["data"][1]["id"].as_str().unwrap();
    assert_eq!(get(&format!("/api/v1/programmes/{id}")).expect(200).json()["data"], programmes["data"][1]);
    let foreign = house.get("/api/v1/programmes").key(&house.theirs.reader).expect(200).json();
    let foreign = foreign["data"][0]["id"].as_str().unwrap();
    let missing = get("/api/v1/programmes/prg_01M7EFFGMWDVACXK3YEDBYE0NS").expect(404);
    assert_eq!(get(&format!("/api/v1/programmes/{foreign}")).expect(404).body, missing.body);
}

#[test]
fn test_cases_move_and_tell_of_it() {
    let (house, programmes) = house_with_data();
    let programme = programmes["data"][1]["id"].as_str().unwrap();
    let cases = house
        .get(&format!("/api/v1/test-cases?programme_id={programme}"))
        .key(&house.ours.reader)
        .expect(200)
        .json();
    assert_eq!(cases["meta"]["total"], json!(2));
    let id = cases["data"][1]["id"].as_str().unwrap();
    let patch = |body: Value| {
        house.call("PATCH", &format!("/api/v1/test-cases/{id}")).key(&house.ours.writer).json(&body)
    };
    let refused = patch(json!({ "status": "passed", "title": "changed" })).expect(422).json();
    assert!(refused["fields"]["status"].as_str().unwrap().contains("in_progress, cancelled"));
    patch(json!({ "status": "in_progress" })).expect(200);
    let passed = patch(json!({ "status": "passed", "result_summary": "fine" })).expect(200).json();
    assert_eq!(passed["data"]["executed_at"], "2026-11-15T08:00:00Z");
    assert_eq!(passed["data"]["title"], "Restore");
    let shown =
        house.get(&format!("/api/v1/programmes/{programme}")).key(&house.ours.reader).expect(200).json();
    assert_eq!(
        shown["data"]["progress_pct"],
        json!(50.0),
        "a write is seen by the next read of another object"
    );
    for id in ["prg_01M7EFFGMWDVACXK3YEDBYE0NS", programmes["data"][0]["name"].as_str().unwrap()] {
        patch(json!({ "programme_id": id })).expect(422);
    }
    let theirs = house.get("/api/v1/test-cases").key(&house.theirs.reader).expect(200).json();
    let foreign_case = theirs["data"][0]["id"].as_str().unwrap();
    let foreign_programme = theirs["data"][0]["programme_id"].as_str().unwrap();
    patch(json!({ "programme_id": foreign_programme })).expect(422);
    house
        .call("PATCH", &format!("/api/v1/test-cases/{foreign_case}"))
        .key(&house.ours.writer)
        .json(&json!({ "title": "stolen" }))
        .expect(404);
    let connection = rusqlite::Connection::open(&house.config.db).unwrap();
    let events: i64 = connection
        .query_row("select count(*) from event where name = 'test_case.status_changed'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(events, 2);
}
