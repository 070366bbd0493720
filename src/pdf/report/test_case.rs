//! The document of a test case, with its findings.

use super::{Names, Part, Printed, Told};
use crate::domain::day::Day;
use crate::domain::finding::Finding;
use crate::domain::test_case::{Priority, TestCase};
use crate::pdf::document::{Block, Cell, Column, Document, SheetForm, Sign, Table};
use crate::pdf::words;

/// A test case with its findings.
pub fn test_case_document(
    printed: Printed,
    case: &TestCase,
    findings: Part<Finding>,
    told: Told,
    names: &Names,
) -> Document {
    let today = Day::of_ms(printed.at);
    let mut document = super::document(printed, "Test case", &case.title, SheetForm::Upright);
    document.reference = Some(case.id.clone());
    let mut lead = vec![words::word(case.r#type.name()), words::word(case.status.name())];
    lead.extend(super::late(case.due_on, !case.status.is_finished(), today));
    document.lead = lead.join(" · ");
    document.blocks = vec![Block::Heading("Details".into()), facts(case, names, today)];
    super::section(&mut document.blocks, "What is tested", &case.description);
    super::section(&mut document.blocks, "Result", &case.result_summary);
    let none = "The test case has brought no finding to light.";
    document.blocks.extend(super::finding::section("Findings", none, findings, today));
    document.blocks.extend(super::history::sections(told, names));
    document
}

fn facts(case: &TestCase, names: &Names, today: Day) -> Block {
    let mut facts = vec![
        super::fact("programme_id", super::named(&case.programme_id, names)),
        super::fact("type", words::word(case.r#type.name())),
        super::fact("status", words::word(case.status.name())),
        super::fact("priority", priority(case.priority)),
        super::fact("assignee", super::optional_text(&case.assignee)),
        super::fact("scheduled_on", super::optional_day(case.scheduled_on)),
        super::fact("due_on", super::due(case.due_on, !case.status.is_finished(), today)),
        super::fact("executed_at", super::optional_moment(case.executed_at)),
        super::fact("measure_ids", super::measures(&case.measure_ids, names)),
        super::fact("finding_count", case.finding_count.to_string()),
        super::fact("created_at", words::moment(case.created_at)),
        super::fact("updated_at", words::moment(case.updated_at)),
    ];
    facts.extend(case.external_id.iter().map(|id| super::fact("external_id", id.as_str())));
    Block::Facts(facts)
}

/// The word of a priority, with bars that repeat it.
fn priority(priority: Priority) -> Cell {
    let bars = match priority {
        Priority::Critical => 4,
        Priority::High => 3,
        Priority::Medium => 2,
        Priority::Low => 1,
    };
    Cell::from(words::word(priority.name())).sign(Sign::Bars(bars))
}

/// A section that lists a programme's test cases.
pub fn section(cases: Part<TestCase>, today: Day) -> Vec<Block> {
    let mut blocks = vec![Block::Heading("Test cases".into())];
    if cases.items.is_empty() {
        blocks.push(Block::Remark("The programme has no test case yet.".into()));
        return blocks;
    }
    let columns = vec![
        Column { head: "Test case", share: 3.5 },
        Column { head: words::label("type"), share: 1.7 },
        Column { head: words::label("status"), share: 1.4 },
        Column { head: words::label("priority"), share: 1.45 },
        Column { head: words::label("assignee"), share: 1.5 },
        Column { head: words::label("due_on"), share: 1.55 },
        Column { head: words::label("finding_count"), share: 1.2 },
    ];
    let row = |case: &TestCase| {
        let executed = case.executed_at.map(|at| words::day(Day::of_ms(at))).unwrap_or_default();
        vec![
            Cell::from(case.title.as_str()).below(case.id.as_str()),
            words::word(case.r#type.name()).into(),
            Cell::from(words::word(case.status.name())).below(executed),
            priority(case.priority),
            super::optional_text(&case.assignee).into(),
            super::due(case.due_on, !case.status.is_finished(), today),
            case.finding_count.to_string().into(),
        ]
    };
    blocks.push(Block::Table(Table { columns, rows: cases.shown().iter().map(row).collect() }));
    blocks.extend(cases.remark());
    blocks
}
