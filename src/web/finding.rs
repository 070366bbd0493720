//! Findings: list, one, moves, notes.

use super::deed::{self, settle};
use super::document::pdf_of;
use super::export::csv_of;
use super::frame::{Frame, is_open};
use super::part::{
    Cell, Column, Empty, Facts, FaultList, Filters, Heads, History, Input, Inputs, Pager, badge, column,
};
use super::words::Words;
use super::{asset, choose, render};
use crate::domain::bulk::BULK_MOVE;
use crate::domain::day::Day;
use crate::domain::finding::{Finding, Severity, Status};
use crate::domain::moves::FINDING_MOVE;
use crate::domain::query::{OFFSET, Param, ParamKind, Query, SEARCH, filter};
use crate::domain::user::Act;
use crate::error::{Error, Faults};
use crate::http::{Answer, Notice, Reply, Visit};
use crate::store::FINDING_SORTS;
use askama::Template;
use serde_json::{Value, json};

/// The noun in the catalogue.
pub const NOUN: &str = "finding";
/// Where findings are.
pub const PATH: &str = "/findings";
/// The words of `status` in the list: each status, and all of them.
const STATUS_FILTER: &[&str] =
    &["open", "in_progress", "resolved", "closed", "risk_accepted", "false_positive", "all"];

/// What the list may be asked for. There is no `limit`: a page stays small.
pub static PARAMS: &[Param] = &[
    OFFSET,
    SEARCH,
    filter("severity", Severity::NAMES, "Only findings of this severity."),
    filter("status", STATUS_FILTER, "Only findings with this status; without it the open ones."),
    of_object("programme_id", "Only findings of this programme."),
    of_object("test_case_id", "Only findings of this test case."),
    filter("overdue", &["true", "false"], "Only findings that are, or are not, overdue."),
    filter("sort", FINDING_SORTS, "The order."),
];

/// A filter by an object of the tenant's.
pub const fn of_object(name: &'static str, says: &'static str) -> Param {
    Param { name, kind: ParamKind::Text { max_chars: 64 }, says }
}

static COLUMNS: &[Column] = &[
    Column { class: "tick", ..column("finding.tick", None) },
    column("finding.title_one", Some("title")),
    column("finding.field.severity", Some("severity")),
    column("finding.field.status", Some("status")),
    column("finding.field.owner", Some("owner")),
    column("finding.field.detected_on", Some("detected")).figures(),
    column("finding.field.due_on", Some("due")).figures(),
];

/// The lists that people ask for again and again: key of the catalogue, and what stands in the address.
static VIEWS: &[(&str, &[(&str, &str)])] = &[
    ("finding.view.open", &[]),
    ("finding.view.overdue", &[("overdue", "true")]),
    ("finding.view.to_verify", &[("status", "resolved")]),
    ("finding.view.accepted", &[("status", "risk_accepted")]),
    ("finding.view.all", &[("status", "all")]),
];

struct Row {
    id: String,
    plain_title: String,
    title: Cell,
    severity: Cell,
    status: Cell,
    owner: Cell,
    detected_on: Cell,
    due_on: Cell,
}

/// A link to a view: where, what, and whether it is this one.
struct View {
    href: String,
    text: &'static str,
    here: bool,
}

#[derive(Template)]
#[template(path = "finding_list.html")]
struct ListPage {
    frame: Frame,
    may_change: bool,
    views: Vec<View>,
    csv: String,
    pdf: String,
    filters: Filters,
    heads: Heads,
    rows: Vec<Row>,
    to: Input,
    pager: Pager,
    empty: Empty,
}

#[derive(Template)]
#[template(path = "finding.html")]
struct ShowPage {
    frame: Frame,
    may_change: bool,
    finding: Finding,
    severity: Cell,
    status: Cell,
    due: Cell,
    /// The way to closure: status, has it been passed, is it here.
    steps: Vec<(Cell, bool, bool)>,
    /// Status and what its button says; the first is the main one.
    moves: Vec<(&'static str, &'static str)>,
    note: Input,
    accept: Option<Accept>,
    measures: Vec<Cell>,
    facts: Facts,
    history: History,
    faults: Option<FaultList>,
}

/// What accepting the risk asks for.
struct Accept {
    open: bool,
    reason: Input,
    expires_on: Input,
    note: Input,
}

/// `GET /findings`
pub fn list(visit: &Visit) -> Answer {
    let (words, query, tenant) = (Words::of(visit), &visit.query, visit.tenant()?);
    let today = Day::of_ms(visit.app.clock.now_ms());
    let listed = tenant.listed_findings(query)?;
    let programmes = choose::programmes(&tenant, query.get("programme_id"))?;
    let name_of = |id: Option<&str>| {
        let found = programmes.iter().find(|(known, _)| Some(known.as_str()) == id);
        found.map(|(_, name)| name.clone()).unwrap_or_default()
    };
    let row = |finding: &Finding| Row {
        id: finding.id.clone(),
        plain_title: finding.title.clone(),
        title: Cell { class: "title", ..Cell::link(address(&finding.id), &finding.title) }
            .below(name_of(finding.programme_id.as_deref())),
        severity: badge(words, finding.severity.name()),
        status: badge(words, finding.status.name()),
        owner: Cell::optional(words, finding.owner.as_deref()),
        detected_on: Cell::day(words, Some(finding.detected_on)),
        due_on: due(words, finding, today),
    };
    let may_change = visit.may(Act::ChangeData);
    let mut empty = Empty::of(words, NOUN, PATH, query);
    if may_change {
        empty = empty.link("/findings/new", words.t("finding.new"));
    }
    let cases = choose::test_cases(&tenant, query.get("test_case_id"))?;
    let filters = Filters::of(words, NOUN, PATH, query, PARAMS, words.count("finding.found", listed.total));
    let page = ListPage {
        frame: Frame::of(visit, PATH)?,
        may_change,
        views: views(words, query),
        csv: csv_of(PATH, query),
        pdf: pdf_of(PATH, query),
        filters: filters.options("programme_id", programmes.clone()).options("test_case_id", cases),
        heads: Heads::of(words, PATH, query, if may_change { COLUMNS } else { &COLUMNS[1..] }),
        rows: listed.items.iter().map(row).collect(),
        to: Inputs::of(Words::of(visit), "bulk", &BULK_MOVE, Value::Null).field("status"),
        pager: Pager::of(words, PATH, query, listed.page, listed.items.len(), listed.total),
        empty,
    };
    Ok(Reply::html(render(&page)?))
}

fn views(words: Words, query: &Query) -> Vec<View> {
    let now: Vec<(&str, &str)> =
        query.given().filter(|(name, _)| !["sort", "offset"].contains(name)).collect();
    let view = |(key, of): &(&str, &[(&str, &str)])| View {
        href: Query::default().link(PATH, of),
        text: words.t(key),
        here: now == *of,
    };
    VIEWS.iter().map(view).collect()
}

/// When it is due; late or soon only while somebody has to work on it.
fn due(words: Words, finding: &Finding, today: Day) -> Cell {
    match finding.status.is_open() {
        true => Cell::due(words, finding.due_on, today),
        false => Cell::day(words, finding.due_on),
    }
}

/// `GET /findings/{finding}`
pub fn show(visit: &Visit) -> Answer {
    Ok(Reply::html(show_page(visit, None)?))
}

fn show_page(visit: &Visit, refused: Option<Faults>) -> Result<String, Error> {
    let (words, tenant) = (Words::of(visit), visit.tenant()?);
    let finding = tenant.finding(&visit.id)?;
    let today = Day::of_ms(visit.app.clock.now_ms());
    let may_change = visit.may(Act::ChangeData);
    let offered: &[Status] = if may_change { finding.status.moves() } else { &[] };
    let tried = visit.sent.text("acceptance_reason").is_some();
    let mut inputs = Inputs::of(Words::of(visit), NOUN, &FINDING_MOVE, json!(finding));
    if let Some(faults) = refused {
        inputs = inputs.again(visit, faults);
    }
    let accept = offered.contains(&Status::RiskAccepted).then(|| Accept {
        open: tried,
        reason: inputs.field("acceptance_reason").must(),
        expires_on: inputs.field("acceptance_expires_on").must(),
        note: inputs.field("note").named("accept-note"),
    });
    let buttons = offered.iter().filter(|to| **to != Status::RiskAccepted);
    let page = ShowPage {
        frame: Frame::of(visit, PATH)?,
        may_change,
        severity: badge(words, finding.severity.name()),
        status: badge(words, finding.status.name()),
        due: due(words, &finding, today),
        steps: steps(words, finding.status),
        moves: buttons.map(|to| (to.name(), move_text(words, finding.status, *to))).collect(),
        note: inputs.field("note"),
        accept,
        measures: finding.measure_ids.iter().map(|id| measure(visit, id)).collect(),
        facts: facts(visit, &finding, today)?,
        history: History::of(visit, NOUN, &finding.id, &format!("{}/notes", address(&finding.id)))?,
        faults: inputs.faults(),
        finding,
    };
    render(&page)
}

/// A measure, with a link where there is a page of it.
pub fn measure(visit: &Visit, id: &str) -> Cell {
    match is_open(visit, "/measures/{measure}") {
        true => Cell { class: "ref", ..Cell::link(format!("/measures/{id}"), id) },
        false => Cell { class: "ref", ..Cell::text(id) },
    }
}

fn facts(visit: &Visit, finding: &Finding, today: Day) -> Result<Facts, Error> {
    let (words, tenant) = (Words::of(visit), visit.tenant()?);
    let name = |field: &str| words.field(NOUN, field);
    let programme = match finding.programme_id.as_deref() {
        Some(id) => Cell::link(format!("/programmes/{id}"), tenant.programme(id)?.name),
        None => Cell::missing(words),
    };
    let test_case = match finding.test_case_id.as_deref() {
        Some(id) if is_open(visit, "/test-cases") => {
            Cell::link(format!("/test-cases/{id}"), tenant.test_case(id)?.title)
        }
        Some(id) => Cell::text(tenant.test_case(id)?.title),
        None => Cell::missing(words),
    };
    let mut facts = Facts::default()
        .with(name("owner"), Cell::optional(words, finding.owner.as_deref()))
        .with(name("detected_on"), Cell::day(words, Some(finding.detected_on)))
        .with(name("due_on"), due(words, finding, today))
        .with(name("programme_id"), programme)
        .with(name("test_case_id"), test_case);
    if finding.status == Status::RiskAccepted {
        facts = facts
            .with(name("acceptance_reason"), Cell::optional(words, finding.acceptance_reason.as_deref()))
            .with(name("acceptance_expires_on"), Cell::due(words, finding.acceptance_expires_on, today));
    }
    if finding.closed_at.is_some() {
        facts = facts.with(name("closed_at"), Cell::optional_moment(words, finding.closed_at));
    }
    Ok(facts
        .with(name("updated_at"), Cell::moment(words, finding.updated_at))
        .with(name("id"), Cell::reference(&finding.id)))
}

/// The way from open to closed; empty for what left it.
fn steps(words: Words, now: Status) -> Vec<(Cell, bool, bool)> {
    let way = [Status::Open, Status::InProgress, Status::Resolved, Status::Closed];
    let Some(here) = way.iter().position(|status| *status == now) else { return Vec::new() };
    let step = |(place, status): (usize, &Status)| (badge(words, status.name()), place < here, place == here);
    way.iter().enumerate().map(step).collect()
}

fn move_text(words: Words, from: Status, to: Status) -> &'static str {
    match (from, to) {
        (Status::Open, Status::InProgress) => words.t("finding.move.begin"),
        (_, Status::InProgress) => words.t("finding.move.back_to_work"),
        (Status::InProgress, Status::Open) => words.t("finding.move.back_to_open"),
        (_, Status::Open) => words.t("finding.move.reopen"),
        (_, Status::Resolved) => words.t("finding.move.resolved"),
        (_, Status::Closed) => words.t("finding.move.closed"),
        (_, Status::RiskAccepted) => words.t("finding.accept"),
        (_, Status::FalsePositive) => words.t("finding.move.false_positive"),
    }
}

/// `POST /findings/{finding}/status`
pub fn move_on(visit: &Visit) -> Answer {
    settle(
        visit.sent.values().and_then(|values| visit.tenant()?.change_finding(&visit.id, values)),
        |finding| Ok(visit.go(&address(&finding.id), Notice::new("done.finding_moved"))),
        |faults| show_page(visit, Some(faults)),
    )
}

/// `POST /findings/{finding}/notes`
pub fn note(visit: &Visit) -> Answer {
    deed::note(visit, &address(&visit.id), show_page)
}

/// Where a finding is.
pub fn address(id: &str) -> String {
    format!("{PATH}/{id}")
}
