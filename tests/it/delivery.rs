//! Events on their way: every way that raises one, every receiver that misbehaves, and no event lost.

use crate::client::Answer;
use crate::house::{House, Literals};
use crate::process::{Workplace, wait_until};
use crate::receiver::{Manner, Receiver};
use holdfast::domain::destination::Allowlist;
use holdfast::domain::webhook::Channel;
use holdfast::egress::Names;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(10);
const ALL_EVENTS: &[&str] =
    &["finding.created", "finding.status_changed", "test_case.status_changed", "deadline.approaching"];

/// A house whose operator vouches for receivers, and whose patience is short.
fn house(receivers: &[&Receiver]) -> House {
    House::with(|config| {
        config.limits = None;
        config.patience.delivery = Duration::from_millis(500);
        config.allowlist = Arc::new(vouching(receivers));
    })
}

fn vouching(receivers: &[&Receiver]) -> Allowlist {
    let mut allowlist = Allowlist::default();
    for receiver in receivers {
        allowlist.add(Channel::Slack, &receiver.url("")).unwrap();
        allowlist.add(Channel::Teams, &receiver.url("")).unwrap();
    }
    allowlist
}

fn post(house: &House, path: &str, body: &Value) -> Answer {
    house.call("POST", path).key(&house.ours.writer).json(body).expect(201)
}

/// A webhook for all events; gives its address.
fn webhook(house: &House, channel: &str, url: &str) -> String {
    let body = json!({ "name": "Ops", "channel": channel, "url": url, "events": ALL_EVENTS });
    let webhook = post(house, "/api/v1/webhooks", &body).json();
    format!("/api/v1/webhooks/{}", webhook["data"]["id"].as_str().unwrap())
}

fn file(house: &House, title: &str) -> Value {
    // So that the newest delivery is the last one made.
    house.clock.advance_ms(1);
    let body = json!({ "title": title, "severity": "critical", "owner": "Ada" });
    post(house, "/api/v1/findings", &body).json()["data"].clone()
}

fn patch(house: &House, path: &str, body: &Value) -> Answer {
    house.call("PATCH", path).key(&house.ours.writer).json(body).expect(200)
}

fn show(house: &House, path: &str) -> Value {
    house.get(path).key(&house.ours.reader).expect(200).json()["data"].clone()
}

/// The newest delivery of a webhook, once it has had so many tries.
fn tried(house: &House, webhook: &str, attempts: u64) -> Value {
    let mut newest = Value::Null;
    wait_until(SOON, &format!("{attempts} tries"), || {
        newest = show(house, &format!("{webhook}/deliveries"))[0].clone();
        newest["log"].as_array().is_some_and(|log| log.len() as u64 >= attempts)
    });
    newest
}

#[test]
fn a_finding_reaches_both_chats_in_their_own_form() {
    let receiver = Receiver::start(Manner::status(200));
    let house = house(&[&receiver]);
    webhook(&house, "slack", &receiver.url("slack"));
    let teams = webhook(&house, "teams", &receiver.url("teams"));
    let finding = file(&house, "<!channel> Weak cipher & more");
    wait_until(SOON, "both arrive", || receiver.count() == 2);
    let link = format!("/findings/{}", finding["id"].as_str().unwrap());
    for got in receiver.got() {
        assert_eq!(got.header("x-holdfast-event"), "finding.created");
        assert!(got.header("x-holdfast-delivery").starts_with("dlv_"));
        assert_eq!(got.header("content-type"), "application/json");
        let text = got.body.to_string();
        for said in ["New finding", "critical", "Ada", "2026-11-22", &link] {
            assert!(text.contains(said), "{said} in {text}");
        }
        match got.path.as_str() {
            "/slack" => {
                assert!(
                    got.body["text"].as_str().unwrap().contains("&lt;!channel&gt; Weak cipher &amp; more")
                );
                assert_eq!(got.body["blocks"][0]["type"], "header");
                assert_eq!(got.body["attachments"][0]["fields"][0]["value"], "critical");
                assert!(!text.contains("<!channel>"));
            }
            path => {
                assert_eq!(path, "/teams");
                assert_eq!(got.body["type"], "message");
                assert_eq!(got.body["attachments"][0]["content"]["type"], "AdaptiveCard");
            }
        }
    }
    let delivery = tried(&house, &teams, 1);
    assert_eq!(delivery["state"], "delivered");
    assert_eq!(delivery["event"], "finding.created");
    assert_eq!(delivery["log"][0]["outcome"], "delivered");
    assert_eq!(delivery["log"][0]["http_status"], 200);
    assert_eq!(
        show(&house, &teams)["last_delivery"],
        json!({ "at": "2026-11-15T08:00:00Z", "outcome": "delivered", "http_status": 200, "attempts": 1 })
    );
}

#[test]
fn every_way_that_changes_an_object_tells_of_it() {
    let receiver = Receiver::start(Manner::status(200));
    let house = house(&[&receiver]);
    webhook(&house, "slack", &receiver.url("x"));
    let told = |count: usize| {
        wait_until(SOON, &format!("{count} messages"), || receiver.count() == count);
        let got = receiver.got().pop().unwrap();
        (got.header("x-holdfast-event").to_owned(), got.body["text"].as_str().unwrap().to_owned())
    };
    let finding = file(&house, "One");
    assert_eq!(told(1).0, "finding.created");
    let path = format!("/api/v1/findings/{}", finding["id"].as_str().unwrap());
    patch(&house, &path, &json!({ "title": "Renamed" }));
    patch(&house, &path, &json!({ "status": "in_progress" }));
    let (event, text) = told(2);
    assert_eq!(event, "finding.status_changed");
    assert!(text.contains("Finding is now in progress") && text.contains("Renamed"), "{text}");
    let accepted =
        json!({ "status": "risk_accepted", "acceptance_reason": "r", "acceptance_expires_on": "2026-11-16" });
    patch(&house, &path, &accepted);
    assert_eq!(told(3).0, "finding.status_changed");
    // The clock reopens it, and by then it is also near its due date: of that another message may tell first.
    house.clock.advance_ms(24 * 3_600_000);
    let moved = |got: &[crate::receiver::Got]| {
        got.iter().filter(|got| got.header("x-holdfast-event") == "finding.status_changed").count()
    };
    wait_until(SOON, "the clock's message", || moved(&receiver.got()) == 3);
    assert_eq!(show(&house, &path)["status"], "open");
    let events: Vec<String> =
        receiver.got().iter().map(|got| got.header("x-holdfast-event").to_owned()).collect();
    assert_eq!(events.iter().filter(|event| *event == "finding.created").count(), 1, "a rename is no event");
}

#[test]
fn a_failure_is_tried_again_on_schedule_until_it_is_given_up() {
    let receiver = Receiver::start(Manner::status(500));
    let house = house(&[&receiver]);
    let webhook = webhook(&house, "slack", &receiver.url("x"));
    file(&house, "One");
    let waits = [10, 60, 300, 1800, 7200, 21600, 43200];
    for (number, seconds) in waits.into_iter().enumerate() {
        let before = tried(&house, &webhook, number as u64 + 1);
        assert_eq!(before["state"], "pending");
        assert_eq!(before["log"][number]["outcome"], "rejected");
        house.clock.advance_ms(seconds * 900 - 1);
        std::thread::sleep(Duration::from_millis(450));
        assert_eq!(receiver.count(), number + 1, "before its time");
        house.clock.advance_ms(seconds * 200 + 1);
    }
    let ended = tried(&house, &webhook, 8);
    wait_until(SOON, "it is given up", || {
        show(&house, &format!("{webhook}/deliveries"))[0]["state"] == "failed"
    });
    assert_eq!(ended["attempts"], 8);
    house.clock.advance_ms(2 * 86_400_000);
    std::thread::sleep(Duration::from_millis(450));
    let later = receiver.got();
    let first = later[0].header("x-holdfast-delivery");
    assert_eq!(
        later.iter().filter(|got| got.header("x-holdfast-delivery") == first).count(),
        8,
        "the same delivery at every try, and no ninth"
    );
    assert_eq!(show(&house, &webhook)["active"], true);
}

#[test]
fn a_receiver_may_ask_for_a_longer_wait() {
    let receiver = Receiver::start(Manner::with(429, "Retry-After: 120\r\n"));
    let house = house(&[&receiver]);
    let webhook = webhook(&house, "teams", &receiver.url("x"));
    file(&house, "One");
    let delivery = tried(&house, &webhook, 1);
    assert_eq!(delivery["next_attempt_at"], "2026-11-15T08:02:00Z");
    receiver.behave(Manner::status(202));
    house.clock.advance_ms(119_000);
    std::thread::sleep(Duration::from_millis(450));
    assert_eq!(receiver.count(), 1);
    house.clock.advance_ms(1_000);
    assert_eq!(tried(&house, &webhook, 2)["state"], "delivered");
}

#[test]
fn a_wait_may_be_asked_for_by_a_date_too() {
    let receiver = Receiver::start(Manner::with(503, "Retry-After: Sun, 15 Nov 2026 09:30:00 GMT\r\n"));
    let house = house(&[&receiver]);
    let webhook = webhook(&house, "slack", &receiver.url("x"));
    file(&house, "One");
    assert_eq!(tried(&house, &webhook, 1)["next_attempt_at"], "2026-11-15T09:30:00Z");
}

/// The receiver is a Holdfast with a certificate; what it answers does not matter, only whether it is heard.
#[test]
fn a_receiver_whose_certificate_is_not_trusted_hears_nothing() {
    let place = Workplace::new();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (cert, key) = (place.folder.path().join("cert.pem"), place.folder.path().join("key.pem"));
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let env = [("HOLDFAST_TLS_CERT", cert.to_str().unwrap()), ("HOLDFAST_TLS_KEY", key.to_str().unwrap())];
    let receiver = place.serve_with(&env);
    let port = receiver.address.port();
    for (host, ca_file, outcome) in [
        ("localhost", Some(cert.clone()), "rejected"),
        ("localhost", None, "unreachable"),
        // The right authority, but the certificate is for another name.
        ("127.0.0.1", Some(cert.clone()), "unreachable"),
    ] {
        let house = House::with(|config| {
            config.limits = None;
            config.ca_file = ca_file;
            config.names = Arc::new(Local(receiver.address));
            let mut allowlist = Allowlist::default();
            allowlist.add(Channel::Slack, &format!("https://{host}:{port}/")).unwrap();
            config.allowlist = Arc::new(allowlist);
        });
        let webhook = webhook(&house, "slack", &format!("https://{host}:{port}/api/v1/findings"));
        file(&house, "One");
        assert_eq!(tried(&house, &webhook, 1)["log"][0]["outcome"], outcome, "{host}");
    }
}

/// Every name is this address.
#[derive(Debug)]
struct Local(SocketAddr);

impl Names for Local {
    fn look_up(&self, _: &str, _: u16) -> std::io::Result<Vec<SocketAddr>> {
        Ok(vec![self.0])
    }
}

#[test]
fn a_destination_that_is_gone_switches_its_webhook_off() {
    let receiver = Receiver::start(Manner::status(410));
    let house = house(&[&receiver]);
    let webhook = webhook(&house, "slack", &receiver.url("x"));
    for number in 0..3 {
        file(&house, &format!("{number}"));
    }
    wait_until(SOON, "it is switched off", || show(&house, &webhook)["active"] == false);
    let states = || -> Vec<Value> {
        show(&house, &format!("{webhook}/deliveries"))
            .as_array()
            .unwrap()
            .iter()
            .map(|d| d["state"].clone())
            .collect()
    };
    wait_until(SOON, "the rest is cancelled", || {
        states().iter().all(|state| state == "failed" || state == "cancelled")
    });
    assert!(states().contains(&json!("failed")));
    assert_eq!(show(&house, &webhook)["last_delivery"]["outcome"], "gone");
    assert!(receiver.count() <= 3);
}

#[test]
fn redirects_silence_and_endless_answers_do_no_harm() {
    let inner = Receiver::start(Manner::status(200));
    let receiver = Receiver::start(Manner::status(200));
    let house = house(&[&receiver, &inner]);
    let webhook = webhook(&house, "slack", &receiver.url("x"));
    for status in [301, 302, 303, 307, 308] {
        receiver.behave(Manner::with(status, &format!("Location: {}\r\n", inner.url("secret"))));
        file(&house, &format!("{status}"));
        let delivery = tried(&house, &webhook, 1);
        assert_eq!(delivery["log"][0]["outcome"], "rejected");
        assert_eq!(delivery["log"][0]["http_status"], status);
    }
    assert_eq!(inner.connections(), 0, "no redirect was followed");
    for (manner, outcome) in [
        (Manner::Hangs, "timed_out"),
        (Manner::Closes, "unreachable"),
        (Manner::Says("who is there?\r\n\r\n".into()), "unreachable"),
        (
            Manner::Says(format!("HTTP/1.1 200 OK\r\nX-Long: {}\r\n\r\n", "x".repeat(1_000_000))),
            "unreachable",
        ),
        (Manner::Endless, "delivered"),
    ] {
        receiver.behave(manner.clone());
        file(&house, "more");
        let delivery = tried(&house, &webhook, 1);
        assert_eq!(delivery["log"][0]["outcome"], outcome, "{}", delivery);
    }
}

#[test]
fn a_test_message_and_a_replay_are_deliveries_of_their_own() {
    let receiver = Receiver::start(Manner::status(500));
    let house = house(&[&receiver]);
    let webhook = webhook(&house, "slack", &receiver.url("x"));
    patch(&house, &webhook, &json!({ "active": false }));
    let test = post(&house, &format!("{webhook}/test"), &json!({}));
    assert_eq!(test.header("location"), Some(format!("{webhook}/deliveries").as_str()));
    assert_eq!(test.json()["data"]["state"], "pending");
    assert_eq!(test.json()["data"]["event"], Value::Null);
    let id = tried(&house, &webhook, 1)["id"].as_str().unwrap().to_owned();
    assert_eq!(receiver.got()[0].header("x-holdfast-event"), "test");
    assert!(receiver.got()[0].body["text"].as_str().unwrap().contains("Test message"));
    let again = |id: &str, status| {
        house.call("POST", &format!("/api/v1/deliveries/{id}/replay")).key(&house.ours.writer).expect(status)
    };
    assert!(again(&id, 422).error().contains("under way"));
    receiver.behave(Manner::status(200));
    house.clock.advance_ms(11_000);
    assert_eq!(tried(&house, &webhook, 2)["state"], "delivered");
    let replay = again(&id, 201).json()["data"].clone();
    assert_ne!(replay["id"], json!(id));
    wait_until(SOON, "the replay arrives", || receiver.count() == 3);
    patch(&house, &webhook, &json!({ "active": true }));
    let log = house
        .get(&format!("{webhook}/deliveries?limit=1&offset=1"))
        .key(&house.ours.reader)
        .expect(200)
        .json();
    assert_eq!((&log["meta"]["total"], &log["data"][0]["id"]), (&json!(2), &json!(id)));
    let none =
        house.get(&format!("{webhook}/deliveries?state=failed")).key(&house.ours.reader).expect(200).json();
    assert_eq!(none["meta"]["total"], 0);
}

#[test]
fn a_webhook_that_is_off_or_not_subscribed_hears_nothing_and_nor_does_another_tenant() {
    let receiver = Receiver::start(Manner::status(200));
    let house = house(&[&receiver]);
    let off = webhook(&house, "slack", &receiver.url("off"));
    patch(&house, &off, &json!({ "active": false }));
    let other = json!({ "name": "o", "channel": "slack", "url": receiver.url("deaf"), "events": ["deadline.approaching"] });
    post(&house, "/api/v1/webhooks", &other);
    let theirs =
        json!({ "name": "t", "channel": "slack", "url": receiver.url("theirs"), "events": ALL_EVENTS });
    house.call("POST", "/api/v1/webhooks").key(&house.theirs.writer).json(&theirs).expect(201);
    webhook(&house, "slack", &receiver.url("ours"));
    file(&house, "One");
    wait_until(SOON, "ours arrives", || receiver.count() == 1);
    std::thread::sleep(Duration::from_millis(450));
    let paths: Vec<String> = receiver.got().into_iter().map(|got| got.path).collect();
    assert_eq!(paths, ["/ours"]);
}

/// Names whose answers a test chooses; it counts the questions.
#[derive(Debug, Default)]
pub struct Told {
    answers: Mutex<Vec<SocketAddr>>,
    pub questions: AtomicUsize,
}

impl Names for Told {
    fn look_up(&self, host: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
        self.questions.fetch_add(1, Ordering::SeqCst);
        match host {
            "hooks.slack.com" | "chat.internal" => Ok(self.answers.lock().unwrap().clone()),
            _ => Literals.look_up(host, port),
        }
    }
}

#[test]
fn a_name_that_leads_inwards_is_never_connected_to() {
    let canary = Receiver::start(Manner::status(200));
    let names = Arc::new(Told::default());
    let handed = Arc::clone(&names);
    let house = House::with(|config| {
        config.limits = None;
        config.names = handed;
    });
    let webhook = webhook(&house, "slack", "https://hooks.slack.com/services/T/B/x");
    assert_eq!(names.questions.load(Ordering::SeqCst), 0, "nothing is asked when it is written");
    let port = canary.address.port();
    let inner = |address: &str| SocketAddr::new(address.parse().unwrap(), port);
    for (number, answers) in [
        vec![inner("127.0.0.1")],
        vec![inner("10.0.0.1")],
        vec![inner("169.254.169.254")],
        vec![inner("168.63.129.16")],
        vec![inner("100.64.0.1")],
        vec![inner("::1")],
        vec![inner("fd00::1")],
        vec![inner("::ffff:127.0.0.1")],
        vec![inner("64:ff9b::7f00:1")],
        // One good answer does not make up for a bad one, in whatever order.
        vec![inner("9.9.9.9"), inner("127.0.0.1")],
        vec![inner("127.0.0.1"), inner("9.9.9.9")],
    ]
    .into_iter()
    .enumerate()
    {
        *names.answers.lock().unwrap() = answers.clone();
        file(&house, &format!("{number}"));
        let delivery = tried(&house, &webhook, 1);
        assert_eq!(delivery["log"][0]["outcome"], "blocked", "{answers:?}");
        wait_until(SOON, "it is not tried again", || {
            show(&house, &format!("{webhook}/deliveries"))[0]["state"] == "failed"
        });
        assert_eq!(names.questions.load(Ordering::SeqCst), number + 1, "one question for each try");
    }
    assert_eq!(canary.connections(), 0);
}

#[test]
fn the_address_that_was_checked_is_the_one_connected_to() {
    let (first, second) = (Receiver::start(Manner::status(200)), Receiver::start(Manner::status(200)));
    let names = Arc::new(Told::default());
    *names.answers.lock().unwrap() = vec![first.address];
    let handed = Arc::clone(&names);
    let house = House::with(|config| {
        config.limits = None;
        config.names = handed;
        let mut allowlist = Allowlist::default();
        allowlist.add(Channel::Slack, "http://chat.internal/").unwrap();
        config.allowlist = Arc::new(allowlist);
    });
    webhook(&house, "slack", "http://chat.internal/hook");
    file(&house, "One");
    wait_until(SOON, "it arrives", || first.count() == 1);
    assert_eq!(first.got()[0].header("host"), "chat.internal");
    *names.answers.lock().unwrap() = vec![second.address];
    file(&house, "Two");
    wait_until(SOON, "the next try asks anew", || second.count() == 1);
    assert_eq!((first.connections(), names.questions.load(Ordering::SeqCst)), (1, 2));
}

#[test]
fn a_destination_that_left_the_list_is_not_sent_to() {
    let receiver = Receiver::start(Manner::status(200));
    let mut house = house(&[&receiver]);
    let webhook = webhook(&house, "slack", &receiver.url("x"));
    house.config.allowlist = Arc::new(Allowlist::default());
    house.restart();
    file(&house, "One");
    assert_eq!(tried(&house, &webhook, 1)["log"][0]["outcome"], "blocked");
    assert_eq!(receiver.connections(), 0);
}

#[test]
fn mail_without_a_relay_waits_for_one() {
    let house = house(&[]);
    let webhook = webhook(&house, "email", "mailto:ops@bank.example");
    file(&house, "One");
    let delivery = tried(&house, &webhook, 1);
    assert_eq!(delivery["log"][0]["outcome"], "not_configured");
    assert_eq!(delivery["state"], "pending");
}

#[test]
fn old_deliveries_are_forgotten_and_the_webhook_remembers_its_last() {
    let receiver = Receiver::start(Manner::status(200));
    let house = house(&[&receiver]);
    let webhook = webhook(&house, "slack", &receiver.url("x"));
    file(&house, "One");
    tried(&house, &webhook, 1);
    house.clock.advance_ms(30 * 86_400_000);
    house.service().house.app.store.prune_deliveries().unwrap();
    let total = || {
        let page = house.get(&format!("{webhook}/deliveries")).key(&house.ours.reader).expect(200).json();
        page["meta"]["total"].as_u64().unwrap()
    };
    assert!(total() >= 1);
    let before = total();
    house.clock.advance_ms(2 * 86_400_000);
    house.service().house.app.store.prune_deliveries().unwrap();
    assert_eq!(total(), before - 1, "the first is a month old");
    assert!(show(&house, &webhook)["last_delivery"].is_object());
}
