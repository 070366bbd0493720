//! The document of a finding, and of a list of findings.

use super::{Names, Part, Pen, Printed, Told};
use crate::domain::day::Day;
use crate::domain::finding::{Finding, Severity};
use crate::pdf::document::{Block, Cell, Column, Document, Fact, SheetForm, Sign, Table};

/// A finding with its history.
pub fn finding_document(printed: Printed, finding: &Finding, told: Told, names: &Names) -> Document {
    let pen = Pen::of(printed, "finding", names);
    let (kind, id) = ("finding.title_one", Some(finding.id.as_str()));
    let mut document = super::document(printed, kind, &finding.title, id, SheetForm::Upright);
    let mut lead = vec![pen.words.word(finding.severity.name()), pen.words.word(finding.status.name())];
    lead.extend(pen.late(finding.due_on, finding.status.is_open()));
    document.lead = lead.join(" · ");
    document.blocks = vec![pen.heading("frame.details"), facts(pen, finding)];
    document.blocks.extend(pen.section("description", &finding.description));
    document.blocks.extend(pen.section("remediation", &finding.remediation));
    if finding.acceptance_reason.is_some() || finding.acceptance_expires_on.is_some() {
        document.blocks.push(pen.heading("document.acceptance"));
        document.blocks.push(Block::Facts(vec![
            pen.fact("acceptance_expires_on", pen.day(finding.acceptance_expires_on)),
            pen.fact("acceptance_reason", super::optional_text(&finding.acceptance_reason)),
        ]));
    }
    document.blocks.extend(super::history::sections(pen, told));
    document
}

fn facts(pen: Pen, finding: &Finding) -> Block {
    let link = |id: &Option<String>| id.as_deref().map(|id| pen.named(id)).unwrap_or_default();
    let mut facts = vec![
        pen.fact("severity", severity(pen, finding.severity)),
        pen.fact("status", pen.words.word(finding.status.name())),
        pen.fact("owner", super::optional_text(&finding.owner)),
        pen.fact("detected_on", pen.day(Some(finding.detected_on))),
        pen.fact("due_on", pen.due(finding.due_on, finding.status.is_open())),
        pen.fact("closed_at", pen.moment(finding.closed_at)),
        pen.fact("programme_id", link(&finding.programme_id)),
        pen.fact("test_case_id", link(&finding.test_case_id)),
        pen.fact("measure_ids", pen.measures(&finding.measure_ids)),
        pen.fact("created_at", pen.moment(Some(finding.created_at))),
        pen.fact("updated_at", pen.moment(Some(finding.updated_at))),
    ];
    facts.extend(finding.external_id.iter().map(|id| pen.fact("external_id", id.as_str())));
    Block::Facts(facts)
}

/// The word of a severity, with bars that repeat it.
fn severity(pen: Pen, severity: Severity) -> Cell {
    let bars = match severity {
        Severity::Critical => 4,
        Severity::High => 3,
        Severity::Medium => 2,
        Severity::Low => 1,
        Severity::Informational => 0,
    };
    Cell::from(pen.words.word(severity.name())).sign(Sign::Bars(bars))
}

/// A section that lists findings in the document of something else. `none` is the key of what is said without any.
pub fn section(pen: Pen, none: &str, findings: Part<Finding>) -> Vec<Block> {
    let mut blocks = vec![pen.heading("finding.title")];
    if findings.items.is_empty() {
        blocks.push(pen.remark(none));
        return blocks;
    }
    let columns = vec![
        pen.column_of("finding.title_one", 4.0),
        pen.column("severity", 1.9),
        pen.column("status", 1.6),
        pen.column("owner", 1.8),
        pen.column("due_on", 1.6),
    ];
    let row = |finding: &Finding| {
        vec![
            Cell::from(finding.title.as_str()).below(finding.id.as_str()),
            severity(pen, finding.severity),
            status(pen, finding),
            super::optional_text(&finding.owner).into(),
            pen.due(finding.due_on, finding.status.is_open()),
        ]
    };
    blocks.push(Block::Table(Table { columns, rows: findings.shown().iter().map(row).collect() }));
    blocks.extend(findings.remark(pen));
    blocks
}

/// Where a finding stands, and since or until when if that is over.
fn status(pen: Pen, finding: &Finding) -> Cell {
    let until = finding.acceptance_expires_on;
    let until = until.map(|day| pen.words.say("document.until", &[("day", &pen.words.day(day))]));
    let closed = finding.closed_at.map(|at| pen.words.day(Day::of_ms(at)));
    Cell::from(pen.words.word(finding.status.name())).below(until.or(closed).unwrap_or_default())
}

/// A list of findings. `filter` says in words what was asked for: name and value.
pub fn findings_document(
    printed: Printed,
    filter: &[(String, String)],
    findings: Part<Finding>,
    names: &Names,
) -> Document {
    let pen = Pen::of(printed, "finding", names);
    let title = pen.words.t("finding.title");
    let mut document = super::document(printed, "document.findings", title, None, SheetForm::Across);
    document.lead = pen.words.count("document.found", findings.total);
    document.blocks.push(pen.heading("document.selection"));
    let asked = |(name, value): &(String, String)| Fact { name: name.clone(), value: value.as_str().into() };
    let mut facts: Vec<Fact> = filter.iter().map(asked).collect();
    facts.push(Fact {
        name: pen.words.t("document.by_severity").to_owned(),
        value: by_severity(pen, findings.shown()).into(),
    });
    document.blocks.push(Block::Facts(facts));
    document.blocks.push(pen.heading("finding.title"));
    if findings.items.is_empty() {
        document.blocks.push(pen.remark("document.no_match"));
        return document;
    }
    document.blocks.extend(findings.remark(pen));
    let rows = findings.shown().iter().map(|finding| row(pen, finding)).collect();
    document.blocks.push(Block::Table(Table { columns: columns(pen), rows }));
    document
}

fn columns(pen: Pen) -> Vec<Column> {
    vec![
        pen.column_of("finding.title_one", 4.3),
        pen.column("severity", 1.7),
        pen.column("status", 1.7),
        pen.column("owner", 1.7),
        pen.column("detected_on", 1.3),
        pen.column("due_on", 1.3),
        pen.column_of("document.programme_and_case", 2.6),
        pen.column("measure_ids", 1.4),
    ]
}

fn row(pen: Pen, finding: &Finding) -> Vec<Cell> {
    let called = |id: &Option<String>| {
        id.as_ref().map(|id| pen.names.get(id).unwrap_or(id).clone()).unwrap_or_default()
    };
    vec![
        Cell::from(finding.title.as_str()).below(finding.id.as_str()),
        severity(pen, finding.severity),
        status(pen, finding),
        super::optional_text(&finding.owner).into(),
        pen.day(Some(finding.detected_on)).into(),
        pen.due(finding.due_on, finding.status.is_open()),
        Cell::from(called(&finding.programme_id)).below(called(&finding.test_case_id)),
        finding.measure_ids.join("\n").into(),
    ]
}

/// `Critical 2, High 5`
fn by_severity(pen: Pen, findings: &[Finding]) -> String {
    let counted = Severity::NAMES.iter().filter_map(|name| {
        let number = findings.iter().filter(|finding| finding.severity.name() == *name).count();
        let number = (number > 0).then(|| pen.number(super::whole_number(number)))?;
        Some(format!("{} {number}", pen.words.word(name)))
    });
    counted.collect::<Vec<_>>().join(", ")
}
