//! The document of a finding, and of a list of findings.

use super::{Names, Part, Printed, Told};
use crate::domain::day::Day;
use crate::domain::finding::{Finding, Severity};
use crate::pdf::document::{Block, Cell, Column, Document, SheetForm, Sign, Table};
use crate::pdf::words;

/// A finding with its history.
pub fn finding_document(printed: Printed, finding: &Finding, told: Told, names: &Names) -> Document {
    let today = Day::of_ms(printed.at);
    let mut document = super::document(printed, "Finding", &finding.title, SheetForm::Upright);
    document.reference = Some(finding.id.clone());
    let mut lead = vec![words::word(finding.severity.name()), words::word(finding.status.name())];
    lead.extend(super::late(finding.due_on, finding.status.is_open(), today));
    document.lead = lead.join(" · ");
    document.blocks = vec![Block::Heading("Details".into()), facts(finding, names, today)];
    super::section(&mut document.blocks, "What was found", &finding.description);
    super::section(&mut document.blocks, "Remediation", &finding.remediation);
    if finding.acceptance_reason.is_some() || finding.acceptance_expires_on.is_some() {
        document.blocks.push(Block::Heading("Acceptance of the risk".into()));
        document.blocks.push(Block::Facts(vec![
            super::fact("acceptance_expires_on", super::optional_day(finding.acceptance_expires_on)),
            super::fact("acceptance_reason", super::optional_text(&finding.acceptance_reason)),
        ]));
    }
    document.blocks.extend(super::history::sections(told, names));
    document
}

fn facts(finding: &Finding, names: &Names, today: Day) -> Block {
    let link = |id: &Option<String>| id.as_deref().map(|id| super::named(id, names)).unwrap_or_default();
    let mut facts = vec![
        super::fact("severity", severity(finding.severity)),
        super::fact("status", words::word(finding.status.name())),
        super::fact("owner", super::optional_text(&finding.owner)),
        super::fact("detected_on", words::day(finding.detected_on)),
        super::fact("due_on", super::due(finding.due_on, finding.status.is_open(), today)),
        super::fact("closed_at", super::optional_moment(finding.closed_at)),
        super::fact("programme_id", link(&finding.programme_id)),
        super::fact("test_case_id", link(&finding.test_case_id)),
        super::fact("measure_ids", super::measures(&finding.measure_ids, names)),
        super::fact("created_at", words::moment(finding.created_at)),
        super::fact("updated_at", words::moment(finding.updated_at)),
    ];
    facts.extend(finding.external_id.iter().map(|id| super::fact("external_id", id.as_str())));
    Block::Facts(facts)
}

/// The word of a severity, with bars that repeat it.
pub fn severity(severity: Severity) -> Cell {
    let bars = match severity {
        Severity::Critical => 4,
        Severity::High => 3,
        Severity::Medium => 2,
        Severity::Low => 1,
        Severity::Informational => 0,
    };
    Cell::from(words::word(severity.name())).sign(Sign::Bars(bars))
}

/// A section that lists findings in the document of something else.
pub fn section(heading: &str, none: &str, findings: Part<Finding>, today: Day) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(heading.to_owned())];
    if findings.items.is_empty() {
        blocks.push(Block::Remark(none.to_owned()));
        return blocks;
    }
    let columns = vec![
        Column { head: "Finding", share: 4.0 },
        Column { head: words::label("severity"), share: 1.9 },
        Column { head: words::label("status"), share: 1.6 },
        Column { head: words::label("owner"), share: 1.8 },
        Column { head: words::label("due_on"), share: 1.6 },
    ];
    let row = |finding: &Finding| {
        vec![
            Cell::from(finding.title.as_str()).below(finding.id.as_str()),
            severity(finding.severity),
            status(finding),
            super::optional_text(&finding.owner).into(),
            super::due(finding.due_on, finding.status.is_open(), today),
        ]
    };
    blocks.push(Block::Table(Table { columns, rows: findings.shown().iter().map(row).collect() }));
    blocks.extend(findings.remark());
    blocks
}

/// Where a finding stands, and since or until when if that is over.
fn status(finding: &Finding) -> Cell {
    let until = finding.acceptance_expires_on.map(|day| format!("until {}", words::day(day)));
    let closed = finding.closed_at.map(|at| words::day(Day::of_ms(at)));
    Cell::from(words::word(finding.status.name())).below(until.or(closed).unwrap_or_default())
}

/// A list of findings. `filter` says in words what was asked for: name and value.
pub fn findings_document(
    printed: Printed,
    filter: &[(&'static str, String)],
    findings: Part<Finding>,
    names: &Names,
) -> Document {
    let today = Day::of_ms(printed.at);
    let mut document = super::document(printed, "List of findings", "Findings", SheetForm::Across);
    document.lead = words::count(findings.total, "finding", "findings");
    document.blocks.push(Block::Heading("Selection".into()));
    let mut facts: Vec<_> = filter
        .iter()
        .map(|(name, value)| crate::pdf::document::Fact { name, value: value.as_str().into() })
        .collect();
    facts.push(crate::pdf::document::Fact {
        name: "By severity",
        value: by_severity(findings.shown()).into(),
    });
    document.blocks.push(Block::Facts(facts));
    document.blocks.push(Block::Heading("Findings".into()));
    if findings.items.is_empty() {
        document.blocks.push(Block::Remark("No finding fits the selection.".into()));
        return document;
    }
    document.blocks.extend(findings.remark());
    let rows = findings.shown().iter().map(|finding| row(finding, names, today)).collect();
    document.blocks.push(Block::Table(Table { columns: columns(), rows }));
    document
}

fn columns() -> Vec<Column> {
    vec![
        Column { head: "Finding", share: 4.3 },
        Column { head: words::label("severity"), share: 1.7 },
        Column { head: words::label("status"), share: 1.7 },
        Column { head: words::label("owner"), share: 1.7 },
        Column { head: words::label("detected_on"), share: 1.3 },
        Column { head: words::label("due_on"), share: 1.3 },
        Column { head: "Programme, test case", share: 2.6 },
        Column { head: words::label("measure_ids"), share: 1.4 },
    ]
}

fn row(finding: &Finding, names: &Names, today: Day) -> Vec<Cell> {
    let called =
        |id: &Option<String>| id.as_ref().map(|id| names.get(id).unwrap_or(id).clone()).unwrap_or_default();
    vec![
        Cell::from(finding.title.as_str()).below(finding.id.as_str()),
        severity(finding.severity),
        status(finding),
        super::optional_text(&finding.owner).into(),
        words::day(finding.detected_on).into(),
        super::due(finding.due_on, finding.status.is_open(), today),
        Cell::from(called(&finding.programme_id)).below(called(&finding.test_case_id)),
        finding.measure_ids.join("\n").into(),
    ]
}

/// `2 critical, 5 high`
fn by_severity(findings: &[Finding]) -> String {
    let counted = Severity::NAMES.iter().filter_map(|name| {
        let number = findings.iter().filter(|finding| finding.severity.name() == *name).count();
        (number > 0).then(|| words::count(u64::try_from(number).unwrap_or(u64::MAX), name, name))
    });
    counted.collect::<Vec<_>>().join(", ")
}
