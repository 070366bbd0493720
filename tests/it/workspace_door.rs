//! The workspace's door: signing in and out, cookies, forms that are not ours, roles, and what is left of a hostile text.

use crate::client::Answer;
use crate::house::House;
use crate::person::{PASSWORD, Person, account, cookie_of, form, knock, post, text_of, token_of};
use holdfast::domain::user::Role;
use holdfast::http::route::{Handler, Route, Tier, Verb};
use holdfast::pages::PAGES;

const HOSTILE: &str = "<img src=x onerror=alert(1)>";

fn set_cookies(answer: &Answer) -> Vec<&str> {
    answer.headers.iter().filter(|(name, _)| name == "set-cookie").map(|(_, value)| value.as_str()).collect()
}

#[test]
fn signing_in_gives_a_cookie_of_256_bits_and_a_new_one_each_time() {
    let house = House::new();
    let email = account(&house, "Anna", Role::Owner);
    let mut seen = Vec::new();
    for _ in 0..2 {
        let answer = knock(&house, &email, PASSWORD, "");
        assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        let cookies = set_cookies(&answer);
        let session = cookies.iter().find(|cookie| cookie.starts_with("holdfast=")).unwrap();
        for part in ["; HttpOnly", "; SameSite=Lax", "; Path=/"] {
            assert!(session.contains(part), "{session}");
        }
        assert!(!session.contains("Secure") && !session.contains("Max-Age"), "{session}");
        let value = session["holdfast=".len()..].split(';').next().unwrap().to_owned();
        assert_eq!(value.len(), 43);
        seen.push(value);
    }
    assert_ne!(seen[0], seen[1]);
    let page = house.get("/").header("Cookie", &format!("holdfast={}", seen[1])).expect(200);
    assert_eq!(page.header("cache-control"), Some("no-store"));
    assert_eq!(page.header("etag"), None);
    assert!(text_of(&page).contains("Anna") && text_of(&page).contains("ours"));
    let twice = format!("holdfast={0}; holdfast={0}", seen[1]);
    house.get("/").header("Cookie", &twice).expect(303);
}

#[test]
fn over_tls_and_behind_a_proxy_the_cookie_is_bound_to_the_host() {
    for change in [
        (|config: &mut holdfast::config::Config| config.behind_proxy = true)
            as fn(&mut holdfast::config::Config),
        |config| config.base_url = Some("https://bank.example".into()),
    ] {
        let house = House::with(change);
        let page = house.get("/sign-in").expect(200);
        let cookie = set_cookies(&page)[0].to_owned();
        assert!(cookie.starts_with("__Host-holdfast-visit="), "{cookie}");
        assert!(cookie.contains("; Secure") && cookie.contains("; Path=/") && !cookie.contains("Domain"));
    }
}

#[test]
fn a_wrong_password_and_a_wrong_address_look_the_same_and_the_throttle_says_how_long() {
    let house = House::new();
    let email = account(&house, "Anna", Role::Owner);
    let page = |answer: &Answer| {
        assert_eq!(answer.status, 422);
        assert!(cookie_of(answer, "holdfast").is_none());
        text_of(answer).contains("Email or password is wrong.")
    };
    assert!(page(&knock(&house, &email, "wrong wrong wrong", "")));
    assert!(page(&knock(&house, "nobody@bank.example", PASSWORD, "")));
    for _ in 0..5 {
        knock(&house, &email, "wrong wrong wrong", "");
    }
    let waiting = knock(&house, &email, PASSWORD, "");
    assert_eq!(waiting.status, 429);
    assert!(waiting.header("retry-after").is_some() && text_of(&waiting).contains("Too many attempts."));
    // What was typed is kept, the password is not.
    let text = text_of(&waiting);
    assert!(text.contains(&email) && !text.contains(PASSWORD));
    house.clock.advance_ms(20 * 60_000);
    assert_eq!(knock(&house, &email, PASSWORD, "").status, 303);
}

#[test]
fn after_signing_in_one_goes_on_to_pages_of_this_house_only() {
    let house = House::new();
    let email = account(&house, "Anna", Role::Owner);
    let away = house.get("/programmes?search=a%20b").header("Accept", "text/html").expect(303);
    assert_eq!(away.header("location"), Some("/sign-in?next=%2Fprogrammes%3Fsearch%3Da%2520b"));
    let next = "?next=%2Fprogrammes%3Fsearch%3Da%2520b";
    assert_eq!(knock(&house, &email, PASSWORD, next).header("location"), Some("/programmes?search=a%20b"));
    for far in ["//evil.example", "https://evil.example/", "/\\evil.example", "/\t/evil.example", "evil"] {
        let next = format!("?next={}", holdfast::domain::query::encode(far));
        assert_eq!(knock(&house, &email, PASSWORD, &next).header("location"), Some("/"), "{far}");
    }
}

#[test]
fn signing_out_ends_the_session_and_takes_the_cookie_back() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Owner);
    let answer = anna.post("/sign-out", &[]).expect(303);
    assert_eq!(answer.header("location"), Some("/sign-in"));
    assert!(
        set_cookies(&answer).iter().any(|set| set.starts_with("holdfast=;") && set.contains("Max-Age=0"))
    );
    anna.get("/").expect(303);
    anna.post("/programmes", &[("name", "x")]).expect(403);
}

#[test]
fn a_session_ends_when_nobody_uses_it() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Owner);
    house.clock.advance_ms(29 * 60_000);
    anna.get("/").expect(200);
    house.clock.advance_ms(29 * 60_000);
    anna.get("/").expect(200);
    house.clock.advance_ms(31 * 60_000);
    anna.get("/").expect(303);
}

#[test]
fn a_form_that_is_not_ours_changes_nothing() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Owner);
    let eve = Person::new(&house, "Eve", Role::Owner);
    let body = form(&[("token", &anna.token), ("name", "Slipped in"), ("framework", "dora")]);
    let call = || house.call("POST", "/programmes").header("Cookie", &anna.cookie).body(body.clone());
    let kind = ("Content-Type", "application/x-www-form-urlencoded");
    let headers: &[&[(&str, &str)]] = &[
        &[kind, ("Sec-Fetch-Site", "cross-site")],
        &[kind, ("Sec-Fetch-Site", "same-site")],
        &[kind, ("Sec-Fetch-Site", "none")],
        &[kind, ("Sec-Fetch-Site", "cross-site"), ("Origin", "http://127.0.0.1:0")],
        &[kind, ("Origin", "https://evil.example")],
        &[kind, ("Origin", "null")],
        &[kind],
        &[("Sec-Fetch-Site", "same-origin")],
        &[("Sec-Fetch-Site", "same-origin"), ("Content-Type", "text/plain")],
        &[("Sec-Fetch-Site", "same-origin"), ("Content-Type", "multipart/form-data; boundary=x")],
    ];
    for headers in headers {
        let call = headers.iter().fold(call(), |call, (name, value)| call.header(name, value));
        call.expect(403);
    }
    let token = format!("{}x", &anna.token[..anna.token.len() - 1]);
    for token in ["", "x", &token, &eve.token] {
        let fields = [("token", token), ("name", "Slipped in"), ("framework", "dora")];
        post(&house, "/programmes", &fields).header("Cookie", &anna.cookie).expect(403);
    }
    post(&house, "/programmes", &[("name", "Slipped in"), ("framework", "dora")])
        .header("Cookie", &anna.cookie)
        .expect(403);
    post(&house, "/sign-in", &[("email", "anna@bank.example"), ("password", PASSWORD)]).expect(403);
    assert!(!anna.read("/programmes").contains("Slipped in"));
    // The same form from the configured origin, without the newer header, is taken.
    let origin = house.service().house.app.base_url.clone();
    call().header("Content-Type", kind.1).header("Origin", &origin).expect(303);
    assert!(anna.read("/programmes").contains("Slipped in"));
}

#[test]
fn a_key_opens_no_page_and_a_cookie_no_route_of_the_api() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Owner);
    house.get("/programmes").key(&house.ours.all).expect(303);
    house.get("/programmes").header("X-API-Key", &house.ours.all).expect(303);
    let fields = [("name", "x"), ("framework", "dora")];
    post(&house, "/programmes", &fields).key(&house.ours.all).expect(403);
    house.get("/api/v1/findings").header("Cookie", &anna.cookie).expect(401);
    // A key beside a cookie changes nothing either way.
    anna.get("/").key("nonsense").expect(200);
}

/// A path with something in its place: nothing there is a 404, which is behind the role.
fn filled(row: &Route) -> String {
    match row.path.find('{') {
        Some(at) => {
            let end = row.path.find('}').unwrap() + 1;
            format!("{}nothing_there{}", &row.path[..at], &row.path[end..])
        }
        None => row.path.to_owned(),
    }
}

#[test]
fn every_row_asks_for_a_session_and_for_the_role() {
    let house = House::new();
    let people = [Role::Owner, Role::Editor, Role::Viewer].map(|role| {
        let email = account(&house, &format!("p{}", role.name()), role);
        (role, Person::sign_in(&house, &email))
    });
    let mut seen = 0;
    for row in PAGES.iter().filter(|row| row.tier == Tier::Workspace && row.path != "/sign-out") {
        let Handler::Signed(act, _) = row.handler else { continue };
        seen += 1;
        let path = filled(row);
        match row.verb {
            Verb::Get => {
                let answer = house.get(&path).header("Accept", "text/html").expect(303);
                assert!(answer.header("location").unwrap().starts_with("/sign-in"), "{path}");
            }
            Verb::Post | Verb::Put | Verb::Patch | Verb::Delete => {
                post(&house, &path, &[]).expect(403);
            }
        }
        for (role, person) in &people {
            let answer = match row.verb {
                Verb::Get => person.get(&path).send(),
                // Nothing is in it, so nothing is done: the role is asked first.
                Verb::Post | Verb::Put | Verb::Patch | Verb::Delete => person.post(&path, &[]).send(),
            };
            let (may, name) = (role.may(act), format!("{} as {}", row.name(), role.name()));
            assert_eq!(answer.status != 403, may, "{name}: {}", answer.status);
            assert!(answer.status < 500, "{name}: {}", answer.status);
            if answer.status == 200 {
                assert!(answer.body.len() < 150 * 1024, "{name}: {} bytes", answer.body.len());
                assert_eq!(answer.header("cache-control"), Some("no-store"), "{name}");
            }
        }
    }
    assert!(seen > 8, "{seen}");
}

#[test]
fn a_programme_is_made_moved_changed_and_deleted_and_hostile_text_stays_text() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    let fields = [
        ("name", HOSTILE),
        ("framework", "dora"),
        ("status", "draft"),
        ("owner", HOSTILE),
        ("starts_on", "2026-01-01"),
        ("ends_on", ""),
        ("description", "one\r\n<script>alert(1)</script>"),
    ];
    let (path, page) = anna.does("/programmes", &fields);
    assert!(page.contains("The programme is saved.") && page.contains("1 Jan 2026"), "{page}");
    // A notice is shown once.
    assert!(!anna.read(&path).contains("The programme is saved."));
    let (_, page) = anna.does(&format!("{path}/status"), &[("status", "active")]);
    assert!(page.contains("Mark as completed") && !page.contains(">Begin<"), "{page}");
    anna.post(&format!("{path}/status"), &[("status", "draft")]).expect(422);
    let (_, page) = anna.does(&format!("{path}/notes"), &[("body", HOSTILE)]);
    assert!(page.contains("wrote a note") && page.contains("moved it"));
    // Faults stand at their fields, and what was typed is kept.
    let bad = [
        ("name", ""),
        ("framework", "dora"),
        ("owner", "Typed Owner"),
        ("starts_on", "2026-05-05"),
        ("ends_on", "2026-01-02"),
    ];
    let page = text_of(&anna.post("/programmes", &bad).expect(422));
    for kept in
        ["Name is required", "Typed Owner", "2026-05-05", "2026-01-02", "aria-invalid", "href=\"#name\""]
    {
        assert!(page.contains(kept), "{kept}: {page}");
    }
    let bad = [("ends_on", "2025-01-02"), ("name", "Kept name")];
    let page = text_of(&anna.post(&path, &bad).expect(422));
    assert!(page.contains("Kept name") && page.contains("“Starts on”"), "{page}");
    for page in ["/programmes".to_owned(), path.clone(), format!("{path}/edit"), format!("{path}/delete")] {
        let text = anna.read(&page);
        assert!(text.contains("&#60;img") && !text.contains("<img") && !text.contains("<script>"), "{page}");
        for inline in ["<style", " style=", "javascript:", " onclick"] {
            assert!(!text.contains(inline), "{page}: {inline}");
        }
    }
    anna.post(&format!("{path}/delete"), &[]).expect(303);
    anna.get(&path).expect(404);
    // Another tenant's programme is not there.
    let theirs = house.service().house.app.store.tenant_id("theirs").unwrap();
    let values = holdfast::domain::programme::NEW_PROGRAMME
        .check(serde_json::json!({ "name": "Foreign", "framework": "dora" }).as_object().unwrap());
    let tenant = house.service().house.app.store.tenant(&theirs);
    let foreign = tenant.create_programme(values.unwrap()).unwrap();
    anna.get(&format!("/programmes/{}", foreign.id)).expect(404);
    anna.post(&format!("/programmes/{}", foreign.id), &[("name", "Mine")]).expect(404);
    assert!(!anna.read("/programmes").contains("Foreign"));
}

#[test]
fn lists_keep_filter_sort_and_page_in_the_address() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    for number in 0..60 {
        let name = format!("Programme {number:02}");
        anna.post("/programmes", &[("name", &name), ("framework", "dora")]).expect(303);
    }
    let page = anna.read("/programmes?framework=dora&sort=name&search=");
    assert!(page.contains("1 to 50 of 60") && page.contains("offset=50"), "{page}");
    assert!(page.contains("aria-sort=\"ascending\"") && page.contains("sort=-name"));
    assert!(page.contains("Framework: DORA"), "the filter can be taken away");
    let page = anna.read("/programmes?framework=dora&sort=name&offset=50");
    assert!(
        page.contains("51 to 60 of 60") && page.contains("Programme 59") && !page.contains("Programme 49")
    );
    let page = anna.read("/programmes?search=nothing+like+this");
    assert!(page.contains("No programme matches") && page.contains("Clear the filter"));
    anna.get("/programmes?framework=nonsense").expect(422);
    house.get("/programmes?framework=nonsense").expect(303);
    let viewer = Person::new(&house, "Vera", Role::Viewer);
    assert!(!viewer.read("/programmes").contains("New programme"));
}

#[test]
fn an_invitation_sets_a_password_once() {
    let house = House::new();
    let store = &house.service().house.app.store;
    let tenant = store.tenant(&store.tenant_id("ours").unwrap());
    let (_, link) = tenant.invite_user("ben@bank.example", "", Role::Editor).unwrap();
    let path = format!("/invitation/{}", link.reveal());
    let page = house.get(&path).expect(200);
    assert!(text_of(&page).contains("ben@bank.example"));
    let (cookie, token) = (cookie_of(&page, "holdfast-visit").unwrap(), token_of(&page));
    let send = |password: &str| {
        let fields = [("token", token.as_str()), ("name", "Ben"), ("password", password)];
        post(&house, &path, &fields).header("Cookie", &cookie).send()
    };
    let short = send("hunter2-x");
    assert_eq!(short.status, 422);
    assert!(text_of(&short).contains("field-bad") && !text_of(&short).contains("hunter2-x"));
    assert_eq!(send(PASSWORD).header("location"), Some("/sign-in"));
    let again = send(PASSWORD);
    assert!(again.status == 422 && text_of(&again).contains("was used already"));
    assert_eq!(knock(&house, "ben@bank.example", PASSWORD, "").status, 303);
}
