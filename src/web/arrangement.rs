//! Arrangements: list, one, new, edit, delete.

use super::choose;
use super::confirm::Confirm;
use super::deed::settle;
use super::export::csv_of;
use super::finding::of_object;
use super::frame::Frame;
use super::part::{Cell, Column, Empty, Facts, Filters, Heads, History, Inputs, Pager, badge, column};
use super::plain::{PlainForm, PlainList, PlainShow, Slot};
use super::words::Words;
use crate::domain::arrangement::{ARRANGEMENT_PATCH, Arrangement, Criticality, NEW_ARRANGEMENT};
use crate::domain::query::{LIMIT, OFFSET, Param, Query, SEARCH, encode, filter};
use crate::domain::user::Act;
use crate::error::Error;
use crate::http::{Answer, Notice, Reply, Visit};
use crate::store::ARRANGEMENT_SORTS;
use serde_json::json;

const NOUN: &str = "arrangement";
const PATH: &str = "/arrangements";
/// The fields behind the provider, in the order in which they are asked.
pub const FIELDS: [&str; 9] = [
    "service",
    "criticality",
    "function",
    "technology",
    "country",
    "region",
    "annual_cost_eur",
    "substitutability",
    "exit_plan",
];
/// So many are shown on the page of their provider.
const SHOWN_MAX: u64 = 50;
static OF_PROVIDER: &[Param] = &[LIMIT, of_object("provider_id", "Of a provider.")];

/// What the list may be asked for. There is no `limit`: a page stays small.
pub static PARAMS: &[Param] = &[
    OFFSET,
    SEARCH,
    filter("criticality", Criticality::NAMES, "Only arrangements of this criticality."),
    of_object("provider_id", "Only arrangements with this provider."),
    filter("sort", ARRANGEMENT_SORTS, "The order."),
];

/// What a new arrangement may be told at first.
pub static NEW_PARAMS: &[Param] = &[of_object("provider_id", "The provider it is with.")];

static COLUMNS: &[Column] = &[
    column("arrangement.field.service", Some("service")),
    column("arrangement.field.provider_id", Some("provider")),
    column("arrangement.field.criticality", Some("criticality")),
    column("arrangement.field.region", Some("region")),
    column("arrangement.field.annual_cost_eur", Some("cost")).figures(),
];

/// `GET /arrangements`
pub fn list(visit: &Visit) -> Answer {
    let (words, query, tenant) = (Words::of(visit), &visit.query, visit.tenant()?);
    let listed = tenant.arrangements(query)?;
    let providers = choose::providers(&tenant, query.get("provider_id"))?;
    let slot =
        |field: &str, class: &'static str, cell: Cell| Slot { label: words.field(NOUN, field), class, cell };
    let row = |arrangement: &Arrangement| {
        let with = providers.iter().find(|(id, _)| *id == arrangement.provider_id);
        let with = with.map_or(arrangement.provider_id.as_str(), |(_, name)| name.as_str());
        let provider = Cell::link(format!("/providers/{}", arrangement.provider_id), with);
        let first = Cell { class: "title", ..Cell::link(address(&arrangement.id), &arrangement.service) };
        let slots = vec![
            slot("provider_id", "", provider),
            slot("criticality", "", Cell::text(words.word(arrangement.criticality.name()))),
            slot("region", "", Cell::optional(words, arrangement.region.as_deref())),
            slot("annual_cost_eur", "num", cost(words, arrangement)),
        ];
        (first.below(arrangement.function.clone().unwrap_or_default()), slots)
    };
    let may_change = visit.may(Act::ChangeData);
    let mut empty = Empty::of(words, NOUN, PATH, query);
    if may_change {
        empty = empty.link("/arrangements/new", words.t("arrangement.new"));
    }
    let csv = (csv_of(PATH, query), words.t("document.csv"), false);
    let import = ("/register/import?kind=arrangements".to_owned(), words.t("import.link"), false);
    let new = ("/arrangements/new".to_owned(), words.t("arrangement.new"), true);
    let found = words.count("arrangement.found", listed.total);
    let page = PlainList {
        frame: Frame::of(visit, PATH)?,
        title: words.t("arrangement.title"),
        lead: words.t("arrangement.lead").to_owned(),
        actions: if may_change { vec![csv, import, new] } else { vec![csv] },
        heads: Heads::of(words, PATH, query, COLUMNS),
        rows: listed.items.iter().map(row).collect(),
        filters: Filters::of(words, NOUN, PATH, query, PARAMS, found)
            .options("provider_id", providers.clone()),
        pager: Pager::of(words, PATH, query, listed.page, listed.items.len(), listed.total),
        empty,
    };
    Ok(Reply::html(page.page()?))
}

/// The arrangements with a provider, as its page shows them.
pub fn lines_of(visit: &Visit, provider_id: &str) -> Result<Vec<(Cell, Cell)>, Error> {
    let asked = format!("limit={SHOWN_MAX}&provider_id={}", encode(provider_id));
    let query = Query::check(&asked, OF_PROVIDER).map_err(Error::Invalid)?;
    let listed = visit.tenant()?.arrangements(&query)?;
    let line = |arrangement: Arrangement| {
        let what = Cell::link(address(&arrangement.id), arrangement.service);
        let level = Cell::text(Words::of(visit).word(arrangement.criticality.name()));
        (what.below(arrangement.function.unwrap_or_default()), level)
    };
    Ok(listed.items.into_iter().map(line).collect())
}

fn cost(words: Words, arrangement: &Arrangement) -> Cell {
    let euros = arrangement.annual_cost_eur.map(|euros| format!("{} €", words.number(euros.round() as u64)));
    Cell::optional(words, euros.as_deref())
}

/// `GET /arrangements/{arrangement}`
pub fn show(visit: &Visit) -> Answer {
    let (words, tenant) = (Words::of(visit), visit.tenant()?);
    let arrangement = tenant.arrangement(&visit.id)?;
    let provider = tenant.provider(&arrangement.provider_id)?;
    let name = |field: &str| words.field(NOUN, field);
    let optional = |text: &Option<String>| Cell::optional(words, text.as_deref());
    let exit_plan = arrangement.exit_plan.map(|there| words.word(if there { "true" } else { "false" }));
    let substitutability = arrangement.substitutability.map(|how| words.word(how.name()));
    let here = address(&arrangement.id);
    let actions = vec![
        (format!("{here}/edit"), words.t("form.edit"), false),
        (format!("{here}/delete"), words.t("form.delete"), false),
    ];
    let page = PlainShow {
        frame: Frame::of(visit, PATH)?,
        list: (PATH, words.t("arrangement.title")),
        meta: vec![badge(words, arrangement.criticality.name()), Cell::text(&provider.name)],
        actions: if visit.may(Act::ChangeData) { actions } else { Vec::new() },
        sections: Vec::new(),
        facts: Facts::default()
            .with(name("provider_id"), Cell::link(format!("/providers/{}", provider.id), provider.name))
            .with(name("function"), optional(&arrangement.function))
            .with(name("technology"), optional(&arrangement.technology))
            .with(name("country"), optional(&arrangement.country))
            .with(name("region"), optional(&arrangement.region))
            .with(name("annual_cost_eur"), cost(words, &arrangement))
            .with(name("substitutability"), optional(&substitutability))
            .with(name("exit_plan"), optional(&exit_plan))
            .with(name("updated_at"), Cell::moment(words, arrangement.updated_at))
            .with(name("id"), Cell::reference(&arrangement.id)),
        history: Some(History::of(visit, NOUN, &arrangement.id, "")?),
        title: arrangement.service,
    };
    Ok(Reply::html(page.page()?))
}

/// `GET /arrangements/new`
pub fn new(visit: &Visit) -> Answer {
    let first = json!({ "provider_id": visit.query.get("provider_id") });
    Ok(Reply::html(form_page(visit, &Inputs::of(Words::of(visit), NOUN, &NEW_ARRANGEMENT, first), None)?))
}

/// `POST /arrangements`
pub fn create(visit: &Visit) -> Answer {
    settle(
        visit.sent.values().and_then(|values| visit.tenant()?.create_arrangement(values)),
        |arrangement| Ok(visit.go(&address(&arrangement.id), Notice::new("done.arrangement_saved"))),
        |faults| {
            let inputs = Inputs::of(Words::of(visit), NOUN, &NEW_ARRANGEMENT, json!({})).again(visit, faults);
            form_page(visit, &inputs, None)
        },
    )
}

/// `GET /arrangements/{arrangement}/edit`
pub fn edit(visit: &Visit) -> Answer {
    let arrangement = visit.tenant()?.arrangement(&visit.id)?;
    let inputs = Inputs::of(Words::of(visit), NOUN, &ARRANGEMENT_PATCH, json!(arrangement));
    Ok(Reply::html(form_page(visit, &inputs, Some(&arrangement))?))
}

/// `POST /arrangements/{arrangement}`
pub fn change(visit: &Visit) -> Answer {
    let tenant = visit.tenant()?;
    settle(
        visit.sent.values().and_then(|values| tenant.change_arrangement(&visit.id, values)),
        |arrangement| Ok(visit.go(&address(&arrangement.id), Notice::new("done.arrangement_saved"))),
        |faults| {
            let arrangement = tenant.arrangement(&visit.id)?;
            let inputs = Inputs::of(Words::of(visit), NOUN, &ARRANGEMENT_PATCH, json!(arrangement))
                .again(visit, faults);
            form_page(visit, &inputs, Some(&arrangement))
        },
    )
}

fn form_page(visit: &Visit, inputs: &Inputs, of: Option<&Arrangement>) -> Result<String, Error> {
    let (words, tenant) = (Words::of(visit), visit.tenant()?);
    let here = of.map_or(PATH.to_owned(), |of| address(&of.id));
    let own = of.map(|of| of.provider_id.as_str()).or(visit.query.get("provider_id"));
    let provider = visit.sent.text("provider_id").or(own).filter(|id| !id.is_empty());
    let mut fields = vec![inputs.pick("provider_id", choose::providers(&tenant, provider)?).must()];
    fields.extend(FIELDS.map(|name| inputs.field(name)));
    let page = PlainForm {
        frame: Frame::of(visit, PATH)?,
        list: (PATH, words.t("arrangement.title")),
        title: if of.is_some() { words.t("arrangement.edit") } else { words.t("arrangement.new") },
        lead: String::new(),
        action: here.clone(),
        back: here,
        faults: inputs.faults(),
        fields,
        save: words.t("arrangement.save"),
    };
    page.page()
}

/// `GET /arrangements/{arrangement}/delete`
pub fn ask_delete(visit: &Visit) -> Answer {
    confirm_delete(visit)?.answer(None)
}

/// `POST /arrangements/{arrangement}/delete`
pub fn delete(visit: &Visit) -> Answer {
    match visit.tenant()?.delete_arrangement(&visit.id) {
        Ok(()) => Ok(visit.go(PATH, Notice::new("done.arrangement_deleted"))),
        Err(error) => confirm_delete(visit)?.answer(Some(error)),
    }
}

fn confirm_delete(visit: &Visit) -> Result<Confirm, Error> {
    let arrangement = visit.tenant()?.arrangement(&visit.id)?;
    Confirm::deletion(visit, PATH, NOUN, address(&arrangement.id), &arrangement.service)
}

fn address(id: &str) -> String {
    format!("{PATH}/{id}")
}
