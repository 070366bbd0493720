//! What alerts are made from: work that is due, running clocks, breaches, webhooks that do not get through.

use super::list::{Listed, day, word};
use super::{Tenant, cra, risk};
use crate::domain::alert::{Alert, Due, Work};
use crate::domain::day::Day;
use crate::domain::deadline::Leads;
use crate::domain::finding::Severity;
use crate::domain::fold::fold;
use crate::domain::query::Query;
use crate::error::Error;
use rusqlite::{Connection, Row};

const DAY_MS: i64 = 86_400_000;

/// What is asked of a tenant's alerts.
struct View<'a> {
    tenant_id: &'a str,
    now_ms: i64,
    leads: &'a Leads,
    level: Option<Severity>,
    words: Vec<String>,
}

impl View<'_> {
    fn shows(&self, alert: &Alert) -> bool {
        self.level.is_none_or(|level| alert.severity == level) && alert.has_words(&self.words)
    }
}

impl Tenant<'_> {
    /// A page of the tenant's alerts, worst first and then newest first; `platform` holds those that are
    /// everybody's.
    pub fn alerts(&self, query: &Query, leads: &Leads, platform: Vec<Alert>) -> Result<Listed<Alert>, Error> {
        let page = query.page();
        let view = View {
            tenant_id: &self.id,
            now_ms: self.now_ms(),
            leads,
            level: query.get("level").and_then(Severity::parse),
            words: query.get("search").unwrap_or_default().split_whitespace().map(fold).collect(),
        };
        self.read(|connection| {
            let moment = connection.unchecked_transaction()?;
            let mut others = platform;
            others.extend(near_work(&moment, &view)?);
            others.extend(
                cra::running(&moment, view.tenant_id)?
                    .iter()
                    .flat_map(|report| Alert::of_cra_report(report, view.leads, view.now_ms)),
            );
            others.extend(concentration(&moment, &view)?);
            others.extend(webhooks(&moment, view.tenant_id)?);
            others.retain(|alert| view.shows(alert));
            // Overdue findings may be many; of those only as many are made as can stand on this page.
            let (overdue, overdue_total) =
                overdue_findings(&moment, &view, page.offset.saturating_add(page.limit))?;
            let total = others.len() as u64 + overdue_total;
            others.extend(overdue);
            others.sort_by(|one, other| one.rank().cmp(&other.rank()));
            let range = page.range(others.len());
            Ok(Listed { items: others.drain(range).collect(), total, page })
        })
    }
}

/// The worst and newest overdue findings, so many at the most, and how many there are in all.
fn overdue_findings(connection: &Connection, view: &View, most: u64) -> rusqlite::Result<(Vec<Alert>, u64)> {
    let today = Day::of_ms(view.now_ms).to_string();
    let level = view.level.map(Severity::name);
    let select = "select id, title, severity, due_on, created_at from finding
       where tenant_id = ?1 and due_on < ?2 and status in ('open', 'in_progress', 'resolved')
         and (?3 is null or severity = ?3)
       order by case severity when 'critical' then 0 when 'high' then 1 when 'medium' then 2 when 'low' then 3
         else 4 end, due_on desc, id
       limit ?4";
    let is_searched = !view.words.is_empty();
    let limit = if is_searched { -1 } else { i64::try_from(most).unwrap_or(-1) };
    let mut rows = connection.prepare_cached(select)?;
    let found = rows.query_map((view.tenant_id, &today, level, limit), due)?;
    let mut alerts = Vec::new();
    for due in found {
        alerts.extend(
            Alert::of_work(Work::Finding, &due?, view.leads, view.now_ms).filter(|alert| view.shows(alert)),
        );
    }
    if is_searched {
        let total = alerts.len() as u64;
        return Ok((alerts, total));
    }
    let count = "select count(*) from finding
       where tenant_id = ?1 and due_on < ?2 and status in ('open', 'in_progress', 'resolved')
         and (?3 is null or severity = ?3)";
    let total: i64 =
        connection.prepare_cached(count)?.query_row((view.tenant_id, &today, level), |row| row.get(0))?;
    Ok((alerts, u64::try_from(total).unwrap_or(0)))
}

/// Findings that are due soon, and test cases that are due soon or were due.
fn near_work(connection: &Connection, view: &View) -> rusqlite::Result<Vec<Alert>> {
    let today = Day::of_ms(view.now_ms);
    // A lead of so many days can reach into one day more.
    let days = i32::try_from(view.leads.work_ms / DAY_MS + 1).unwrap_or(i32::MAX);
    let (today, last) = (today.to_string(), today.plus_days(days).to_string());
    let findings = "select id, title, severity, due_on, created_at from finding
       where tenant_id = ?1 and due_on between ?2 and ?3 and status in ('open', 'in_progress', 'resolved')";
    let cases = "select id, title, priority, due_on, created_at from test_case
       where tenant_id = ?1 and due_on between ?2 and ?3 and status in ('planned', 'in_progress', 'blocked')";
    let mut alerts = Vec::new();
    for (work, sql, first) in [(Work::Finding, findings, today.as_str()), (Work::TestCase, cases, "")] {
        let mut rows = connection.prepare_cached(sql)?;
        for due in rows.query_map((view.tenant_id, first, &last), due)? {
            alerts.extend(Alert::of_work(work, &due?, view.leads, view.now_ms));
        }
    }
    Ok(alerts)
}

fn due(row: &Row) -> rusqlite::Result<Due> {
    Ok(Due {
        id: row.get(0)?,
        title: row.get(1)?,
        severity: word(row, 2, Severity::parse)?,
        due_on: day(row, 3)?.unwrap_or(Day::of_ms(0)),
        created_at: row.get(4)?,
    })
}

fn concentration(connection: &Connection, view: &View) -> rusqlite::Result<Vec<Alert>> {
    let Some(latest) = risk::latest(connection, view.tenant_id)? else { return Ok(Vec::new()) };
    let breaches = latest.breaches(&risk::thresholds(connection, view.tenant_id)?)?;
    let mut alerts: Vec<Alert> = (1..)
        .zip(&breaches)
        .map(|(number, breach)| Alert::of_breach(breach, number, latest.analysed_at))
        .collect();
    let review = latest
        .next_review_on
        .and_then(|due_on| Alert::of_review(&latest.id, latest.analysed_at, due_on, view.leads, view.now_ms));
    alerts.extend(review);
    Ok(alerts)
}

fn webhooks(connection: &Connection, tenant_id: &str) -> rusqlite::Result<Vec<Alert>> {
    let sql = "select id, name, failing_since, last_outcome from webhook
       where tenant_id = ?1 and active = 1 and failing_since is not null";
    let mut rows = connection.prepare_cached(sql)?;
    let alerts = rows.query_map([tenant_id], |row| {
        let (name, outcome): (String, Option<String>) = (row.get(1)?, row.get(3)?);
        Ok(Alert::of_webhook(row.get(0)?, &name, row.get(2)?, outcome.as_deref()))
    })?;
    alerts.collect()
}
