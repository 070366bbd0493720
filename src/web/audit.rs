//! The audit log, newest first. It is read here and changed nowhere.

use super::frame::Frame;
use super::part::{Cell, Pager, badge, who};
use super::words::Words;
use super::{asset, render};
use crate::domain::audit::Row as Entry;
use crate::domain::query::{OFFSET, Param};
use crate::http::{Answer, Reply, Visit};
use askama::Template;

const PATH: &str = "/audit";

/// What the list may be asked for.
pub static PARAMS: &[Param] = &[OFFSET];

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
    rows: Vec<Row>,
    pager: Pager,
}

/// `GET /audit`
pub fn list(visit: &Visit) -> Answer {
    let words = Words::of(visit);
    let listed = visit.tenant()?.audit(visit.query.page())?;
    let row = |entry: &Entry| Row {
        when: Cell::moment(words, entry.at),
        event: words.word(entry.event.name()),
        result: badge(words, entry.result.name()),
        who: Cell::text(who(words, entry.actor, entry.actor_name.as_deref()))
            .below(entry.address.as_deref().unwrap_or_default()),
        what: Cell { class: "ref ref-wrap", ..Cell::text(entry.object_id.as_deref().unwrap_or_default()) }
            .below(entry.detail.as_deref().unwrap_or_default()),
    };
    let page = AuditPage {
        frame: Frame::of(visit, PATH)?,
        rows: listed.items.iter().map(row).collect(),
        pager: Pager::of(words, PATH, &visit.query, listed.page, listed.items.len(), listed.total),
    };
    Ok(Reply::html(render(&page)?))
}
