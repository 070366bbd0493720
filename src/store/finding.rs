//! Findings.

use super::list::{Filter, Listed, day, json_array, texts, word};
use super::record::{Cell, Column, Records, column, records};
use super::{Desk, Store, Tenant, event, failed, history, sort};
use crate::domain::day::Day;
use crate::domain::event::EventName;
use crate::domain::finding::{Finding, Severity, Status};
use crate::domain::form::Values;
use crate::domain::id::Kind;
use crate::domain::query::Query;
use crate::error::{Error, Faults};
use crate::payload::digest_bytes;
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::json;

const SELECT: &str = "select id, external_id, programme_id, test_case_id, title, description, severity, status, owner,
  detected_on, due_on, remediation, measure_ids, acceptance_reason, acceptance_expires_on, closed_at, created_at,
  updated_at from finding";
/// The same columns, with nothing in those that may hold pages of text.
const BRIEF: &str = "select id, external_id, programme_id, test_case_id, title, null as description, severity, status,
  owner, detected_on, due_on, null as remediation, measure_ids, null as acceptance_reason, acceptance_expires_on,
  closed_at, created_at, updated_at from finding";
/// The same columns, as a list writes them.
const COLUMNS: &[Column] = &[
    column!("id", Text),
    column!("external_id", TextIfAny),
    column!("programme_id", Text),
    column!("test_case_id", Text),
    column!("title", Text),
    column!("description", Text),
    column!("severity", Text),
    column!("status", Text),
    column!("owner", Text),
    column!("detected_on", Text),
    column!("due_on", Text),
    column!("remediation", Text),
    column!("measure_ids", Json),
    column!("acceptance_reason", Text),
    column!("acceptance_expires_on", Text),
    column!("closed_at", Time),
    column!("created_at", Time),
    column!("updated_at", Time),
];
/// The statuses of `Status::is_open`, word for word as in the partial index.
const OPEN: &str = "status in ('open', 'in_progress', 'resolved')";
/// An answer to an Idempotency-Key is remembered this long.
const IDEMPOTENCY_MS: i64 = 86_400_000;

/// What became of a request to file a finding.
pub enum Filed {
    /// It was filed now.
    New(Finding),
    /// The same request came before; this is what it made.
    Before(Finding),
}

impl Tenant<'_> {
    /// A page of findings, written behind what `json` holds: the open ones unless a status, or all, is asked for.
    pub fn findings(&self, query: &Query, json: Vec<u8>) -> Result<Records, Error> {
        let filter = self.wanted_findings(query);
        self.read(|connection| {
            let source = ("finding", SELECT, COLUMNS);
            records(connection, source, &filter, query.page(), json, |moment| {
                self.count_findings(moment, &filter, query)
            })
        })
    }

    /// The same page as findings, for whoever wants more of them than their JSON.
    pub fn listed_findings(&self, query: &Query) -> Result<Listed<Finding>, Error> {
        self.list_findings(query, SELECT)
    }

    fn list_findings(&self, query: &Query, select: &str) -> Result<Listed<Finding>, Error> {
        let filter = self.wanted_findings(query);
        self.read(|connection| {
            let moment = connection.unchecked_transaction()?;
            let total = self.count_findings(&moment, &filter, query)?;
            let items = filter.page(&moment, "finding", select, query.page(), of_row)?;
            Ok(Listed { items, total, page: query.page() })
        })
    }

    /// The same without the long texts: many of them must fit into memory.
    pub fn findings_in_brief(&self, query: &Query) -> Result<Listed<Finding>, Error> {
        self.list_findings(query, BRIEF)
    }

    fn wanted_findings(&self, query: &Query) -> Filter {
        let mut filter = Filter::of_tenant(&self.id);
        filter = match query.get("status") {
            None => filter.and(OPEN),
            Some("all") => filter,
            Some(status) => filter.equals("status", Some(status)),
        };
        let today = Day::of_ms(self.now_ms()).to_string();
        filter = match query.get("overdue") {
            Some("true") => filter.and_with(&format!("due_on < ? and {OPEN}"), today),
            Some(_) => filter.and_with(&format!("not (due_on is not null and due_on < ? and {OPEN})"), today),
            None => filter,
        };
        filter
            .equals("severity", query.get("severity"))
            .equals("programme_id", query.get("programme_id"))
            .equals("test_case_id", query.get("test_case_id"))
            .search(&["title", "description", "owner", "id"], query)
            .sorted(sort::FINDING_ORDERS, query)
    }

    /// How many there are: from the tally, unless something narrows them down.
    fn count_findings(&self, moment: &Connection, filter: &Filter, query: &Query) -> rusqlite::Result<u64> {
        let narrowing = ["severity", "programme_id", "test_case_id", "overdue", "search"];
        match narrowing.iter().all(|name| query.get(name).is_none()) {
            true => tally(moment, &self.id, query.get("status")),
            false => filter.count(moment, "finding"),
        }
    }

    /// One finding.
    pub fn finding(&self, id: &str) -> Result<Finding, Error> {
        self.read(|connection| find(connection, &self.id, id).optional())?.ok_or(Error::NotFound("finding"))
    }

    /// Files a finding. With an idempotency key the same request files it once in a day.
    pub fn file_finding(&self, values: Values, once: Option<String>) -> Result<Filed, Error> {
        self.write(move |desk| {
            let request = digest_bytes(format!("{values:?}").as_bytes());
            if let Some(key) = &once
                && let Some(id) = filed_before(desk, key, &request)?
            {
                return find(desk.connection, desk.tenant_id, &id).map(Filed::Before).map_err(failed);
            }
            let finding = Finding::new(desk.new_id(Kind::Finding)?, &values, desk.now_ms);
            insert(desk, &finding)?;
            event::push(desk, EventName::FindingCreated, &json!(finding))?;
            if let Some(key) = &once {
                remember(desk, key, &request, &finding.id)?;
            }
            Ok(Filed::New(finding))
        })
    }

    /// Changes a finding and, if a status is given, moves it.
    pub fn change_finding(&self, id: &str, values: Values) -> Result<Finding, Error> {
        let id = id.to_owned();
        self.write(move |desk| {
            let found = find(desk.connection, desk.tenant_id, &id).optional().map_err(failed)?;
            let mut finding = found.ok_or(Error::NotFound("finding"))?;
            let moved = finding.change(&values, desk.now_ms).map_err(Error::Invalid)?;
            update(desk, &finding)?;
            history::remark(desk, &id, &values)?;
            if let Some(before) = moved {
                tell_moved(desk, &finding, before)?;
            }
            Ok(finding)
        })
    }
}

impl Store {
    /// Reopens every finding whose accepted risk has reached its last day; gives how many.
    pub fn reopen_expired_acceptances(&self) -> Result<usize, Error> {
        let today = Day::of_ms(self.clock.now_ms()).to_string();
        let expired: Vec<(String, String)> = self.read(|connection| {
            let mut rows = connection.prepare_cached(
                "select tenant_id, id from finding where status = 'risk_accepted' and acceptance_expires_on <= ?1",
            )?;
            let pairs = rows.query_map([&today], |row| Ok((row.get(0)?, row.get(1)?)))?;
            pairs.collect()
        })?;
        for (tenant_id, id) in &expired {
            let id = id.clone();
            let today = today.clone();
            self.tenant(tenant_id).write(move |desk| {
                let mut finding = find(desk.connection, desk.tenant_id, &id).map_err(failed)?;
                // Somebody may have moved it, or set a later day, since it was listed.
                let still = finding.acceptance_expires_on.is_some_and(|end| end.to_string() <= today);
                if finding.status != Status::RiskAccepted || !still {
                    return Ok(());
                }
                finding.enter(Status::Open, desk.now_ms).map_err(Error::Invalid)?;
                finding.updated_at = desk.now_ms;
                update(desk, &finding)?;
                tell_moved(desk, &finding, Status::RiskAccepted)
            })?;
        }
        Ok(expired.len())
    }
}

pub(super) fn tell_moved(desk: &Desk, finding: &Finding, before: Status) -> Result<(), Error> {
    let mut data = json!(finding);
    data["previous_status"] = json!(before);
    event::push(desk, EventName::FindingStatusChanged, &data)
}

fn tally(connection: &Connection, tenant_id: &str, status: Option<&str>) -> rusqlite::Result<u64> {
    let sql = match status {
        None => {
            "select coalesce(sum(findings), 0) from finding_tally where tenant_id = ?1 and status in ('open', 'in_progress', 'resolved')"
        }
        Some("all") => "select coalesce(sum(findings), 0) from finding_tally where tenant_id = ?1",
        Some(_) => {
            "select coalesce(sum(findings), 0) from finding_tally where tenant_id = ?1 and status = ?2"
        }
    };
    let one = status.filter(|status| *status != "all");
    let mut values = vec![tenant_id];
    values.extend(one);
    let total: i64 =
        connection.prepare_cached(sql)?.query_row(rusqlite::params_from_iter(values), |row| row.get(0))?;
    Ok(u64::try_from(total).unwrap_or(0))
}

pub(super) fn find(connection: &Connection, tenant_id: &str, id: &str) -> rusqlite::Result<Finding> {
    connection
        .prepare_cached(&format!("{SELECT} where tenant_id = ?1 and id = ?2"))?
        .query_row((tenant_id, id), of_row)
}

/// All of a tenant's, oldest first.
pub(super) fn all(connection: &Connection, tenant_id: &str) -> rusqlite::Result<Vec<Finding>> {
    let mut rows = connection.prepare_cached(&format!("{SELECT} where tenant_id = ?1 order by id"))?;
    let all = rows.query_map([tenant_id], of_row)?;
    all.collect()
}

pub(super) fn insert(desk: &Desk, finding: &Finding) -> Result<(), Error> {
    check_references(desk, finding)?;
    desk.connection
        .prepare_cached(
            "insert into finding (tenant_id, id, external_id, programme_id, test_case_id, title, description, severity,
               status, owner, detected_on, due_on, remediation, measure_ids, acceptance_reason,
               acceptance_expires_on, closed_at, updated_at, created_at)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
        )
        .and_then(|mut row| {
            bind(&mut row, desk, finding)?;
            row.raw_bind_parameter(19, finding.created_at)?;
            row.raw_execute()
        })
        .map_err(failed)?;
    history::created(desk, finding)
}

pub(super) fn update(desk: &Desk, finding: &Finding) -> Result<(), Error> {
    let before = find(desk.connection, desk.tenant_id, &finding.id).map_err(failed)?;
    check_references(desk, finding)?;
    desk.connection
        .prepare_cached(
            "update finding set external_id = ?3, programme_id = ?4, test_case_id = ?5, title = ?6, description = ?7,
               severity = ?8, status = ?9, owner = ?10, detected_on = ?11, due_on = ?12, remediation = ?13,
               measure_ids = ?14, acceptance_reason = ?15, acceptance_expires_on = ?16, closed_at = ?17,
               updated_at = ?18
             where tenant_id = ?1 and id = ?2",
        )
        .and_then(|mut row| {
            bind(&mut row, desk, finding)?;
            row.raw_execute()
        })
        .map_err(failed)?;
    history::changed(desk, &before, finding)
}

/// The columns that insert and update share, in one order.
fn bind(row: &mut rusqlite::Statement, desk: &Desk, finding: &Finding) -> rusqlite::Result<()> {
    let day = |day: Option<Day>| day.map(|day| day.to_string());
    row.raw_bind_parameter(1, desk.tenant_id)?;
    row.raw_bind_parameter(2, &finding.id)?;
    row.raw_bind_parameter(3, &finding.external_id)?;
    row.raw_bind_parameter(4, &finding.programme_id)?;
    row.raw_bind_parameter(5, &finding.test_case_id)?;
    row.raw_bind_parameter(6, &finding.title)?;
    row.raw_bind_parameter(7, &finding.description)?;
    row.raw_bind_parameter(8, finding.severity.name())?;
    row.raw_bind_parameter(9, finding.status.name())?;
    row.raw_bind_parameter(10, &finding.owner)?;
    row.raw_bind_parameter(11, finding.detected_on.to_string())?;
    row.raw_bind_parameter(12, day(finding.due_on))?;
    row.raw_bind_parameter(13, &finding.remediation)?;
    row.raw_bind_parameter(14, json_array(&finding.measure_ids))?;
    row.raw_bind_parameter(15, &finding.acceptance_reason)?;
    row.raw_bind_parameter(16, day(finding.acceptance_expires_on))?;
    row.raw_bind_parameter(17, finding.closed_at)?;
    row.raw_bind_parameter(18, finding.updated_at)
}

/// What a finding points to must be the tenant's own; another tenant's is as unknown as none.
fn check_references(desk: &Desk, finding: &Finding) -> Result<(), Error> {
    let mut faults = Faults::default();
    let mut check = |field: &str, id: &Option<String>, sql: &str| -> Result<(), Error> {
        let Some(id) = id else { return Ok(()) };
        let known: bool = desk
            .connection
            .prepare_cached(sql)
            .and_then(|mut row| row.query_row((desk.tenant_id, id), |row| row.get(0)))
            .map_err(failed)?;
        if !known {
            faults.add(field, "does not exist");
        }
        Ok(())
    };
    let programme = "select exists (select 1 from programme where tenant_id = ?1 and id = ?2)";
    let test_case = "select exists (select 1 from test_case where tenant_id = ?1 and id = ?2)";
    check("programme_id", &finding.programme_id, programme)?;
    check("test_case_id", &finding.test_case_id, test_case)?;
    faults.into_result()
}

/// By position, in the order of `SELECT`: a page has a thousand cells, and a look-up by name costs each.
fn of_row(row: &Row) -> rusqlite::Result<Finding> {
    Ok(Finding {
        id: row.get(0)?,
        external_id: row.get(1)?,
        programme_id: row.get(2)?,
        test_case_id: row.get(3)?,
        title: row.get(4)?,
        description: row.get(5)?,
        severity: word(row, 6, Severity::parse)?,
        status: word(row, 7, Status::parse)?,
        owner: row.get(8)?,
        detected_on: day(row, 9)?.unwrap_or(Day::of_ms(0)),
        due_on: day(row, 10)?,
        remediation: row.get(11)?,
        measure_ids: texts(row, 12)?,
        acceptance_reason: row.get(13)?,
        acceptance_expires_on: day(row, 14)?,
        closed_at: row.get(15)?,
        created_at: row.get(16)?,
        updated_at: row.get(17)?,
    })
}

/// What an idempotency key made within its day. The same key with another request is a fault.
fn filed_before(desk: &Desk, key: &str, request: &[u8]) -> Result<Option<String>, Error> {
    let gone = "delete from idempotency where tenant_id = ?1 and created_at <= ?2";
    desk.connection
        .prepare_cached(gone)
        .and_then(|mut row| row.execute((desk.tenant_id, desk.now_ms - IDEMPOTENCY_MS)))
        .map_err(failed)?;
    let sql = "select request, object_id from idempotency where tenant_id = ?1 and key = ?2";
    let known: Option<(Vec<u8>, String)> = desk
        .connection
        .prepare_cached(sql)
        .and_then(|mut row| {
            row.query_row((desk.tenant_id, key), |row| Ok((row.get(0)?, row.get(1)?))).optional()
        })
        .map_err(failed)?;
    match known {
        Some((before, _)) if before != request => {
            Err(Error::invalid("this Idempotency-Key was used for another request; choose a new one"))
        }
        Some((_, id)) => Ok(Some(id)),
        None => Ok(None),
    }
}

fn remember(desk: &Desk, key: &str, request: &[u8], id: &str) -> Result<(), Error> {
    let sql = "insert into idempotency (tenant_id, key, request, object_id, created_at) values (?1, ?2, ?3, ?4, ?5)";
    desk.connection
        .prepare_cached(sql)
        .and_then(|mut row| row.execute((desk.tenant_id, key, request, id, desk.now_ms)))
        .map(|_| ())
        .map_err(failed)
}
