//! Providers: list, one with its arrangements, new, edit, delete.

use super::arrangement;
use super::confirm::Confirm;
use super::deed::settle;
use super::export::csv_of;
use super::frame::Frame;
use super::part::{Cell, Column, Empty, Facts, Filters, Heads, History, Inputs, Pager, column};
use super::plain::{PlainForm, PlainList, PlainShow, Section, Slot};
use super::words::Words;
use crate::domain::provider::{NEW_PROVIDER, PROVIDER_PATCH, Provider};
use crate::domain::query::{OFFSET, Param, SEARCH, filter};
use crate::domain::user::Act;
use crate::error::Error;
use crate::http::{Answer, Notice, Reply, Visit};
use crate::store::PROVIDER_SORTS;
use serde_json::{Value, json};

const NOUN: &str = "provider";
const PATH: &str = "/providers";
const FIELDS: [&str; 6] = ["name", "parent", "sector", "country", "region", "lei"];

/// What the list may be asked for. There is no `limit`: a page stays small.
pub static PARAMS: &[Param] = &[OFFSET, SEARCH, filter("sort", PROVIDER_SORTS, "The order.")];

static COLUMNS: &[Column] = &[
    column("provider.title_one", Some("name")),
    column("provider.field.parent", Some("parent")),
    column("provider.field.sector", Some("sector")),
    column("provider.field.country", Some("country")),
];

/// `GET /providers`
pub fn list(visit: &Visit) -> Answer {
    let (words, query) = (Words::of(visit), &visit.query);
    let listed = visit.tenant()?.providers(query)?;
    let slot = |field: &str, text: Option<&str>| Slot {
        label: words.field(NOUN, field),
        class: "",
        cell: Cell::optional(words, text),
    };
    let row = |provider: &Provider| {
        let first = Cell { class: "title", ..Cell::link(address(&provider.id), &provider.name) };
        let slots = vec![
            slot("parent", provider.parent.as_deref()),
            slot("sector", provider.sector.as_deref()),
            slot("country", provider.country.as_deref()),
        ];
        (first, slots)
    };
    let may_change = visit.may(Act::ChangeData);
    let mut empty = Empty::of(words, NOUN, PATH, query);
    if may_change {
        empty = empty.link("/providers/new", words.t("provider.new"));
    }
    let csv = (csv_of(PATH, query), words.t("document.csv"), false);
    let import = ("/register/import?kind=providers".to_owned(), words.t("import.link"), false);
    let new = ("/providers/new".to_owned(), words.t("provider.new"), true);
    let page = PlainList {
        frame: Frame::of(visit, PATH)?,
        title: words.t("provider.title"),
        lead: words.t("provider.lead").to_owned(),
        actions: if may_change { vec![csv, import, new] } else { vec![csv] },
        filters: Filters::of(words, NOUN, PATH, query, PARAMS, words.count("provider.found", listed.total)),
        heads: Heads::of(words, PATH, query, COLUMNS),
        rows: listed.items.iter().map(row).collect(),
        pager: Pager::of(words, PATH, query, listed.page, listed.items.len(), listed.total),
        empty,
    };
    Ok(Reply::html(page.page()?))
}

/// `GET /providers/{provider}`
pub fn show(visit: &Visit) -> Answer {
    let words = Words::of(visit);
    let provider = visit.tenant()?.provider(&visit.id)?;
    let name = |field: &str| words.field(NOUN, field);
    let optional = |text: &Option<String>| Cell::optional(words, text.as_deref());
    let may_change = visit.may(Act::ChangeData);
    let here = address(&provider.id);
    let actions = vec![
        (format!("{here}/edit"), words.t("form.edit"), false),
        (format!("{here}/delete"), words.t("form.delete"), false),
        (format!("/arrangements/new?provider_id={}", provider.id), words.t("arrangement.new"), false),
    ];
    let page = PlainShow {
        frame: Frame::of(visit, PATH)?,
        list: (PATH, words.t("provider.title")),
        meta: Vec::new(),
        actions: if may_change { actions } else { Vec::new() },
        sections: vec![Section {
            title: words.t("arrangement.title").to_owned(),
            text: String::new(),
            lines: arrangement::lines_of(visit, &provider.id)?,
            more: Some((format!("/arrangements?provider_id={}", provider.id), words.t("arrangement.all"))),
        }],
        facts: Facts::default()
            .with(name("parent"), optional(&provider.parent))
            .with(name("sector"), optional(&provider.sector))
            .with(name("country"), optional(&provider.country))
            .with(name("region"), optional(&provider.region))
            .with(name("lei"), optional(&provider.lei))
            .with(name("updated_at"), Cell::moment(words, provider.updated_at))
            .with(name("id"), Cell::reference(&provider.id)),
        history: Some(History::of(visit, NOUN, &provider.id, "")?),
        title: provider.name,
    };
    Ok(Reply::html(page.page()?))
}

/// `GET /providers/new`
pub fn new(visit: &Visit) -> Answer {
    Ok(Reply::html(form_page(visit, &Inputs::of(Words::of(visit), NOUN, &NEW_PROVIDER, Value::Null), None)?))
}

/// `POST /providers`
pub fn create(visit: &Visit) -> Answer {
    settle(
        visit.sent.values().and_then(|values| visit.tenant()?.create_provider(values)),
        |provider| Ok(visit.go(&address(&provider.id), Notice::new("done.provider_saved"))),
        |faults| {
            let inputs = Inputs::of(Words::of(visit), NOUN, &NEW_PROVIDER, Value::Null).again(visit, faults);
            form_page(visit, &inputs, None)
        },
    )
}

/// `GET /providers/{provider}/edit`
pub fn edit(visit: &Visit) -> Answer {
    let provider = visit.tenant()?.provider(&visit.id)?;
    let inputs = Inputs::of(Words::of(visit), NOUN, &PROVIDER_PATCH, json!(provider));
    Ok(Reply::html(form_page(visit, &inputs, Some(&provider.id))?))
}

/// `POST /providers/{provider}`
pub fn change(visit: &Visit) -> Answer {
    let tenant = visit.tenant()?;
    settle(
        visit.sent.values().and_then(|values| tenant.change_provider(&visit.id, values)),
        |provider| Ok(visit.go(&address(&provider.id), Notice::new("done.provider_saved"))),
        |faults| {
            let provider = tenant.provider(&visit.id)?;
            let inputs =
                Inputs::of(Words::of(visit), NOUN, &PROVIDER_PATCH, json!(provider)).again(visit, faults);
            form_page(visit, &inputs, Some(&provider.id))
        },
    )
}

fn form_page(visit: &Visit, inputs: &Inputs, id: Option<&str>) -> Result<String, Error> {
    let words = Words::of(visit);
    let here = id.map_or(PATH.to_owned(), address);
    let page = PlainForm {
        frame: Frame::of(visit, PATH)?,
        list: (PATH, words.t("provider.title")),
        title: if id.is_some() { words.t("provider.edit") } else { words.t("provider.new") },
        lead: String::new(),
        action: here.clone(),
        back: here,
        faults: inputs.faults(),
        fields: FIELDS.map(|name| inputs.field(name)).into(),
        save: words.t("provider.save"),
    };
    page.page()
}

/// `GET /providers/{provider}/delete`
pub fn ask_delete(visit: &Visit) -> Answer {
    confirm_delete(visit)?.answer(None)
}

/// `POST /providers/{provider}/delete`
pub fn delete(visit: &Visit) -> Answer {
    match visit.tenant()?.delete_provider(&visit.id) {
        Ok(()) => Ok(visit.go(PATH, Notice::new("done.provider_deleted"))),
        Err(error) => confirm_delete(visit)?.answer(Some(error)),
    }
}

fn confirm_delete(visit: &Visit) -> Result<Confirm, Error> {
    let provider = visit.tenant()?.provider(&visit.id)?;
    Confirm::deletion(visit, PATH, NOUN, address(&provider.id), &provider.name)
}

fn address(id: &str) -> String {
    format!("{PATH}/{id}")
}
