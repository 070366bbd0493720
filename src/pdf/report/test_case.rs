//! The document of a test case, with its findings.

use super::{Names, Part, Pen, Printed, Told};
use crate::domain::day::Day;
use crate::domain::finding::Finding;
use crate::domain::test_case::{Priority, TestCase};
use crate::pdf::document::{Block, Cell, Document, SheetForm, Sign, Table};

/// A test case with its findings.
pub fn test_case_document(
    printed: Printed,
    case: &TestCase,
    findings: Part<Finding>,
    told: Told,
    names: &Names,
) -> Document {
    let pen = Pen::of(printed, "test_case", names);
    let (kind, id) = ("test_case.title_one", Some(case.id.as_str()));
    let mut document = super::document(printed, kind, &case.title, id, SheetForm::Upright);
    let mut lead = vec![pen.words.word(case.r#type.name()), pen.words.word(case.status.name())];
    lead.extend(pen.late(case.due_on, !case.status.is_finished()));
    document.lead = lead.join(" · ");
    document.blocks = vec![pen.heading("frame.details"), facts(pen, case)];
    document.blocks.extend(pen.section("description", &case.description));
    document.blocks.extend(pen.section("result_summary", &case.result_summary));
    let none = "document.case_no_finding";
    document.blocks.extend(super::finding::section(pen.about("finding"), none, findings));
    document.blocks.extend(super::history::sections(pen, told));
    document
}

fn facts(pen: Pen, case: &TestCase) -> Block {
    let mut facts = vec![
        pen.fact("programme_id", pen.named(&case.programme_id)),
        pen.fact("type", pen.words.word(case.r#type.name())),
        pen.fact("status", pen.words.word(case.status.name())),
        pen.fact("priority", priority(pen, case.priority)),
        pen.fact("assignee", super::optional_text(&case.assignee)),
        pen.fact("scheduled_on", pen.day(case.scheduled_on)),
        pen.fact("due_on", pen.due(case.due_on, !case.status.is_finished())),
        pen.fact("executed_at", pen.moment(case.executed_at)),
        pen.fact("measure_ids", pen.measures(&case.measure_ids)),
        pen.fact("finding_count", case.finding_count.to_string()),
        pen.fact("created_at", pen.moment(Some(case.created_at))),
        pen.fact("updated_at", pen.moment(Some(case.updated_at))),
    ];
    facts.extend(case.external_id.iter().map(|id| pen.fact("external_id", id.as_str())));
    Block::Facts(facts)
}

/// The word of a priority, with bars that repeat it.
fn priority(pen: Pen, priority: Priority) -> Cell {
    let bars = match priority {
        Priority::Critical => 4,
        Priority::High => 3,
        Priority::Medium => 2,
        Priority::Low => 1,
    };
    Cell::from(pen.words.word(priority.name())).sign(Sign::Bars(bars))
}

/// A section that lists a programme's test cases.
pub fn section(pen: Pen, cases: Part<TestCase>) -> Vec<Block> {
    let mut blocks = vec![pen.heading("test_case.title")];
    if cases.items.is_empty() {
        blocks.push(pen.remark("document.programme_no_case"));
        return blocks;
    }
    let columns = vec![
        pen.column_of("test_case.title_one", 3.5),
        pen.column("type", 1.7),
        pen.column("status", 1.4),
        pen.column("priority", 1.45),
        pen.column("assignee", 1.5),
        pen.column("due_on", 1.55),
        pen.column("finding_count", 1.2),
    ];
    let row = |case: &TestCase| {
        vec![
            Cell::from(case.title.as_str()).below(case.id.as_str()),
            pen.words.word(case.r#type.name()).into(),
            Cell::from(pen.words.word(case.status.name())).below(pen.day(case.executed_at.map(Day::of_ms))),
            priority(pen, case.priority),
            super::optional_text(&case.assignee).into(),
            pen.due(case.due_on, !case.status.is_finished()),
            case.finding_count.to_string().into(),
        ]
    };
    blocks.push(Block::Table(Table { columns, rows: cases.shown().iter().map(row).collect() }));
    blocks.extend(cases.remark(pen));
    blocks
}
