//! Keys: made, used, expired, revoked.

use crate::house::{House, START_MS};
use crate::process::{Workplace, wait_until};
use serde_json::json;
use std::time::Duration;

#[test]
fn a_new_key_is_shown_once_and_works() {
    let house = House::new();
    let answer = house
        .call("POST", "/api/v1/keys")
        .key(&house.ours.all)
        .json(&json!({ "name": "pipeline", "redirect_to": "api-keys" }))
        .expect(201);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("location"), None);
    let data = &answer.json()["data"];
    let key = data["key"].as_str().unwrap();
    assert!(key.starts_with("hfast_") && key.len() == 44);
    assert_eq!(data["prefix"], json!(&key[..12]));
    assert_eq!(data["permissions"], json!(["write"]), "the caller's without manage_keys");
    assert_eq!(data["created_at"], json!("2026-11-15T08:00:00Z"));
    assert_eq!(data["expires_at"], json!(null));
    assert_eq!(data["redirect_to"], json!("api-keys"));
    house.get("/api/v1/dora/measures").key(key).expect(200);
    house.call("POST", "/api/v1/keys").key(key).json(&json!({ "name": "child" })).expect(403);
}

#[test]
fn a_key_never_makes_a_stronger_or_longer_lived_one() {
    let house = House::new();
    let asked =
        json!({ "name": "x", "permissions": ["write", "manage_keys"], "expires_at": "2099-01-01T00:00:00Z" });
    let answer = house.call("POST", "/api/v1/keys").key(&house.ours.manager).json(&asked).expect(201);
    assert_eq!(answer.json()["data"]["permissions"], json!([]), "read-only fields are ignored");

    let store = &house.service().house.app.store;
    let tenant = store.tenant_id("ours").unwrap();
    let new = holdfast::store::NewKey {
        name: "short".into(),
        permissions: holdfast::domain::permission::Permissions::all(),
        expires_at_ms: Some(START_MS + 60_000),
        created_by: None,
    };
    let (_, parent) = store.create_key(&tenant, new).unwrap();
    let answer =
        house.call("POST", "/api/v1/keys").key(parent.reveal()).json(&json!({ "name": "y" })).expect(201);
    let data = &answer.json()["data"];
    assert_eq!(data["expires_at"], json!("2026-11-15T08:01:00Z"));
    let child = data["key"].as_str().unwrap().to_owned();
    house.clock.advance_ms(59_999);
    house.get("/api/v1/dora/measures").key(&child).expect(200);
    house.clock.advance_ms(1);
    house.get("/api/v1/dora/measures").key(&child).expect(401);
}

#[test]
fn faults_in_a_key_request_are_all_named_and_nothing_is_made() {
    let house = House::new();
    let before = count_keys(&house);
    for (body, fields) in [
        (json!({}), vec!["name"]),
        (json!({ "name": " \t" }), vec!["name"]),
        (json!({ "name": "x".repeat(256) }), vec!["name"]),
        (json!({ "name": 7, "redirect_to": "https://evil.example" }), vec!["name", "redirect_to"]),
        (json!({ "name": "x", "tenant_id": "tnt_1", "active": true }), vec!["tenant_id", "active"]),
    ] {
        let answer = house.call("POST", "/api/v1/keys").key(&house.ours.manager).json(&body).expect(422);
        let named = answer.json()["fields"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(named, fields, "{body}");
    }
    assert_eq!(count_keys(&house), before);
    let umlauts = json!({ "name": "ä".repeat(255), "redirect_to": null });
    house.call("POST", "/api/v1/keys").key(&house.ours.manager).json(&umlauts).expect(201);
}

fn count_keys(house: &House) -> usize {
    let store = &house.service().house.app.store;
    store.keys(&store.tenant_id("ours").unwrap()).unwrap().len()
}

#[test]
fn a_tenant_has_a_bounded_number_of_live_keys() {
    let house = House::with(|config| config.keys_max = 7);
    let make = |status| {
        house
            .call("POST", "/api/v1/keys")
            .key(&house.ours.manager)
            .json(&json!({ "name": "x" }))
            .expect(status)
    };
    make(201);
    make(201);
    make(201);
    assert!(make(422).error().contains("7 live keys"));
}

#[test]
fn a_revoked_key_is_refused_from_the_answer_on() {
    let house = House::with(|config| config.limits = None);
    let store = &house.service().house.app.store;
    let tenant = store.tenant_id("ours").unwrap();
    for _ in 0..20 {
        let new = holdfast::store::NewKey {
            name: "brief".into(),
            permissions: Default::default(),
            expires_at_ms: None,
            created_by: None,
        };
        let (key, secret) = store.create_key(&tenant, new).unwrap();
        let use_it = || house.get("/api/v1/dora/measures?limit=1").key(secret.reveal()).send().status;
        std::thread::scope(|scope| {
            let user = scope.spawn(|| (0..5).map(|_| use_it()).collect::<Vec<_>>());
            store.revoke_key(&key.id).unwrap();
            assert_eq!(use_it(), 401);
            assert!(user.join().unwrap().iter().all(|status| [200, 401].contains(status)));
        });
        assert_eq!(use_it(), 401);
    }
}

#[test]
fn the_command_line_is_heard_by_a_running_server_within_a_second() {
    let place = Workplace::new();
    let server = place.serve();
    place.done(&["tenant", "create", "Second Bank"]);
    let key =
        place.done(&["key", "create", "--tenant", "Second Bank", "--name", "ci", "--permissions", "write"]);
    let status = |key: &str| server.get("/api/v1/dora/measures?limit=1").key(key).send().status;
    assert_eq!(status(&key), 200, "a new key is looked up at once");
    let list = place.done(&["key", "list", "--tenant", "Second Bank"]);
    assert!(!list.contains(&key), "the list shows no secret");
    let id = list.lines().nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    place.done(&["key", "revoke", &id]);
    let took = wait_until(Duration::from_secs(5), "the revocation", || status(&key) == 401);
    assert!(took < Duration::from_secs(1), "{took:?}");

    let other = place.done(&["key", "create", "--tenant", "Second Bank", "--name", "other"]);
    assert_eq!(status(&other), 200);
    place.done(&["tenant", "delete", "Second Bank", "--yes"]);
    wait_until(Duration::from_secs(1), "the end of a deleted tenant's key", || status(&other) == 401);
}

#[test]
fn the_last_use_of_a_key_is_written_down() {
    let house = House::new();
    house.get("/api/v1/dora/measures?limit=1").key(&house.ours.reader).expect(200);
    let app = &house.service().house.app;
    app.save_counts().unwrap();
    let keys = app.store.keys(&app.store.tenant_id("ours").unwrap()).unwrap();
    let reader = keys.iter().find(|key| key.name == "reader").unwrap();
    assert_eq!(reader.last_used_at_ms, Some(START_MS));
    assert_eq!(keys.iter().find(|key| key.name == "writer").unwrap().last_used_at_ms, None);
}

#[test]
fn neither_log_nor_database_holds_a_key_in_clear() {
    let place = Workplace::new();
    let mut server = place.serve_with(&[("HOLDFAST_LOG", "trace")]);
    let key = place.first_key();
    server.get("/api/v1/dora/measures?limit=1").key(&key).expect(200);
    server.get("/api/v1/nothing?key=canary-query").key(&key).expect(404);
    server.get("/api/v2/risk-register").header("X-API-Key", &key).expect(401);
    let made = crate::client::Call::new(server.address, "POST", "/api/v1/keys")
        .key(&key)
        .json(&json!({ "name": "canary-body" }))
        .expect(201)
        .json();
    let second = made["data"]["key"].as_str().unwrap().to_owned();
    let errors = server.child.stderr.take().unwrap();
    assert!(server.stop(Duration::from_secs(15)).success());
    let log = std::io::read_to_string(errors).unwrap();
    assert!(log.contains("/api/v1/dora/measures 200"), "{log}");
    for secret in [&key, &second, &"canary-query".to_owned()] {
        assert!(!log.contains(secret.as_str()), "the log holds {secret}");
    }
    for file in ["holdfast.db", "holdfast.db-wal"] {
        let bytes = std::fs::read(place.folder.path().join(file)).unwrap_or_default();
        for secret in [&key, &second] {
            assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{file}");
        }
    }
}
