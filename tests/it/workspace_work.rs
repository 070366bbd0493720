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
