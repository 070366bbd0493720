//! Search across everything a key may read: reference data, the timeline and the tenant's own objects, in one
//! list by rank.

use crate::app::App;
use crate::domain::id::Kind;
use crate::domain::query::{LIMIT, OFFSET, Param, ParamKind};
use crate::domain::search::{Ask, Hit, Wording, snippet};
use crate::domain::timeline::Milestone;
use crate::error::Error;
use crate::http::envelope::v2_list;
use crate::http::{Answer, Request};
use crate::store::{FoundText, Listed, Match, Tenant};
use std::cmp::Reverse;

/// What the search may be asked for.
pub static PARAMS: &[Param] = &[
    Param {
        name: "q",
        kind: ParamKind::Needed { max_chars: 200 },
        says: "What to look for: each of its words must begin a word of the hit; marks on letters do not matter.",
    },
    LIMIT,
    OFFSET,
    Param {
        name: "search",
        kind: ParamKind::Text { max_chars: 200 },
        says: "Further words that a hit must have, likewise.",
    },
];

/// A hit in what all callers share.
#[derive(Clone, Copy)]
enum Place {
    /// A record of the dataset at this position among all.
    Record { dataset: usize, position: usize },
    /// A milestone of the timeline.
    Milestone(usize),
}

/// A hit of the page: one of the tenant's own, in their order, or a shared one.
enum Slot {
    Own { points: u32 },
    Shared { points: u32, place: Place },
}

/// A page of hits, best first; at equal rank the tenant's own come first, newest first.
pub fn list(request: &Request, tenant: &Tenant, app: &App) -> Answer {
    let query = &request.query;
    let q = Ask::new(query.get("q").unwrap_or_default());
    let ask = match query.get("search") {
        // What has no words finds nothing, whatever else is asked for.
        Some(more) if !q.words.is_empty() => Ask::new(&format!("{} {more}", q.text)),
        Some(_) | None => q,
    };
    let milestones = app.store.all_milestones()?;
    let shared = shared(app, &milestones, &ask);
    let page = query.page();
    let pick = |own: &[Match]| {
        let total = own.len() + shared.len();
        let (slots, numbers) = merge(own, &shared, page.range(total));
        ((slots, total), numbers)
    };
    let ((slots, total), texts) = tenant.search(&ask, pick)?;
    let mut texts = texts.into_iter();
    let items = slots.into_iter().filter_map(|slot| match slot {
        Slot::Own { points } => texts.next().flatten().map(|text| own_hit(text, points, &ask)),
        Slot::Shared { points, place: Place::Record { dataset, position } } => {
            app.reference.tables().get(dataset)?.hit(position, points, &ask).map(Ok)
        }
        Slot::Shared { points, place: Place::Milestone(position) } => {
            Some(Ok(milestone_hit(milestones.get(position)?, points, &ask)))
        }
    });
    let items = items.collect::<Result<Vec<Hit>, Error>>()?;
    v2_list(&Listed { items, total: total as u64, page })
}

/// Hits in reference data and timeline, best first, then in the order of the datasets.
fn shared(app: &App, milestones: &[Milestone], ask: &Ask) -> Vec<(u32, Place)> {
    let mut hits = Vec::new();
    for (dataset, table) in app.reference.tables().iter().enumerate() {
        let found = table.find(ask).into_iter();
        hits.extend(found.map(|(points, position)| (points, Place::Record { dataset, position })));
    }
    for (position, milestone) in milestones.iter().enumerate() {
        let title = format!("{} {}", milestone.id, milestone.title);
        let texts = [&milestone.description, &milestone.authority, &milestone.source];
        if let Some(points) = Wording::new(&title, texts.into_iter().map(String::as_str)).points(ask) {
            hits.push((points, Place::Milestone(position)));
        }
    }
    hits.sort_by_key(|(points, _)| Reverse(*points));
    hits
}

/// Two lists, each best first, as one; only the part within the range is made.
fn merge(own: &[Match], shared: &[(u32, Place)], range: std::ops::Range<usize>) -> (Vec<Slot>, Vec<i64>) {
    let (mut slots, mut numbers) = (Vec::with_capacity(range.len()), Vec::new());
    let (mut own, mut shared) = (own.iter().peekable(), shared.iter().peekable());
    for position in 0..range.end {
        let best_shared = shared.peek().map(|(points, _)| *points);
        let mine = own.next_if(|mine| best_shared.is_none_or(|best| mine.points >= best));
        let slot = match (mine, mine.is_none().then(|| shared.next()).flatten()) {
            (Some(mine), _) => Slot::Own { points: mine.points },
            (None, Some((points, place))) => Slot::Shared { points: *points, place: *place },
            (None, None) => break,
        };
        if range.contains(&position) {
            numbers.extend(mine.map(|mine| mine.number));
            slots.push(slot);
        }
    }
    (slots, numbers)
}

/// What each kind of own object is called, and where v1 shows it.
const HOMES: [(Kind, &str, &str); 5] = [
    (Kind::Programme, "programme", "/api/v1/programmes"),
    (Kind::TestCase, "test_case", "/api/v1/test-cases"),
    (Kind::Finding, "finding", "/api/v1/findings"),
    (Kind::CraReport, "cra_report", "/api/v1/cra/reports"),
    (Kind::Provider, "provider", "/api/v1/concentration-risk/providers"),
];

fn own_hit(found: FoundText, points: u32, ask: &Ask) -> Result<Hit, Error> {
    let prefix = found.id.split_once('_').map_or("", |(prefix, _)| prefix);
    let (_, noun, folder) = HOMES
        .iter()
        .find(|(kind, ..)| kind.prefix() == prefix)
        .ok_or_else(|| Error::internal("showing a hit", format!("{} is of no kind", found.id)))?;
    Ok(Hit {
        r#type: noun,
        href: format!("{folder}/{}", found.id),
        title: found.title,
        snippet: snippet(&found.body, ask),
        score: ask.score(points),
        id: found.id,
    })
}

fn milestone_hit(milestone: &Milestone, points: u32, ask: &Ask) -> Hit {
    Hit {
        r#type: "milestone",
        id: milestone.id.clone(),
        title: milestone.title.clone(),
        snippet: snippet(&milestone.description, ask),
        score: ask.score(points),
        href: format!("/api/v2/compliance-timeline?search={}", milestone.id),
    }
}
