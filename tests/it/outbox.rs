//! The outbox under a real process: killed between commit and delivery, and beside destinations that hang.

use crate::client::Call;
use crate::process::{Server, Workplace, wait_until};
use crate::receiver::{Manner, Receiver};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

fn post(address: SocketAddr, key: &str, path: &str, body: &Value) -> Option<Value> {
    let answer = Call::new(address, "POST", path).key(key).json(body).send();
    (answer.status == 201).then(|| answer.json()["data"].clone())
}

fn webhook(server: &Server, key: &str, url: &str) {
    let body = json!({ "name": "w", "channel": "slack", "url": url, "events": ["finding.created"] });
    post(server.address, key, "/api/v1/webhooks", &body).expect("a webhook");
}

fn serve(place: &Workplace, vouched: &str) -> Server {
    place.serve_with(&[("HOLDFAST_ALLOW_SLACK", vouched), ("HOLDFAST_RATE_LIMITS", "off")])
}

/// What a receiver was told of, by the finding's title.
fn titles(receiver: &Receiver) -> BTreeSet<String> {
    let title = |got: crate::receiver::Got| got.body["attachments"][0]["title"].as_str().unwrap().to_owned();
    receiver.got().into_iter().map(title).collect()
}

#[test]
fn killed_between_commit_and_delivery_every_event_still_arrives() {
    let receiver = Receiver::start(Manner::status(200));
    let place = Workplace::new();
    let vouched = receiver.url("");
    let mut server = serve(&place, &vouched);
    let key = place.first_key();
    webhook(&server, &key, &receiver.url("x"));
    let mut acknowledged = BTreeSet::new();
    for cycle in 0..8 {
        for number in 0..12 {
            let title = format!("finding {cycle}.{number}");
            let body = json!({ "title": title, "severity": "low" });
            if post(server.address, &key, "/api/v1/findings", &body).is_some() {
                acknowledged.insert(title);
            }
        }
        // At once, while deliveries are leased, on their way, or not yet seen.
        server.kill();
        server = serve(&place, &vouched);
    }
    assert_eq!(acknowledged.len(), 8 * 12);
    wait_until(Duration::from_secs(20), "every event arrives", || {
        titles(&receiver).is_superset(&acknowledged)
    });
    assert_eq!(titles(&receiver), acknowledged, "and nothing else");
    // What a kill cut off may come twice, no more than that.
    let tries = receiver.count();
    assert!(tries <= 2 * acknowledged.len(), "{tries} tries");
    assert!(server.stop(Duration::from_secs(15)).success());
}

/// Resident memory of a process in MiB.
fn resident_mib(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

#[test]
fn two_thousand_events_arrive_beside_fifty_hanging_destinations() {
    const EVENTS: usize = 2_000;
    let healthy = Receiver::start(Manner::status(200));
    let hanging = Receiver::start(Manner::Hangs);
    let place = Workplace::new();
    let server = serve(&place, &format!("{},{}", healthy.url(""), hanging.url("")));
    let key = place.first_key();
    for number in 0..50 {
        webhook(&server, &key, &hanging.url(&format!("{number}")));
    }
    webhook(&server, &key, &healthy.url("x"));
    let before_mib = resident_mib(&server);
    let rows: Vec<Value> = (0..EVENTS)
        .map(|number| json!({ "title": format!("finding {number}"), "severity": "low" }))
        .collect();
    std::fs::write(place.folder.path().join("f.json"), json!({ "findings": rows }).to_string()).unwrap();
    // 2,000 events for 51 webhooks: 102,000 deliveries wait.
    place.done(&["import", "--tenant", "default", "f.json"]);
    let took = wait_until(Duration::from_secs(20), "all events arrive", || healthy.count() >= EVENTS);
    assert_eq!(titles(&healthy).len(), EVENTS);
    let grown_mib = resident_mib(&server).saturating_sub(before_mib);
    println!("{EVENTS} events in {took:?}, {} tries at hanging ones, {grown_mib} MiB more", hanging.count());
    assert!(hanging.count() >= 50, "each hanging one was tried");
    assert!(grown_mib < 64, "{grown_mib} MiB more");
    // A hanging destination does not hold up the end either.
    assert!(server.stop(Duration::from_secs(15)).success());
}
