//! The audit log: what is written, that nobody changes it unseen, and that strangers cannot fill the disk.

use crate::house::House;
use crate::process::{Workplace, wait_until};
use holdfast::domain::audit::Event;
use holdfast::domain::query::{LIMIT, Param, Query};
use holdfast::store::{Store, Verdict};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::time::Duration;

fn store(house: &House) -> &Store {
    &house.service().house.app.store
}

/// A question for all rows, as far as a page goes.
pub fn every_row() -> Query {
    static PARAMS: &[Param] = &[LIMIT];
    Query::check("limit=500", PARAMS).unwrap()
}

fn events(house: &House) -> Vec<Event> {
    let tenant = store(house).tenant(&store(house).tenant_id("ours").unwrap());
    let rows = tenant.audit(&every_row()).unwrap().items;
    rows.iter().rev().map(|row| row.event).collect()
}

fn count(house: &House, event: Event) -> usize {
    events(house).into_iter().filter(|told| *told == event).count()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn acts_of_the_api_are_written_with_who_and_from_where() {
    let house = House::with(|config| config.limits = None);
    let call = |method: &str, path: &str, key: &str, body: Value| {
        house.call(method, path).key(key).header("X-Forwarded-For", "203.0.113.1").json(&body).send().status
    };
    let key = &house.ours.all;
    assert_eq!(call("POST", "/api/v1/keys", key, json!({ "name": "n" })), 201);
    assert_eq!(call("PATCH", "/api/v1/concentration-risk/thresholds", key, json!({ "enabled": false })), 200);
    let hook =
        |url: &str| json!({ "name": "W", "channel": "slack", "url": url, "events": ["finding.created"] });
    assert_eq!(call("POST", "/api/v1/webhooks", key, hook("https://hooks.slack.com/services/canary")), 201);
    assert_eq!(call("POST", "/api/v1/webhooks", key, hook("https://169.254.169.254/")), 422);
    for _ in 0..3 {
        assert_eq!(call("POST", "/api/v1/keys", &house.ours.reader, json!({ "name": "n" })), 403);
        assert_eq!(call("GET", "/api/v1/webhooks", &house.ours.expired, json!({})), 401);
    }
    for once in [
        Event::ThresholdsChanged,
        Event::WebhookCreated,
        Event::DestinationRefused,
        Event::PermissionRefused,
        Event::ExpiredKeyUsed,
    ] {
        store(&house).save_refusals().unwrap();
        wait_until(Duration::from_secs(5), once.name(), || count(&house, once) == 1);
    }
    let tenant = store(&house).tenant(&store(&house).tenant_id("ours").unwrap());
    let rows = tenant.audit(&every_row()).unwrap().items;
    let refused = rows.iter().find(|row| row.event == Event::PermissionRefused).unwrap();
    assert_eq!(refused.actor_name.as_deref(), Some("reader"));
    assert_eq!(
        refused.address.as_deref(),
        Some("127.0.0.1"),
        "what the client says of itself counts for nothing"
    );
    assert_eq!(refused.detail.as_deref(), Some("POST /api/v1/keys needs manage_keys"));
    assert!(!format!("{rows:?}").contains("canary"));
    assert!(matches!(store(&house).verify_audit().unwrap(), Verdict::Sound { .. }));
}

#[test]
fn a_block_is_written_once() {
    let house = House::new();
    for minute in 0..3 {
        for _ in 0..61 {
            house.get("/api/v1/programmes").key(&house.ours.reader).send();
        }
        if minute < 2 {
            house.clock.advance_ms(60_000);
        }
    }
    house.get("/api/v1/programmes").key(&house.ours.reader).expect(429);
    store(&house).save_refusals().unwrap();
    wait_until(Duration::from_secs(5), "the block is written", || count(&house, Event::KeyBlocked) == 1);
}

#[test]
fn rows_are_never_changed_and_whatever_is_done_to_the_file_is_seen() {
    let place = Workplace::new();
    place.done(&["tenant", "create", "A"]);
    for name in ["one", "two", "three"] {
        place.done(&["key", "create", "--tenant", "A", "--name", name]);
    }
    let sound = place.done(&["audit", "verify"]);
    assert!(sound.starts_with("sound: 4 rows, the last one "), "{sound}");
    let exported = lines(&place.done(&["audit", "export"]));
    assert_eq!(exported.len(), 4);
    assert_eq!(exported[0]["event"], "tenant_created");
    assert_eq!(exported[3]["actor"], "command_line");
    assert!(sound.ends_with(exported[3]["hash"].as_str().unwrap()));

    let file = Connection::open(place.db()).unwrap();
    for forbidden in [
        "update audit set detail = 'x'",
        "delete from audit",
        "delete from audit where number = 4",
        "insert or replace into audit_anchor select number, zeroblob(32) from audit_anchor",
    ] {
        let outcome = file.execute(forbidden, []);
        assert!(outcome.is_err() || outcome == Ok(0), "{forbidden}");
    }
    place.done(&["audit", "verify"]);
    let tamper = |sql: &str| {
        let copy = Workplace::new();
        file.execute("vacuum into ?1", [copy.db().to_str().unwrap()]).unwrap();
        let other = Connection::open(copy.db()).unwrap();
        other.execute_batch("drop trigger audit_unchanged; drop trigger audit_kept;").unwrap();
        assert_eq!(other.execute(sql, []).unwrap(), 1, "{sql}");
        drop(other);
        copy.failed(&["audit", "verify"], 1)
    };
    assert!(tamper("update audit set detail = 'x' where number = 2").contains("row 2"));
    assert!(tamper("update audit set at = at + 1 where number = 3").contains("row 3"));
    assert!(tamper("delete from audit where number = 2").contains("row 3"));
    assert!(tamper("delete from audit where number = 1").contains("row 2"));
    assert!(tamper("update audit set event = 'nonsense' where number = 4").contains("row 4"));
}

#[test]
fn pruning_anchors_the_chain_behind_what_goes() {
    let house = House::new();
    let before = events(&house).len();
    assert_eq!(store(&house).prune_audit(house.clock.now_ms()).unwrap(), 0, "nothing is older than now");
    house.clock.advance_ms(401 * 86_400_000);
    store(&house)
        .create_user(
            "ours",
            "anna@bank.example",
            "",
            holdfast::domain::user::Role::Owner,
            "teal gravel onion ferry",
        )
        .unwrap();
    let gone = store(&house).prune_audit(house.clock.now_ms() - 400 * 86_400_000).unwrap();
    assert!(gone >= before && before > 0, "{gone}");
    assert_eq!(events(&house), [Event::UserCreated]);
    let Verdict::Sound { rows, .. } = store(&house).verify_audit().unwrap() else { panic!() };
    assert_eq!(rows, 2, "the new account and the pruning itself");
}

#[test]
fn a_stranger_who_knocks_all_day_writes_a_hundred_rows_an_hour() {
    let house = House::new();
    let before = {
        let Verdict::Sound { rows, .. } = store(&house).verify_audit().unwrap() else { panic!() };
        rows
    };
    for number in 0..150 {
        let visitor = holdfast::domain::session::Visitor {
            address: Some(format!("192.0.2.{}", number % 200).parse().unwrap()),
            agent: None,
        };
        let email = format!("person{number}@bank.example");
        store(&house).sign_in(&email, "a wrong password for sure", &visitor, None).unwrap();
    }
    let Verdict::Sound { rows, .. } = store(&house).verify_audit().unwrap() else { panic!() };
    assert_eq!(rows - before, 100);
}

#[test]
fn prune_asks_twice_and_export_writes_a_file() {
    let place = Workplace::new();
    place.done(&["tenant", "create", "A"]);
    assert!(place.failed(&["audit", "prune"], 1).contains("--yes"));
    assert_eq!(place.done(&["audit", "prune", "--yes"]), "0 rows pruned");
    place.done(&["export", "--tenant", "A", "--out", "a.json"]);
    place.done(&["audit", "export", "--out", "log.jsonl"]);
    let text = std::fs::read_to_string(place.folder.path().join("log.jsonl")).unwrap();
    let told: Vec<Value> = lines(&text).iter().map(|line| line["event"].clone()).collect();
    assert_eq!(told, ["tenant_created", "data_exported"]);
    place.done(&["tenant", "delete", "A", "--yes"]);
    assert!(place.done(&["audit", "export"]).contains("tenant_deleted"), "the log outlives its tenant");
}
