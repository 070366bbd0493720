//! Programmes: list, one, new, edit, moves, delete, notes. The pattern that the pages of every noun follow.

use super::confirm::Confirm;
use super::deed::{self, settle};
use super::export::csv_of;
use super::frame::Frame;
use super::part::{
    Cell, Column, Empty, Facts, FaultList, Filters, Heads, History, Input, Inputs, Pager, badge, column,
};
use super::words::Words;
use super::{asset, render};
use crate::domain::moves::PROGRAMME_MOVE;
use crate::domain::programme::{Framework, NEW_PROGRAMME, PROGRAMME_PATCH, Programme, Status};
use crate::domain::query::{OFFSET, Param, SEARCH, filter};
use crate::domain::user::Act;
use crate::error::{Error, Faults};
use crate::http::{Answer, Notice, Reply, Visit};
use crate::store::PROGRAMME_SORTS;
use askama::Template;
use serde_json::{Value, json};

const NOUN: &str = "programme";
const PATH: &str = "/programmes";

/// What the list may be asked for. There is no `limit`: a page stays small.
pub static PARAMS: &[Param] = &[
    OFFSET,
    SEARCH,
    filter("status", Status::NAMES, "Only programmes with this status."),
    filter("framework", Framework::NAMES, "Only programmes of this framework."),
    filter("sort", PROGRAMME_SORTS, "The order."),
];

static COLUMNS: &[Column] = &[
    column("programme.field.name", Some("name")),
    column("programme.field.framework", Some("framework")),
    column("programme.field.status", Some("status")),
    column("programme.field.owner", Some("owner")),
    column("programme.field.progress_pct", None).figures(),
    column("programme.field.open_finding_count", None).figures(),
    column("programme.field.ends_on", Some("ends")).figures(),
];

struct Row {
    name: Cell,
    framework: String,
    status: Cell,
    owner: Cell,
    progress: String,
    open: String,
    ends_on: Cell,
}

#[derive(Template)]
#[template(path = "programme_list.html")]
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
#[template(path = "programme.html")]
struct ShowPage {
    frame: Frame,
    may_change: bool,
    programme: Programme,
    status: Cell,
    framework: String,
    /// Status and what its button says; the first is the main one.
    moves: Vec<(&'static str, &'static str)>,
    note: Input,
    facts: Facts,
    history: History,
    faults: Option<FaultList>,
}

#[derive(Template)]
#[template(path = "programme_form.html")]
struct FormPage {
    frame: Frame,
    title: &'static str,
    action: String,
    back: String,
    faults: Option<FaultList>,
    name: Input,
    framework: Input,
    status: Option<Input>,
    owner: Input,
    starts_on: Input,
    ends_on: Input,
    description: Input,
}

/// `GET /programmes`
pub fn list(visit: &Visit) -> Answer {
    let (words, query) = (Words::of(visit), &visit.query);
    let listed = visit.tenant()?.programmes(query)?;
    let row = |programme: &Programme| Row {
        name: Cell { class: "title", ..Cell::link(address(&programme.id), &programme.name) },
        framework: words.word(programme.framework.name()),
        status: badge(words, programme.status.name()),
        owner: Cell::optional(words, programme.owner.as_deref()),
        progress: format!("{} %", words.decimal(programme.progress_pct)),
        open: words.number(u64::try_from(programme.open_finding_count).unwrap_or(0)),
        ends_on: Cell::day(words, programme.ends_on),
    };
    let may_change = visit.may(Act::ChangeData);
    let mut empty = Empty::of(words, NOUN, PATH, query);
    if may_change {
        empty = empty.link("/programmes/new", words.t("programme.new"));
    }
    let found = words.count("programme.found", listed.total);
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

/// `GET /programmes/{programme}`
pub fn show(visit: &Visit) -> Answer {
    Ok(Reply::html(show_page(visit, None)?))
}

fn show_page(visit: &Visit, refused: Option<Faults>) -> Result<String, Error> {
    let words = Words::of(visit);
    let faults = refused.as_ref().map(|faults| FaultList::one(faults.to_string()));
    let mut inputs = Inputs::of(Words::of(visit), NOUN, &PROGRAMME_MOVE, Value::Null);
    if let Some(faults) = refused {
        inputs = inputs.again(visit, faults);
    }
    let programme = visit.tenant()?.programme(&visit.id)?;
    let name = |field: &str| words.field(NOUN, field);
    let facts = Facts::default()
        .with(name("owner"), Cell::optional(words, programme.owner.as_deref()))
        .with(name("starts_on"), Cell::day(words, programme.starts_on))
        .with(name("ends_on"), Cell::day(words, programme.ends_on))
        .with(name("progress_pct"), Cell::text(format!("{} %", words.decimal(programme.progress_pct))))
        .with(name("test_case_count"), Cell::text(programme.test_case_count.to_string()))
        .with(name("open_finding_count"), Cell::text(programme.open_finding_count.to_string()))
        .with(name("updated_at"), Cell::moment(words, programme.updated_at))
        .with(name("id"), Cell::reference(&programme.id));
    let may_change = visit.may(Act::ChangeData);
    let moves =
        programme.status.moves().iter().map(|to| (to.name(), move_text(words, programme.status, *to)));
    let page = ShowPage {
        frame: Frame::of(visit, PATH)?,
        may_change,
        status: badge(words, programme.status.name()),
        framework: words.word(programme.framework.name()),
        moves: moves.filter(|_| may_change).collect(),
        note: inputs.field("note"),
        facts,
        history: History::of(visit, NOUN, &programme.id, &format!("{}/notes", address(&programme.id)))?,
        faults,
        programme,
    };
    render(&page)
}

fn move_text(words: Words, from: Status, to: Status) -> &'static str {
    match (from, to) {
        (Status::Completed | Status::Archived, Status::Active) => words.t("programme.move.reopen"),
        (_, Status::Active) => words.t("programme.move.active"),
        (_, Status::Completed) => words.t("programme.move.completed"),
        (_, Status::Archived) => words.t("programme.move.archived"),
        (_, Status::Draft) => words.t("programme.move.draft"),
    }
}

/// `GET /programmes/new`
pub fn new(visit: &Visit) -> Answer {
    let inputs = Inputs::of(Words::of(visit), NOUN, &NEW_PROGRAMME, first_values());
    Ok(Reply::html(form_page(visit, &inputs, None)?))
}

/// `POST /programmes`
pub fn create(visit: &Visit) -> Answer {
    settle(
        visit.sent.values().and_then(|values| visit.tenant()?.create_programme(values)),
        |programme| Ok(visit.go(&address(&programme.id), Notice::new("done.programme_created"))),
        |faults| {
            let inputs =
                Inputs::of(Words::of(visit), NOUN, &NEW_PROGRAMME, first_values()).again(visit, faults);
            form_page(visit, &inputs, None)
        },
    )
}

fn first_values() -> Value {
    json!({ "status": "draft" })
}

/// `GET /programmes/{programme}/edit`
pub fn edit(visit: &Visit) -> Answer {
    let programme = visit.tenant()?.programme(&visit.id)?;
    let inputs = Inputs::of(Words::of(visit), NOUN, &PROGRAMME_PATCH, json!(programme));
    Ok(Reply::html(form_page(visit, &inputs, Some(&programme.id))?))
}

/// `POST /programmes/{programme}`
pub fn change(visit: &Visit) -> Answer {
    let tenant = visit.tenant()?;
    settle(
        visit.sent.values().and_then(|values| tenant.change_programme(&visit.id, values)),
        |programme| Ok(visit.go(&address(&programme.id), Notice::new("done.programme_changed"))),
        |faults| {
            let programme = tenant.programme(&visit.id)?;
            let inputs =
                Inputs::of(Words::of(visit), NOUN, &PROGRAMME_PATCH, json!(programme)).again(visit, faults);
            form_page(visit, &inputs, Some(&programme.id))
        },
    )
}

fn form_page(visit: &Visit, inputs: &Inputs, id: Option<&str>) -> Result<String, Error> {
    let words = Words::of(visit);
    let here = id.map_or(PATH.to_owned(), address);
    render(&FormPage {
        frame: Frame::of(visit, PATH)?,
        title: if id.is_some() { words.t("programme.edit") } else { words.t("programme.new") },
        action: here.clone(),
        back: here,
        faults: inputs.faults(),
        name: inputs.field("name"),
        framework: inputs.field("framework"),
        // A programme that exists is moved on its own page, where only what is possible is offered.
        status: id.is_none().then(|| inputs.field("status")),
        owner: inputs.field("owner"),
        starts_on: inputs.field("starts_on"),
        ends_on: inputs.field("ends_on"),
        description: inputs.field("description"),
    })
}

/// `POST /programmes/{programme}/status`
pub fn move_on(visit: &Visit) -> Answer {
    settle(
        visit.sent.values().and_then(|values| visit.tenant()?.change_programme(&visit.id, values)),
        |programme| Ok(visit.go(&address(&programme.id), Notice::new("done.programme_moved"))),
        |faults| show_page(visit, Some(faults)),
    )
}

/// `GET /programmes/{programme}/delete`
pub fn ask_delete(visit: &Visit) -> Answer {
    confirm_delete(visit)?.answer(None)
}

/// `POST /programmes/{programme}/delete`
pub fn delete(visit: &Visit) -> Answer {
    match visit.tenant()?.delete_programme(&visit.id) {
        Ok(()) => Ok(visit.go(PATH, Notice::new("done.programme_deleted"))),
        Err(error) => confirm_delete(visit)?.answer(Some(error)),
    }
}

fn confirm_delete(visit: &Visit) -> Result<Confirm, Error> {
    let programme = visit.tenant()?.programme(&visit.id)?;
    Confirm::deletion(visit, PATH, NOUN, address(&programme.id), &programme.name)
}

/// `POST /programmes/{programme}/notes`
pub fn note(visit: &Visit) -> Answer {
    deed::note(visit, &address(&visit.id), show_page)
}

fn address(id: &str) -> String {
    format!("{PATH}/{id}")
}
