//! CRA reports: list, one with its clocks and texts, moves, what was handed in, delete, notes.

use super::confirm::Confirm;
use super::cra_text::Letter;
use super::deed::{self, settle};
use super::export::csv_of;
use super::frame::Frame;
use super::part::{
    Cell, Column, Empty, Facts, FaultList, Filters, Heads, History, Input, Inputs, Pager, badge, column,
};
use super::picture::Clock;
use super::words::Words;
use super::{asset, render};
use crate::clock::rfc3339;
use crate::domain::cra::{CraReport, Kind, Severity, Stage, Status, Submission};
use crate::domain::moves::{CRA_MOVE, CRA_SUBMISSION};
use crate::domain::query::{OFFSET, Param, SEARCH, filter};
use crate::domain::user::Act;
use crate::error::{Error, Faults};
use crate::http::{Answer, Notice, Reply, Visit};
use crate::store::CRA_SORTS;
use askama::Template;
use serde_json::{Value, json};

/// The noun in the catalogue.
pub const NOUN: &str = "cra";
/// Where CRA reports are.
pub const PATH: &str = "/cra-reports";

/// What the list may be asked for. There is no `limit`: a page stays small.
pub static PARAMS: &[Param] = &[
    OFFSET,
    SEARCH,
    filter("status", Status::NAMES, "Only reports with this status."),
    filter("kind", Kind::NAMES, "Only reports of this kind."),
    filter("severity", Severity::NAMES, "Only reports of this severity."),
    filter("sort", CRA_SORTS, "The order."),
];

static COLUMNS: &[Column] = &[
    column("cra.title_one", Some("title")),
    column("cra.field.product_name", Some("product")),
    column("cra.field.status", Some("status")),
    column("cra.next", None),
    column("cra.field.became_aware_at", Some("aware")).figures(),
];

struct Row {
    title: Cell,
    product: String,
    status: Cell,
    /// The next clock, if one runs.
    next: Option<Clock>,
    aware: Cell,
}

#[derive(Template)]
#[template(path = "cra_list.html")]
struct ListPage {
    frame: Frame,
    may_change: bool,
    csv: String,
    filters: Filters,
    heads: Heads,
    rows: Vec<Row>,
    pager: Pager,
    empty: Empty,
}

struct Step {
    number: usize,
    is_next: bool,
    clock: Clock,
    facts: Facts,
}

/// The form that records a stage as sent, or what is known of one that was.
struct Handed {
    stage: &'static str,
    name: String,
    fields: [Input; 4],
}

#[derive(Template)]
#[template(path = "cra.html")]
struct ShowPage {
    frame: Frame,
    may_change: bool,
    report: CraReport,
    kind: String,
    severity: Option<Cell>,
    status: Cell,
    steps: Vec<Step>,
    /// The text of the stage that is next, and of the others.
    next: Option<Letter>,
    others: Vec<Letter>,
    send: Option<Handed>,
    known: Vec<Handed>,
    /// Why it is closed or withdrawn.
    note: Input,
    can_close: bool,
    can_withdraw: bool,
    facts: Facts,
    history: History,
    faults: Option<FaultList>,
}

/// `GET /cra-reports`
pub fn list(visit: &Visit) -> Answer {
    let (words, query, now_ms) = (Words::of(visit), &visit.query, visit.app.clock.now_ms());
    let listed = visit.tenant()?.cra_reports(query)?;
    let row = |report: &CraReport| Row {
        title: Cell { class: "title", ..Cell::link(address(&report.id), &report.title) }
            .below(words.word(report.kind.name())),
        product: report.product_name.clone(),
        status: badge(words, report.status.name()),
        next: report.next_deadline().map(|(stage, _)| Clock::of(words, report, stage, now_ms)),
        aware: Cell::optional_moment(words, report.became_aware_at),
    };
    let may_change = visit.may(Act::ChangeData);
    let mut empty = Empty::of(words, NOUN, PATH, query);
    if may_change {
        empty = empty.link("/cra-reports/new", words.t("cra.new"));
    }
    let found = words.count("cra.found", listed.total);
    let page = ListPage {
        frame: Frame::of(visit, PATH)?,
        may_change,
        csv: csv_of(PATH, query),
        filters: Filters::of(words, NOUN, PATH, query, PARAMS, found),
        heads: Heads::of(words, PATH, query, COLUMNS),
        rows: listed.items.iter().map(row).collect(),
        pager: Pager::of(words, PATH, query, listed.page, listed.items.len(), listed.total),
        empty,
    };
    Ok(Reply::html(render(&page)?))
}

/// `GET /cra-reports/{report}`
pub fn show(visit: &Visit) -> Answer {
    Ok(Reply::html(show_page(visit, None)?))
}

fn show_page(visit: &Visit, refused: Option<Faults>) -> Result<String, Error> {
    let (words, now_ms) = (Words::of(visit), visit.app.clock.now_ms());
    let report = visit.tenant()?.cra_report(&visit.id)?;
    let may_change = visit.may(Act::ChangeData);
    let moves: &[Status] = if may_change { report.status.moves() } else { &[] };
    let next = Stage::ALL.into_iter().find(|stage| report.sent_at(*stage).is_none());
    let next = next.filter(|_| report.status.is_running());
    let sent: Vec<Stage> = Stage::ALL.into_iter().filter(|stage| report.sent_at(*stage).is_some()).collect();
    let others = Stage::ALL.into_iter().filter(|stage| Some(*stage) != next);
    let step = |(place, stage): (usize, Stage)| Step {
        number: place + 1,
        is_next: Some(stage) == next,
        clock: Clock::of(words, &report, stage, now_ms),
        facts: stage_facts(words, &report, stage),
    };
    let mut inputs = Inputs::of(Words::of(visit), NOUN, &CRA_MOVE, Value::Null);
    if let Some(faults) = refused.as_ref().filter(|_| visit.sent.text("stage").is_none()) {
        inputs = inputs.again(visit, faults.clone());
    }
    let handed = |stage: Stage| handed(visit, &report, stage, refused.as_ref(), now_ms);
    let page = ShowPage {
        frame: Frame::of(visit, PATH)?,
        may_change,
        kind: words.word(report.kind.name()),
        severity: report.severity.map(|severity| badge(words, severity.name())),
        status: badge(words, report.status.name()),
        steps: Stage::ALL.into_iter().enumerate().map(step).collect(),
        next: next.map(|stage| Letter::of(words, &report, stage)),
        others: others.map(|stage| Letter::of(words, &report, stage)).collect(),
        send: next.filter(|_| may_change).map(handed),
        known: sent.into_iter().filter(|_| may_change).map(handed).collect(),
        note: inputs.field("note"),
        can_close: moves.contains(&Status::Closed),
        can_withdraw: moves.contains(&Status::Withdrawn),
        facts: facts(words, &report),
        history: History::of(visit, NOUN, &report.id, &format!("{}/notes", address(&report.id)))?,
        faults: refused.as_ref().map(|faults| FaultList::refused(words, faults)),
        report,
    };
    render(&page)
}

fn submission(report: &CraReport, stage: Stage) -> Option<&Submission> {
    report.submissions.iter().find(|submission| submission.stage == stage)
}

fn stage_facts(words: Words, report: &CraReport, stage: Stage) -> Facts {
    let name = |field: &str| words.field(NOUN, field);
    let mut facts = Facts::default().with(name("due_at"), Cell::optional_moment(words, report.due_at(stage)));
    if let Some(sent_at) = report.sent_at(stage) {
        facts = facts.with(name("submitted_at"), Cell::moment(words, sent_at));
    }
    if let Some(submission) = submission(report, stage) {
        facts = facts
            .with(name("authority"), Cell::optional(words, submission.authority.as_deref()))
            .with(name("reference"), Cell::optional(words, submission.reference.as_deref()));
    }
    if report.starts_at(stage).is_none() {
        facts = facts.with(name("starts"), Cell::text(words.t(starts_key(report.kind, stage))));
    }
    facts
}

fn starts_key(kind: Kind, stage: Stage) -> &'static str {
    match (stage, kind) {
        (Stage::EarlyWarning | Stage::Notification, _) => "cra.starts.awareness",
        (Stage::FinalReport, Kind::ExploitedVulnerability) => "cra.starts.measure",
        (Stage::FinalReport, Kind::SevereIncident) => "cra.starts.notification",
    }
}

fn handed(visit: &Visit, report: &CraReport, stage: Stage, refused: Option<&Faults>, now_ms: i64) -> Handed {
    let known = submission(report, stage);
    let held = json!({
        "submitted_at": rfc3339(report.sent_at(stage).unwrap_or(now_ms)),
        "reference": known.and_then(|known| known.reference.clone()),
        "authority": known.and_then(|known| known.authority.clone()),
    });
    let mut inputs = Inputs::of(Words::of(visit), NOUN, &CRA_SUBMISSION, held);
    // What was typed belongs to the stage that it was typed for.
    if let Some(faults) = refused.filter(|_| visit.sent.text("stage") == Some(stage.name())) {
        inputs = inputs.again(visit, faults.clone());
    }
    let field = |name: &str| inputs.field(name).named(&format!("{}-{name}", stage.name()));
    Handed {
        stage: stage.name(),
        name: Words::of(visit).word(stage.name()),
        fields: [field("submitted_at"), field("authority"), field("reference"), field("note")],
    }
}

fn facts(words: Words, report: &CraReport) -> Facts {
    let name = |field: &str| words.field(NOUN, field);
    let states = (!report.member_states.is_empty()).then(|| report.member_states.join(", "));
    Facts::default()
        .with(name("kind"), Cell::text(words.word(report.kind.name())))
        .with(name("product_name"), Cell::text(&report.product_name))
        .with(name("product_version"), Cell::optional(words, report.product_version.as_deref()))
        .with(name("cve_id"), Cell::optional(words, report.cve_id.as_deref()))
        .with(
            name("cvss_score"),
            Cell::optional(words, report.cvss_score.map(|score| format!("{score:.1}")).as_deref()),
        )
        .with(name("became_aware_at"), Cell::optional_moment(words, report.became_aware_at))
        .with(name("corrective_measure_at"), Cell::optional_moment(words, report.corrective_measure_at))
        .with(name("member_states"), Cell::optional(words, states.as_deref()))
        .with(name("updated_at"), Cell::moment(words, report.updated_at))
        .with(name("id"), Cell::reference(&report.id))
}

/// `POST /cra-reports/{report}/submissions`: records a stage as sent, or what came back of one that was.
pub fn submit(visit: &Visit) -> Answer {
    settle(
        visit.sent.values().and_then(|values| visit.tenant()?.record_submission(&visit.id, values)),
        |report| Ok(visit.go(&address(&report.id), Notice::new("done.cra_submitted"))),
        |faults| show_page(visit, Some(faults)),
    )
}

/// `POST /cra-reports/{report}/status`
pub fn move_on(visit: &Visit) -> Answer {
    settle(
        visit.sent.values().and_then(|values| visit.tenant()?.change_cra_report(&visit.id, values)),
        |report| Ok(visit.go(&address(&report.id), Notice::new("done.cra_moved"))),
        |faults| show_page(visit, Some(faults)),
    )
}

/// `GET /cra-reports/{report}/delete`
pub fn ask_delete(visit: &Visit) -> Answer {
    confirm_delete(visit)?.answer(None)
}

/// `POST /cra-reports/{report}/delete`
pub fn delete(visit: &Visit) -> Answer {
    match visit.tenant()?.delete_cra_report(&visit.id) {
        Ok(()) => Ok(visit.go(PATH, Notice::new("done.cra_deleted"))),
        Err(error) => confirm_delete(visit)?.answer(Some(error)),
    }
}

fn confirm_delete(visit: &Visit) -> Result<Confirm, Error> {
    let report = visit.tenant()?.cra_report(&visit.id)?;
    Confirm::deletion(visit, PATH, NOUN, address(&report.id), &report.title)
}

/// `POST /cra-reports/{report}/notes`
pub fn note(visit: &Visit) -> Answer {
    deed::note(visit, &address(&visit.id), show_page)
}

/// Where a report is.
pub fn address(id: &str) -> String {
    format!("{PATH}/{id}")
}
