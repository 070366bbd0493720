//! PDF documents, read back by somebody else's reader (poppler). `target/tmp` keeps them for a look.

use holdfast::domain::actor::ActorKind;
use holdfast::domain::day::Day;
use holdfast::domain::finding::{Finding, Severity, Status};
use holdfast::domain::history::{Act, Change, Entry, Note};
use holdfast::domain::programme::{self, Framework, Programme};
use holdfast::domain::test_case::{self, Priority, TestCase, Type};
use holdfast::pdf;
use holdfast::pdf::document::Document;
use holdfast::pdf::report::{Names, Part, Printed, Told};
use holdfast::web::words::Words;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// 15 November 2026, 08:00 UTC.
const NOW: i64 = 1_794_729_600_000;
const HOUR: i64 = 3_600_000;
const PRINTED: Printed =
    Printed { tenant: "Altmoor Privatbank", by: "Mara Ellwitz", at: NOW, words: &Words::ENGLISH };

fn day(text: &str) -> Day {
    Day::parse(text).unwrap()
}

/// The document as a file, and the file.
fn file(name: &str, document: &Document) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, pdf::render(document).unwrap()).unwrap();
    path
}

/// What one of poppler's tools says.
pub fn poppler(tool: &str, arguments: &[&str], file: &Path) -> String {
    let mut command = Command::new(tool);
    command.args(arguments).arg(file);
    if tool == "pdftotext" {
        command.arg("-");
    }
    let output =
        command.output().expect("tests/run installs poppler-utils, which this test needs; run it once");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Older popplers expect a wrong type of /Suspects, which PDF/UA asks for.
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut complaints =
        complaints.lines().filter(|line| !line.is_empty() && !line.contains("Suspects object"));
    assert_eq!(complaints.next(), None, "{tool} complains");
    String::from_utf8(output.stdout).unwrap()
}

/// A line of `pdfinfo`.
pub fn info(file: &Path, name: &str) -> String {
    let told = poppler("pdfinfo", &[], file);
    let line = told.lines().find_map(|line| line.strip_prefix(&format!("{name}:")));
    line.unwrap_or_else(|| panic!("{name} in {told}")).trim().to_owned()
}

pub fn sheets(file: &Path) -> usize {
    info(file, "Pages").parse().unwrap()
}

/// Each text stands behind the one before it.
pub fn in_order(text: &str, wanted: &[&str]) {
    let squeezed = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut from = 0;
    for want in wanted {
        let at =
            squeezed[from..].find(want).unwrap_or_else(|| panic!("{want:?} behind {from} in {squeezed}"));
        from += at + want.len();
    }
}

/// What holds for every document: standards, fonts, language, numbers of pages.
fn sound(file: &Path, title: &str) {
    assert_eq!(info(file, "Title"), title);
    assert_eq!(info(file, "Tagged"), "yes");
    assert_eq!(info(file, "Creator"), "Holdfast");
    assert_eq!(info(file, "Encrypted"), "no");
    let bytes = std::fs::read(file).unwrap();
    let has = |wanted: &[u8]| bytes.windows(wanted.len()).any(|window| window == wanted);
    assert!(has(b"<pdfuaid:part>1</pdfuaid:part>"), "it says that it is PDF/UA-1");
    assert!(has(b"<pdfaid:part>2</pdfaid:part>") && has(b"<pdfaid:conformance>A</"), "and PDF/A-2a");
    assert!(has(b"/Lang(en)") || has(b"/Lang (en)"), "it says its language");
    let fonts = poppler("pdffonts", &[], file);
    let rows: Vec<&str> = fonts.lines().skip(2).collect();
    assert!(!rows.is_empty());
    for row in rows {
        let words: Vec<&str> = row.split_whitespace().collect();
        assert!(words[0].contains("+DejaVuSans"), "{row}");
        let flags = &words[words.len() - 5..words.len() - 2];
        assert_eq!(flags, ["yes", "yes", "yes"], "embedded, subset, with Unicode: {row}");
    }
    let total = sheets(file);
    for number in 1..=total {
        let (number_text, of) = (number.to_string(), format!("{number} of {total}"));
        let page = poppler("pdftotext", &["-layout", "-f", &number_text, "-l", &number_text], file);
        assert!(page.trim_end().ends_with(&of), "sheet {number}: {page}");
        assert!(number == 1 || page.contains("Altmoor Privatbank"), "the running head");
    }
}

fn finding(number: usize) -> Finding {
    let severities =
        [Severity::Critical, Severity::High, Severity::Medium, Severity::Low, Severity::Informational];
    let statuses = [
        Status::Open,
        Status::InProgress,
        Status::Resolved,
        Status::Closed,
        Status::RiskAccepted,
        Status::FalsePositive,
    ];
    let titles = [
        "Network segmentation between payment gateway and office network incomplete",
        "Wiederherstellung der Sicherungen wurde nicht geprüft",
        "Niewystarczające zarządzanie dostępem uprzywilejowanym w środowisku chmurowym",
        "Ελλιπής τεκμηρίωση του σχεδίου συνέχειας",
    ];
    let status = statuses[number % statuses.len()];
    Finding {
        id: format!("fnd_01K77D4Q2ZK8M3VXT9B{number:07}"),
        external_id: Some(format!("AUD-{number}")),
        programme_id: Some("prg_01K77D4Q2ZK8M3VXT9B6RHC5NW".into()),
        test_case_id: (!number.is_multiple_of(3)).then(|| "tc_01K77D4Q2ZK8M3VXT9B6RHC5NW".into()),
        title: titles[number % titles.len()].into(),
        description: Some(
            "The segmentation test of 10 October reached two management ports of the payment gateway from an \
             ordinary office workstation in the Rhine-Main site.\r\n\r\nAn attacker with one office account could \
             reach the gateway's administration page. No sign of use was found in the logs of the last 180 days."
                .into(),
        ),
        severity: severities[number % severities.len()],
        status,
        owner: (!number.is_multiple_of(4)).then(|| "Jonas Prerow".into()),
        detected_on: day("2026-10-10"),
        due_on: (number % 5 < 4).then(|| day(if number.is_multiple_of(2) { "2026-11-09" } else { "2027-01-08" })),
        remediation: Some("Remove the print subnet from rule set PG-07 (done 3 November).".into()),
        measure_ids: vec!["DORA-09-05".into(), "DORA-24-05".into()],
        acceptance_reason: (status == Status::RiskAccepted).then(|| "The gateway is replaced in March.".into()),
        acceptance_expires_on: (status == Status::RiskAccepted).then(|| day("2027-03-31")),
        closed_at: (status == Status::Closed).then_some(NOW - 50 * HOUR),
        created_at: NOW - 900 * HOUR,
        updated_at: NOW - 90 * HOUR,
    }
}

fn case(number: usize) -> TestCase {
    let statuses = [test_case::Status::Planned, test_case::Status::Passed, test_case::Status::InProgress];
    TestCase {
        id: format!("tc_01K77D4Q2ZK8M3VXT9B{number:07}"),
        external_id: None,
        programme_id: "prg_01K77D4Q2ZK8M3VXT9B6RHC5NW".into(),
        title: "Segmentation test, payment zone".into(),
        description: Some("From every office segment to every port of the zone.".into()),
        r#type: [Type::NetworkSecurity, Type::VulnerabilityAssessment, Type::Tlpt][number % 3],
        status: statuses[number % 3],
        priority: [Priority::Critical, Priority::High, Priority::Medium, Priority::Low][number % 4],
        assignee: Some("Tomasz Wilga".into()),
        scheduled_on: Some(day("2026-10-01")),
        due_on: Some(day("2026-10-31")),
        executed_at: (number % 3 == 1).then_some(NOW - 300 * HOUR),
        result_summary: Some("Two ports answered.".into()),
        measure_ids: vec!["DORA-24-01".into()],
        finding_count: 3,
        created_at: NOW - 1_000 * HOUR,
        updated_at: NOW - 300 * HOUR,
    }
}

fn entry(number: i64, act: Act, changes: &[(&str, Value, Value)]) -> Entry {
    let change = |(field, before, after): &(&str, Value, Value)| Change {
        field: (*field).into(),
        before: before.clone(),
        after: after.clone(),
    };
    Entry {
        number,
        at: NOW - 24 * HOUR * (10 - number),
        act,
        actor: ActorKind::User,
        actor_id: Some("usr_1".into()),
        actor_name: Some("Sibel Aktan".into()),
        changes: changes.iter().map(change).collect(),
    }
}

fn history() -> Vec<Entry> {
    let mut entries = vec![
        entry(4, Act::Changed, &[("remediation", json!("Later."), json!("Remove the subnet.\nTest again."))]),
        entry(
            3,
            Act::Changed,
            &[("due_on", json!("2026-11-09"), Value::Null), ("severity", json!("low"), json!("high"))],
        ),
        entry(2, Act::Changed, &[("status", json!("open"), json!("in_progress"))]),
        entry(1, Act::Created, &[]),
    ];
    entries[0].actor = ActorKind::Key;
    entries[0].actor_name = Some("ticket bridge".into());
    entries[1].actor = ActorKind::Clock;
    entries
}

fn notes() -> Vec<Note> {
    vec![Note {
        number: 1,
        at: NOW - 88 * HOUR,
        actor: ActorKind::User,
        actor_id: None,
        actor_name: Some("Tomasz Wilga".into()),
        body: "Jump host is ordered, delivery on the 18th. Zażółć gęślą jaźń.".into(),
    }]
}

fn names() -> Names {
    [
        ("prg_01K77D4Q2ZK8M3VXT9B6RHC5NW", "DORA testing 2026"),
        ("tc_01K77D4Q2ZK8M3VXT9B6RHC5NW", "Segmentation test, payment zone"),
        ("DORA-09-05", "Network management, segmentation and isolation"),
    ]
    .map(|(id, name)| (id.to_owned(), name.to_owned()))
    .into()
}

fn told<'a>(history: &'a [Entry], notes: &'a [Note]) -> Told<'a> {
    Told { history: Part::whole(history), notes: Part::whole(notes) }
}

#[test]
fn a_finding_with_its_history_is_read_back_whole() {
    let mut finding = finding(4);
    finding.external_id = Some("AUD-2026-17".into());
    let (history, notes) = (history(), notes());
    let document = pdf::report::finding_document(PRINTED, &finding, told(&history, &notes), &names());
    let file = file("finding.pdf", &document);
    sound(&file, &finding.title);
    let text = poppler("pdftotext", &["-layout"], &file);
    in_order(
        &text,
        &[
            "Holdfast",
            "Finding",
            &finding.title,
            "Informational · Risk accepted",
            "Organisation Altmoor Privatbank",
            "Reference fnd_01K77D4Q2ZK8M3VXT9B0000004",
            "Printed 15 Nov 2026, 08:00 UTC",
            "Printed by Mara Ellwitz",
            "Severity Informational",
            "Status Risk accepted",
            "Owner –",
            "Found 10 Oct 2026",
            "Due –",
            "Closed –",
            "Programme DORA testing 2026 prg_01K77D4Q2ZK8M3VXT9B6RHC5NW",
            "Test case Segmentation test, payment zone tc_01K77D4Q2ZK8M3VXT9B6RHC5NW",
            "Measures DORA-09-05 Network management, segmentation and isolation DORA-24-05",
            "Created 8 Oct 2026, 20:00 UTC",
            "Updated 11 Nov 2026, 14:00 UTC",
            "External id AUD-2026-17",
            "What was found",
            "The segmentation test of 10 October reached two management ports",
            "An attacker with one office account",
            "of the last 180 days.",
            "Remediation",
            "rule set PG-07",
            "Accepted until 31 Mar 2027",
            "Reason The gateway is replaced in March.",
            "Notes",
            "Tomasz Wilga",
            "Zażółć gęślą jaźń.",
            "History, newest first",
            "Key “ticket",
            "Remediation, before:",
            "Later.",
            "Remediation, after:",
            "Remove the subnet.",
            "Test again.",
            "Holdfast",
            "Due: 9 Nov 2026 → none",
            "Severity: Low → High",
            "Sibel Aktan",
            "Status: Open → In progress",
            "Recorded",
        ],
    );
}

#[test]
fn a_test_case_shows_its_fields_and_findings() {
    let findings: Vec<Finding> = (0..7).map(finding).collect();
    let (history, notes) = (history(), notes());
    let told = told(&history, &notes);
    let document = pdf::report::test_case_document(PRINTED, &case(1), Part::whole(&findings), told, &names());
    let file = file("test-case.pdf", &document);
    sound(&file, "Segmentation test, payment zone");
    in_order(
        &poppler("pdftotext", &["-layout"], &file),
        &[
            "Test case",
            "Segmentation test, payment zone",
            "Vulnerability assessment · Passed",
            "Programme DORA testing 2026",
            "Kind of test Vulnerability assessment",
            "Status Passed",
            "Priority High",
            "Assigned to Tomasz Wilga",
            "Scheduled on 1 Oct 2026",
            "Due 31 Oct 2026",
            "Run at 2 Nov 2026, 20:00 UTC",
            "Measures DORA-24-01",
            "Findings 3",
            "Created",
            "Updated",
            "What is tested",
            "From every office segment",
            "What came out",
            "Two ports answered.",
            "Findings",
            "Severity",
            "Network segmentation",
            "Critical",
            "Open",
            "9 Nov 2026",
            "6 days late",
            "Wiederherstellung",
            "geprüft",
            "Niewystarczające",
            "Ελλιπής τεκμηρίωση",
            "Notes",
            "History",
        ],
    );
}

#[test]
fn a_programme_shows_its_test_cases_and_findings_over_several_sheets() {
    let programme = Programme {
        id: "prg_01K77D4Q2ZK8M3VXT9B6RHC5NW".into(),
        external_id: Some("P-1".into()),
        name: "DORA testing 2026".into(),
        description: Some("Everything that Art. 24 to 26 ask for.".into()),
        framework: Framework::Dora,
        status: programme::Status::Active,
        owner: Some("Mara Ellwitz".into()),
        starts_on: Some(day("2026-01-01")),
        ends_on: Some(day("2026-12-31")),
        test_case_count: 40,
        open_finding_count: 30,
        progress_pct: 33.3,
        created_at: NOW - 5_000 * HOUR,
        updated_at: NOW - 300 * HOUR,
    };
    let cases: Vec<TestCase> = (0..40).map(case).collect();
    let findings: Vec<Finding> = (0..60).map(finding).collect();
    let (history, notes) = (history(), notes());
    let (cases, findings) = (Part::whole(&cases[..]), Part::whole(&findings[..]));
    let document = pdf::report::programme_document(
        PRINTED,
        &programme,
        cases,
        findings,
        told(&history, &notes),
        &names(),
    );
    let file = file("programme.pdf", &document);
    sound(&file, "DORA testing 2026");
    let text = poppler("pdftotext", &["-layout"], &file);
    in_order(
        &text,
        &[
            "DORA · Active · 33.3 % done",
            "Framework DORA",
            "Status Active",
            "Owner Mara Ellwitz",
            "Starts on 1 Jan 2026",
            "Ends on 31 Dec 2026",
            "Progress 33.3 %",
            "Test cases 40",
            "Open findings 30",
            "Everything that Art. 24",
            "tc_01K77D4Q2ZK8M3VXT9B0000000",
            "tc_01K77D4Q2ZK8M3VXT9B0000039",
            "Findings",
            "fnd_01K77D4Q2ZK8M3VXT9B0000000",
            "fnd_01K77D4Q2ZK8M3VXT9B0000059",
        ],
    );
    assert!(sheets(&file) >= 4);
    let heads = text.lines().filter(|line| line.contains("Test case") && line.contains("Priority")).count();
    assert!(heads >= 2, "the heads come again on each sheet: {heads}");
    let whole: usize =
        (0..40).filter(|number| text.contains(&format!("tc_01K77D4Q2ZK8M3VXT9B{number:07}"))).count();
    assert_eq!(whole, 40);
}

#[test]
fn a_list_of_ten_thousand_findings_is_whole_and_a_longer_one_says_so() {
    let findings: Vec<Finding> = (0..10_001).map(finding).collect();
    let filter = [("Status", "All"), ("Search", "segmentation")];
    let filter = filter.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let part = Part { items: &findings, total: 12_345 };
    let document = pdf::report::findings_document(PRINTED, &filter, part, &names());
    let file = file("findings.pdf", &document);
    assert_eq!(info(&file, "Tagged"), "yes");
    let text = poppler("pdftotext", &["-layout"], &file);
    in_order(&text, &["12,345 findings", "Status All", "Search segmentation", "Critical 2,000, High 2,000"]);
    in_order(&text, &["Only the first 10,000 of 12,345 rows are shown."]);
    let ids: Vec<usize> = text
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("fnd_01K77D4Q2ZK8M3VXT9B")?.parse().ok())
        .collect();
    assert_eq!(ids, (0..10_000).collect::<Vec<_>>(), "every row once, in its order");
    let total = sheets(&file);
    assert!(text.trim_end().ends_with(&format!("{total} of {total}")));
}

#[test]
fn a_short_list_is_sound_and_so_is_an_empty_one() {
    let findings: Vec<Finding> = (0..25).map(finding).collect();
    let document = pdf::report::findings_document(PRINTED, &[], Part::whole(&findings), &names());
    sound(&file("findings-short.pdf", &document), "Findings");
    let document = pdf::report::findings_document(PRINTED, &[], Part::whole(&[]), &names());
    let file = file("findings-none.pdf", &document);
    sound(&file, "Findings");
    in_order(&poppler("pdftotext", &["-layout"], &file), &["0 findings", "No finding fits the selection."]);
}

#[test]
fn hostile_text_is_shown_as_far_as_it_goes_and_never_lost() {
    let mut finding = finding(0);
    finding.title = "Emoji 🔥 and \u{202e}turned\u{202c} and NUL \0 and Hebrew שלום and e\u{301}".into();
    let word = "Donaudampfschifffahrtsgesellschaft".repeat(600);
    finding.description = Some(word.chars().take(20_000).collect());
    let long = "a long field ".repeat(1_500);
    let entries = vec![entry(2, Act::Changed, &[("description", json!(long), json!("x\n".repeat(900)))])];
    let document = pdf::report::finding_document(PRINTED, &finding, told(&entries, &[]), &names());
    let file = file("hostile.pdf", &document);
    sound(&file, "Emoji � and �turned� and NUL � and Hebrew ���� and e\u{301}");
    let text = poppler("pdftotext", &["-layout"], &file);
    in_order(
        &text,
        &["more characters)", "� stands for a character that the font of this document does not have."],
    );
    let letters = poppler("pdftotext", &["-raw"], &file);
    let page_furniture = |line: &&str| !line.contains("Confidential") && !line.contains("Altmoor");
    let joined: String = letters.lines().filter(page_furniture).collect::<Vec<_>>().join("");
    assert!(
        joined.matches("Donaudampfschifffahrtsgesellschaft").count() > 570,
        "a word breaks and stays whole"
    );
}
