//! The compliance timeline: dated milestones, with where each stands today.

use super::frame::Frame;
use super::part::{Cell, Column, Empty, Filters, Heads, Pager, badge, column};
use super::plain::{PlainList, Slot};
use super::words::Words;
use crate::domain::query::{OFFSET, Param, ParamKind, SEARCH, filter};
use crate::domain::timeline::{Milestone, Shown, Status};
use crate::error::Error;
use crate::http::{Answer, Reply, Visit};

const NOUN: &str = "timeline";
const PATH: &str = "/timeline";

/// What the list may be asked for. There is no `limit`: a page stays small.
pub static PARAMS: &[Param] = &[
    OFFSET,
    SEARCH,
    filter("status", Status::NAMES, "Only milestones that stand so today."),
    open_word("framework", "Only milestones of this framework."),
    open_word("category", "Only milestones of this category."),
];

const fn open_word(name: &'static str, says: &'static str) -> Param {
    Param { name, kind: ParamKind::Text { max_chars: 64 }, says }
}

static COLUMNS: &[Column] = &[
    column("timeline.field.title", None),
    column("timeline.field.framework", None),
    column("timeline.field.category", None),
    column("timeline.field.status", None),
    column("timeline.field.date", None).figures(),
];

/// `GET /timeline`
pub fn list(visit: &Visit) -> Answer {
    let (words, query) = (Words::of(visit), &visit.query);
    let listed = visit.app.store.milestones(query)?;
    let slot =
        |field: &str, class: &'static str, cell: Cell| Slot { label: words.field(NOUN, field), class, cell };
    let row = |shown: &Shown| {
        let milestone = &shown.milestone;
        let about = format!("{} {}, {}", milestone.description, milestone.authority, milestone.source);
        let slots = vec![
            slot("framework", "", Cell::text(words.word(&milestone.framework))),
            slot("category", "", Cell::text(words.word(&milestone.category))),
            slot("status", "", badge(words, shown.status.name())),
            slot("date", "num", Cell::day(words, Some(milestone.date))),
        ];
        (Cell { class: "title", ..Cell::text(&milestone.title).of_the_library() }.below(about), slots)
    };
    let found = words.count("timeline.found", listed.total);
    let filters = Filters::of(words, NOUN, PATH, query, PARAMS, found);
    let page = PlainList {
        frame: Frame::of(visit, PATH)?,
        title: words.t("timeline.title"),
        lead: words.t("timeline.lead").to_owned(),
        actions: Vec::new(),
        filters: filters
            .options("framework", known(visit, |milestone| &milestone.framework)?)
            .options("category", known(visit, |milestone| &milestone.category)?),
        heads: Heads::of(words, PATH, query, COLUMNS),
        rows: listed.items.iter().map(row).collect(),
        pager: Pager::of(words, PATH, query, listed.page, listed.items.len(), listed.total),
        empty: Empty::of(words, NOUN, PATH, query),
    };
    Ok(Reply::html(page.page()?))
}

/// The words that milestones have, each once.
fn known(visit: &Visit, of: impl Fn(&Milestone) -> &String) -> Result<Vec<(String, String)>, Error> {
    let mut all: Vec<String> =
        visit.app.store.all_milestones()?.iter().map(|each| of(each).clone()).collect();
    all.sort();
    all.dedup();
    Ok(all.into_iter().map(|word| (word.clone(), Words::of(visit).word(&word))).collect())
}
