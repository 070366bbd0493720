//! The compliance timeline: platform-wide rows, brought in line by a sync and by nothing else.

use super::list::{Filter, Listed, word};
use super::{Store, audit, failed};
use crate::domain::actor::Actor;
use crate::domain::audit::{Entry, Event, Outcome};
use crate::domain::day::Day;
use crate::domain::query::Query;
use crate::domain::timeline::{Changes, IMMINENT_DAYS, Milestone, Precision, Shown, Status, Synced, merge};
use crate::error::{Error, Faults};
use rusqlite::{Connection, Row, params};

const SELECT: &str =
    "select id, date, date_precision, title, description, framework, category, authority, source,
  confirmed from milestone";
/// Filters whose words the operator's file may add to.
const OPEN_WORDS: &[(&str, &str)] = &[
    ("framework", "select distinct framework from milestone order by framework"),
    ("category", "select distinct category from milestone order by category"),
];

impl Store {
    /// A page of milestones by date, each with its status of today. A framework or category that no
    /// milestone has is a fault that names those there are.
    pub fn milestones(&self, query: &Query) -> Result<Listed<Shown>, Error> {
        let today = Day::of_ms(self.clock.now_ms());
        let filter = Filter::of_platform()
            .equals("framework", query.get("framework"))
            .equals("category", query.get("category"))
            .search(&["title", "description", "authority", "source", "framework", "category", "id"], query)
            .ordered("date, id");
        let filter = with_status(filter, query.get("status").and_then(Status::parse), today);
        let (faults, listed) = self.read(|connection| {
            let moment = connection.unchecked_transaction()?;
            Ok((unknown_words(&moment, query)?, page(&moment, &filter, query, today)?))
        })?;
        faults.into_result()?;
        Ok(listed)
    }

    /// All milestones, by their id.
    pub fn all_milestones(&self) -> Result<Vec<Milestone>, Error> {
        self.read(all)
    }

    /// Brings the timeline in line with what is wanted, in one transaction. Where nothing differs,
    /// nothing is written.
    pub fn sync_timeline(&self, wanted: Vec<Milestone>, actor: Actor) -> Result<Synced, Error> {
        let now_ms = self.clock.now_ms();
        let stored = self.read(all)?;
        let changes = merge(&stored, wanted.clone());
        if changes.is_empty() {
            return Ok(changes.figures(now_ms));
        }
        self.write(move |connection| {
            // Read again: another sync may have come in between.
            let stored = all(connection).map_err(failed)?;
            let changes = merge(&stored, wanted);
            apply(connection, &changes).map_err(failed)?;
            let figures = changes.figures(now_ms);
            let detail =
                format!("{} added, {} updated, {} removed", figures.added, figures.updated, figures.removed);
            let entry = Entry {
                event: Event::TimelineSynced,
                result: Outcome::Done,
                tenant: None,
                actor,
                object_id: None,
                detail: Some(detail),
            };
            audit::push(connection, now_ms, &entry)?;
            Ok(figures)
        })
    }
}

fn with_status(filter: Filter, status: Option<Status>, today: Day) -> Filter {
    let (now, soon) = (today.to_string(), today.plus_days(IMMINENT_DAYS).to_string());
    match status {
        None => filter,
        Some(Status::InForce) => filter.and_with("date <= ?", now),
        Some(Status::Imminent) => filter.and_with("date > ?", now).and_with("date <= ?", soon),
        Some(Status::Upcoming) => filter.and_with("date > ?", soon),
    }
}

fn page(moment: &Connection, filter: &Filter, query: &Query, today: Day) -> rusqlite::Result<Listed<Shown>> {
    let total = filter.count(moment, "milestone")?;
    let items =
        filter.page(moment, "milestone", SELECT, query.page(), |row| Ok(of_row(row)?.shown_on(today)))?;
    Ok(Listed { items, total, page: query.page() })
}

fn unknown_words(connection: &Connection, query: &Query) -> rusqlite::Result<Faults> {
    let mut faults = Faults::default();
    for (name, known) in OPEN_WORDS {
        let Some(asked) = query.get(name) else { continue };
        let mut rows = connection.prepare_cached(known)?;
        let known: Vec<String> = rows.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        if !known.iter().any(|word| word == asked) {
            faults.add(name, format!("must be one of: {}", known.join(", ")));
        }
    }
    Ok(faults)
}

fn all(connection: &Connection) -> rusqlite::Result<Vec<Milestone>> {
    let mut rows = connection.prepare_cached(SELECT)?;
    let milestones = rows.query_map([], of_row)?;
    milestones.collect()
}

fn apply(connection: &Connection, changes: &Changes) -> rusqlite::Result<()> {
    let mut remove = connection.prepare_cached("delete from milestone where id = ?1")?;
    for id in &changes.removed {
        remove.execute([id])?;
    }
    let mut put = connection.prepare_cached(
        "insert or replace into milestone (id, date, date_precision, title, description, framework, category,
           authority, source, confirmed) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    for each in changes.added.iter().chain(&changes.updated) {
        put.execute(params![
            each.id,
            each.date.to_string(),
            each.date_precision.name(),
            each.title,
            each.description,
            each.framework,
            each.category,
            each.authority,
            each.source,
            each.confirmed,
        ])?;
    }
    Ok(())
}

fn of_row(row: &Row) -> rusqlite::Result<Milestone> {
    Ok(Milestone {
        id: row.get("id")?,
        date: word(row, "date", Day::parse)?,
        date_precision: word(row, "date_precision", Precision::parse)?,
        title: row.get("title")?,
        description: row.get("description")?,
        framework: row.get("framework")?,
        category: row.get("category")?,
        authority: row.get("authority")?,
        source: row.get("source")?,
        confirmed: row.get("confirmed")?,
    })
}
