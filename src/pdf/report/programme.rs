//! The document of a programme, with its test cases and open findings.

use super::{Names, Part, Printed, Told};
use crate::domain::day::Day;
use crate::domain::finding::Finding;
use crate::domain::programme::Programme;
use crate::domain::test_case::TestCase;
use crate::pdf::document::{Block, Document, SheetForm};
use crate::pdf::words;

/// A programme with its test cases and those of its findings that are open.
pub fn programme_document(
    printed: Printed,
    programme: &Programme,
    cases: Part<TestCase>,
    open_findings: Part<Finding>,
    told: Told,
    names: &Names,
) -> Document {
    let today = Day::of_ms(printed.at);
    let mut document = super::document(printed, "Programme", &programme.name, SheetForm::Upright);
    document.reference = Some(programme.id.clone());
    let (framework, status) = (words::word(programme.framework.name()), words::word(programme.status.name()));
    document.lead = format!("{framework} · {status} · {:.1} % done", programme.progress_pct);
    document.blocks = vec![Block::Heading("Details".into()), facts(programme)];
    super::section(&mut document.blocks, words::label("description"), &programme.description);
    document.blocks.extend(super::test_case::section(cases, today));
    let none = "The programme has no open finding.";
    document.blocks.extend(super::finding::section("Open findings", none, open_findings, today));
    document.blocks.extend(super::history::sections(told, names));
    document
}

fn facts(programme: &Programme) -> Block {
    let mut facts = vec![
        super::fact("framework", words::word(programme.framework.name())),
        super::fact("status", words::word(programme.status.name())),
        super::fact("owner", super::optional_text(&programme.owner)),
        super::fact("starts_on", super::optional_day(programme.starts_on)),
        super::fact("ends_on", super::optional_day(programme.ends_on)),
        super::fact("test_case_count", programme.test_case_count.to_string()),
        super::fact("progress_pct", format!("{:.1} %", programme.progress_pct)),
        super::fact("open_finding_count", programme.open_finding_count.to_string()),
        super::fact("created_at", words::moment(programme.created_at)),
        super::fact("updated_at", words::moment(programme.updated_at)),
    ];
    facts.extend(programme.external_id.iter().map(|id| super::fact("external_id", id.as_str())));
    Block::Facts(facts)
}
