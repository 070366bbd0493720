//! Webhook records: who may write what, and where a webhook may send.

use crate::client::Answer;
use crate::delivery::Told;
use crate::house::House;
use holdfast::domain::destination::Allowlist;
use holdfast::domain::webhook::Channel;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;

const SLACK: &str = "https://hooks.slack.com/services/T0/B0/secret";

fn house() -> House {
    House::with(|config| config.limits = None)
}

fn post(house: &House, key: &str, body: &Value) -> Answer {
    house.call("POST", "/api/v1/webhooks").key(key).json(body).send()
}

fn new(channel: &str, url: &str) -> Value {
    json!({ "name": "Ops", "channel": channel, "url": url, "events": ["finding.created", "deadline.approaching"] })
}

fn make(house: &House, key: &str) -> Value {
    let answer = post(house, key, &new("slack", SLACK));
    assert_eq!(answer.status, 201);
    answer.json()["data"].clone()
}

fn path(webhook: &Value) -> String {
    format!("/api/v1/webhooks/{}", webhook["id"].as_str().unwrap())
}

fn listed(house: &House, query: &str) -> Value {
    house.get(&format!("/api/v1/webhooks?{query}")).key(&house.ours.reader).expect(200).json()
}

#[test]
fn a_new_webhook_is_active_and_has_an_address() {
    let house = house();
    let answer = post(&house, &house.ours.writer, &new("slack", SLACK));
    let webhook = answer.json()["data"].clone();
    assert_eq!(answer.header("location"), Some(path(&webhook).as_str()));
    let id = webhook["id"].as_str().unwrap();
    assert!(id.starts_with("whk_"));
    assert_eq!(
        webhook,
        json!({
            "id": id, "name": "Ops", "channel": "slack", "url": SLACK,
            "events": ["finding.created", "deadline.approaching"], "active": true, "last_delivery": null,
            "created_at": "2026-11-15T08:00:00Z", "updated_at": "2026-11-15T08:00:00Z",
        })
    );
    assert_eq!(house.get(&path(&webhook)).key(&house.ours.reader).expect(200).json()["data"], webhook);
}

#[test]
fn faults_are_all_named_and_nothing_is_stored() {
    let house = house();
    let with = |name: &str, value: Value| {
        let mut body = new("slack", SLACK);
        body[name] = value;
        body
    };
    for (body, fields) in [
        (json!({}), vec!["name", "channel", "url", "events"]),
        (with("name", json!(" ")), vec!["name"]),
        (with("name", json!("x".repeat(256))), vec!["name"]),
        (with("channel", json!("sms")), vec!["channel"]),
        (with("events", json!([])), vec!["events"]),
        (with("events", json!(["finding.created", "finding.created"])), vec!["events"]),
        (with("events", json!(["finding.deleted"])), vec!["events"]),
        (with("events", json!("finding.created")), vec!["events"]),
        (with("active", json!(true)), vec!["active"]),
        (with("tenant_id", json!("tnt_1")), vec!["tenant_id"]),
        (with("url", json!(7)), vec!["url"]),
        (with("url", json!("")), vec!["url"]),
        (with("url", json!("https://evil.example/")), vec!["url"]),
        (
            json!({ "name": 1, "channel": null, "url": SLACK, "events": [1] }),
            vec!["name", "channel", "events"],
        ),
    ] {
        let answer = post(&house, &house.ours.writer, &body);
        assert_eq!(answer.status, 422, "{body}");
        let named: Vec<String> = answer.json()["fields"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(named, fields, "{body}");
    }
    assert_eq!(listed(&house, "")["meta"]["total"], 0);
    assert_eq!(post(&house, &house.ours.writer, &with("name", json!("ä".repeat(255)))).status, 201);
}

#[test]
fn put_and_patch_keep_what_is_absent() {
    let house = house();
    for method in ["PUT", "PATCH"] {
        let webhook = make(&house, &house.ours.writer);
        let change = |body: Value| {
            house.call(method, &path(&webhook)).key(&house.ours.writer).json(&body).expect(200).json()["data"]
                .clone()
        };
        house.clock.advance_ms(1000);
        let renamed = change(json!({ "name": "Night shift" }));
        assert_eq!(renamed["name"], "Night shift");
        assert_ne!(renamed["updated_at"], webhook["updated_at"]);
        for name in ["id", "channel", "url", "events", "active", "created_at"] {
            assert_eq!(renamed[name], webhook[name], "{method} {name}");
        }
        assert_eq!(change(renamed.clone()), renamed, "what is shown can be written back");
        assert_eq!(change(json!({})), renamed);
        let moved = change(json!({ "channel": "email", "url": "mailto:ops@bank.example" }));
        assert_eq!((&moved["channel"], &moved["url"]), (&json!("email"), &json!("mailto:ops@bank.example")));
    }
}

#[test]
fn active_has_six_spellings_and_no_more() {
    let house = house();
    let webhook = make(&house, &house.ours.writer);
    for method in ["PUT", "PATCH"] {
        let set = |value: Value| {
            house
                .call(method, &path(&webhook))
                .key(&house.ours.writer)
                .json(&json!({ "active": value }))
                .send()
        };
        for (spelling, active) in [
            (json!(false), false),
            (json!(true), true),
            (json!(0), false),
            (json!(1), true),
            (json!("0"), false),
            (json!("1"), true),
        ] {
            let answer = set(spelling.clone());
            assert_eq!(answer.status, 200, "{spelling}");
            assert_eq!(answer.json()["data"]["active"], active, "{spelling}");
        }
        for bad in [json!(2), json!("true"), json!(null), json!([]), json!(1.0), json!(-1), json!("")] {
            assert_eq!(set(bad.clone()).status, 422, "{bad}");
        }
    }
    assert_eq!(house.get(&path(&webhook)).key(&house.ours.reader).expect(200).json()["data"]["active"], true);
}

#[test]
fn a_channel_and_its_address_must_fit_after_a_change_too() {
    let house = house();
    let webhook = make(&house, &house.ours.writer);
    for (body, field) in [
        (json!({ "channel": "teams" }), "channel"),
        (json!({ "url": "https://acme.webhook.office.com/x" }), "url"),
        (json!({ "channel": "email", "url": SLACK }), "url"),
        (json!({ "name": "x", "url": "http://hooks.slack.com/x" }), "url"),
        (json!({ "name": "" }), "name"),
    ] {
        let answer = house.call("PATCH", &path(&webhook)).key(&house.ours.writer).json(&body).expect(422);
        assert!(answer.json()["fields"][field].is_string(), "{body}");
    }
    assert_eq!(house.get(&path(&webhook)).key(&house.ours.reader).expect(200).json()["data"], webhook);
}

#[test]
fn a_deleted_webhook_is_gone() {
    let house = house();
    let webhook = make(&house, &house.ours.writer);
    let answer = house.call("DELETE", &path(&webhook)).key(&house.ours.writer).expect(204);
    assert!(answer.body.is_empty());
    house.call("DELETE", &path(&webhook)).key(&house.ours.writer).expect(404);
    house.get(&path(&webhook)).key(&house.ours.reader).expect(404);
    assert_eq!(listed(&house, "")["data"], json!([]));
}

#[test]
fn the_list_has_filters_search_and_pages() {
    let house = house();
    for (name, channel, url) in [
        ("Alpha", "slack", SLACK),
        ("Beta", "teams", "https://acme.webhook.office.com/x"),
        ("Gamma", "email", "mailto:ops@bank.example"),
    ] {
        let mut body = new(channel, url);
        body["name"] = json!(name);
        assert_eq!(post(&house, &house.ours.writer, &body).status, 201);
        house.clock.advance_ms(1);
    }
    make(&house, &house.theirs.writer);
    let names = |query: &str| -> Vec<String> {
        let answer = listed(&house, query);
        let items = answer["data"].as_array().unwrap();
        items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(""), ["Gamma", "Beta", "Alpha"]);
    let alpha = listed(&house, "channel=slack")["data"][0].clone();
    house.call("PATCH", &path(&alpha)).key(&house.ours.writer).json(&json!({ "active": 0 })).expect(200);
    assert_eq!(names("active=false"), ["Alpha"]);
    assert_eq!(names("active=true"), ["Gamma", "Beta"]);
    assert_eq!(names("search=BANK"), ["Gamma"]);
    assert_eq!(names("limit=1&offset=2"), ["Alpha"]);
    assert_eq!(listed(&house, "limit=1")["meta"]["total"], 3);
    for bad in ["active=1", "channel=sms"] {
        house.get(&format!("/api/v1/webhooks?{bad}")).key(&house.ours.reader).expect(422);
    }
}

#[test]
fn another_tenants_webhook_does_not_exist_in_any_verb() {
    let house = house();
    let theirs = make(&house, &house.theirs.writer);
    let id = theirs["id"].as_str().unwrap();
    let long = "x".repeat(3000);
    for method in ["GET", "PUT", "PATCH", "DELETE"] {
        let call = |id: &str| {
            let call = house.call(method, &format!("/api/v1/webhooks/{id}")).key(&house.ours.all);
            if method.starts_with('P') {
                call.json(&json!({ "name": "mine", "active": false }))
            } else {
                call
            }
        };
        let expected = call("whk_01KA0000000000000000000000").expect(404).body;
        for id in [id, "whk_", "%00", "%ff", "..%2f", "cra_01KA0000000000000000000000", &long] {
            assert_eq!(call(id).expect(404).body, expected, "{method} {id}");
        }
    }
    assert_eq!(house.get(&path(&theirs)).key(&house.theirs.reader).expect(200).json()["data"], theirs);
    assert_eq!(listed(&house, "")["meta"]["total"], 0);
}

#[test]
fn only_write_may_write() {
    let house = house();
    let webhook = make(&house, &house.ours.writer);
    for key in [&house.ours.reader, &house.ours.manager] {
        assert_eq!(post(&house, key, &new("slack", SLACK)).status, 403);
        for method in ["PUT", "PATCH", "DELETE"] {
            house.call(method, &path(&webhook)).key(key).json(&json!({ "active": false })).expect(403);
        }
    }
    assert_eq!(house.get(&path(&webhook)).key(&house.ours.reader).expect(200).json()["data"], webhook);
}

/// Addresses that must never be stored. `H` stands for an allowed host.
const HOSTILE: &[&str] = &[
    "http://H/x",
    "ftp://H/x",
    "file:///etc/passwd",
    "gopher://H/x",
    "javascript:alert(1)",
    "data:text/plain,x",
    "ws://H/x",
    "//H/x",
    "H/x",
    "https:",
    "https://",
    "https:///x",
    "https:H/x",
    "https:/H/x",
    "https:///H/x",
    "https://127.0.0.1/",
    "https://127.0.0.1:443/",
    "https://localhost/",
    "https://[::1]/",
    "https://[::]/",
    "https://[::ffff:169.254.169.254]/",
    "https://[::ffff:7f00:1]/",
    "https://[fe80::1%25eth0]/",
    "https://[64:ff9b::a9fe:a9fe]/",
    "https://[2002:7f00:1::]/",
    "https://[fd00::1]/",
    "https://169.254.169.254/latest/meta-data/",
    "https://168.63.129.16/",
    "https://10.0.0.1/",
    "https://0/",
    "https://0.0.0.0/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://0x7f000001/",
    "https://0177.0.0.1/",
    "https://017700000001/",
    "https://127.1/",
    "https://127.0.0.1./",
    "https://１２７.０.０.１/",
    "https://①②⑦.0.0.1/",
    "https://%31%32%37.0.0.1/",
    "https://user@H/x",
    "https://user:pass@H/x",
    "https://@H/x",
    "https://H@evil.example/x",
    "https://user@H@evil.example/x",
    "https://H:443@evil.example/x",
    "https://H.evil.example/x",
    "https://evil.example/H/x",
    "https://evil.example?H/x",
    "https://evil.example#H/x",
    "https://H./x",
    "https://H:22/x",
    "https://H:80/x",
    "https://H:8443/x",
    "https://H:99999/x",
    "https://H:443x/x",
    "https://H\\@evil.example/x",
    "https://evil.example\\.H/x",
    "https:\\\\H\\x",
    "https://H\t/x",
    "https://H/x\ny",
    "https://H/x\r\nHost: evil.example",
    "https://H/x y",
    " https://H/x",
    "https://H/x ",
    "https://H/\u{7f}",
    "https://H/\u{a0}x",
    "https://H/\u{202e}x",
    "https://H/ä",
    "https://H/x#fragment",
    "https://H#",
    "https://H%2eevil.example/x",
    "https://%48/x",
    "https://hooks.ѕlack.com/x",
    "https://xn--hooks-slack-com-1.example/x",
    "https://hooks。slack。com.evil.example/x",
    "https://slack/x",
    "https://slack.com/x",
    "https://H/a/../b",
    "https://H/a/%2e%2E/b",
    "mailto:a@b.example",
];

#[test]
fn hostile_addresses_are_refused_and_nothing_is_stored_or_asked() {
    let names = Arc::new(Told::default());
    let handed = Arc::clone(&names);
    let house = House::with(|config| {
        config.limits = None;
        config.names = handed;
    });
    let mut tried = 0;
    let mut refuse = |channel: &str, url: &str| {
        let answer = post(&house, &house.ours.writer, &new(channel, url));
        assert_eq!(answer.status, 422, "{channel} {url:?}");
        assert!(answer.json()["fields"]["url"].is_string(), "{url:?}");
        tried += 1;
    };
    let long = format!("{SLACK}{}", "x".repeat(513 - SLACK.len()));
    refuse("slack", &long);
    refuse("slack", "https://evilhooks.slack.com/x");
    refuse("teams", "https://evilwebhook.office.com/x");
    for (channel, host) in [("slack", "hooks.slack.com"), ("teams", "acme.webhook.office.com")] {
        for url in HOSTILE {
            refuse(channel, &url.replace('H', host));
        }
    }
    for url in [
        "mailto:a@b.c%0d%0aBcc:x@y.z",
        "mailto:a@b.example?bcc=x@y.example",
        "mailto:a?bcc=b@c.example",
        "mailto:a@b.example,c@d.example",
        "mailto:a@b.example\r\nBcc: x@y.example",
        "mailto:a@[127.0.0.1]",
        "mailto:a@localhost",
        "a@b.example",
        SLACK,
    ] {
        refuse("email", url);
    }
    assert!(HOSTILE.len() >= 60 && tried > 2 * 60, "{tried}");
    assert_eq!(listed(&house, "")["meta"]["total"], 0);
    file(&house);
    std::thread::sleep(std::time::Duration::from_millis(450));
    assert_eq!(names.questions.load(Ordering::SeqCst), 0, "no name was asked, no connection made");
}

/// Something that every webhook would be told of.
fn file(house: &House) {
    let body = json!({ "title": "t", "severity": "low" });
    house.call("POST", "/api/v1/findings").key(&house.ours.writer).json(&body).expect(201);
}

#[test]
fn the_operator_vouches_for_more_and_narrows_mail() {
    let mut allowlist = Allowlist::default();
    allowlist.add(Channel::Slack, "http://127.0.0.1:9000/hooks").unwrap();
    allowlist.add(Channel::Email, "bank.example").unwrap();
    let allowlist = Arc::new(allowlist);
    let house = House::with(|config| config.allowlist = allowlist);
    for (channel, url, status) in [
        ("slack", "http://127.0.0.1:9000/hooks/1?x=%41", 201),
        ("slack", SLACK, 201),
        ("slack", "http://127.0.0.1:9001/hooks/1", 422),
        ("slack", "https://127.0.0.1:9000/hooks/1", 422),
        ("slack", "http://127.0.0.1:9000/hooksx", 422),
        ("slack", "http://127.0.0.1:9000/hooks/../admin", 422),
        ("teams", "http://127.0.0.1:9000/hooks/1", 422),
        ("email", "mailto:ops@bank.example", 201),
        ("email", "mailto:ops@other.example", 422),
    ] {
        let answer = post(&house, &house.ours.writer, &new(channel, url));
        assert_eq!(answer.status, status, "{channel} {url}");
        if status == 201 {
            assert_eq!(answer.json()["data"]["url"], url);
        }
    }
}

#[test]
fn a_webhook_whose_destination_left_the_list_can_still_be_switched_off() {
    let mut allowlist = Allowlist::default();
    allowlist.add(Channel::Slack, "http://127.0.0.1:9000/").unwrap();
    let allowlist = Arc::new(allowlist);
    let mut house = House::with(|config| config.allowlist = allowlist);
    let answer = post(&house, &house.ours.writer, &new("slack", "http://127.0.0.1:9000/hooks"));
    let webhook = answer.json()["data"].clone();
    house.config.allowlist = Arc::default();
    house.restart();
    let patch = |body: Value| house.call("PATCH", &path(&webhook)).key(&house.ours.writer).json(&body);
    assert_eq!(patch(json!({ "active": false })).expect(200).json()["data"]["active"], false);
    patch(json!({ "url": webhook["url"] })).expect(422);
}
