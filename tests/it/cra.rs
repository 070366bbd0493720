//! CRA reports: moves, clocks, lateness, and whose they are.

use crate::client::Call;
use crate::house::{House, START_MS};
use holdfast::domain::cra_form::NEW_CRA_REPORT;
use serde_json::{Value, json};

const HOUR_MS: i64 = 3_600_000;

/// A house in which time may pass, and which asks no questions about how often.
fn house() -> House {
    House::with(|config| config.limits = None)
}

fn make(house: &House, tenant: &str, more: Value) -> String {
    let mut body =
        json!({ "kind": "exploited_vulnerability", "title": "Token bypass", "product_name": "Pay App" });
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    let values = NEW_CRA_REPORT.check(body.as_object().unwrap()).unwrap();
    let store = &house.service().house.app.store;
    store.tenant(&store.tenant_id(tenant).unwrap()).create_cra_report(values).unwrap().id
}

fn path(id: &str) -> String {
    format!("/api/v1/cra/reports/{id}")
}

fn patch(house: &House, id: &str, body: &Value) -> Call {
    house.call("PATCH", &path(id)).key(&house.ours.writer).json(body)
}

fn change(house: &House, id: &str, body: &Value) -> Value {
    patch(house, id, body).expect(200).json()["data"].clone()
}

fn show(house: &House, id: &str) -> Value {
    house.get(&path(id)).key(&house.ours.reader).expect(200).json()["data"].clone()
}

fn faults(house: &House, id: &str, body: &Value) -> Vec<String> {
    let answer = patch(house, id, body).expect(422);
    answer.json()["fields"].as_object().unwrap().keys().cloned().collect()
}

#[test]
fn a_report_has_every_field_of_the_contract() {
    let house = house();
    let id = make(&house, "ours", json!({}));
    let shown = show(&house, &id);
    let names: Vec<&String> = shown.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "id",
            "kind",
            "title",
            "product_name",
            "product_version",
            "cve_id",
            "severity",
            "cvss_score",
            "status",
            "became_aware_at",
            "early_warning_due_at",
            "notification_due_at",
            "final_report_due_at",
            "early_warning_sent_at",
            "notification_sent_at",
            "final_report_sent_at",
            "corrective_measure_at",
            "member_states",
            "summary",
            "root_cause",
            "mitigation",
            "user_guidance",
            "submissions",
            "next_deadline",
            "overdue",
            "late_stages",
            "created_at",
            "updated_at",
        ]
    );
    assert_eq!(shown["status"], "draft");
    assert_eq!((&shown["next_deadline"], &shown["overdue"]), (&Value::Null, &json!(false)));
    assert_eq!(change(&house, &id, &shown), shown, "what is shown can be written back");
}

#[test]
fn a_report_goes_forward_one_step_at_a_time_and_each_step_is_stamped() {
    let house = house();
    let id = make(&house, "ours", json!({}));
    let steps = ["early_warning_sent", "notification_sent", "final_report_sent"];
    for (hours, step) in steps.iter().enumerate() {
        let skipped = patch(&house, &id, &json!({ "status": "closed" })).expect(422);
        let reason = skipped.json()["fields"]["status"].as_str().unwrap().to_owned();
        assert!(reason.contains(step) && reason.contains("withdrawn"), "{reason}");
        let moved = change(&house, &id, &json!({ "status": step }));
        assert_eq!(moved["status"], *step);
        assert_eq!(moved[format!("{step}_at")], format!("2026-11-15T{:02}:00:00Z", 8 + hours));
        house.clock.advance_ms(HOUR_MS);
    }
    change(&house, &id, &json!({ "status": "closed" }));
    let reason = patch(&house, &id, &json!({ "status": "withdrawn" })).expect(422).error();
    assert!(reason.contains("none"), "{reason}");
    let given = make(&house, "ours", json!({}));
    let body =
        json!({ "status": "early_warning_sent", "early_warning_sent_at": "2026-11-14T20:30:00+01:00" });
    assert_eq!(change(&house, &given, &body)["early_warning_sent_at"], "2026-11-14T19:30:00Z");
}

#[test]
fn any_report_but_a_closed_one_may_be_withdrawn_and_its_clocks_stop() {
    let house = house();
    for status in ["draft", "early_warning_sent", "notification_sent", "final_report_sent"] {
        let aware = json!({ "status": status, "became_aware_at": "2026-11-01T00:00:00Z" });
        let id = make(&house, "ours", aware);
        let shown = change(&house, &id, &json!({ "status": "withdrawn" }));
        assert_eq!((&shown["next_deadline"], &shown["overdue"]), (&Value::Null, &json!(false)), "{status}");
        assert_eq!(faults(&house, &id, &json!({ "status": "draft" })), ["status"]);
    }
}

#[test]
fn the_clocks_of_a_vulnerability_run_from_awareness_and_from_the_corrective_measure() {
    let house = house();
    let id = make(&house, "ours", json!({}));
    let shown = change(&house, &id, &json!({ "became_aware_at": "2026-11-15T07:00:00Z" }));
    assert_eq!(shown["early_warning_due_at"], "2026-11-16T07:00:00Z");
    assert_eq!(shown["notification_due_at"], "2026-11-18T07:00:00Z");
    assert_eq!(shown["final_report_due_at"], Value::Null);
    assert_eq!(shown["next_deadline"], json!({ "stage": "early_warning", "due_at": "2026-11-16T07:00:00Z" }));
    change(&house, &id, &json!({ "status": "early_warning_sent" }));
    assert_eq!(show(&house, &id)["next_deadline"]["stage"], "notification");
    let shown = change(&house, &id, &json!({ "status": "notification_sent" }));
    assert_eq!(shown["next_deadline"], Value::Null, "nothing corrects it yet, so no clock runs");
    let shown = change(&house, &id, &json!({ "corrective_measure_at": "2026-11-20T12:00:00Z" }));
    assert_eq!(shown["final_report_due_at"], "2026-12-04T12:00:00Z");
    assert_eq!(shown["next_deadline"]["stage"], "final_report");
    assert_eq!(change(&house, &id, &json!({ "status": "final_report_sent" }))["next_deadline"], Value::Null);
}

#[test]
fn the_final_report_of_an_incident_is_due_a_calendar_month_after_the_notification() {
    let house = house();
    let incident = json!({ "kind": "severe_incident", "status": "early_warning_sent" });
    for (sent, due) in [
        ("2027-01-31T10:00:00Z", "2027-02-28T10:00:00Z"),
        ("2028-01-31T10:00:00Z", "2028-02-29T10:00:00Z"),
        ("2026-12-15T10:00:00Z", "2027-01-15T10:00:00Z"),
    ] {
        let id = make(&house, "ours", incident.clone());
        let early = change(&house, &id, &json!({ "corrective_measure_at": "2026-11-20T12:00:00Z" }));
        assert_eq!(early["final_report_due_at"], Value::Null, "a measure starts no clock of an incident");
        let moved =
            change(&house, &id, &json!({ "status": "notification_sent", "notification_sent_at": sent }));
        assert_eq!(moved["final_report_due_at"], due);
        assert_eq!(moved["next_deadline"], json!({ "stage": "final_report", "due_at": due }));
    }
}

#[test]
fn a_late_stage_is_taken_and_shown_as_late() {
    let house = house();
    let id = make(&house, "ours", json!({ "became_aware_at": "2026-11-15T08:00:00Z" }));
    house.clock.advance_ms(24 * HOUR_MS);
    assert_eq!(show(&house, &id)["overdue"], false, "the last moment is in time");
    let etag = house.get(&path(&id)).key(&house.ours.reader).expect(200);
    let etag = etag.header("etag").unwrap().to_owned();
    house.clock.advance_ms(1);
    let answer = house.get(&path(&id)).key(&house.ours.reader).header("If-None-Match", &etag).expect(200);
    let shown = answer.json()["data"].clone();
    assert_eq!((&shown["overdue"], &shown["late_stages"]), (&json!(true), &json!(["early_warning"])));
    assert_eq!(listed(&house, "")[0]["overdue"], true);
    let shown = change(&house, &id, &json!({ "status": "early_warning_sent" }));
    assert_eq!((&shown["overdue"], &shown["late_stages"]), (&json!(false), &json!(["early_warning"])));
    house.clock.jump_to(START_MS + 73 * HOUR_MS);
    let shown = show(&house, &id);
    assert_eq!(shown["overdue"], true);
    assert_eq!(shown["late_stages"], json!(["early_warning", "notification"]));
    let corrected = json!({ "early_warning_sent_at": "2026-11-15T20:00:00Z" });
    assert_eq!(change(&house, &id, &corrected)["late_stages"], json!(["notification"]));
}

#[test]
fn every_field_that_is_not_computed_can_be_set_and_most_can_be_cleared() {
    let house = house();
    let id = make(&house, "ours", json!({}));
    let body = json!({
        "kind": "severe_incident", "title": "Größe", "product_name": "Token", "product_version": "< 2.1",
        "cve_id": "CVE-2026-12345", "severity": "critical", "cvss_score": 9.8,
        "became_aware_at": "2026-11-15T08:00:00Z", "corrective_measure_at": "2026-11-15T09:00:00Z",
        "member_states": ["DE", "GR"], "summary": "s", "root_cause": "r", "mitigation": "m", "user_guidance": "u",
        "submissions": [{ "stage": "early_warning", "submitted_at": "2026-11-15T10:00:00Z", "reference": "BSI-1",
            "authority": "CERT-Bund" }, { "stage": "notification", "submitted_at": "2026-11-15T12:00:00+01:00" }],
    });
    let shown = change(&house, &id, &body);
    for (name, value) in body.as_object().unwrap().iter().filter(|(name, _)| *name != "submissions") {
        assert_eq!(&shown[name], value, "{name}");
    }
    assert_eq!(shown["submissions"][0], body["submissions"][0]);
    assert_eq!(
        shown["submissions"][1],
        json!({ "stage": "notification", "submitted_at": "2026-11-15T11:00:00Z", "reference": null, "authority": null })
    );
    assert_eq!(show(&house, &id), shown);
    assert_eq!(change(&house, &id, &shown), shown);
    let cleared = json!({
        "product_version": null, "cve_id": null, "severity": null, "cvss_score": null, "became_aware_at": null,
        "corrective_measure_at": null, "member_states": [], "summary": "", "root_cause": null, "submissions": [],
    });
    let shown = change(&house, &id, &cleared);
    assert_eq!((&shown["summary"], &shown["submissions"]), (&Value::Null, &json!([])));
    assert_eq!((&shown["became_aware_at"], &shown["early_warning_due_at"]), (&Value::Null, &Value::Null));
}

#[test]
fn every_fault_is_named_at_once_and_nothing_is_changed() {
    let house = house();
    let id = make(&house, "ours", json!({ "cvss_score": 5.0 }));
    let before = show(&house, &id);
    for (body, fields) in [
        (
            json!({ "title": " ", "product_name": "", "cve_id": "CVE-2026-123", "cvss_score": 10.1, "severity": "informational" }),
            vec!["title", "product_name", "cve_id", "severity", "cvss_score"],
        ),
        (
            json!({ "kind": "other", "status": "sent", "became_aware_at": "today" }),
            vec!["kind", "status", "became_aware_at"],
        ),
        (json!({ "member_states": ["DE", "EL"], "cvss_score": -0.1 }), vec!["cvss_score", "member_states"]),
        (json!({ "member_states": ["DE", "DE"] }), vec!["member_states"]),
        (json!({ "member_states": ["CH"], "cvss_score": "5" }), vec!["cvss_score", "member_states"]),
        (json!({ "kind": null, "title": null, "status": null }), vec!["kind", "title", "status"]),
        (json!({ "tenant_id": "x", "summary": 1 }), vec!["summary", "tenant_id"]),
        (json!({ "submissions": {} }), vec!["submissions"]),
        (
            json!({ "submissions": [1, { "stage": "x", "colour": 1 }] }),
            vec![
                "submissions[0]",
                "submissions[1].stage",
                "submissions[1].submitted_at",
                "submissions[1].colour",
            ],
        ),
        (
            json!({ "submissions": [
                { "stage": "notification", "submitted_at": "2026-11-15T10:00:00Z" },
                { "stage": "notification", "submitted_at": "2026-11-15T11:00:00Z" },
            ] }),
            vec!["submissions[1].stage"],
        ),
        (json!({ "status": "closed", "title": "new" }), vec!["status"]),
    ] {
        assert_eq!(faults(&house, &id, &body), fields, "{body}");
    }
    assert_eq!(show(&house, &id), before);
}

fn listed(house: &House, query: &str) -> Vec<Value> {
    let target = format!("/api/v1/cra/reports?{query}");
    let answer = house.get(&target).key(&house.ours.reader).expect(200).json();
    let items = answer["data"].as_array().unwrap().clone();
    assert_eq!(answer["meta"]["count"], items.len());
    items
}

#[test]
fn the_list_has_filters_search_and_pages() {
    let house = house();
    for (title, more) in [
        ("one", json!({ "severity": "high" })),
        ("two", json!({ "kind": "severe_incident", "status": "notification_sent" })),
        ("three", json!({ "cve_id": "CVE-2026-4711", "severity": "low" })),
    ] {
        let mut more = more;
        more["title"] = json!(title);
        make(&house, "ours", more);
        house.clock.advance_ms(1);
    }
    make(&house, "theirs", json!({ "title": "canary" }));
    let titles = |query: &str| -> Vec<String> {
        listed(&house, query).iter().map(|item| item["title"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(titles(""), ["three", "two", "one"]);
    assert_eq!(titles("status=notification_sent"), ["two"]);
    assert_eq!(titles("kind=exploited_vulnerability&severity=high"), ["one"]);
    assert_eq!(titles("search=cve-2026-4711"), ["three"]);
    assert_eq!(titles("search=canary"), [""; 0]);
    assert_eq!(titles("limit=1&offset=1"), ["two"]);
    house.get("/api/v1/cra/reports?status=open").key(&house.ours.reader).expect(422);
}

#[test]
fn a_report_of_another_tenant_does_not_exist() {
    let house = house();
    let theirs = make(&house, "theirs", json!({}));
    let unused = "cra_01KA0000000000000000000000";
    let long = "x".repeat(3000);
    for method in ["GET", "PATCH"] {
        let call = |id: &str| {
            let call = house.call(method, &path(id)).key(&house.ours.all);
            if method == "PATCH" { call.json(&json!({ "title": "mine" })) } else { call }
        };
        let expected = call(unused).expect(404).body;
        for id in [&theirs, "cra_", "%00", "%ff", "..%2f", "fnd_01KA0000000000000000000000", &long] {
            assert_eq!(call(id).expect(404).body, expected, "{method} {id}");
        }
    }
    let shown = house.get(&path(&theirs)).key(&house.theirs.reader).expect(200).json();
    assert_eq!(shown["data"]["title"], "Token bypass");
    let id = make(&house, "ours", json!({}));
    house.call("PATCH", &path(&id)).key(&house.ours.reader).json(&json!({ "title": "x" })).expect(403);
    house.call("PATCH", &path(&id)).key(&house.ours.manager).json(&json!({ "title": "x" })).expect(403);
}
