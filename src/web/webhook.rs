//! Webhooks: destinations, the button that sends a test, and the log of deliveries.

use super::confirm::Confirm;
use super::deed::settle;
use super::frame::Frame;
use super::part::{
    Cell, Column, Empty, Facts, FaultList, Filters, Heads, History, Input, Inputs, Pager, badge, column,
};
use super::words::Words;
use super::{asset, render};
use crate::domain::delivery::{Delivery, State};
use crate::domain::form::{Form, switch};
use crate::domain::query::{OFFSET, Param, SEARCH, filter};
use crate::domain::user::Act;
use crate::domain::webhook::{Channel, NEW_WEBHOOK, WEBHOOK_PATCH, Webhook};
use crate::error::Error;
use crate::http::{Answer, Notice, Reply, Visit};
use crate::store::WEBHOOK_SORTS;
use askama::Template;
use serde_json::{Value, json};

const NOUN: &str = "webhook";
const PATH: &str = "/webhooks";

/// What the list may be asked for.
pub static PARAMS: &[Param] = &[
    OFFSET,
    SEARCH,
    filter("channel", Channel::NAMES, "Only webhooks of this channel."),
    filter("active", &["true", "false"], "Only webhooks that are, or are not, active."),
    filter("sort", WEBHOOK_SORTS, "The order."),
];

/// What the log of a webhook may be asked for.
pub static LOG_PARAMS: &[Param] = &[OFFSET, filter("state", State::NAMES, "Only deliveries in this state.")];

/// Switching a webhook on or off.
pub static SWITCHED: Form = Form { name: "Switched", fields: &[switch("active").required()], read_only: &[] };

static COLUMNS: &[Column] = &[
    column("webhook.field.name", Some("name")),
    column("webhook.field.channel", Some("channel")),
    column("webhook.field.events", None),
    column("webhook.field.active", None),
    column("webhook.last", None),
];

struct Row {
    name: Cell,
    channel: String,
    events: String,
    state: Cell,
    last: Cell,
}

struct LogRow {
    id: String,
    event: Cell,
    state: Cell,
    attempts: u32,
    when: Cell,
    /// It has ended, so it can be sent again.
    ended: bool,
}

#[derive(Template)]
#[template(path = "webhooks.html")]
struct ListPage {
    frame: Frame,
    may_change: bool,
    filters: Filters,
    heads: Heads,
    rows: Vec<Row>,
    pager: Pager,
    empty: Empty,
}

#[derive(Template)]
#[template(path = "webhook.html")]
struct ShowPage {
    frame: Frame,
    may_change: bool,
    webhook: Webhook,
    state: Cell,
    facts: Facts,
    filters: Filters,
    log: Vec<LogRow>,
    pager: Pager,
    history: History,
}

#[derive(Template)]
#[template(path = "webhook_form.html")]
struct FormPage {
    frame: Frame,
    title: &'static str,
    action: String,
    back: String,
    faults: Option<FaultList>,
    name: Input,
    channel: Input,
    url: Input,
    events: Input,
}

/// `GET /webhooks`
pub fn list(visit: &Visit) -> Answer {
    let (words, query) = (Words::of(visit), &visit.query);
    let listed = visit.tenant()?.webhooks(query)?;
    let row = |webhook: &Webhook| Row {
        name: Cell { class: "title", ..Cell::link(address(&webhook.id), &webhook.name) }
            .below(shown_url(webhook)),
        channel: words.word(webhook.channel.name()),
        events: events(words, webhook),
        state: state(words, webhook),
        last: last(words, webhook),
    };
    let may_change = visit.may(Act::ChangeData);
    let mut empty = Empty::of(words, NOUN, PATH, query);
    if may_change {
        empty = empty.link("/webhooks/new", words.t("webhook.new"));
    }
    let found = words.count("webhook.found", listed.total);
    let page = ListPage {
        frame: Frame::of(visit, PATH)?,
        may_change,
        filters: Filters::of(words, NOUN, PATH, query, PARAMS, found),
        heads: Heads::of(words, PATH, query, COLUMNS),
        rows: listed.items.iter().map(row).collect(),
        pager: Pager::of(words, PATH, query, listed.page, listed.items.len(), listed.total),
        empty,
    };
    Ok(Reply::html(render(&page)?))
}

fn state(words: Words, webhook: &Webhook) -> Cell {
    let outcome = webhook.last_delivery.as_ref().map(|last| last.outcome.name());
    match (webhook.active, outcome) {
        (false, _) => badge(words, "off"),
        (true, Some("delivered") | None) => badge(words, "on"),
        (true, Some(_)) => Cell { class: "st st-failed", ..Cell::text(words.t("webhook.failing")) },
    }
}

fn events(words: Words, webhook: &Webhook) -> String {
    let names: Vec<String> = webhook.events.iter().map(|event| words.word(event.name())).collect();
    names.join(", ")
}

fn last(words: Words, webhook: &Webhook) -> Cell {
    let Some(last) = &webhook.last_delivery else { return Cell::missing(words) };
    let status = last.http_status.map(|status| format!(", {status}")).unwrap_or_default();
    Cell::moment(words, last.at).below(format!("{}{status}", words.word(last.outcome.name())))
}

/// Whoever knows the whole address of a chat webhook can write to it: only its beginning is shown.
fn shown_url(webhook: &Webhook) -> String {
    match webhook.channel {
        Channel::Email => webhook.url.trim_start_matches("mailto:").to_owned(),
        Channel::Slack | Channel::Teams => match webhook.url.split_once("://") {
            Some((scheme, rest)) => format!("{scheme}://{}/…", rest.split('/').next().unwrap_or_default()),
            None => String::new(),
        },
    }
}

/// `GET /webhooks/{webhook}`
pub fn show(visit: &Visit) -> Answer {
    let (words, query, tenant) = (Words::of(visit), &visit.query, visit.tenant()?);
    let webhook = tenant.webhook(&visit.id)?;
    let listed = tenant.deliveries(&visit.id, query)?;
    let here = address(&webhook.id);
    let name = |field: &str| words.field(NOUN, field);
    let facts = Facts::default()
        .with(name("channel"), Cell::text(words.word(webhook.channel.name())))
        .with(name("url"), Cell::text(shown_url(&webhook)))
        .with(name("events"), Cell::text(events(words, &webhook)))
        .with(words.t("webhook.last"), last(words, &webhook))
        .with(name("updated_at"), Cell::moment(words, webhook.updated_at))
        .with(name("id"), Cell::reference(&webhook.id));
    let found = words.count("webhook.deliveries", listed.total);
    let page = ShowPage {
        frame: Frame::of(visit, PATH)?,
        may_change: visit.may(Act::ChangeData),
        state: state(words, &webhook),
        facts,
        filters: Filters::of(words, "delivery", &here, query, LOG_PARAMS, found),
        log: listed.items.iter().map(|delivery| log_row(words, delivery)).collect(),
        pager: Pager::of(words, &here, query, listed.page, listed.items.len(), listed.total),
        history: History::of(visit, NOUN, &webhook.id, "")?,
        webhook,
    };
    Ok(Reply::html(render(&page)?))
}

fn log_row(words: Words, delivery: &Delivery) -> LogRow {
    let event = delivery.event.as_deref().map(|name| words.word(name));
    let event = Cell::text(event.unwrap_or_else(|| words.t("webhook.test_message").to_owned()));
    let tried = delivery.log.last().map(|attempt| {
        let status = attempt.http_status.map(|status| format!(", {status}")).unwrap_or_default();
        format!("{}{status}, {} ms", words.word(attempt.outcome.name()), attempt.duration_ms)
    });
    let next = delivery
        .next_attempt_at
        .filter(|_| delivery.attempts > 0)
        .map(|at| words.say("webhook.again_at", &[("at", &super::time::moment(words, at))]));
    let what: Vec<String> = tried.into_iter().chain(next).collect();
    LogRow {
        id: delivery.id.clone(),
        event: event.below(delivery.id.as_str()),
        state: badge(words, delivery.state.name()).below(what.join(". ")),
        attempts: delivery.attempts,
        when: Cell::moment(words, delivery.log.last().map_or(delivery.created_at, |attempt| attempt.at)),
        ended: match delivery.state {
            State::Pending | State::Sending => false,
            State::Delivered | State::Failed | State::Cancelled => true,
        },
    }
}

/// `GET /webhooks/new`
pub fn new(visit: &Visit) -> Answer {
    Ok(Reply::html(form_page(visit, &Inputs::of(Words::of(visit), NOUN, &NEW_WEBHOOK, Value::Null), None)?))
}

/// `POST /webhooks`
pub fn create(visit: &Visit) -> Answer {
    settle(
        visit.sent.values().and_then(|values| visit.tenant()?.create_webhook(values)),
        |webhook| Ok(visit.go(&address(&webhook.id), Notice::new("done.webhook_created"))),
        |faults| {
            let inputs = Inputs::of(Words::of(visit), NOUN, &NEW_WEBHOOK, Value::Null).again(visit, faults);
            form_page(visit, &inputs, None)
        },
    )
}

/// `GET /webhooks/{webhook}/edit`
pub fn edit(visit: &Visit) -> Answer {
    let webhook = visit.tenant()?.webhook(&visit.id)?;
    let inputs = Inputs::of(Words::of(visit), NOUN, &WEBHOOK_PATCH, json!(webhook));
    Ok(Reply::html(form_page(visit, &inputs, Some(&webhook.id))?))
}

/// `POST /webhooks/{webhook}`
pub fn change(visit: &Visit) -> Answer {
    let tenant = visit.tenant()?;
    settle(
        visit.sent.values().and_then(|values| tenant.change_webhook(&visit.id, values)),
        |webhook| Ok(visit.go(&address(&webhook.id), Notice::new("done.webhook_changed"))),
        |faults| {
            let webhook = tenant.webhook(&visit.id)?;
            let inputs =
                Inputs::of(Words::of(visit), NOUN, &WEBHOOK_PATCH, json!(webhook)).again(visit, faults);
            form_page(visit, &inputs, Some(&webhook.id))
        },
    )
}

fn form_page(visit: &Visit, inputs: &Inputs, id: Option<&str>) -> Result<String, Error> {
    let here = id.map_or(PATH.to_owned(), address);
    render(&FormPage {
        frame: Frame::of(visit, PATH)?,
        title: if id.is_some() {
            Words::of(visit).t("webhook.edit")
        } else {
            Words::of(visit).t("webhook.new")
        },
        action: here.clone(),
        back: here,
        faults: inputs.faults(),
        name: inputs.field("name"),
        channel: inputs.field("channel"),
        url: inputs.field("url"),
        events: inputs.field("events"),
    })
}

/// `POST /webhooks/{webhook}/active`
pub fn set_active(visit: &Visit) -> Answer {
    let webhook = visit.tenant()?.change_webhook(&visit.id, visit.sent.values()?)?;
    let key = if webhook.active { Notice::new("done.webhook_on") } else { Notice::new("done.webhook_off") };
    Ok(visit.go(&address(&webhook.id), key))
}

/// `POST /webhooks/{webhook}/test`
pub fn test(visit: &Visit) -> Answer {
    let delivery = visit.tenant()?.test_webhook(&visit.id)?;
    Ok(visit.go(&address(&delivery.webhook_id), Notice::new("done.webhook_tested")))
}

/// `POST /deliveries/{delivery}/replay`
pub fn replay(visit: &Visit) -> Answer {
    let delivery = visit.tenant()?.replay_delivery(&visit.id)?;
    Ok(visit.go(&address(&delivery.webhook_id), Notice::new("done.delivery_replayed")))
}

/// `GET /webhooks/{webhook}/delete`
pub fn ask_delete(visit: &Visit) -> Answer {
    let webhook = visit.tenant()?.webhook(&visit.id)?;
    let page = Confirm::deletion(visit, PATH, NOUN, address(&webhook.id), &webhook.name)?;
    page.answer(None)
}

/// `POST /webhooks/{webhook}/delete`
pub fn delete(visit: &Visit) -> Answer {
    visit.tenant()?.delete_webhook(&visit.id)?;
    Ok(visit.go(PATH, Notice::new("done.webhook_deleted")))
}

fn address(id: &str) -> String {
    format!("{PATH}/{id}")
}
