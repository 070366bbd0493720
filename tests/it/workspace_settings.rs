//! Profile, users, keys, webhooks, audit log and health, as people use them.

use crate::house::House;
use crate::person::{PASSWORD, Person, account, cookie_of, knock, post, text_of, token_of};
use crate::process::wait_until;
use crate::receiver::{Manner, Receiver};
use holdfast::domain::destination::Allowlist;
use holdfast::domain::user::Role;
use holdfast::domain::webhook::Channel;
use std::sync::Arc;
use std::time::Duration;

const HOSTILE: &str = "<img src=x onerror=alert(1)>";
const SOON: Duration = Duration::from_secs(10);
const OTHER: &str = "amber kettle moss lantern";

/// The text between two marks.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let at = text.find(before).unwrap_or_else(|| panic!("no {before} in {text}")) + before.len();
    text[at..].split(after).next().unwrap()
}

fn assert_plain(page: &str, text: &str) {
    assert!(!text.contains("<img") && !text.contains("<script>") && !text.contains(" style="), "{page}");
    assert!(text.len() < 150 * 1024, "{page}: {} bytes", text.len());
}

#[test]
fn a_key_is_made_shown_once_used_and_revoked() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Owner);
    let fields = [
        ("name", HOSTILE),
        ("permissions", ""),
        ("permissions", "write"),
        ("expires", "30"),
        ("redirect_to", "profile"),
    ];
    let answer = anna.post("/api-keys", &fields).expect(200);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let page = text_of(&answer);
    let secret = between(&page, "<p class=\"secret\" id=\"key\" tabindex=\"0\">", "<").to_owned();
    assert_eq!(secret.len(), 44);
    assert!(page.contains("href=\"/profile\">I have stored it"));
    assert_plain("/api-keys", &page);
    let list = anna.read("/api-keys");
    assert!(
        !list.contains(&secret) && list.contains(&secret[..12]) && list.contains("15 Dec 2026"),
        "{list}"
    );
    assert!(list.contains("Read, Write") && list.contains("never"));
    house.get("/api/v1/findings").key(&secret).expect(200);
    let body = serde_json::json!({ "title": "t", "severity": "low", "name": 1 });
    house.call("POST", "/api/v1/findings").key(&secret).json(&body).expect(422);
    house.call("POST", "/api/v1/keys").key(&secret).json(&serde_json::json!({ "name": "n" })).expect(403);
    let path = format!(
        "/api-keys/{}/revoke",
        between(&list[list.find(&secret[..12]).unwrap()..], "href=\"/api-keys/", "/revoke")
    );
    assert!(anna.read(&path).contains("every key that was made with it"));
    let (_, page) = anna.does(&path, &[("reach", "alone")]);
    assert!(page.contains("The key is revoked.") && page.contains("Revoked 15 Nov 2026"), "{page}");
    house.get("/api/v1/findings").key(&secret).expect(401);
    // Where one goes on to is one of two pages, whatever is sent.
    let away = [("name", "n"), ("redirect_to", "https://evil.example")];
    assert!(!text_of(&anna.post("/api-keys", &away).expect(422)).contains("href=\"https://evil"));
    anna.post("/api-keys", &[("name", "")]).expect(422);
    anna.post("/api-keys/key_nothing/revoke", &[]).expect(404);
}

#[test]
fn a_key_is_revoked_with_all_that_came_of_it() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Owner);
    let made = anna.post("/api-keys", &[("name", "parent"), ("permissions", "manage_keys")]).expect(200);
    let parent = between(&text_of(&made), "id=\"key\" tabindex=\"0\">", "<").to_owned();
    let child = house.call("POST", "/api/v1/keys").key(&parent).json(&serde_json::json!({ "name": "child" }));
    let child = child.expect(201).json()["data"]["key"].as_str().unwrap().to_owned();
    let list = anna.read("/api-keys");
    let row = between(&list, ">parent<", "/revoke");
    let id = row.rsplit("href=\"/api-keys/").next().unwrap();
    let (_, page) = anna.does(&format!("/api-keys/{id}/revoke"), &[("reach", "descendants")]);
    assert!(page.contains("2 keys are revoked."), "{page}");
    house.get("/api/v1/findings").key(&parent).expect(401);
    house.get("/api/v1/findings").key(&child).expect(401);
}

#[test]
fn somebody_is_invited_gets_a_role_and_is_switched_off() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Owner);
    let fields = [("email", "ben@bank.example"), ("name", HOSTILE), ("role", "viewer")];
    let page = text_of(&anna.post("/users", &fields).expect(200));
    let link = between(&page, "id=\"link\" tabindex=\"0\">", "<");
    let path = &link[link.find("/invitation/").unwrap()..];
    assert_plain("/users", &page);
    assert!(!anna.read("/users").contains("/invitation/"), "a link is shown once");
    assert!(anna.read("/users").contains("Invited"));
    let form = house.get(path).expect(200);
    let (cookie, token) = (cookie_of(&form, "holdfast-visit").unwrap(), token_of(&form));
    let fields = [("token", token.as_str()), ("name", "Ben"), ("password", PASSWORD)];
    post(&house, path, &fields).header("Cookie", &cookie).expect(303);
    let ben = Person::sign_in(&house, "ben@bank.example");
    ben.get("/users").expect(403);
    ben.get("/programmes/new").expect(403);
    let users = anna.read("/users");
    let id = between(&users[users.find("Ben<").unwrap()..], "/users/", "/role").to_owned();
    let (_, page) = anna.does(&format!("/users/{id}/role"), &[("role", "editor")]);
    assert!(page.contains("The role is changed."));
    ben.get("/").expect(303); // another role is another session
    let ben = Person::sign_in(&house, "ben@bank.example");
    ben.get("/programmes/new").expect(200);
    assert!(anna.read(&format!("/users/{id}/disable")).contains("Switch off ben@bank.example?"));
    anna.does(&format!("/users/{id}/disable"), &[]);
    ben.get("/").expect(303);
    assert_eq!(knock(&house, "ben@bank.example", PASSWORD, "").status, 422);
    anna.does(&format!("/users/{id}/enable"), &[]);
    assert_eq!(knock(&house, "ben@bank.example", PASSWORD, "").status, 303);
    // A forgotten password: another link, which takes the old one's place.
    let page = text_of(&anna.post(&format!("/users/{id}/link"), &[]).expect(200));
    assert!(page.contains("/invitation/"));
    // The last owner stays one, and every fault is told on the page.
    let users = anna.read("/users");
    let own = between(&users[users.find("Anna<").unwrap()..], "/users/", "/role").to_owned();
    let page = text_of(&anna.post(&format!("/users/{own}/role"), &[("role", "viewer")]).expect(422));
    assert!(page.contains("is the last owner"), "{page}");
    anna.post(&format!("/users/{own}/disable"), &[]).expect(422);
    let page = text_of(&anna.post("/users", &[("email", "no address"), ("role", "viewer")]).expect(422));
    assert!(page.contains("no address") && page.contains("field-bad"), "{page}");
    let page =
        text_of(&anna.post("/users", &[("email", "ben@bank.example"), ("role", "viewer")]).expect(422));
    assert!(page.contains("there is already a user"), "{page}");
}

#[test]
fn the_own_profile_changes_name_password_and_sessions() {
    let house = House::new();
    let email = account(&house, "Anna", Role::Viewer);
    let (anna, elsewhere) = (Person::sign_in(&house, &email), Person::sign_in(&house, &email));
    let (_, page) = anna.does("/profile", &[("name", HOSTILE)]);
    assert!(page.contains("Your name is changed.") && page.contains("&#60;img"));
    assert_plain("/profile", &page);
    anna.post("/profile", &[("name", &"x".repeat(300))]).expect(422);
    let wrong = [("old_password", OTHER), ("new_password", OTHER)];
    let page = text_of(&anna.post("/profile/password", &wrong).expect(422));
    assert!(page.contains("The old password is another.") && !page.contains(OTHER), "{page}");
    anna.post("/profile/password", &[("old_password", PASSWORD), ("new_password", "short")]).expect(422);
    anna.post("/profile/password", &[]).expect(422);
    elsewhere.get("/").expect(200);
    let done =
        anna.post("/profile/password", &[("old_password", PASSWORD), ("new_password", OTHER)]).expect(303);
    // This session has a new cookie; the old one, and all others, are over.
    let cookie = cookie_of(&done, "holdfast").unwrap();
    anna.get("/").expect(303);
    elsewhere.get("/").expect(303);
    house.get("/").header("Cookie", &cookie).expect(200);
    assert_eq!(knock(&house, &email, PASSWORD, "").status, 422);
    let again = knock(&house, &email, OTHER, "");
    let second = cookie_of(&again, "holdfast").unwrap();
    let profile = house.get("/profile").header("Cookie", &cookie).expect(200);
    let (token, text) = (token_of(&profile), text_of(&profile));
    assert_eq!(text.matches("name=\"session\"").count(), 2, "one other, and all others: {text}");
    let fields = [("token", token.as_str()), ("session", "others")];
    post(&house, "/profile/sessions", &fields).header("Cookie", &cookie).expect(303);
    house.get("/").header("Cookie", &second).expect(303);
    house.get("/").header("Cookie", &cookie).expect(200);
    let fields = [("token", token.as_str()), ("session", "ses_nothing")];
    post(&house, "/profile/sessions", &fields).header("Cookie", &cookie).expect(404);
}

#[test]
fn a_webhook_is_made_tested_replayed_switched_and_deleted() {
    let receiver = Receiver::start(Manner::status(200));
    let house = House::with(|config| {
        let mut allowlist = Allowlist::default();
        allowlist.add(Channel::Slack, &receiver.url("")).unwrap();
        config.allowlist = Arc::new(allowlist);
    });
    let anna = Person::new(&house, "Anna", Role::Editor);
    let url = receiver.url("hidden-part");
    let refused = [
        ("name", HOSTILE),
        ("channel", ""),
        ("url", "https://evil.example/x"),
        ("events", ""),
        ("events", "finding.created"),
    ];
    let page = text_of(&anna.post("/webhooks", &refused).expect(422));
    assert!(
        page.contains("Channel is required") && page.contains("value=\"https://evil.example/x\""),
        "{page}"
    );
    let refused = [
        ("name", HOSTILE),
        ("channel", "slack"),
        ("url", "https://evil.example/x"),
        ("events", "finding.created"),
    ];
    let page = text_of(&anna.post("/webhooks", &refused).expect(422));
    assert!(
        page.contains("href=\"#url\">Address ") && page.contains("value=\"finding.created\" checked"),
        "{page}"
    );
    assert_plain("/webhooks/new", &page);
    let fields = [
        ("name", HOSTILE),
        ("channel", "slack"),
        ("url", url.as_str()),
        ("events", ""),
        ("events", "finding.created"),
        ("events", "deadline.approaching"),
    ];
    let (path, page) = anna.does("/webhooks", &fields);
    assert_plain(&path, &page);
    assert!(page.contains("Finding created, Deadline comes near") && !page.contains(&url), "{page}");
    anna.does(&format!("{path}/test"), &[]);
    let mut page = String::new();
    wait_until(SOON, "the test is delivered", || {
        page = anna.read(&path);
        page.contains("st st-ok\">Delivered<")
    });
    assert_eq!(receiver.count(), 1);
    assert!(page.contains("Test message") && page.contains("Send again"), "{page}");
    let id = between(&page, "/deliveries/", "/replay").to_owned();
    let (next, _) = anna.does(&format!("/deliveries/{id}/replay"), &[]);
    assert_eq!(next, path);
    wait_until(SOON, "the message arrives again", || receiver.count() == 2);
    let (_, page) = anna.does(&format!("{path}/active"), &[("active", "0")]);
    assert!(page.contains("The webhook is switched off.") && page.contains("Switch on"));
    let (_, page) = anna.does(&path, &[("name", "Renamed")]);
    assert!(page.contains("<h1>Renamed</h1>"));
    // What the form does not show is left alone.
    let edit = anna.read(&format!("{path}/edit"));
    assert!(
        edit.contains("value=\"finding.created\" checked") && edit.contains("value=\"slack\" checked"),
        "{edit}"
    );
    let viewer = Person::new(&house, "Vera", Role::Viewer);
    let seen = viewer.read(&path);
    assert!(!seen.contains(&url) && !seen.contains("Send a test"), "{seen}");
    assert!(anna.read("/webhooks").contains("Renamed"));
    anna.does(&format!("{path}/delete"), &[]);
    anna.get(&path).expect(404);
}

#[test]
fn owners_read_the_audit_log_and_everybody_sees_the_health() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Owner);
    let vera = Person::new(&house, "Vera", Role::Viewer);
    vera.get("/api-keys").expect(403);
    anna.post("/api-keys", &[("name", HOSTILE)]).expect(200);
    house.service().house.app.store.save_refusals().unwrap();
    let page = anna.read("/audit");
    assert!(
        page.contains("Signed in") && page.contains("Key created") && page.contains("Permission refused"),
        "{page}"
    );
    assert!(page.contains("GET /api-keys as viewer"), "{page}");
    assert_plain("/audit", &page);
    vera.get("/audit").expect(403);
    let page = vera.read("/health");
    assert!(page.contains("Reading rows") && page.contains("Fine") && !page.contains("/users"), "{page}");
    for row in ["/audit", "/api-keys", "/users"] {
        assert!(!page.contains(&format!("href=\"{row}\"")), "{row} is not offered to a viewer");
    }
}

#[test]
fn the_audit_log_is_filtered_by_kind_person_and_day() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Owner);
    crate::person::account(&house, "Ben", Role::Owner);
    for number in 0..60 {
        anna.post("/api-keys", &[("name", &format!("key {number}"))]).expect(200);
    }
    house.clock.advance_ms(86_400_000);
    let ben = Person::sign_in(&house, "ben@bank.example");
    ben.post("/api-keys", &[("name", "of Ben")]).expect(200);
    let store = &house.service().house.app.store;
    let id_of = |name: &str| {
        let users = store.tenant(&store.tenant_id("ours").unwrap()).users().unwrap();
        users.into_iter().find(|user| user.name == name).unwrap().id
    };
    let (annas, bens) = (id_of("Anna"), id_of("Ben"));
    // Six keys came with the house.
    let page = ben.read("/audit?event=key_created");
    assert!(page.contains("67 rows match.") && page.contains("Event: Key created"), "{page}");
    assert!(page.contains("1 to 50 of 67") && page.contains("event=key_created&#38;offset=50"), "{page}");
    assert!(!page.contains("<th scope=\"row\">Signed in</th>"), "{page}");
    let page = ben.read("/audit?event=key_created&offset=50");
    assert!(page.contains("51 to 67 of 67") && page.contains("event=key_created\""), "{page}");
    let page = ben.read(&format!("/audit?event=key_created&who={bens}"));
    assert!(page.contains("1 row matches.") && page.contains("Who: Ben"), "{page}");
    assert!(page.contains(&format!("<option value=\"{annas}\">Anna</option>")), "{page}");
    assert!(ben.read(&format!("/audit?event=key_created&who={annas}")).contains("60 rows match."));
    // Days are those of UTC, both of them whole.
    let page = ben.read("/audit?from=2026-11-16&to=2026-11-16&event=key_created");
    assert!(page.contains("1 row matches.") && page.contains("From: 16 Nov 2026"), "{page}");
    assert!(page.contains("type=\"date\" value=\"2026-11-16\""), "{page}");
    assert!(ben.read("/audit?to=2026-11-15&event=key_created").contains("66 rows match."));
    assert!(ben.read("/audit?from=2026-11-15&event=key_created").contains("67 rows match."));
    let page = ben.read("/audit?from=2026-11-17");
    assert!(page.contains("No row matches") && page.contains("Clear the filter"), "{page}");
    let page = ben.read("/audit?who=key_nobody");
    assert!(page.contains("No row matches") && page.contains("Who: key_nobody"), "{page}");
    ben.get("/audit?event=nonsense").expect(422);
    ben.get("/audit?from=yesterday").expect(422);
    // The newest stand first, and nothing of another tenant is among them.
    let page = ben.read("/audit");
    assert!(page.find("16 Nov 2026").unwrap() < page.find("15 Nov 2026").unwrap(), "{page}");
    let theirs = store.tenant(&store.tenant_id("theirs").unwrap());
    let query =
        holdfast::domain::query::Query::of_page("event=key_created", holdfast::web::audit::PARAMS).unwrap();
    assert_eq!(
        theirs
            .audit(&query)
            .unwrap()
            .items
            .iter()
            .filter(|row| row.actor_id.as_deref() == Some(&annas))
            .count(),
        0
    );
}

#[test]
fn long_lists_stay_small_pages() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Owner);
    for number in 0..60 {
        let name = format!("{number}{}", "ö".repeat(240));
        anna.post("/api-keys", &[("name", &name)]).expect(200);
        anna.post("/users", &[("email", &format!("u{number}@bank.example")), ("role", "viewer")]).expect(200);
    }
    for page in ["/api-keys", "/users", "/audit"] {
        let text = anna.read(page);
        assert_plain(page, &text);
        assert!(text.contains("1 to 50 of") && text.contains("offset=50"), "{page}");
        assert!(anna.read(&format!("{page}?offset=50")).contains("51 to "), "{page}");
    }
}
