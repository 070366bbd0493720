//! What a tenant's first page is made from: running clocks, the age of open findings, work by its day.

use super::list::{damaged, word};
use super::{Tenant, cra};
use crate::domain::alert::Work;
use crate::domain::cra::CraReport;
use crate::domain::day::Day;
use crate::domain::finding::Severity;
use crate::error::Error;
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::{BTreeSet, HashMap};

/// The open findings of one severity by age: up to 30 days, 90, 180, and older.
#[derive(Clone, Debug, PartialEq)]
pub struct Ages {
    /// The severity.
    pub severity: Severity,
    /// How many of each age.
    pub counts: [u64; 4],
    /// How many are overdue.
    pub overdue: u64,
}

/// A finding or a test case that has to be done by a day.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Ahead {
    pub work: Work,
    pub id: String,
    pub title: String,
    pub who: Option<String>,
    pub due_on: Day,
}

impl Tenant<'_> {
    /// The CRA reports of which a stage is still to be sent; the next to be due first, those without a clock last.
    pub fn running_cra_reports(&self) -> Result<Vec<CraReport>, Error> {
        let mut running = self.read(|connection| cra::running(connection, &self.id))?;
        running.sort_by_key(|report| report.next_deadline().map_or(i64::MAX, |(_, due_at)| due_at));
        Ok(running)
    }

    /// The open findings by severity and age; severities without any are left out.
    pub fn finding_ages(&self) -> Result<Vec<Ages>, Error> {
        let today = Day::of_ms(self.now_ms());
        let back = |days: i32| today.plus_days(-days).to_string();
        let sql = "select severity, sum(detected_on >= ?3), sum(detected_on < ?3 and detected_on >= ?4),
             sum(detected_on < ?4 and detected_on >= ?5), sum(detected_on < ?5), sum(coalesce(due_on < ?2, 0))
           from finding indexed by finding_deadline
           where tenant_id = ?1 and status in ('open', 'in_progress', 'resolved') group by severity";
        self.read(|connection| {
            let mut rows = connection.prepare_cached(sql)?;
            let values = (&self.id, today.to_string(), back(30), back(90), back(180));
            let ages = rows.query_map(values, ages_of_row)?;
            ages.collect()
        })
    }

    /// The findings and test cases that are due first, so many at the most.
    pub fn work_ahead(&self, most: u32) -> Result<Vec<Ahead>, Error> {
        let findings = "select id, title, owner, due_on from finding where tenant_id = ?1
             and status in ('open', 'in_progress', 'resolved') and due_on is not null order by due_on limit ?2";
        let cases = "select id, title, assignee, due_on from test_case where tenant_id = ?1
             and status in ('planned', 'in_progress', 'blocked') and due_on is not null order by due_on limit ?2";
        let mut ahead = self.read(|connection| {
            let moment = connection.unchecked_transaction()?;
            let mut ahead = due_first(&moment, findings, &self.id, most, Work::Finding)?;
            ahead.extend(due_first(&moment, cases, &self.id, most, Work::TestCase)?);
            Ok(ahead)
        })?;
        ahead.sort_by_key(|ahead| ahead.due_on);
        ahead.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        Ok(ahead)
    }

    /// What programmes and test cases are called, by their ids; of others nothing is said.
    pub fn names(&self, ids: &BTreeSet<&str>) -> Result<HashMap<String, String>, Error> {
        let sql = "select name from programme where tenant_id = ?1 and id = ?2
             union all select title from test_case where tenant_id = ?1 and id = ?2";
        self.read(|connection| {
            let moment = connection.unchecked_transaction()?;
            let mut row = moment.prepare_cached(sql)?;
            let mut names = HashMap::new();
            for id in ids {
                if let Some(name) = row.query_row((&self.id, id), |row| row.get(0)).optional()? {
                    names.insert((*id).to_owned(), name);
                }
            }
            Ok(names)
        })
    }

    /// The newest of the tenant's findings and test cases that name a measure: what, id, title, status.
    pub fn work_on_measure(&self, measure_id: &str) -> Result<Vec<OnMeasure>, Error> {
        let quoted = format!("\"{measure_id}\"");
        let findings = "select id, title, status from finding where tenant_id = ?1
             and instr(measure_ids, ?2) > 0 order by id desc limit 20";
        let cases = "select id, title, status from test_case where tenant_id = ?1
             and instr(measure_ids, ?2) > 0 order by id desc limit 20";
        self.read(|connection| {
            let moment = connection.unchecked_transaction()?;
            let mut all = Vec::new();
            for (work, sql) in [(Work::Finding, findings), (Work::TestCase, cases)] {
                let mut rows = moment.prepare_cached(sql)?;
                let found = rows.query_map((&self.id, &quoted), |row| {
                    Ok((work, row.get(0)?, row.get(1)?, row.get(2)?))
                })?;
                for each in found {
                    all.push(each?);
                }
            }
            Ok(all)
        })
    }
}

/// What, its id, its title and its status.
pub type OnMeasure = (Work, String, String, String);

fn ages_of_row(row: &Row) -> rusqlite::Result<Ages> {
    let count = |column: usize| row.get::<_, i64>(column).map(|count| u64::try_from(count).unwrap_or(0));
    Ok(Ages {
        severity: word(row, 0, Severity::parse)?,
        counts: [count(1)?, count(2)?, count(3)?, count(4)?],
        overdue: count(5)?,
    })
}

fn due_first(
    connection: &Connection,
    sql: &str,
    tenant_id: &str,
    most: u32,
    work: Work,
) -> rusqlite::Result<Vec<Ahead>> {
    let mut rows = connection.prepare_cached(sql)?;
    let ahead = rows.query_map((tenant_id, most), |row| {
        let due_on = super::list::day(row, 3)?.ok_or_else(|| damaged(3, "no day"))?;
        Ok(Ahead { work, id: row.get(0)?, title: row.get(1)?, who: row.get(2)?, due_on })
    })?;
    ahead.collect()
}
