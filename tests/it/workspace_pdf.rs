//! Documents out of the workspace, through the front door and read back by somebody else's reader (poppler).

use crate::client::Answer;
use crate::house::House;
use crate::pdf::{in_order, info, poppler, sheets};
use crate::person::{Person, text_of};
use holdfast::domain::user::Role;
use holdfast::shape::Shape;
use holdfast::web::words::Words;
use serde_json::json;
use std::path::{Path, PathBuf};

const GERMAN: &str = "Prüfung der Zugänge größerer Dienstleister";
const POLISH: &str = "Zażółć gęślą jaźń: dostęp uprzywilejowany w Łodzi";
const GREEK: &str = "Ελλιπής τεκμηρίωση του σχεδίου συνέχειας";

/// Takes a document and keeps it under a name for a look.
fn take(person: &Person, path: &str, name: &str) -> PathBuf {
    let answer = person.get(path).expect(200);
    assert_eq!(answer.header("content-type"), Some("application/pdf"), "{path}");
    assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
    let saved_as = file_name(&answer);
    assert!(saved_as.is_ascii() && saved_as.ends_with("-2026-11-15.pdf"), "{saved_as}");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("workspace-{name}.pdf"));
    std::fs::write(&file, &answer.body).unwrap();
    assert_eq!(info(&file, "Tagged"), "yes");
    file
}

fn file_name(answer: &Answer) -> String {
    let told = answer.header("content-disposition").unwrap();
    told.strip_prefix("attachment; filename=\"").unwrap().strip_suffix('"').unwrap().to_owned()
}

/// The whole text, with one space between words.
fn text(file: &Path) -> String {
    poppler("pdftotext", &["-layout"], file).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every sheet says which of how many it is.
fn is_numbered(file: &Path) {
    let total = sheets(file);
    for number in 1..=total {
        let nth = number.to_string();
        let sheet = poppler("pdftotext", &["-layout", "-f", &nth, "-l", &nth], file);
        assert!(sheet.trim_end().ends_with(&format!("{number} of {total}")), "sheet {number}: {sheet}");
    }
}

/// A piece of a page without its marks.
fn plain(html: &str) -> String {
    let mut out = String::new();
    for piece in html.split('<') {
        out.push_str(piece.split_once('>').map_or(piece, |(_, text)| text));
    }
    out.replace("&#38;", "&")
        .replace("&#34;", "\"")
        .replace("&#39;", "'")
        .replace("&#60;", "<")
        .replace("&#62;", ">")
}

/// The facts that a page shows: names and values.
fn facts(page: &str) -> Vec<(String, String)> {
    let rows = page.split("<dt>").skip(1).map(|row| {
        let (name, rest) = row.split_once("</dt><dd>").unwrap();
        (plain(name), plain(rest.split("</dd>").next().unwrap().split("<span class=\"sub\"").next().unwrap()))
    });
    rows.collect()
}

/// Whatever the page says of an object, the document says too.
fn says_what_the_page_says(text: &str, page: &str) {
    let facts = facts(page);
    assert!(facts.len() > 5, "{page}");
    for (name, value) in facts.iter().filter(|(name, _)| name != "Id") {
        assert!(text.contains(name.as_str()), "{name} in {text}");
        assert!(value == "none" || text.contains(value.as_str()), "{name}: {value} in {text}");
    }
}

/// Every field that v1 shows has its name in the document.
fn names_every_field(text: &str, noun: &str, shape: &Shape, left_out: &[&str]) {
    for field in shape.fields.iter().filter(|field| !left_out.contains(&field.name)) {
        let name = Words::ENGLISH.field(noun, field.name);
        assert!(text.contains(&name), "{name} in {text}");
    }
}

struct Work {
    programme: String,
    case: String,
    finding: String,
}

/// A programme with a test case and a finding, in three languages, with a history.
fn work(anna: &Person) -> Work {
    let about = "Alles, was Art. 24 verlangt.\r\nZweite Zeile.";
    let (programme, _) = anna.does(
        "/programmes",
        &[("name", GERMAN), ("framework", "dora"), ("owner", "Jürgen"), ("description", about)],
    );
    let programme_id = programme.rsplit('/').next().unwrap();
    let (case, _) = anna.does(
        "/test-cases",
        &[
            ("title", POLISH),
            ("programme_id", programme_id),
            ("type", "network_security"),
            ("priority", "high"),
            ("due_on", "2026-11-01"),
            ("measure_ids", "DORA-24-01"),
            ("description", "Każdy segment biura."),
        ],
    );
    let case_id = case.rsplit('/').next().unwrap();
    let (finding, _) = anna.does(
        "/findings",
        &[
            ("title", GREEK),
            ("severity", "high"),
            ("owner", "Ελένη"),
            ("programme_id", programme_id),
            ("test_case_id", case_id),
            ("measure_ids", "DORA-09-05"),
            ("description", "Το σχέδιο λείπει.\r\n\r\nZwei Ports antworteten."),
            ("remediation", "Uzupełnić plan."),
        ],
    );
    for path in [&programme, &case, &finding] {
        anna.does(&format!("{path}/notes"), &[("body", "Notiz: geprüft, sprawdzone, ελεγμένο.")]);
    }
    anna.does(&format!("{programme}/status"), &[("status", "active")]);
    anna.does(&format!("{case}/status"), &[("status", "in_progress")]);
    anna.does(&format!("{finding}/status"), &[("status", "in_progress")]);
    Work { programme, case, finding }
}

#[test]
fn a_finding_leaves_with_what_its_page_shows() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    let vera = Person::new(&house, "Vera", Role::Viewer);
    let work = work(&anna);
    // A viewer may take it, and the page offers it.
    let page = vera.read(&work.finding);
    assert!(page.contains(&format!("href=\"{}/export.pdf\"", work.finding)), "{page}");
    let file = take(&vera, &format!("{}/export.pdf", work.finding), "finding");
    let id = work.finding.rsplit('/').next().unwrap();
    let finding = text(&file);
    assert_eq!(info(&file, "Title"), GREEK);
    is_numbered(&file);
    says_what_the_page_says(&finding, &page);
    names_every_field(
        &finding,
        "finding",
        &holdfast::domain::finding::FINDING,
        &["id", "title", "external_id", "acceptance_reason", "acceptance_expires_on"],
    );
    in_order(
        &finding,
        &[
            "Finding",
            GREEK,
            "High · In progress",
            "Organisation ours",
            &format!("Reference {id}"),
            "Printed 15 Nov 2026, 08:00 UTC",
            "Printed by Vera",
            "Severity High",
            "Status In progress",
            "Owner Ελένη",
            GERMAN,
            POLISH,
            "DORA-09-05",
            "What was found",
            "Το σχέδιο λείπει.",
            "Zwei Ports antworteten.",
            "Remediation",
            "Uzupełnić plan.",
            "Notes",
            "15 Nov 2026, 08:00 UTC Anna",
            "Notiz: geprüft, sprawdzone, ελεγμένο.",
            "History, newest first",
            "Anna",
            "Status: Open → In progress",
            "Recorded",
        ],
    );
}

#[test]
fn a_test_case_leaves_with_its_findings() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    let work = work(&anna);
    let file = take(&anna, &format!("{}/export.pdf", work.case), "test-case");
    let case = text(&file);
    assert_eq!(info(&file, "Title"), POLISH);
    is_numbered(&file);
    says_what_the_page_says(&case, &anna.read(&work.case));
    names_every_field(
        &case,
        "test_case",
        &holdfast::domain::test_case::TEST_CASE,
        &["id", "title", "external_id"],
    );
    in_order(
        &case,
        &[
            "Test case",
            POLISH,
            "14 days late",
            GERMAN,
            "Priority High",
            "14 days late",
            "What is tested",
            "Każdy segment biura.",
            "What came out",
            "Nothing is recorded.",
            "Findings",
            GREEK,
            "High",
            "In progress",
            "Ελένη",
            "Notes",
            "sprawdzone",
            "Status: Planned → In progress",
        ],
    );
}

#[test]
fn a_programme_leaves_with_its_test_cases_and_findings() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    let work = work(&anna);
    let file = take(&anna, &format!("{}/export.pdf", work.programme), "programme");
    let programme = text(&file);
    assert_eq!(info(&file, "Title"), GERMAN);
    is_numbered(&file);
    says_what_the_page_says(&programme, &anna.read(&work.programme));
    names_every_field(
        &programme,
        "programme",
        &holdfast::domain::programme::PROGRAMME,
        &["id", "name", "external_id"],
    );
    in_order(
        &programme,
        &[
            "Programme",
            GERMAN,
            "DORA · Active",
            "Printed by Anna",
            "Owner Jürgen",
            "What it is for",
            "Alles, was Art. 24 verlangt.",
            "Zweite Zeile.",
            "Test cases",
            "Zażółć gęślą jaźń",
            "Findings",
            "Ελλιπής τεκμηρίωση",
            "Notes",
            "ελεγμένο",
            "Status: Draft → Active",
        ],
    );
}

/// The ids of findings in a text, in their order.
fn ids(text: &str) -> Vec<String> {
    text.split_whitespace().filter(|word| word.starts_with("fnd_")).map(str::to_owned).collect()
}

#[test]
fn a_list_holds_exactly_what_its_address_asks_for_in_its_order() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    let work = work(&anna);
    let programme = work.programme.rsplit('/').next().unwrap();
    let mut made = Vec::new();
    for number in 0..60 {
        let animal = if number == 37 { "Einhorn" } else { "Αθήνα" };
        let title = format!("Befund Nr. {number:02} über Łódź und {animal}");
        let severity = if number % 4 == 0 { "critical" } else { "low" };
        let fields = [("title", title.as_str()), ("severity", severity), ("programme_id", programme)];
        let path = anna.does("/findings", &fields).0;
        made.push(path.rsplit('/').next().unwrap().to_owned());
    }
    anna.does(&format!("/findings/{}/status", made[8]), &[("status", "false_positive")]);
    let foreign = house.call("POST", "/api/v1/findings").key(&house.theirs.all);
    foreign.json(&json!({ "title": "Foreign canary", "severity": "critical" })).expect(201);

    let asked = format!("severity=critical&programme_id={programme}&sort=-title");
    assert!(anna.read(&format!("/findings?{asked}")).contains("/findings/export.pdf?severity=critical"));
    let file = take(&anna, &format!("/findings/export.pdf?{asked}&offset=50"), "findings");
    let critical = text(&file);
    is_numbered(&file);
    let wanted: Vec<String> =
        (0..60).rev().filter(|n| n % 4 == 0 && *n != 8).map(|n| made[n].clone()).collect();
    assert_eq!(ids(&critical), wanted);
    in_order(
        &critical,
        &[
            "List of findings",
            "Findings",
            "14 findings",
            "Status Open findings",
            "Severity Critical",
            &format!("Programme {GERMAN}"),
            "By severity Critical 14",
            "Befund Nr. 56 über Łódź und Αθήνα",
        ],
    );

    let all = text(&take(&anna, "/findings/export.pdf?status=all", "findings-all"));
    assert_eq!(ids(&all).len(), 61, "all pages, ours only");
    assert!(all.contains("False positive") && !all.contains("canary"));
    let found = text(&take(&anna, "/findings/export.pdf?search=befund+einhorn", "findings-search"));
    assert_eq!(ids(&found), [made[37].clone()]);
    in_order(&found, &["1 finding", "Search befund einhorn"]);
    let none = text(&take(&anna, "/findings/export.pdf?search=nothing+like+this", "findings-none"));
    in_order(&none, &["0 findings", "No finding fits the selection."]);
    anna.get("/findings/export.pdf?severity=nonsense").expect(422);
}

#[test]
fn hostile_text_still_gives_a_document() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    let word = "Donaudampfschifffahrtsgesellschaft".repeat(7);
    let title = format!("🔥 <b>\u{202e}x\u{7} {}", &word[..200]);
    let mut long: String = "W".repeat(4_000);
    long.push_str(&"\u{1}\u{8}\u{1b}[31m e\u{301}\u{301} שלום 漢字 👩‍👩‍👧 \u{200b}".repeat(150));
    long.extend("Zeile\r\n".chars().cycle().take(6_000));
    let long: String = long.chars().take(10_000).collect();
    let fields = [
        ("title", title.as_str()),
        ("severity", "low"),
        ("owner", "\u{feff}'); drop table finding; --"),
        ("description", &long),
        ("remediation", &long),
    ];
    let (path, _) = anna.does("/findings", &fields);
    anna.does(&path, &[("description", "%PDF-1.7 endstream endobj (\\) <<>>")]);
    anna.does(&format!("{path}/notes"), &[("body", &long[..4_000])]);
    let file = take(&anna, &format!("{path}/export.pdf"), "hostile");
    is_numbered(&file);
    let hostile = text(&file);
    in_order(&hostile, &["� <b>�x�", "drop table finding", "endstream endobj", "WWWW", "more characters)"]);
    in_order(&hostile, &["� stands for a character that the font of this document does not have."]);
    let file = take(&anna, "/findings/export.pdf", "hostile-list");
    assert_eq!(ids(&text(&file)).len(), 1);
}

#[test]
fn a_document_of_another_house_is_not_there_and_each_export_is_noted() {
    let house = House::new();
    let owner = Person::new(&house, "Olga", Role::Owner);
    let work = work(&owner);
    let theirs = house.call("POST", "/api/v1/findings").key(&house.theirs.all);
    let theirs = theirs.json(&json!({ "title": "Foreign", "severity": "low" })).expect(201).json();
    let foreign = theirs["data"]["id"].as_str().unwrap();
    owner.get(&format!("/findings/{foreign}/export.pdf")).expect(404);
    owner.get(&format!("/programmes/{foreign}/export.pdf")).expect(404);
    let path = format!("{}/export.pdf", work.finding);
    let away = house.get(&path).header("Accept", "text/html").expect(303);
    assert!(away.header("location").unwrap().starts_with("/sign-in?next="));
    house.get(&path).key(&house.ours.all).expect(303);
    assert!(owner.read("/audit?event=data_exported").contains("No row matches"), "nothing left");
    let answer = owner.get(&path).expect(200);
    let name = file_name(&answer);
    assert!(name.starts_with("finding-fnd_"), "{name}");
    owner.get("/findings/export.csv").expect(200);
    let log = owner.read("/audit");
    assert_eq!(log.matches("<th scope=\"row\">Data exported</th>").count(), 2, "{log}");
    assert!(log.contains(&name) && log.contains("findings-2026-11-15.csv"), "{log}");
    let sheet = text_of(&owner.get("/audit/export.csv").expect(200));
    let id = work.finding.rsplit('/').next().unwrap();
    let line = sheet.lines().find(|line| line.contains(&name)).unwrap();
    assert!(
        line.contains("data_exported,done,user,") && line.contains(",Olga,") && line.contains(id),
        "{line}"
    );
}
