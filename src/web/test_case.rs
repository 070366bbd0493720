//! Test cases: list, one, new, edit, moves, delete, notes.

use super::confirm::Confirm;
use super::deed::{self, settle};
use super::export::csv_of;
use super::finding::{measure, of_object};
use super::frame::Frame;
use super::part::{
    Cell, Column, Empty, Facts, FaultList, Filters, Heads, History, Input, Inputs, Pager, badge, column,
};
use super::words::Words;
use super::{asset, choose, render};
use crate::domain::day::Day;
use crate::domain::moves::TEST_CASE_MOVE;
use crate::domain::query::{LIMIT, OFFSET, Param, Query, SEARCH, encode, filter};
use crate::domain::test_case::{NEW_TEST_CASE, Priority, Status, TEST_CASE_PATCH, TestCase, Type};
use crate::domain::user::Act;
use crate::error::{Error, Faults};
use crate::http::{Answer, Notice, Reply, Visit};
use crate::store::TEST_CASE_SORTS;
use askama::Template;
use serde_json::{Value, json};

const NOUN: &str = "test_case";
const PATH: &str = "/test-cases";

/// What the list may be asked for. There is no `limit`: a page stays small.
pub static PARAMS: &[Param] = &[
    OFFSET,
    SEARCH,
    filter("status", Status::NAMES, "Only test cases with this status."),
    filter("type", Type::NAMES, "Only test cases of this kind."),
    filter("priority", Priority::NAMES, "Only test cases of this priority."),
    of_object("programme_id", "Only test cases of this programme."),
    filter("sort", TEST_CASE_SORTS, "The order."),
];

/// What a new test case may be told at first.
pub static NEW_PARAMS: &[Param] = &[of_object("programme_id", "The programme it belongs to.")];

/// So many of its findings are shown on its page.
const FINDINGS_SHOWN: u64 = 20;
static OF_CASE: &[Param] =
    &[LIMIT, filter("status", &["all"], "All."), of_object("test_case_id", "Findings of a test case.")];

static COLUMNS: &[Column] = &[
    column("test_case.title_one", Some("title")),
    column("test_case.field.type", Some("type")),
    column("test_case.field.priority", Some("priority")),
    column("test_case.field.status", Some("status")),
    column("test_case.field.assignee", Some("assignee")),
    column("test_case.field.finding_count", None).figures(),
    column("test_case.field.due_on", Some("due")).figures(),
];

struct Row {
    title: Cell,
    kind: String,
    priority: Cell,
    status: Cell,
    assignee: Cell,
    findings: String,
    due_on: Cell,
}

#[derive(Template)]
#[template(path = "test_case_list.html")]
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

#[derive(Template)]
#[template(path = "test_case.html")]
struct ShowPage {
    frame: Frame,
    may_change: bool,
    case: TestCase,
    kind: String,
    status: Cell,
    priority: Cell,
    due: Cell,
    /// Status and what its button says; the first is the main one.
    moves: Vec<(&'static str, &'static str)>,
    result: Option<Input>,
    note: Input,
    measures: Vec<Cell>,
    /// What it found: the finding, and how bad it is.
    findings: Vec<(Cell, Cell)>,
    more_findings: bool,
    facts: Facts,
    history: History,
    faults: Option<FaultList>,
}

#[derive(Template)]
#[template(path = "test_case_form.html")]
struct FormPage {
    frame: Frame,
    title: &'static str,
    action: String,
    back: String,
    faults: Option<FaultList>,
    fields: [Input; 9],
    /// What a test case has that was begun: when it was run, and what came out.
    outcome: Option<(Input, Input)>,
}

/// `GET /test-cases`
pub fn list(visit: &Visit) -> Answer {
    let (words, query, tenant) = (Words::of(visit), &visit.query, visit.tenant()?);
    let today = Day::of_ms(visit.app.clock.now_ms());
    let listed = tenant.test_cases(query)?;
    let programmes = choose::programmes(&tenant, query.get("programme_id"))?;
    let name_of = |id: &str| {
        let found = programmes.iter().find(|(known, _)| known == id);
        found.map(|(_, name)| name.clone()).unwrap_or_default()
    };
    let row = |case: &TestCase| Row {
        title: Cell { class: "title", ..Cell::link(address(&case.id), &case.title) }
            .below(name_of(&case.programme_id)),
        kind: words.word(case.r#type.name()),
        priority: badge(words, case.priority.name()),
        status: badge(words, case.status.name()),
        assignee: Cell::optional(words, case.assignee.as_deref()),
        findings: words.number(u64::try_from(case.finding_count).unwrap_or(0)),
        due_on: due(words, case, today),
    };
    let may_change = visit.may(Act::ChangeData);
    let mut empty = Empty::of(words, NOUN, PATH, query);
    if may_change {
        empty = empty.link("/test-cases/new", words.t("test_case.new"));
    }
    let found = words.count("test_case.found", listed.total);
    let page = ListPage {
        frame: Frame::of(visit, PATH)?,
        may_change,
        csv: csv_of(PATH, query),
        heads: Heads::of(words, PATH, query, COLUMNS),
        rows: listed.items.iter().map(row).collect(),
        filters: Filters::of(words, NOUN, PATH, query, PARAMS, found)
            .options("programme_id", programmes.clone()),
        pager: Pager::of(words, PATH, query, listed.page, listed.items.len(), listed.total),
        empty,
    };
    Ok(Reply::html(render(&page)?))
}

/// When it is due; late or soon only while it is not finished.
fn due(words: Words, case: &TestCase, today: Day) -> Cell {
    match case.status.is_finished() {
        true => Cell::day(words, case.due_on),
        false => Cell::due(words, case.due_on, today),
    }
}

/// `GET /test-cases/{test_case}`
pub fn show(visit: &Visit) -> Answer {
    Ok(Reply::html(show_page(visit, None)?))
}

fn show_page(visit: &Visit, refused: Option<Faults>) -> Result<String, Error> {
    let (words, tenant) = (Words::of(visit), visit.tenant()?);
    let case = tenant.test_case(&visit.id)?;
    let today = Day::of_ms(visit.app.clock.now_ms());
    let may_change = visit.may(Act::ChangeData);
    let mut inputs = Inputs::of(Words::of(visit), NOUN, &TEST_CASE_MOVE, json!(case));
    if let Some(faults) = refused {
        inputs = inputs.again(visit, faults);
    }
    let offered: &[Status] = if may_change { case.status.moves() } else { &[] };
    let asked = format!("limit={FINDINGS_SHOWN}&status=all&test_case_id={}", encode(&case.id));
    let found = tenant.listed_findings(&Query::check(&asked, OF_CASE).map_err(Error::Invalid)?)?;
    let shown = |finding: &crate::domain::finding::Finding| {
        let title = Cell::link(super::finding::address(&finding.id), &finding.title);
        (title.below(words.word(finding.status.name())), badge(words, finding.severity.name()))
    };
    let page = ShowPage {
        frame: Frame::of(visit, PATH)?,
        may_change,
        kind: words.word(case.r#type.name()),
        status: badge(words, case.status.name()),
        priority: badge(words, case.priority.name()),
        due: due(words, &case, today),
        moves: offered.iter().map(|to| (to.name(), move_text(words, case.status, *to))).collect(),
        result: offered.contains(&Status::Passed).then(|| inputs.field("result_summary")),
        note: inputs.field("note"),
        measures: case.measure_ids.iter().map(|id| measure(visit, id)).collect(),
        findings: found.items.iter().map(shown).collect(),
        more_findings: found.total > found.items.len() as u64,
        facts: facts(visit, &case, today)?,
        history: History::of(visit, NOUN, &case.id, &format!("{}/notes", address(&case.id)))?,
        faults: inputs.faults(),
        case,
    };
    render(&page)
}

fn facts(visit: &Visit, case: &TestCase, today: Day) -> Result<Facts, Error> {
    let words = Words::of(visit);
    let name = |field: &str| words.field(NOUN, field);
    let programme = visit.tenant()?.programme(&case.programme_id)?.name;
    Ok(Facts::default()
        .with(name("programme_id"), Cell::link(format!("/programmes/{}", case.programme_id), programme))
        .with(name("assignee"), Cell::optional(words, case.assignee.as_deref()))
        .with(name("scheduled_on"), Cell::day(words, case.scheduled_on))
        .with(name("due_on"), due(words, case, today))
        .with(name("executed_at"), Cell::optional_moment(words, case.executed_at))
        .with(name("updated_at"), Cell::moment(words, case.updated_at))
        .with(name("id"), Cell::reference(&case.id)))
}

fn move_text(words: Words, from: Status, to: Status) -> &'static str {
    match (from, to) {
        (Status::Passed | Status::Failed, Status::InProgress) => words.t("test_case.move.again"),
        (Status::Blocked, Status::InProgress) => words.t("test_case.move.unblock"),
        (_, Status::InProgress) => words.t("test_case.move.begin"),
        (_, Status::Passed) => words.t("test_case.move.passed"),
        (_, Status::Failed) => words.t("test_case.move.failed"),
        (_, Status::Blocked) => words.t("test_case.move.blocked"),
        (_, Status::Cancelled) => words.t("test_case.move.cancelled"),
        (_, Status::Planned) => words.t("test_case.move.planned"),
    }
}

/// `GET /test-cases/new`
pub fn new(visit: &Visit) -> Answer {
    let first = json!({ "programme_id": visit.query.get("programme_id"), "priority": "medium" });
    Ok(Reply::html(form_page(visit, &Inputs::of(Words::of(visit), NOUN, &NEW_TEST_CASE, first), None)?))
}

/// `POST /test-cases`
pub fn create(visit: &Visit) -> Answer {
    settle(
        visit.sent.values().and_then(|values| visit.tenant()?.create_test_case(values)),
        |case| Ok(visit.go(&address(&case.id), Notice::new("done.test_case_created"))),
        |faults| {
            let inputs = Inputs::of(Words::of(visit), NOUN, &NEW_TEST_CASE, Value::Null).again(visit, faults);
            form_page(visit, &inputs, None)
        },
    )
}

/// `GET /test-cases/{test_case}/edit`
pub fn edit(visit: &Visit) -> Answer {
    let case = visit.tenant()?.test_case(&visit.id)?;
    let inputs = Inputs::of(Words::of(visit), NOUN, &TEST_CASE_PATCH, json!(case));
    Ok(Reply::html(form_page(visit, &inputs, Some(&case))?))
}

/// `POST /test-cases/{test_case}`
pub fn change(visit: &Visit) -> Answer {
    let tenant = visit.tenant()?;
    settle(
        visit.sent.values().and_then(|values| tenant.change_test_case(&visit.id, values)),
        |case| Ok(visit.go(&address(&case.id), Notice::new("done.test_case_changed"))),
        |faults| {
            let case = tenant.test_case(&visit.id)?;
            let inputs =
                Inputs::of(Words::of(visit), NOUN, &TEST_CASE_PATCH, json!(case)).again(visit, faults);
            form_page(visit, &inputs, Some(&case))
        },
    )
}

fn form_page(visit: &Visit, inputs: &Inputs, case: Option<&TestCase>) -> Result<String, Error> {
    let (words, tenant) = (Words::of(visit), visit.tenant()?);
    let here = case.map_or(PATH.to_owned(), |case| address(&case.id));
    let own = case.map(|case| case.programme_id.as_str()).or(visit.query.get("programme_id"));
    let programme = visit.sent.text("programme_id").or(own).filter(|id| !id.is_empty());
    let was_begun = case.is_some_and(|case| case.status != Status::Planned);
    render(&FormPage {
        frame: Frame::of(visit, PATH)?,
        title: if case.is_some() { words.t("test_case.edit") } else { words.t("test_case.new") },
        action: here.clone(),
        back: here,
        faults: inputs.faults(),
        fields: [
            inputs.field("title"),
            inputs.pick("programme_id", choose::programmes(&tenant, programme)?).must(),
            inputs.field("type"),
            inputs.field("priority"),
            inputs.field("assignee"),
            inputs.field("scheduled_on"),
            inputs.field("due_on"),
            inputs.field("description"),
            inputs.field("measure_ids"),
        ],
        outcome: was_begun.then(|| (inputs.field("executed_at"), inputs.field("result_summary"))),
    })
}

/// `POST /test-cases/{test_case}/status`
pub fn move_on(visit: &Visit) -> Answer {
    settle(
        visit.sent.values().and_then(|values| visit.tenant()?.change_test_case(&visit.id, values)),
        |case| Ok(visit.go(&address(&case.id), Notice::new("done.test_case_moved"))),
        |faults| show_page(visit, Some(faults)),
    )
}

/// `GET /test-cases/{test_case}/delete`
pub fn ask_delete(visit: &Visit) -> Answer {
    confirm_delete(visit)?.answer(None)
}

/// `POST /test-cases/{test_case}/delete`
pub fn delete(visit: &Visit) -> Answer {
    match visit.tenant()?.delete_test_case(&visit.id) {
        Ok(()) => Ok(visit.go(PATH, Notice::new("done.test_case_deleted"))),
        Err(error) => confirm_delete(visit)?.answer(Some(error)),
    }
}

fn confirm_delete(visit: &Visit) -> Result<Confirm, Error> {
    let case = visit.tenant()?.test_case(&visit.id)?;
    Confirm::deletion(visit, PATH, NOUN, address(&case.id), &case.title)
}

/// `POST /test-cases/{test_case}/notes`
pub fn note(visit: &Visit) -> Answer {
    deed::note(visit, &address(&visit.id), show_page)
}

fn address(id: &str) -> String {
    format!("{PATH}/{id}")
}
