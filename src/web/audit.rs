//! The audit log, newest first, by kind, person and day. It is read here and changed nowhere.

use super::export::csv_of;
use super::finding::of_object;
use super::frame::Frame;
use super::part::{Cell, Empty, Filters, Pager, badge, who};
use super::words::Words;
use super::{asset, choose, render};
use crate::domain::audit::{Event, Row as Entry};
use crate::domain::query::{OFFSET, Param, ParamKind, filter};
use crate::http::{Answer, Reply, Visit};
use askama::Template;

const NOUN: &str = "audit";
const PATH: &str = "/audit";

/// What the list may be asked for. There is no `limit`: a page stays small.
pub static PARAMS: &[Param] = &[
    OFFSET,
    filter("event", Event::NAMES, "Only acts of this kind."),
    of_object("who", "Only acts of this person or key."),
    on_day("from", "Not before this day."),
    on_day("to", "Not after this day."),
];

const fn on_day(name: &'static str, says: &'static str) -> Param {
    Param { name, kind: ParamKind::Day, says }
}

struct Row {
    when: Cell,
    event: String,
    result: Cell,
    who: Cell,
    what: Cell,
}

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditPage {
    frame: Frame,
    csv: String,
    filters: Filters,
    rows: Vec<Row>,
    pager: Pager,
    empty: Empty,
}

/// `GET /audit`
pub fn list(visit: &Visit) -> Answer {
    let (words, query, tenant) = (Words::of(visit), &visit.query, visit.tenant()?);
    let listed = tenant.audit(query)?;
    let row = |entry: &Entry| Row {
        when: Cell::moment(words, entry.at),
        event: words.word(entry.event.name()),
        result: badge(words, entry.result.name()),
        who: Cell::text(who(words, entry.actor, entry.actor_name.as_deref()))
            .below(entry.address.as_deref().unwrap_or_default()),
        what: Cell { class: "ref ref-wrap", ..Cell::text(entry.object_id.as_deref().unwrap_or_default()) }
            .below(entry.detail.as_deref().unwrap_or_default()),
    };
    let found = words.count("audit.found", listed.total);
    let page = AuditPage {
        frame: Frame::of(visit, PATH)?,
        csv: csv_of(PATH, query),
        filters: Filters::of(words, NOUN, PATH, query, PARAMS, found)
            .options("who", choose::people(&tenant, query.get("who"))?),
        rows: listed.items.iter().map(row).collect(),
        pager: Pager::of(words, PATH, query, listed.page, listed.items.len(), listed.total),
        empty: Empty::of(words, NOUN, PATH, query),
    };
    Ok(Reply::html(render(&page)?))
}
