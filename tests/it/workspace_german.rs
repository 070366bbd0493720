//! German as the second language: who gets it, and that nothing on a page is left in English.

use crate::house::House;
use crate::person::{Person, account, knock, post, text_of, token_of};
use crate::receiver::{Manner, Receiver};
use holdfast::domain::destination::Allowlist;
use holdfast::domain::form::Kind;
use holdfast::domain::language::Language;
use holdfast::domain::query::ParamKind;
use holdfast::domain::user::Role;
use holdfast::domain::webhook::Channel;
use holdfast::domain::{
    actor, audit, cra, delivery, finding, programme, risk, test_case, timeline, upkeep, user,
};
use holdfast::http::route::{Handler, Verb};
use holdfast::pages::PAGES;
use holdfast::reference::compliance;
use holdfast::reference::source::words as library;
use holdfast::web::words::Words;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Stands in everything that people wrote.
const MARK: &str = "Xanthippe";
const GERMAN: Words = Words::in_language(Language::German);

fn speak(person: &Person, language: &str) -> String {
    person.does("/profile/language", &[("language", language)]).1
}

fn is_in(page: &str, language: &str) -> bool {
    page.contains(&format!("<html lang=\"{language}\">"))
}

#[test]
fn before_the_sign_in_the_browser_decides() {
    let house = House::new();
    let page = |path: &str, languages: &str| {
        let call = house.get(path).header("Accept", "text/html");
        call.header("Accept-Language", languages).send()
    };
    let german = page("/sign-in", "fr, de-AT;q=0.9, en;q=0.8");
    assert!(is_in(&text_of(&german), "de") && text_of(&german).contains("Anmelden"));
    let vary: Vec<&str> =
        german.headers.iter().filter(|(name, _)| name == "vary").map(|(_, value)| value.as_str()).collect();
    assert!(vary.join(", ").contains("Accept-Language"), "{vary:?}");
    for other in ["en", "", "fr", "en-GB, de;q=0.5"] {
        let text = text_of(&page("/sign-in", other));
        assert!(is_in(&text, "en") && text.contains("Sign in"), "{other}");
    }
    let gone = text_of(&page("/invitation/nothing", "de"));
    assert!(is_in(&gone, "de") && gone.contains("bereits verwendet"), "{gone}");
    let missing = page("/nothing-here", "de");
    assert_eq!((missing.status, missing.header("cache-control")), (404, Some("no-store")));
    assert!(is_in(&text_of(&missing), "de") && text_of(&missing).contains("Diese Seite gibt es nicht"));
    assert!(is_in(&text_of(&page("/nothing-here", "en")), "en"));
    // The documentation is English for everybody, and so is what machines read.
    let docs = page("/docs", "de");
    assert!(is_in(&text_of(&docs), "en") && !format!("{:?}", docs.headers).contains("Accept-Language"));
    let refused = house.get("/api/v1/findings").header("Accept-Language", "de").expect(401);
    assert!(refused.json()["error"].as_str().unwrap().contains("a valid API key"));
}

#[test]
fn a_refused_sign_in_speaks_german() {
    let house = House::new();
    let page = house.get("/sign-in").header("Accept-Language", "de").expect(200);
    let cookie = crate::person::cookie_of(&page, "holdfast-visit").unwrap();
    let fields = [("token", &*token_of(&page)), ("email", "a@b.example"), ("password", "wrong wrong wrong")];
    let call = post(&house, "/sign-in", &fields).header("Cookie", &cookie).header("Accept-Language", "de");
    assert!(text_of(&call.expect(422)).contains("E-Mail-Adresse oder Passwort ist falsch."));
    let stale = post(&house, "/sign-in", &fields[1..]).header("Accept-Language", "de").expect(403);
    assert!(text_of(&stale).contains("Dieses Formular ist zu alt"), "{}", text_of(&stale));
}

#[test]
fn what_a_person_chose_counts_more_than_the_browser_in_every_session() {
    let house = House::new();
    let email = account(&house, "Anna", Role::Editor);
    let anna = Person::sign_in(&house, &email);
    let read =
        |languages: &str| text_of(&anna.get("/findings").header("Accept-Language", languages).expect(200));
    assert!(is_in(&read("de"), "de") && is_in(&read("en"), "en"));
    let page = speak(&anna, "de");
    assert!(is_in(&page, "de") && page.contains("Ihre Sprache ist geändert."), "{page}");
    assert!(page.contains("value=\"de\" checked"), "{page}");
    assert!(is_in(&read("en"), "de") && read("en").contains("Feststellungen"));
    let later = Person::sign_in(&house, &email);
    assert!(is_in(&later.read("/"), "de"));
    // An error behind the door is told in the person's language, too.
    let missing = text_of(&anna.get("/findings/fnd_nothing").expect(404));
    assert!(is_in(&missing, "de") && missing.contains("Diese Seite gibt es nicht"), "{missing}");
    let denied = text_of(&anna.get("/users").expect(403));
    assert!(is_in(&denied, "de") && denied.contains("Ihre Rolle erlaubt dies nicht."), "{denied}");
    assert!(speak(&anna, "en").contains("Your language is changed."));
    assert!(is_in(&read("de"), "en"));
    speak(&anna, "browser");
    assert!(is_in(&read("de"), "de") && is_in(&read("en"), "en"));
    let refused = anna.post("/profile/language", &[("language", "fr")]).expect(422);
    assert!(text_of(&refused).contains("language"));
    assert!(is_in(&read("en"), "en"), "nothing was changed");
    // Signed out, the browser decides again.
    speak(&anna, "de");
    anna.post("/sign-out", &[]).expect(303);
    assert!(is_in(&text_of(&house.get("/sign-in").header("Accept-Language", "en").expect(200)), "en"));
    assert_eq!(knock(&house, &email, crate::person::PASSWORD, "").status, 303);
}

#[test]
fn faults_are_told_in_german_at_their_fields() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Owner);
    speak(&anna, "de");
    let told = |path: &str, fields: &[(&str, &str)], says: &[&str]| {
        let page = text_of(&anna.post(path, fields).expect(422));
        for text in says {
            assert!(page.contains(text), "{path}: {text}: {page}");
        }
    };
    let bad = [("name", ""), ("framework", "x"), ("starts_on", "2026-05-05"), ("ends_on", "2026-01-02")];
    let says = [
        "3 Angaben sind zu ändern",
        "Name ist erforderlich",
        "Rahmenwerk muss einer dieser Werte sein: „DORA“",
        "Ende darf nicht vor „Beginn“ liegen",
    ];
    told("/programmes", &bad[..3], &says[1..3]);
    let ends = [("name", "x"), ("framework", "dora"), bad[2], bad[3]];
    told("/programmes", &ends, &["Eine Angabe ist zu ändern", says[3]]);
    told(
        "/findings",
        &[("title", &"x".repeat(600)), ("severity", "low")],
        &["Titel hat 600 Zeichen; höchstens"],
    );
    let (path, page) = anna.does("/findings", &[("title", MARK), ("severity", "low")]);
    assert!(page.contains("Die Feststellung ist erfasst."), "{page}");
    let moved = "kann nicht von „Offen“ auf „Geschlossen“ wechseln; möglich sind: „In Bearbeitung“";
    told(&format!("{path}/status"), &[("status", "closed")], &[moved]);
    let passwords = [("old_password", crate::person::PASSWORD), ("new_password", "kurz")];
    told("/profile/password", &passwords, &["Neues Passwort ist zu kurz: Mindestens 15 Zeichen sind nötig"]);
    told("/users", &[("email", "nobody"), ("role", "viewer")], &["ist keine E-Mail-Adresse"]);
    told(
        "/concentration",
        &[("basis", "count")],
        &["Es gibt keine Vereinbarung, die analysiert werden könnte"],
    );
}

#[test]
fn documents_for_auditors_are_german_for_who_reads_german() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    speak(&anna, "de");
    let (programme, _) =
        anna.does("/programmes", &[("name", MARK), ("framework", "dora"), ("starts_on", "2026-11-09")]);
    let (finding, _) =
        anna.does("/findings", &[("title", MARK), ("severity", "high"), ("detected_on", "2026-11-09")]);
    let told = |path: &str, says: &[&str]| {
        let answer = anna.get(path).header("Accept-Language", "en").expect(200);
        let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("german.pdf");
        std::fs::write(&file, &answer.body).unwrap();
        let text = crate::pdf::poppler("pdftotext", &["-layout"], &file);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for each in says {
            assert!(text.contains(each), "{path}: {each}: {text}");
        }
        assert!(!text.contains("Printed") && !text.contains("none"), "{text}");
    };
    told(
        &format!("{programme}/export.pdf"),
        &["Testprogramm", "9. Nov. 2026", "0,0 % abgeschlossen", "1 von 1"],
    );
    told(
        &format!("{finding}/export.pdf"),
        &["Feststellung", "Schweregrad", "Hoch", "Gedruckt von", "Verlauf, Neuestes zuerst"],
    );
    told("/findings/export.pdf", &["Liste der Feststellungen", "1 Feststellung", "Nach Schweregrad"]);
}

/// Texts of a page with the tag they stand in, and the texts of attributes that people hear or see.
fn texts(page: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let body = &page[page.find("<title>").unwrap()..];
    for piece in body.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap_or((piece, ""));
        let name = tag.split([' ', '/']).next().unwrap().to_owned();
        for attribute in ["aria-label", "placeholder", "data-label", "data-copied"] {
            if let Some((_, rest)) = tag.split_once(&format!(" {attribute}=\"")) {
                found.push((attribute.to_owned(), rest.split('"').next().unwrap().trim().to_owned()));
            }
        }
        // What stands in a file or an address is the same in every language.
        if !text.trim().is_empty() && name != "code" {
            found.push((name, text.trim().to_owned()));
        }
    }
    found
}

/// Everything that pages can be about, made through the pages; the path of each by its noun.
fn furnish(anna: &Person, receiver: &Receiver) -> BTreeMap<&'static str, String> {
    let make = |path: &str, fields: &[(&str, &str)]| last_of(&anna.does(path, fields).0);
    let programme =
        make("/programmes", &[("name", MARK), ("framework", "cross-framework"), ("starts_on", "2026-01-01")]);
    let test_case = make(
        "/test-cases",
        &[
            ("title", MARK),
            ("programme_id", &programme),
            ("type", "tlpt"),
            ("priority", "high"),
            ("due_on", "2026-11-10"),
        ],
    );
    let finding = make(
        "/findings",
        &[
            ("title", MARK),
            ("severity", "critical"),
            ("test_case_id", &test_case),
            ("detected_on", "2026-07-01"),
            ("measure_ids", "DORA-24-01"),
        ],
    );
    anna.does(&format!("/findings/{finding}/status"), &[("status", "in_progress")]);
    anna.does(&format!("/findings/{finding}/notes"), &[("body", MARK)]);
    anna.does(&format!("/findings/{finding}"), &[("owner", MARK), ("due_on", "2026-11-12")]);
    let report = make(
        "/cra-reports",
        &[
            ("kind", "exploited_vulnerability"),
            ("title", MARK),
            ("product_name", MARK),
            ("severity", "high"),
            ("cvss_score", "8.1"),
            ("became_aware_at", "2026-11-14T08:00"),
        ],
    );
    let mut ids = furnish_settings(anna, receiver);
    ids.extend([
        ("programme", programme),
        ("test_case", test_case),
        ("finding", finding),
        ("report", report),
        ("measure", "DORA-24-01".into()),
        ("evidence", first(anna, "evidence")),
        ("requirement", first(anna, "gap-analysis")),
        ("signal", first(anna, "radar")),
        ("drill", first(anna, "drills")),
        ("training", first(anna, "training")),
    ]);
    ids
}

fn furnish_settings(anna: &Person, receiver: &Receiver) -> BTreeMap<&'static str, String> {
    let make = |path: &str, fields: &[(&str, &str)]| last_of(&anna.does(path, fields).0);
    let provider = make("/providers", &[("name", MARK), ("sector", MARK)]);
    let arrangement = make(
        "/arrangements",
        &[
            ("provider_id", &provider),
            ("service", MARK),
            ("criticality", "critical"),
            ("annual_cost_eur", "48000"),
            ("exit_plan", "0"),
        ],
    );
    anna.does("/concentration", &[("basis", "criticality")]);
    let url = receiver.url("x");
    let webhook = make(
        "/webhooks",
        &[("name", MARK), ("channel", "slack"), ("url", &url), ("events", "finding.created")],
    );
    anna.does(&format!("/webhooks/{webhook}/test"), &[]);
    anna.post("/api-keys", &[("name", MARK), ("permissions", "write"), ("expires", "30")]).expect(200);
    anna.post("/users", &[("email", "guest@bank.example"), ("name", MARK), ("role", "viewer")]).expect(200);
    let store = &anna.house.service().house.app.store;
    let tenant = store.tenant(&store.tenant_id("ours").unwrap());
    let user = tenant.users().unwrap().into_iter().find(|user| user.email.starts_with("guest")).unwrap().id;
    let key = tenant.keys().unwrap().into_iter().find(|key| key.name == MARK).unwrap().id;
    BTreeMap::from([
        ("provider", provider),
        ("arrangement", arrangement),
        ("webhook", webhook),
        ("user", user),
        ("key", key),
    ])
}

fn last_of(path: &str) -> String {
    path.rsplit('/').next().unwrap().to_owned()
}

/// The first record that a list of the library links to.
fn first(anna: &Person, list: &str) -> String {
    let page = anna.read(&format!("/{list}"));
    let (_, rest) = page.split_once(&format!("\"/{list}/")).unwrap();
    rest.split('"').next().unwrap().to_owned()
}

/// Texts that may be the same in both languages: the catalogue has them so, or they are no words of ours.
fn is_no_word_of_ours(text: &str, same: &BTreeSet<String>) -> bool {
    let letters = text.chars().filter(|char| char.is_alphabetic()).count();
    let is_code = |text: &str| text.contains(['_', '@']) || text.chars().any(|char| char.is_ascii_digit());
    // Keys and audit rows that the house begins with.
    let theirs = [
        "reader", "writer", "manager", "expired", "all", "revoked", "write", "created", "min", "viewer",
        "owner",
    ];
    let word_of_theirs = |text: &str| theirs.contains(&text) || is_code(text) || text.len() < 3;
    letters < 3
        || same.contains(text)
        || text.starts_with("Holdfast ")
        || text.contains(MARK)
        || text.split([' ', ',']).all(word_of_theirs)
}

#[test]
fn no_page_leaves_a_word_in_english() {
    let receiver = Receiver::start(Manner::status(200));
    let house = House::with(|config| {
        let mut allowlist = Allowlist::default();
        allowlist.add(Channel::Slack, &receiver.url("")).unwrap();
        config.allowlist = Arc::new(allowlist);
    });
    let anna = Person::new(&house, MARK, Role::Owner);
    let ids = furnish(&anna, &receiver);
    let same: BTreeSet<String> = holdfast::web::words::lines()
        .filter(|(key, english)| GERMAN.t(key) == *english)
        .map(|(_, english)| english.to_owned())
        .chain(["Holdfast", "ours", "HHI"].map(str::to_owned))
        // The milestones are of the library, too.
        .chain(
            house
                .service()
                .house
                .app
                .reference
                .catalogue
                .milestones
                .data
                .iter()
                .map(|each| each.title.clone()),
        )
        .collect();
    // What the library and the timeline say is English; their labels are not.
    let labels =
        ["label", "legend", "button", "dt", "option", "aria-label", "placeholder", "data-label", "summary"];
    let ours = |path: &str| {
        let library =
            ["/measures", "/evidence", "/gap-analysis", "/radar", "/drills", "/training", "/timeline"];
        !library.iter().any(|shelf| path.starts_with(shelf))
    };
    let (mut seen, mut faults) = (0, Vec::new());
    for row in PAGES.iter().filter(|row| row.verb == Verb::Get && matches!(row.handler, Handler::Signed(..)))
    {
        if row.path.contains(".csv") || row.path.contains(".pdf") || row.path.ends_with("/pdf") {
            continue;
        }
        let path = match row.path.split_once('{') {
            Some((before, rest)) => {
                let (noun, after) = rest.split_once('}').unwrap();
                let id = ids.get(noun).unwrap_or_else(|| panic!("{}: who is {noun}?", row.path));
                format!("{before}{id}{after}")
            }
            None => row.path.to_owned(),
        };
        let read = |language: &str| text_of(&anna.get(&path).header("Accept-Language", language).expect(200));
        let (english, german) = (texts(&read("en")), texts(&read("de")));
        assert!(is_in(&read("de"), "de"), "{path}");
        let title =
            |texts: &[(String, String)]| texts.iter().find(|(tag, _)| tag == "title").unwrap().1.clone();
        assert!(!title(&german).starts_with('-'), "{path} has no title");
        let english: BTreeSet<&(String, String)> = english.iter().collect();
        for (tag, text) in &german {
            let checked = ours(row.path) || labels.contains(&tag.as_str());
            let left = english.contains(&(tag.clone(), text.clone())) && checked;
            if left && !is_no_word_of_ours(text.trim_end_matches(" - Holdfast"), &same) {
                faults.push(format!("{path}: <{tag}> {text}"));
            }
        }
        seen += 1;
    }
    assert!(seen > 35, "{seen}");
    assert!(faults.is_empty(), "{} texts are English still:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_word_of_a_closed_set_that_a_page_shows_has_a_german_one() {
    let mut shown: BTreeSet<&str> = BTreeSet::new();
    for row in PAGES {
        for param in row.asks.iter().filter(|param| param.name != "sort") {
            if let ParamKind::Choice(of) = param.kind {
                shown.extend(of);
            }
        }
        for field in row.takes.iter().flat_map(|form| form.fields) {
            if let Kind::Choice(of) | Kind::Choices(of) = field.kind {
                shown.extend(of);
            }
        }
    }
    let sets = [
        audit::Event::NAMES,
        audit::Outcome::NAMES,
        cra::Kind::NAMES,
        cra::Severity::NAMES,
        cra::Status::NAMES,
        cra::Stage::NAMES,
        delivery::State::NAMES,
        delivery::Outcome::NAMES,
        finding::Status::NAMES,
        finding::Severity::NAMES,
        programme::Status::NAMES,
        programme::Framework::NAMES,
        risk::Basis::NAMES,
        risk::Dimension::NAMES,
        risk::Severity::NAMES,
        test_case::Status::NAMES,
        test_case::Type::NAMES,
        test_case::Priority::NAMES,
        timeline::Status::NAMES,
        upkeep::Status::NAMES,
        user::Role::NAMES,
        compliance::STATUSES,
        library::Implementation::NAMES,
        library::MilestoneFramework::NAMES,
        library::MilestoneCategory::NAMES,
        library::SignalFramework::NAMES,
        library::SignalKind::NAMES,
        library::Pillar::NAMES,
        library::Area::NAMES,
        library::Reach::NAMES,
        library::EvidenceKind::NAMES,
        library::Difficulty::NAMES,
        library::Relevance::NAMES,
        library::DatePrecision::NAMES,
    ];
    shown.extend(sets.concat());
    // The keys of these forms have sentences of their own.
    shown.retain(|word| {
        !["30", "90", "365", "never", "alone", "descendants", "profile", "api-keys"].contains(word)
    });
    let missing: Vec<&&str> =
        shown.iter().filter(|word| GERMAN.find(&format!("word.{word}")).is_none()).collect();
    assert!(missing.is_empty() && shown.len() > 150, "{} of {}: {missing:?}", missing.len(), shown.len());
    assert_eq!(actor::ActorKind::NAMES.len(), 4, "each has a key `actor.…`");
}

#[test]
fn every_field_and_word_of_the_library_has_a_german_one() {
    let house = House::new();
    let is_word =
        |text: &str| text.chars().all(|char| char.is_ascii_lowercase() || matches!(char, '_' | '-'));
    let mut missing = BTreeSet::new();
    let library = &house.service().house.app.reference.catalogue;
    let shelves = [
        json!(library.measures.data),
        json!(library.evidence.data),
        json!(library.requirements.data),
        json!(library.signals.data),
        json!(library.drills.data),
        json!(library.trainings.data),
    ];
    for records in shelves {
        for (field, value) in records.as_array().unwrap().iter().flat_map(|item| item.as_object().unwrap()) {
            if field != "mappings" && GERMAN.find(&format!("library.field.{field}")).is_none() {
                missing.insert(field.clone());
            }
            let one = [value.clone()];
            let values = value.as_array().map_or(&one[..], Vec::as_slice).iter().filter_map(Value::as_str);
            let words = values.filter(|text| is_word(text) && field != "id");
            missing.extend(
                words.filter(|word| GERMAN.find(&format!("word.{word}")).is_none()).map(str::to_owned),
            );
        }
    }
    missing.remove("id");
    assert!(missing.is_empty(), "{missing:?}");
}
