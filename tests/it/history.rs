//! History and notes: every way in which an object changes leaves a line that says who, when and what.

use crate::house::{House, START_MS};
use crate::process::wait_until;
use holdfast::domain::actor::{Actor, ActorKind};
use holdfast::domain::history::{Act, Entry, THRESHOLDS_ID};
use holdfast::domain::import::read_json;
use holdfast::domain::page::Page;
use holdfast::store::{Store, Tenant};
use serde_json::{Value, json};
use std::time::Duration;

fn quiet() -> House {
    House::with(|config| config.limits = None)
}

fn store(house: &House) -> &Store {
    &house.service().house.app.store
}

fn tenant<'a>(house: &'a House, name: &str) -> Tenant<'a> {
    store(house).tenant(&store(house).tenant_id(name).unwrap())
}

/// An object's history, oldest first.
fn told(house: &House, id: &str) -> Vec<Entry> {
    let mut entries = tenant(house, "ours").history(id, Page::default()).unwrap().items;
    entries.reverse();
    entries
}

fn fields(entry: &Entry) -> Vec<(&str, &Value, &Value)> {
    entry.changes.iter().map(|change| (change.field.as_str(), &change.before, &change.after)).collect()
}

#[test]
fn a_finding_tells_of_the_key_the_import_the_person_and_the_clock() {
    let house = quiet();
    let body = json!({ "title": "Weak cipher", "severity": "low" });
    let made = house.call("POST", "/api/v1/findings").key(&house.ours.writer).json(&body).expect(201).json();
    let id = made["data"]["id"].as_str().unwrap();
    let patch = |body: Value| {
        house
            .call("PATCH", &format!("/api/v1/findings/{id}"))
            .key(&house.ours.writer)
            .json(&body)
            .expect(200);
    };
    house.clock.advance_ms(1_000);
    patch(json!({ "owner": "Anna", "status": "in_progress" }));
    patch(json!({ "owner": "Anna" }));
    let anna = Actor::user("usr_1", "Anna");
    let accept = json!({
        "status": "risk_accepted", "acceptance_reason": "small", "acceptance_expires_on": "2026-11-17",
    });
    let values = holdfast::domain::finding::FINDING_PATCH.check(accept.as_object().unwrap()).unwrap();
    tenant(&house, "ours").by(anna).change_finding(id, values).unwrap();
    house.clock.advance_ms(2 * 86_400_000);
    store(&house).reopen_expired_acceptances().unwrap();

    let told = told(&house, id);
    let who: Vec<(Act, ActorKind, Option<&str>)> =
        told.iter().map(|entry| (entry.act, entry.actor, entry.actor_name.as_deref())).collect();
    assert_eq!(
        who,
        [
            (Act::Created, ActorKind::Key, Some("writer")),
            (Act::Changed, ActorKind::Key, Some("writer")),
            (Act::Changed, ActorKind::User, Some("Anna")),
            (Act::Changed, ActorKind::Clock, None),
        ],
        "a change of nothing is none"
    );
    assert_eq!(told[0].at, START_MS);
    assert_eq!(
        fields(&told[1]),
        [("status", &json!("open"), &json!("in_progress")), ("owner", &Value::Null, &json!("Anna"))]
    );
    let last = fields(&told[3]);
    assert!(last.contains(&("status", &json!("risk_accepted"), &json!("open"))), "{last:?}");
    assert!(last.contains(&("acceptance_reason", &json!("small"), &Value::Null)), "{last:?}");
    assert_eq!(tenant(&house, "theirs").history(id, Page::default()).unwrap().total, 0, "nobody else's");
}

#[test]
fn an_import_is_told_once_per_object_and_by_field_when_it_changes_one() {
    let house = quiet();
    let handle = tenant(&house, "ours").by(Actor::command_line());
    let import = |title: &str| {
        let file = json!({ "findings": [{ "external_id": "x", "title": title, "severity": "low" }] });
        handle.import(read_json(file.to_string().as_bytes()).unwrap(), true).unwrap();
    };
    import("one");
    let listed = house.get("/api/v1/findings").key(&house.ours.reader).expect(200).json();
    let id = listed["data"][0]["id"].as_str().unwrap().to_owned();
    import("two");
    let told = told(&house, &id);
    assert_eq!(told.len(), 2);
    assert!(told.iter().all(|entry| entry.act == Act::Imported && entry.actor == ActorKind::CommandLine));
    assert_eq!(fields(&told[1]), [("title", &json!("one"), &json!("two"))]);
}

#[test]
fn every_kind_of_object_has_a_history() {
    let house = quiet();
    let call = |method: &str, path: &str, body: Value| {
        let answer = house.call(method, path).key(&house.ours.all).json(&body).send();
        assert!(answer.status < 300, "{method} {path}: {}", String::from_utf8_lossy(&answer.body));
        if answer.body.is_empty() { Value::Null } else { answer.json()["data"].clone() }
    };
    let id = |data: &Value| data["id"].as_str().unwrap().to_owned();
    let provider = id(&call("POST", "/api/v1/concentration-risk/providers", json!({ "name": "P" })));
    let arrangement = id(&call(
        "POST",
        "/api/v1/concentration-risk/arrangements",
        json!({ "provider_id": provider, "service": "S", "criticality": "critical" }),
    ));
    let hook = json!({
        "name": "W", "channel": "slack", "url": "https://hooks.slack.com/services/T/B/canary",
        "events": ["finding.created"],
    });
    let webhook = id(&call("POST", "/api/v1/webhooks", hook));
    call(
        "PATCH",
        &format!("/api/v1/webhooks/{webhook}"),
        json!({ "url": "https://hooks.slack.com/services/T/B/other" }),
    );
    call("DELETE", &format!("/api/v1/webhooks/{webhook}"), json!({}));
    call("PATCH", "/api/v1/concentration-risk/thresholds", json!({ "provider_concentration_pct": 25 }));
    let key = id(&call("POST", "/api/v1/keys", json!({ "name": "child" })));
    call("DELETE", &format!("/api/v1/concentration-risk/arrangements/{arrangement}"), json!({}));
    call("DELETE", &format!("/api/v1/concentration-risk/providers/{provider}"), json!({}));

    let acts = |id: &str| told(&house, id).iter().map(|entry| entry.act).collect::<Vec<_>>();
    assert_eq!(acts(&provider), [Act::Created, Act::Deleted]);
    assert_eq!(acts(&arrangement), [Act::Created, Act::Deleted]);
    assert_eq!(acts(&webhook), [Act::Created, Act::Changed, Act::Deleted]);
    assert_eq!(acts(&key), [Act::Created]);
    let thresholds = told(&house, THRESHOLDS_ID);
    assert_eq!(fields(&thresholds[0]), [("provider_concentration_pct", &json!(30), &json!(25))]);
    let changed = &told(&house, &webhook)[1].changes;
    assert_eq!(changed[0].field, "url");
    assert_ne!(changed[0].before, changed[0].after);
    assert!(!format!("{changed:?}").contains("canary"), "the address of a webhook is a secret");
    wait_until(Duration::from_secs(5), "the key's maker is known", || {
        told(&house, &key)[0].actor_name.as_deref() == Some("all")
    });
}

#[test]
fn people_write_notes_on_what_they_work_with() {
    let house = quiet();
    let body = json!({ "title": "t", "severity": "low" });
    let made = house.call("POST", "/api/v1/findings").key(&house.ours.writer).json(&body).expect(201).json();
    let id = made["data"]["id"].as_str().unwrap();
    let handle = tenant(&house, "ours").by(Actor::user("usr_1", "Anna"));
    handle.add_note(id, "first").unwrap();
    handle.add_note(id, "<b>second</b>").unwrap();
    let notes = handle.notes(id, Page { limit: 1, offset: 0 }).unwrap();
    assert_eq!((notes.total, notes.items[0].body.as_str()), (2, "<b>second</b>"));
    assert_eq!(notes.items[0].actor_name.as_deref(), Some("Anna"));
    for nothing in ["fnd_unknown", "whk_1", "", "nonsense"] {
        assert!(handle.add_note(nothing, "x").is_err(), "{nothing}");
    }
    assert!(tenant(&house, "theirs").add_note(id, "x").is_err(), "nobody else's");
    assert_eq!(told(&house, id).len(), 1, "a note changes nothing");
}
