//! The document of a programme, with its test cases and findings.

use super::{Names, Part, Pen, Printed, Told};
use crate::domain::finding::Finding;
use crate::domain::programme::Programme;
use crate::domain::test_case::TestCase;
use crate::pdf::document::{Block, Document, SheetForm};

/// A programme with its test cases and findings.
pub fn programme_document(
    printed: Printed,
    programme: &Programme,
    cases: Part<TestCase>,
    findings: Part<Finding>,
    told: Told,
    names: &Names,
) -> Document {
    let pen = Pen::of(printed, "programme", names);
    let (kind, id) = ("document.programme", Some(programme.id.as_str()));
    let mut document = super::document(printed, kind, &programme.name, id, SheetForm::Upright);
    let progress = pen.words.decimal(programme.progress_pct);
    document.lead = [
        pen.words.word(programme.framework.name()),
        pen.words.word(programme.status.name()),
        pen.words.say("document.done", &[("pct", &progress)]),
    ]
    .join(" · ");
    document.blocks = vec![pen.heading("frame.details"), facts(pen, programme)];
    document.blocks.extend(pen.section("description", &programme.description));
    document.blocks.extend(super::test_case::section(pen.about("test_case"), cases));
    let none = "document.programme_no_finding";
    document.blocks.extend(super::finding::section(pen.about("finding"), none, findings));
    document.blocks.extend(super::history::sections(pen, told));
    document
}

fn facts(pen: Pen, programme: &Programme) -> Block {
    let mut facts = vec![
        pen.fact("framework", pen.words.word(programme.framework.name())),
        pen.fact("status", pen.words.word(programme.status.name())),
        pen.fact("owner", super::optional_text(&programme.owner)),
        pen.fact("starts_on", pen.day(programme.starts_on)),
        pen.fact("ends_on", pen.day(programme.ends_on)),
        pen.fact("progress_pct", format!("{} %", pen.words.decimal(programme.progress_pct))),
        pen.fact("test_case_count", programme.test_case_count.to_string()),
        pen.fact("open_finding_count", programme.open_finding_count.to_string()),
        pen.fact("created_at", pen.moment(Some(programme.created_at))),
        pen.fact("updated_at", pen.moment(Some(programme.updated_at))),
    ];
    facts.extend(programme.external_id.iter().map(|id| pen.fact("external_id", id.as_str())));
    Block::Facts(facts)
}
