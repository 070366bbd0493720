//! The work at the workspace: findings, test cases, CRA reports, providers, the library, seen through the door.

use crate::house::House;
use crate::person::{Person, text_of};
use holdfast::domain::user::Role;

const HOSTILE: &str = "<img src=x onerror=alert(1)>\"'";

/// No text of somebody else became markup, and the page has nothing inline.
fn is_harmless(page: &str, name: &str) {
    assert!(page.contains("&#60;img") && !page.contains("<img"), "{name}: {page}");
    for inline in ["<style", " style=", "javascript:", " onclick", "<script>"] {
        assert!(!page.contains(inline), "{name}: {inline}");
    }
}

fn id_of(path: &str) -> String {
    path.rsplit('/').next().unwrap().to_owned()
}

/// A finding with this title; gives its path.
fn file(anna: &Person, title: &str, severity: &str) -> String {
    anna.does("/findings", &[("title", title), ("severity", severity)]).0
}

#[test]
fn a_finding_is_recorded_changed_moved_and_noted() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    let fields = [
        ("title", HOSTILE),
        ("severity", "high"),
        ("owner", HOSTILE),
        ("detected_on", "2026-11-10"),
        ("due_on", ""),
        ("description", HOSTILE),
        ("remediation", HOSTILE),
        ("measure_ids", "DORA-09-05, DORA-24-05"),
        ("programme_id", ""),
        ("test_case_id", ""),
    ];
    let (path, page) = anna.does("/findings", &fields);
    assert!(page.contains("The finding is recorded.") && page.contains("10 Dec 2026"), "{page}");
    assert!(
        page.contains("DORA-09-05") && page.contains("Begin work") && !page.contains("Close as verified")
    );
    anna.post(&format!("{path}/status"), &[("status", "closed")]).expect(422);
    let (_, page) = anna.does(&format!("{path}/status"), &[("status", "in_progress")]);
    assert!(page.contains("Mark as resolved") && page.contains("moved it"), "{page}");
    // Accepting a risk needs a reason and a day; what was typed is kept.
    let bare =
        [("status", "risk_accepted"), ("acceptance_reason", "Typed reason"), ("acceptance_expires_on", "")];
    let page = text_of(&anna.post(&format!("{path}/status"), &bare).expect(422));
    assert!(page.contains("Typed reason") && page.contains("<details open>"), "{page}");
    assert!(page.contains("Accepted until is required to accept a risk"), "{page}");
    let whole = [bare[0], ("acceptance_reason", HOSTILE), ("acceptance_expires_on", "2027-01-31")];
    let (_, page) = anna.does(&format!("{path}/status"), &whole);
    assert!(
        page.contains("31 Jan 2027") && page.contains("Open again") && !page.contains("Mark as resolved")
    );
    let (_, page) = anna.does(&format!("{path}/notes"), &[("body", HOSTILE)]);
    assert!(page.contains("wrote a note"));
    let (_, page) = anna.does(&path, &[("severity", "low"), ("due_on", "2026-12-24")]);
    assert!(page.contains("24 Dec 2026") && page.contains("The finding is changed."));
    let page = text_of(&anna.post(&path, &[("due_on", "2026-13-40"), ("owner", "Typed Owner")]).expect(422));
    assert!(page.contains("href=\"#due_on\"") && page.contains("Typed Owner"), "{page}");
    let page = text_of(&anna.post("/findings", &[("title", "T"), ("severity", "grave")]).expect(422));
    assert!(page.contains("href=\"#severity\"") && page.contains("value=\"T\""), "{page}");
    for page in ["/findings?status=all".to_owned(), path.clone(), format!("{path}/edit")] {
        is_harmless(&anna.read(&page), &page);
    }
    let vera = Person::new(&house, "Vera", Role::Viewer);
    let page = vera.read(&path);
    assert!(!page.contains("Open again") && !page.contains("Add note") && !page.contains("/edit"));
    assert!(!vera.read("/findings?status=all").contains("Check and move"));
    vera.post(&path, &[("title", "Mine")]).expect(403);
    let foreign = house.call("POST", "/api/v1/findings").key(&house.theirs.all);
    let foreign = foreign.json(&serde_json::json!({ "title": "Foreign", "severity": "low" })).expect(201);
    let id = foreign.json()["data"]["id"].as_str().unwrap().to_owned();
    anna.get(&format!("/findings/{id}")).expect(404);
    anna.post(&format!("/findings/{id}/status"), &[("status", "in_progress")]).expect(404);
}

#[test]
fn findings_are_filtered_sorted_paged_and_exported_by_their_address() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    let (programme, _) = anna.does("/programmes", &[("name", "Yearly tests"), ("framework", "dora")]);
    let programme = id_of(&programme);
    for number in 0..60 {
        let title = format!("Finding {number:02}");
        let severity = if number < 55 { "low" } else { "critical" };
        let of = [("title", title.as_str()), ("severity", severity), ("programme_id", &programme)];
        anna.post("/findings", &of).expect(303);
    }
    file(&anna, "=cmd|' /C calc'!A0", "medium");
    let page = anna.read(&format!("/findings?programme_id={programme}&sort=title&search="));
    assert!(page.contains("1 to 50 of 60") && page.contains("offset=50"), "{page}");
    assert!(page.contains("Programme: Yearly tests") && page.contains("sort=-title"), "{page}");
    assert!(page.contains(&format!("/findings/export.csv?programme_id={programme}&#38;sort=title")));
    let page = anna.read("/findings?severity=critical");
    assert!(page.contains("5 findings match") && page.contains("Severity: Critical"));
    assert!(anna.read("/findings?search=nothing+at+all").contains("No finding matches"));
    assert!(anna.read("/findings?overdue=true").contains("No finding matches"));
    anna.get("/findings?status=nonsense").expect(422);
    let file = anna.get("/findings/export.csv?severity=critical&sort=-title").expect(200);
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8"));
    assert!(file.header("content-disposition").unwrap().contains("findings-2026-11-15.csv"));
    let text = text_of(&file);
    let lines: Vec<&str> = text.trim_end().split("\r\n").collect();
    assert_eq!(lines.len(), 6);
    assert!(
        lines[0].starts_with("id,") && lines[1].contains("Finding 59") && lines[5].contains("Finding 55")
    );
    let text = text_of(&anna.get("/findings/export.csv").expect(200));
    assert_eq!(text.trim_end().split("\r\n").count(), 62, "all pages");
    assert!(text.contains(",'=cmd"), "no cell is a formula");
}

#[test]
fn many_findings_move_after_a_page_that_says_which() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    let paths = [file(&anna, HOSTILE, "high"), file(&anna, "Second", "low"), file(&anna, "Third", "low")];
    let ids = paths.clone().map(|path| id_of(&path));
    anna.does(&format!("{}/status", paths[2]), &[("status", "false_positive")]);
    let chosen = [("id", ids[0].as_str()), ("id", &ids[1]), ("id", &ids[2]), ("id", "fnd_nothing")];
    let with = |more: &[(&'static str, &'static str)]| [chosen.to_vec(), more.to_vec()].concat();
    let page = text_of(&anna.post("/findings/move", &with(&[("status", "in_progress")])).expect(200));
    assert!(page.contains("2 findings can move.") && page.contains("These stay as they are"), "{page}");
    assert!(page.contains("fnd_nothing") && page.contains("possible are: open"), "{page}");
    is_harmless(&page, "the page in between");
    assert!(anna.read(&paths[0]).contains("Begin work"), "nothing is moved yet");
    let page = text_of(&anna.post("/findings/move", &[("status", "in_progress")]).expect(422));
    assert!(page.contains("choose at least one finding"), "{page}");
    text_of(&anna.post("/findings/move", &chosen).expect(422));
    let (next, page) =
        anna.does("/findings/move/confirm", &with(&[("status", "in_progress"), ("owner", "")]));
    assert!(next == "/findings" && page.contains("2 findings are moved."), "{page}");
    assert!(anna.read(&paths[1]).contains("Mark as resolved"));
    // A risk is accepted with one reason for all.
    let page = text_of(&anna.post("/findings/move", &with(&[("status", "risk_accepted")])).expect(200));
    assert!(page.contains("2 findings can move.") && page.contains("acceptance_reason"), "{page}");
    let bare = with(&[("status", "risk_accepted"), ("acceptance_reason", "Typed reason")]);
    let page = text_of(&anna.post("/findings/move/confirm", &bare).expect(422));
    assert!(page.contains("Typed reason") && page.contains("2 findings can move."), "{page}");
    let whole = with(&[
        ("status", "risk_accepted"),
        ("acceptance_reason", "Small"),
        ("acceptance_expires_on", "2027-01-31"),
    ]);
    anna.does("/findings/move/confirm", &whole);
    assert!(anna.read(&paths[0]).contains("31 Jan 2027"));
}

#[test]
fn a_test_case_is_planned_run_and_leads_to_a_finding() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    let (programme, _) = anna.does("/programmes", &[("name", HOSTILE), ("framework", "dora")]);
    let programme = id_of(&programme);
    let fields = [
        ("title", HOSTILE),
        ("programme_id", programme.as_str()),
        ("type", "penetration_test"),
        ("priority", "high"),
        ("assignee", HOSTILE),
        ("due_on", "2026-11-10"),
        ("description", HOSTILE),
        ("measure_ids", "DORA-24-01"),
    ];
    let (path, page) = anna.does("/test-cases", &fields);
    assert!(page.contains("The test case is planned.") && page.contains("5 days late"), "{page}");
    assert!(page.contains("Begin the test") && !page.contains("It passed") && page.contains("DORA-24-01"));
    anna.post(&format!("{path}/status"), &[("status", "passed")]).expect(422);
    anna.does(&format!("{path}/status"), &[("status", "in_progress")]);
    let outcome = [("status", "failed"), ("result_summary", HOSTILE)];
    let (_, page) = anna.does(&format!("{path}/status"), &outcome);
    assert!(
        page.contains("Test again")
            && page.contains("What came out")
            && page.contains("15 Nov 2026, 08:00 UTC")
    );
    anna.does(&format!("{path}/notes"), &[("body", HOSTILE)]);
    let id = id_of(&path);
    let new = anna.read(&format!("/findings/new?programme_id={programme}&test_case_id={id}"));
    assert!(new.contains(&format!("value=\"{id}\" selected")), "{new}");
    let of = [("title", "Found by it"), ("severity", "low"), ("test_case_id", id.as_str())];
    let (finding, page) = anna.does("/findings", &of);
    assert!(page.contains(&format!("href=\"{path}\"")), "{page}");
    assert!(anna.read(&path).contains(&format!("href=\"{finding}\"")));
    let page = text_of(&anna.post(&format!("{path}/delete"), &[]).expect(422));
    assert!(page.contains("cancel this one instead"), "{page}");
    let (_, page) = anna.does(&path, &[("priority", "low"), ("executed_at", "2026-11-14T09:30")]);
    assert!(page.contains("14 Nov 2026, 09:30 UTC"), "{page}");
    let page = text_of(&anna.post("/test-cases", &[("title", "Typed")]).expect(422));
    assert!(page.contains("value=\"Typed\"") && page.contains("href=\"#programme_id\""), "{page}");
    for page in ["/test-cases".to_owned(), path.clone(), format!("{path}/edit"), format!("{path}/delete")] {
        is_harmless(&anna.read(&page), &page);
    }
    let address = format!("/test-cases?programme_id={programme}&type=penetration_test&sort=due&search=");
    let page = anna.read(&address);
    assert!(
        page.contains("1 test case matches")
            && page.contains("sort=-due")
            && page.contains("Kind of test: Penetration test")
    );
    assert!(anna.read("/test-cases?status=planned").contains("No test case matches"));
    let (other, _) = anna.does("/test-cases", &[fields[1], fields[2], ("title", "Never begun")]);
    anna.does(&format!("{other}/delete"), &[]);
    anna.get(&other).expect(404);
    let vera = Person::new(&house, "Vera", Role::Viewer);
    assert!(!vera.read(&path).contains("Test again") && vera.read("/test-cases").contains("&#60;img"));
    vera.post(&format!("{path}/status"), &[("status", "in_progress")]).expect(403);
}

/// The data of our tenant, without a page in between.
fn ours(house: &House) -> holdfast::store::Tenant<'_> {
    let store = &house.service().house.app.store;
    store.tenant(&store.tenant_id("ours").unwrap())
}

fn report(house: &House, title: &str, aware: &str) -> String {
    let body = serde_json::json!({
        "kind": "exploited_vulnerability", "title": title, "product_name": HOSTILE, "became_aware_at": aware,
    });
    let values = holdfast::domain::cra_form::NEW_CRA_REPORT.check(body.as_object().unwrap()).unwrap();
    ours(house).create_cra_report(values).unwrap().id
}

/// Two providers; the first has three of four arrangements.
fn register(house: &House) {
    use holdfast::domain::{arrangement::NEW_ARRANGEMENT, provider::NEW_PROVIDER};
    for (name, services) in [(HOSTILE, 3), ("Kleinwerk", 1)] {
        let body = serde_json::json!({ "name": name, "sector": "Cloud" });
        let values = NEW_PROVIDER.check(body.as_object().unwrap()).unwrap();
        let provider = ours(house).create_provider(values).unwrap();
        for number in 0..services {
            let body = serde_json::json!({
                "service": format!("Service {number}"), "provider_id": provider.id, "criticality": "critical",
                "region": "Rhine-Main",
            });
            let values = NEW_ARRANGEMENT.check(body.as_object().unwrap()).unwrap();
            ours(house).create_arrangement(values).unwrap();
        }
    }
}

#[test]
fn the_dashboard_says_in_text_what_its_pictures_show() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Viewer);
    let page = anna.read("/");
    for empty in ["0 CRA clocks run.", "Nothing needs your attention.", "No analysis has been made yet."] {
        assert!(page.contains(empty), "{empty}: {page}");
    }
    let editor = Person::new(&house, "Ed", Role::Editor);
    let old = [("title", HOSTILE), ("severity", "critical"), ("detected_on", "2026-07-01")];
    editor.does("/findings", &old);
    file(&editor, "Fresh", "low");
    let id = report(&house, HOSTILE, "2026-11-14T10:00:00Z");
    report(&house, "Much time", "2026-11-15T07:00:00Z");
    register(&house);
    ours(&house).analyse(holdfast::domain::risk::Basis::Count).unwrap();
    let page = anna.read("/");
    is_harmless(&page, "/");
    // 22 of 24 hours are used.
    for said in
        ["2 CRA clocks run.", "1 finding is overdue.", "2 h 0 min", "Early warning", "clock-hot", "92 %"]
    {
        assert!(page.contains(said), "{said}: {page}");
    }
    assert!(page.find("2 h 0 min").unwrap() < page.find("23 h 0 min").unwrap(), "the nearest first");
    for said in [
        "Critical: 0 up to 30 days old, 0 from 31 to 90, 1 from 91 to 180, 0 older.",
        "href=\"/findings?severity=critical&#38;overdue=true\"",
        "2 open findings",
        "DORA",
        "implemented,",
        "64 risks",
        "75.0 %",
        "45.0 points over the limit of 30 %",
        "High breach",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    assert!(page.contains(&format!("/cra-reports/{id}")) || !page.contains("href=\"/cra-reports\""));
    assert!(page.len() < 150 * 1024 && page.contains("role=\"img\""));
}

#[test]
fn a_cra_report_runs_stage_by_stage_with_its_texts_and_references() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    let fields = [
        ("kind", "exploited_vulnerability"),
        ("title", HOSTILE),
        ("product_name", HOSTILE),
        ("product_version", "2.0"),
        ("became_aware_at", "2026-11-15T02:00"),
        ("corrective_measure_at", ""),
        ("cve_id", "CVE-2026-12345"),
        ("severity", "high"),
        ("cvss_score", "7,6"),
        ("member_states", "AT, DE"),
        ("summary", HOSTILE),
    ];
    let (path, page) = anna.does("/cra-reports", &fields);
    // 6 of 24 hours are used.
    for said in ["The report is begun.", "18 h 0 min", "25 %", "16 Nov 2026, 02:00 UTC", "Record as sent"] {
        assert!(page.contains(said), "{said}: {page}");
    }
    for said in [
        "Early warning under Article 14(2)(a)",
        "CVE: CVE-2026-12345",
        "High, CVSS 7.6",
        "AT, DE",
        "Final report under Article 14(2)(c)",
        "[still open]",
        "when a corrective or mitigating measure is available",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    is_harmless(&page, &path);
    let submissions = format!("{path}/submissions");
    let page =
        text_of(&anna.post(&submissions, &[("stage", "early_warning"), ("reference", "Typed")]).expect(422));
    assert!(page.contains("Typed") && page.contains("18 h 0 min"), "{page}");
    // No stage is skipped.
    let late = [("stage", "final_report"), ("submitted_at", "2026-11-15T08:00")];
    anna.post(&submissions, &late).expect(422);
    let sent = [
        ("stage", "early_warning"),
        ("submitted_at", "2026-11-15T07:30"),
        ("reference", "SRP-2026-004417"),
        ("authority", HOSTILE),
    ];
    let (_, page) = anna.does(&submissions, &sent);
    assert!(page.contains("SRP-2026-004417") && page.contains("15 Nov 2026, 07:30 UTC"), "{page}");
    assert!(page.contains("Notification under Article 14(2)(b)") && page.contains("2 d 18 h"), "{page}");
    // A reference that comes later is recorded, and the status stays.
    let again = [sent[0], sent[1], ("reference", "SRP-LATER"), ("authority", "")];
    let (_, page) = anna.does(&submissions, &again);
    assert!(page.contains("SRP-LATER") && !page.contains("Close the report"), "{page}");
    run_to_the_end(&anna, &path);
}

/// All that is left of a report whose early warning is sent.
fn run_to_the_end(anna: &Person, path: &str) {
    let submissions = format!("{path}/submissions");
    anna.post(&format!("{path}/delete"), &[]).expect(422);
    anna.does(path, &[("corrective_measure_at", "2026-11-15T06:00")]);
    for stage in ["notification", "final_report"] {
        anna.does(&submissions, &[("stage", stage), ("submitted_at", "2026-11-15T08:00")]);
    }
    let (_, page) = anna.does(&format!("{path}/status"), &[("status", "closed")]);
    assert!(!page.contains("Withdraw the report") && page.contains("moved it"), "{page}");
    anna.post(&format!("{path}/status"), &[("status", "withdrawn")]).expect(422);
    anna.does(&format!("{path}/notes"), &[("body", HOSTILE)]);
    for page in ["/cra-reports".to_owned(), path.to_owned(), format!("{path}/edit"), format!("{path}/delete")]
    {
        is_harmless(&anna.read(&page), &page);
    }
}

#[test]
fn cra_reports_are_filtered_and_only_editors_move_them() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    report(&house, "First", "2026-11-15T07:00:00Z");
    let page = anna.read("/cra-reports?status=draft&sort=title");
    assert!(
        page.contains("1 report matches") && page.contains("sort=-title") && page.contains("Status: Draft")
    );
    assert!(anna.read("/cra-reports?status=closed").contains("No report matches"));
    let bad = [("kind", "severe_incident"), ("title", "Typed"), ("cve_id", "nonsense")];
    let page = text_of(&anna.post("/cra-reports", &bad).expect(422));
    assert!(
        page.contains("href=\"#cve_id\"")
            && page.contains("href=\"#product_name\"")
            && page.contains("Typed")
    );
    let draft = report(&house, "Draft", "2026-11-13T08:00:00Z");
    let vera = Person::new(&house, "Vera", Role::Viewer);
    let page = vera.read(&format!("/cra-reports/{draft}"));
    assert!(
        page.contains("1 d 0 h late") && !page.contains("Record as sent") && !page.contains("Add note"),
        "{page}"
    );
    vera.post(&format!("/cra-reports/{draft}/status"), &[("status", "withdrawn")]).expect(403);
    anna.does(&format!("/cra-reports/{draft}/delete"), &[]);
    anna.get(&format!("/cra-reports/{draft}")).expect(404);
}

#[test]
fn the_register_is_kept_and_its_concentration_is_told() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    let page = anna.read("/concentration");
    assert!(page.contains("No analysis has been made yet.") && page.contains("No share is over its limit."));
    let fields = [("name", HOSTILE), ("sector", HOSTILE), ("country", "DE"), ("parent", ""), ("lei", "")];
    let (provider, page) = anna.does("/providers", &fields);
    assert!(page.contains("The provider is saved."), "{page}");
    let id = id_of(&provider);
    let fields = [
        ("provider_id", id.as_str()),
        ("service", HOSTILE),
        ("criticality", "critical"),
        ("function", HOSTILE),
        ("region", "Rhine-Main"),
        ("annual_cost_eur", "48000"),
        ("exit_plan", "0"),
    ];
    let new = anna.read(&format!("/arrangements/new?provider_id={id}"));
    assert!(new.contains(&format!("value=\"{id}\" selected")), "{new}");
    let (arrangement, page) = anna.does("/arrangements", &fields);
    assert!(page.contains("48,000 €") && page.contains(&format!("href=\"{provider}\"")), "{page}");
    assert!(anna.read(&provider).contains(&format!("href=\"{arrangement}\"")));
    let (_, page) = anna.does(&arrangement, &[("annual_cost_eur", "50000"), ("exit_plan", "1")]);
    assert!(page.contains("50,000 €"), "{page}");
    let page = text_of(&anna.post("/arrangements", &[("service", "Typed")]).expect(422));
    assert!(page.contains("Typed") && page.contains("href=\"#provider_id\""), "{page}");
    let page = text_of(&anna.post("/providers", &[("name", "Typed"), ("country", "Germany")]).expect(422));
    assert!(page.contains("value=\"Typed\"") && page.contains("href=\"#country\""), "{page}");
    anna.post(&format!("{provider}/delete"), &[]).expect(422);
    let (_, page) = anna.does("/concentration", &[("basis", "count")]);
    assert!(page.contains("100.0 %") && page.contains("70.0 points over the limit of 30 %"), "{page}");
    assert!(page.contains("Breaches") && page.contains("Rhine-Main"), "{page}");
    is_harmless(&page, "/concentration");
    // Limits count at once, for the breaches of an analysis that is there.
    let wide = [
        ("provider_concentration_pct", "100"),
        ("sector_concentration_pct", "100"),
        ("regional_concentration_pct", "100"),
        ("technology_concentration_pct", "100"),
        ("enabled", "1"),
    ];
    let (_, page) = anna.does("/thresholds", &wide);
    assert!(page.contains("No share is over its limit."), "{page}");
    let page = text_of(&anna.post("/thresholds", &[("sector_concentration_pct", "101")]).expect(422));
    assert!(page.contains("href=\"#sector_concentration_pct\"") && page.contains("value=\"101\""), "{page}");
    // Before a contract is signed: nothing is stored.
    let more = [("provider", "Newcomer"), ("service", "Typed service"), ("criticality", "critical")];
    let page = text_of(&anna.post("/concentration/what-if", &more).expect(200));
    assert!(page.contains("What would be") && page.contains("Newcomer") && page.contains("50.0 %"), "{page}");
    assert!(page.contains("Typed service") && !anna.read("/arrangements").contains("Typed service"));
    anna.post("/concentration/what-if", &[("service", "Typed")]).expect(422);
    for page in ["/providers", "/arrangements", &provider, &arrangement] {
        is_harmless(&anna.read(page), page);
    }
    for page in [format!("{provider}/edit"), format!("{arrangement}/edit"), format!("{arrangement}/delete")] {
        is_harmless(&anna.read(&page), &page);
    }
    let page = anna.read(&format!("/arrangements?provider_id={id}&criticality=critical&sort=cost"));
    assert!(page.contains("1 arrangement matches") && page.contains("sort=-cost"), "{page}");
    assert!(anna.read("/arrangements?criticality=standard").contains("No arrangement matches"));
    assert!(anna.read("/providers?search=nothing+there&sort=name").contains("No provider matches"));
    let vera = Person::new(&house, "Vera", Role::Viewer);
    let page = vera.read("/concentration");
    assert!(!page.contains("Run a new analysis") && page.contains("100.0 %"));
    vera.post("/concentration", &[("basis", "count")]).expect(403);
    vera.post(&arrangement, &[("service", "Mine")]).expect(403);
    assert!(!vera.read(&provider).contains("/edit") && !vera.read(&arrangement).contains("/edit"));
    anna.does(&format!("{arrangement}/delete"), &[]);
    anna.does(&format!("{provider}/delete"), &[]);
    anna.get(&provider).expect(404);
}

#[test]
fn the_library_is_read_filtered_and_linked() {
    let house = House::new();
    let vera = Person::new(&house, "Vera", Role::Viewer);
    for (list, noun) in [
        ("/measures", "Measures"),
        ("/evidence", "Evidence"),
        ("/gap-analysis", "Gap analysis"),
        ("/radar", "Radar"),
        ("/drills", "Drills"),
        ("/training", "Training"),
    ] {
        let page = vera.read(list);
        assert!(page.contains(&format!("<h1>{noun}</h1>")) && page.len() < 150 * 1024, "{list}");
        let link = format!("class=\"title\" href=\"{list}/");
        let id = page.split(&link).nth(1).unwrap_or_else(|| panic!("{list}: {page}"));
        let id = id.split('"').next().unwrap();
        let one = vera.read(&format!("{list}/{id}"));
        assert!(one.contains(id) && one.contains("class=\"facts\"") && one.len() < 150 * 1024, "{list}/{id}");
        assert!(
            vera.read(&format!("{list}?search=nothing+like+this+there")).contains("Nothing matches"),
            "{list}"
        );
        vera.get(&format!("{list}/nothing")).expect(404);
    }
    let page = vera.read("/measures?priority=critical&search=network");
    assert!(page.contains("Priority: Critical") && page.contains("Search: network"), "{page}");
    vera.get("/measures?priority=nonsense").expect(422);
    // A measure leads to its evidence, and back; to its gaps; to the tenant's own work.
    let measure = vera.read("/measures/DORA-09-05");
    let evidence = measure.split("href=\"/evidence/").nth(1).expect("evidence").split('"').next().unwrap();
    assert!(vera.read(&format!("/evidence/{evidence}")).contains("href=\"/measures/DORA-09-05\""));
    assert!(!measure.contains("Your findings and test cases on it"));
    let anna = Person::new(&house, "Anna", Role::Editor);
    let on = [("title", HOSTILE), ("severity", "low"), ("measure_ids", "DORA-09-05")];
    let (finding, page) = anna.does("/findings", &on);
    assert!(page.contains("href=\"/measures/DORA-09-05\""), "{page}");
    let page = vera.read("/measures/DORA-09-05");
    assert!(page.contains(&format!("href=\"{finding}\"")), "{page}");
    is_harmless(&page, "the measure");
}

#[test]
fn the_timeline_is_read_and_filtered() {
    let house = House::new();
    house.service().house.app.sync_timeline_at_start().unwrap();
    let vera = Person::new(&house, "Vera", Role::Viewer);
    let page = vera.read("/timeline");
    assert!(page.contains("In force") && page.contains("Upcoming") && page.len() < 150 * 1024, "{page}");
    let page = vera.read("/timeline?status=upcoming&framework=cra");
    assert!(page.contains("Framework: CRA") && !page.contains(">In force</span>"), "{page}");
    assert!(vera.read("/timeline?search=nothing+like+this").contains("No milestone matches"));
    vera.get("/timeline?framework=nonsense").expect(422);
}
