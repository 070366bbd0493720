//! What a form changes and what it must leave alone, seen through the workspace's door.

use crate::house::House;
use crate::person::{Person, text_of};
use holdfast::domain::user::Role;

fn ours(house: &House) -> holdfast::store::Tenant<'_> {
    let store = &house.service().house.app.store;
    store.tenant(&store.tenant_id("ours").unwrap())
}

fn id_of(path: &str) -> String {
    path.rsplit('/').next().unwrap().to_owned()
}

/// What the form of a page holds: name and value of each field, as a browser would send it unchanged.
fn fields_of(page: &str) -> Vec<(String, String)> {
    let form =
        page.split("<form class=\"form panel\"").nth(1).expect("a form").split("</form>").next().unwrap();
    let mut fields = Vec::new();
    for tag in form.split('<').skip(1) {
        let part = |name: &str| {
            let found = tag.split(&format!(" {name}=\"")).nth(1)?;
            Some(found.split('"').next().unwrap().to_owned())
        };
        let kind = part("type").unwrap_or_default();
        let is_on = tag.contains(" checked") || !["radio", "checkbox"].contains(&kind.as_str());
        match tag.split([' ', '>']).next().unwrap() {
            "input" if is_on => {
                fields.extend(part("name").map(|name| (name, part("value").unwrap_or_default())));
            }
            "select" => fields.push((part("name").unwrap(), String::new())),
            "option" if tag.contains(" selected") => fields.last_mut().unwrap().1 = part("value").unwrap(),
            "textarea" => {
                let text = tag.split_once('>').unwrap().1;
                fields.push((part("name").unwrap(), text.strip_prefix('\n').unwrap_or(text).to_owned()));
            }
            _ => {}
        }
    }
    fields
}

/// Sends the form of a page back with some fields changed.
fn resend(anna: &Person, path: &str, changes: &[(&str, &str)]) -> crate::client::Answer {
    let mut fields = fields_of(&anna.read(&format!("{path}/edit")));
    for (name, value) in changes {
        let field = fields.iter_mut().find(|(known, _)| known == name);
        field.unwrap_or_else(|| panic!("no field {name}")).1 = (*value).to_owned();
    }
    let fields: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    anna.post(path, &fields).send()
}

#[test]
fn an_emptied_field_becomes_nothing_or_a_fault_and_is_never_kept_in_silence() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    let (programme, _) =
        anna.does("/programmes", &[("name", "Yearly"), ("framework", "dora"), ("owner", "Ben")]);
    let programme_id = id_of(&programme);
    let case = [("title", "Case"), ("programme_id", programme_id.as_str()), ("type", "penetration_test")];
    let (case, _) = anna.does("/test-cases", &[&case[..], &[("assignee", "Ben")]].concat());
    let finding =
        [("title", "Finding"), ("severity", "low"), ("owner", "Ben"), ("detected_on", "2026-11-10")];
    let (finding, _) = anna.does("/findings", &finding);
    let report =
        [("title", "Report"), ("kind", "severe_incident"), ("product_name", "Pay"), ("summary", "Bad")];
    let (report, _) = anna.does("/cra-reports", &report);
    let (provider, _) = anna.does("/providers", &[("name", "Nordlicht"), ("sector", "cloud")]);
    let provider_id = id_of(&provider);
    let arrangement =
        [("service", "Hosting"), ("provider_id", provider_id.as_str()), ("criticality", "critical")];
    let (arrangement, _) = anna.does("/arrangements", &[&arrangement[..], &[("region", "EU")]].concat());
    let hook = [
        ("name", "Hook"),
        ("channel", "slack"),
        ("url", "https://hooks.slack.com/services/a"),
        ("events", "finding.created"),
    ];
    let (hook, _) = anna.does("/webhooks", &hook);
    let objects: &[(&str, &[&str], &str)] = &[
        (&programme, &["name"], "owner"),
        (&case, &["title", "programme_id"], "assignee"),
        (&finding, &["title", "detected_on"], "owner"),
        (&report, &["title", "product_name"], "summary"),
        (&provider, &["name"], "sector"),
        (&arrangement, &["service", "provider_id"], "region"),
        (&hook, &["name", "url"], ""),
    ];
    for (path, required, optional) in objects {
        for name in *required {
            for blank in ["", "  "] {
                let answer = resend(&anna, path, &[(name, blank)]);
                let page = text_of(&answer);
                assert_eq!(answer.status, 422, "{path} {name}: {page}");
                assert!(page.contains(&format!("href=\"#{name}\"")), "{path} {name}: {page}");
                assert!(page.contains("is required") && page.contains("aria-invalid"), "{path} {name}");
            }
        }
        if optional.is_empty() {
            continue;
        }
        assert_eq!(resend(&anna, path, &[(optional, "")]).status, 303, "{path} {optional}");
        let held = fields_of(&anna.read(&format!("{path}/edit")));
        let emptied =
            held.iter().find(|(name, _)| name == optional).is_some_and(|(_, value)| value.is_empty());
        assert!(emptied, "{path} {optional}");
    }
    let page = text_of(
        &anna.post("/thresholds", &[("provider_concentration_pct", ""), ("enabled", "0")]).expect(422),
    );
    assert!(page.contains("href=\"#provider_concentration_pct\"") && page.contains("is required"), "{page}");
    assert!(ours(&house).thresholds().unwrap().enabled, "nothing of it is stored");
}

#[test]
fn a_form_that_is_sent_back_unchanged_changes_nothing() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    house.clock.advance_ms(7_345);
    let report = [
        ("title", "Report"),
        ("kind", "severe_incident"),
        ("product_name", "Pay"),
        ("became_aware_at", "2026-11-15T02:00:41"),
    ];
    let (report, _) = anna.does("/cra-reports", &report);
    let (programme, _) = anna.does("/programmes", &[("name", "Yearly"), ("framework", "dora")]);
    let programme = id_of(&programme);
    let case = [("title", "Case"), ("programme_id", programme.as_str()), ("type", "penetration_test")];
    let (case, _) = anna.does("/test-cases", &case);
    for status in ["in_progress", "passed"] {
        anna.does(&format!("{case}/status"), &[("status", status)]);
    }
    let (provider, _) = anna.does("/providers", &[("name", "Nordlicht")]);
    let provider = id_of(&provider);
    let arrangement =
        [("service", "Hosting"), ("provider_id", provider.as_str()), ("criticality", "critical")];
    let (arrangement, _) = anna.does("/arrangements", &arrangement);
    let executed_at = || ours(&house).test_case(&id_of(&case)).unwrap().executed_at;
    let aware_at = || ours(&house).cra_report(&id_of(&report)).unwrap().became_aware_at;
    assert_eq!(executed_at().unwrap() % 60_000, 7_345, "run at a second and a bit");
    assert_eq!(aware_at().unwrap() % 60_000, 41_000);
    let page = anna.read(&format!("{report}/edit"));
    assert!(page.contains("value=\"2026-11-15T02:00:41\"") && page.contains("step=\"1\""), "{page}");
    let (run, aware) = (executed_at(), aware_at());
    let history = |path: &str| {
        let page = holdfast::domain::page::Page { limit: 50, offset: 0 };
        ours(&house).history(&id_of(path), page).unwrap().total
    };
    for path in [&report, &case, &arrangement] {
        let before = history(path);
        assert_eq!(resend(&anna, path, &[]).status, 303);
        assert_eq!(history(path), before, "{path}: no change is told");
    }
    assert_eq!((executed_at(), aware_at()), (run, aware));
    assert_eq!(
        ours(&house).arrangement(&id_of(&arrangement)).unwrap().exit_plan,
        None,
        "unknown stays unknown"
    );
    resend(&anna, &arrangement, &[("exit_plan", "0")]);
    assert_eq!(ours(&house).arrangement(&id_of(&arrangement)).unwrap().exit_plan, Some(false));
    // Browsers leave seconds away where they are none.
    resend(&anna, &report, &[("became_aware_at", "2026-11-15T02:01")]);
    assert_eq!(aware_at().unwrap() % 3_600_000, 60_000);
}

#[test]
fn two_people_who_record_at_once_both_find_their_words_again() {
    let house = House::new();
    let people = ["Anna", "Ben"].map(|name| Person::new(&house, name, Role::Editor));
    let fields = [("title", "Report"), ("kind", "severe_incident"), ("product_name", "Pay")];
    let (path, _) = people[0].does("/cra-reports", &fields);
    let submissions = format!("{path}/submissions");
    let stages = ["early_warning", "notification"];
    for stage in stages {
        people[0].does(&submissions, &[("stage", stage), ("submitted_at", "2026-11-15T07:30")]);
    }
    let together = std::sync::Barrier::new(2);
    for round in 0..40 {
        let reference = |stage: &str| format!("{stage}-{round}");
        std::thread::scope(|scope| {
            for (person, stage) in people.iter().zip(stages) {
                let (together, submissions) = (&together, &submissions);
                let reference = reference(stage);
                scope.spawn(move || {
                    let sent =
                        [("stage", stage), ("submitted_at", "2026-11-15T07:30"), ("reference", &reference)];
                    let call = person.post(submissions, &sent);
                    together.wait();
                    call.expect(303);
                });
            }
        });
        let report = ours(&house).cra_report(&id_of(&path)).unwrap();
        let told = report.submissions.iter().filter_map(|submission| submission.reference.clone());
        let told: Vec<String> = told.collect();
        assert!(stages.iter().all(|stage| told.contains(&reference(stage))), "{told:?}");
    }
}

/// The notes on an object, newest first: who wrote what.
fn notes(house: &House, path: &str) -> Vec<(String, String)> {
    let page = holdfast::domain::page::Page { limit: 50, offset: 0 };
    let notes = ours(house).notes(&id_of(path), page).unwrap().items;
    notes.into_iter().map(|note| (note.actor_name.unwrap_or_default(), note.body)).collect()
}

#[test]
fn a_move_takes_its_note_along_and_a_refused_one_leaves_none() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    let (programme, _) = anna.does("/programmes", &[("name", "Yearly"), ("framework", "dora")]);
    let programme_id = id_of(&programme);
    let case = [("title", "Case"), ("programme_id", programme_id.as_str()), ("type", "penetration_test")];
    let (case, _) = anna.does("/test-cases", &case);
    let (finding, _) = anna.does("/findings", &[("title", "Finding"), ("severity", "low")]);
    let report = [("title", "Report"), ("kind", "severe_incident"), ("product_name", "Pay")];
    let (report, _) = anna.does("/cra-reports", &report);
    for (path, to, never) in [
        (&programme, "active", "draft"),
        (&case, "in_progress", "planned"),
        (&finding, "in_progress", "closed"),
        (&report, "withdrawn", "closed"),
    ] {
        let status = format!("{path}/status");
        assert!(anna.read(path).contains("name=\"note\""), "{path} asks why");
        let long = "x".repeat(5_001);
        anna.post(&status, &[("status", to), ("note", &long)]).expect(422);
        let (_, page) = anna.does(&status, &[("status", to), ("note", "Because\r\n<b>so</b>")]);
        assert!(page.contains("moved it") && page.contains("&#60;b&#62;so"), "{page}");
        assert_eq!(notes(&house, path), [("Anna".to_owned(), "Because\n<b>so</b>".to_owned())], "{path}");
        let refused = anna.post(&status, &[("status", never), ("note", "Typed why")]).expect(422);
        assert_eq!(notes(&house, path).len(), 1, "{path}: nothing of a refused move is kept");
        // A withdrawn report has no moves left, so that nothing asks why.
        assert!(path == &report || text_of(&refused).contains("Typed why"), "{path}: what was typed is");
        anna.post(&status, &[("note", "No status")]).expect(422);
    }
    // Blank is no note; the risk is accepted, a test is passed, a stage is sent with one.
    anna.does(&format!("{programme}/status"), &[("status", "completed"), ("note", "  ")]);
    assert_eq!(notes(&house, &programme).len(), 1);
    let accepted = [
        ("status", "risk_accepted"),
        ("acceptance_reason", "Small"),
        ("acceptance_expires_on", "2027-01-31"),
        ("note", "Decided on Monday"),
    ];
    anna.does(&format!("{finding}/status"), &accepted);
    assert_eq!(notes(&house, &finding)[0].1, "Decided on Monday");
    anna.does(
        &format!("{case}/status"),
        &[("status", "passed"), ("result_summary", "Good"), ("note", "Twice")],
    );
    assert_eq!(notes(&house, &case)[0].1, "Twice");
    let (report, _) =
        anna.does("/cra-reports", &[("title", "R"), ("kind", "severe_incident"), ("product_name", "P")]);
    let sent =
        [("stage", "early_warning"), ("submitted_at", "2026-11-15T07:30"), ("note", "By telephone first")];
    anna.does(&format!("{report}/submissions"), &sent);
    assert_eq!(notes(&house, &report)[0].1, "By telephone first");
    // Many at once: each keeps it, and who does not move does not.
    let (other, _) = anna.does("/findings", &[("title", "Other"), ("severity", "low")]);
    let ids = [id_of(&finding), id_of(&other)];
    let many = [("id", ids[0].as_str()), ("id", &ids[1]), ("status", "in_progress"), ("note", "All of them")];
    anna.does("/findings/move/confirm", &many);
    assert_eq!(notes(&house, &other)[0].1, "All of them");
    assert_eq!(notes(&house, &finding)[0].1, "Decided on Monday", "an accepted risk cannot be worked on");
    // The API knows no such field.
    let call = house.call("PATCH", &format!("/api/v1{other}")).key(&house.ours.all);
    call.json(&serde_json::json!({ "status": "resolved", "note": "x" })).expect(422);
}

#[test]
fn a_viewer_reads_the_limits_and_cannot_change_them() {
    let house = House::new();
    let vera = Person::new(&house, "Vera", Role::Viewer);
    let page = vera.read("/thresholds");
    for said in
        ["One provider", "30 %", "One region", "50 %", "365", "Report breaches", "Yes", "Your role may read"]
    {
        assert!(page.contains(said), "{said}: {page}");
    }
    assert!(!page.contains("action=\"/thresholds\"") && !page.contains("Save limits"), "{page}");
    assert!(vera.read("/concentration").contains("href=\"/thresholds\""));
    vera.post("/thresholds", &[("provider_concentration_pct", "99")]).expect(403);
    let anna = Person::new(&house, "Anna", Role::Editor);
    assert!(anna.read("/thresholds").contains("Save limits"));
    let limits = [("provider_concentration_pct", "35"), ("enabled", "0")];
    anna.does("/thresholds", &limits);
    let page = vera.read("/thresholds");
    assert!(page.contains("35 %") && page.contains("No"), "{page}");
}
