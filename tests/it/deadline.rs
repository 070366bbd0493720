//! `deadline.approaching`: once for each object and deadline, anew when it moves, and never too early.

use crate::house::House;
use crate::process::wait_until;
use crate::receiver::{Got, Manner, Receiver};
use holdfast::domain::destination::Allowlist;
use holdfast::domain::form::Form;
use holdfast::domain::webhook::Channel;
use holdfast::store::Tenant;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

struct Scene {
    house: House,
    receiver: Receiver,
}

impl Scene {
    fn new() -> Scene {
        let receiver = Receiver::start(Manner::status(200));
        let house = House::with(|config| {
            config.limits = None;
            let mut allowlist = Allowlist::default();
            allowlist.add(Channel::Slack, &receiver.url("")).unwrap();
            config.allowlist = Arc::new(allowlist);
        });
        let body = json!({ "name": "w", "channel": "slack", "url": receiver.url("x"), "events": ["deadline.approaching"] });
        house.call("POST", "/api/v1/webhooks").key(&house.ours.writer).json(&body).expect(201);
        Scene { house, receiver }
    }

    fn tenant(&self) -> Tenant<'_> {
        let store = &self.house.service().house.app.store;
        store.tenant(&store.tenant_id("ours").unwrap())
    }

    fn look(&self) -> usize {
        let app = &self.house.service().house.app;
        app.store.tell_deadlines(app.config.leads).unwrap()
    }

    fn advance(&self, by_ms: i64) {
        self.house.clock.advance_ms(by_ms);
    }

    fn write(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.house.call(method, path).key(&self.house.ours.writer).json(body).send();
        assert!(answer.status < 300, "{method} {path}: {}", String::from_utf8_lossy(&answer.body));
        answer.json()["data"].clone()
    }

    /// The messages, once there are so many.
    fn told(&self, count: usize) -> Vec<Got> {
        wait_until(Duration::from_secs(10), &format!("{count} messages"), || self.receiver.count() >= count);
        std::thread::sleep(Duration::from_millis(300));
        let got = self.receiver.got();
        assert_eq!(got.len(), count);
        got
    }

    /// The payload of the newest event.
    fn event(&self) -> Value {
        let connection = rusqlite::Connection::open(&self.house.config.db).unwrap();
        let sql = "select payload from event where name = 'deadline.approaching' order by id desc limit 1";
        let text: String = connection.query_row(sql, [], |row| row.get(0)).unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

fn checked(form: &Form, body: Value) -> holdfast::domain::form::Values {
    form.check(body.as_object().unwrap()).unwrap()
}

#[test]
fn a_finding_is_told_a_week_ahead_once_and_anew_when_it_moves() {
    let scene = Scene::new();
    let finding = scene.write(
        "POST",
        "/api/v1/findings",
        &json!({ "title": "Slow", "severity": "medium", "due_on": "2027-02-13" }),
    );
    let path = format!("/api/v1/findings/{}", finding["id"].as_str().unwrap());
    // It is due at the end of 13 February; a week before that is the end of 6 February.
    scene.advance(83 * DAY_MS + 15 * HOUR_MS);
    assert_eq!(scene.look(), 0, "2027-02-06T23:00 is more than a week ahead");
    scene.advance(HOUR_MS);
    wait_until(Duration::from_secs(10), "the clockwork tells it", || scene.receiver.count() == 1);
    let event = scene.event();
    assert_eq!(event["data"]["id"], finding["id"]);
    assert_eq!(
        event["data"]["deadline"],
        json!({ "kind": "finding", "due_at": "2027-02-13T23:59:59Z", "hours_left": 167 })
    );
    assert!(scene.told(1)[0].body["text"].as_str().unwrap().contains("Finding due in 6 days"), "{event}");
    assert_eq!(scene.look(), 0, "once");
    scene.write("PATCH", &path, &json!({ "due_on": "2027-02-20" }));
    assert_eq!(scene.look(), 0);
    scene.advance(7 * DAY_MS);
    wait_until(Duration::from_secs(10), "told anew", || scene.receiver.count() == 2);
    scene.write("PATCH", &path, &json!({ "status": "false_positive" }));
    scene.write("PATCH", &path, &json!({ "status": "open", "due_on": "2027-02-19" }));
    assert_eq!(scene.look(), 1, "open again, and due on another day");
}

#[test]
fn the_lead_is_never_more_than_a_quarter_of_the_period() {
    let scene = Scene::new();
    // Made at 08:00, due at the end of the seventh day: 183 h 59 min 59 s, of which a quarter is just under 46 h.
    scene.write("POST", "/api/v1/findings", &json!({ "title": "Urgent", "severity": "critical" }));
    scene.advance(138 * HOUR_MS - 60_000);
    assert_eq!(scene.look(), 0);
    scene.advance(HOUR_MS);
    wait_until(Duration::from_secs(10), "told", || scene.receiver.count() == 1);
    scene.write(
        "POST",
        "/api/v1/findings",
        &json!({ "title": "Late", "severity": "low", "detected_on": "2020-01-01" }),
    );
    assert_eq!(scene.look(), 0, "what is overdue does not approach");
}

#[test]
fn test_cases_stages_and_reviews_have_their_own_leads() {
    use holdfast::domain::cra_form::NEW_CRA_REPORT;
    let scene = Scene::new();
    let tenant = scene.tenant();
    let file = json!({
        "programmes": [{ "ref": "p", "name": "P", "framework": "dora" }],
        "test_cases": [
            { "programme_id": "p", "title": "Restore", "type": "end_to_end", "due_on": "2027-01-31", "assignee": "Ada" },
            { "programme_id": "p", "title": "Done", "type": "end_to_end", "due_on": "2027-01-31", "status": "passed" },
        ],
        "providers": [{ "ref": "v", "name": "Cloud" }],
        "arrangements": [{ "provider_id": "v", "service": "s", "criticality": "critical" }],
    });
    tenant.import(holdfast::domain::import::read_json(file.to_string().as_bytes()).unwrap(), true).unwrap();
    scene.write("POST", "/api/v1/concentration-risk/analyze", &json!({}));
    tenant
        .create_cra_report(checked(
            &NEW_CRA_REPORT,
            json!({ "kind": "exploited_vulnerability", "title": "CVE", "product_name": "Gate",
                "became_aware_at": "2026-11-15T08:00:00Z" }),
        ))
        .unwrap();
    scene.advance(18 * HOUR_MS - 60_000);
    assert_eq!(scene.look(), 0);
    scene.advance(60_000);
    scene.look();
    scene.told(1);
    assert_eq!(scene.event()["data"]["deadline"]["kind"], "early_warning");
    assert_eq!(scene.event()["data"]["deadline"]["hours_left"], 6);
    scene.advance(36 * HOUR_MS);
    scene.look();
    scene.told(2);
    assert_eq!(scene.event()["data"]["deadline"]["kind"], "notification");
    scene.advance(69 * DAY_MS);
    scene.look();
    scene.told(3);
    assert_eq!(scene.event()["data"]["title"], "Restore");
    assert_eq!(scene.event()["data"]["deadline"]["kind"], "test_case");
    scene.advance(270 * DAY_MS);
    scene.look();
    let last = scene.told(4);
    assert_eq!(scene.event()["data"]["deadline"]["kind"], "review");
    assert!(last[3].body["text"].as_str().unwrap().contains("Review of concentration risk"));
    assert_eq!(scene.look(), 0);
}
