//! CRA reports.

use super::list::{Filter, Listed, damaged, json_array, list, texts, word};
use super::{Desk, Tenant, audit, failed, history, sort};
use crate::domain::audit::Event;
use crate::domain::cra::{CraReport, Kind, Severity, Status, Submission};
use crate::domain::cra_form::recorded;
use crate::domain::form::Values;
use crate::domain::id;
use crate::domain::query::Query;
use crate::error::Error;
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::Value;

const SELECT: &str = "select id, external_id, kind, title, product_name, product_version, cve_id, severity, cvss_score,
  status, became_aware_at, corrective_measure_at, early_warning_sent_at, notification_sent_at, final_report_sent_at,
  member_states, summary, root_cause, mitigation, user_guidance, submissions, created_at, updated_at from cra_report";

impl Tenant<'_> {
    /// A page of CRA reports.
    pub fn cra_reports(&self, query: &Query) -> Result<Listed<CraReport>, Error> {
        let filter = Filter::of_tenant(&self.id)
            .equals("status", query.get("status"))
            .equals("kind", query.get("kind"))
            .equals("severity", query.get("severity"))
            .search(&["title", "product_name", "cve_id", "summary", "id"], query)
            .sorted(sort::CRA_ORDERS, query);
        self.read(|connection| list(connection, "cra_report", SELECT, &filter, query.page(), of_row))
    }

    /// One CRA report.
    pub fn cra_report(&self, id: &str) -> Result<CraReport, Error> {
        self.read(|connection| find(connection, &self.id, id).optional())?
            .ok_or(Error::NotFound("cra report"))
    }

    /// Makes a CRA report out of values that passed the form `NEW_CRA_REPORT`.
    pub fn create_cra_report(&self, values: Values) -> Result<CraReport, Error> {
        self.write(move |desk| {
            let report = CraReport::new(desk.new_id(id::Kind::CraReport)?, &values, desk.now_ms);
            insert(desk, &report)?;
            Ok(report)
        })
    }

    /// Changes a CRA report and, if a status is given, moves it.
    pub fn change_cra_report(&self, id: &str, values: Values) -> Result<CraReport, Error> {
        let id = id.to_owned();
        self.write(move |desk| {
            let found = find(desk.connection, desk.tenant_id, &id).optional().map_err(failed)?;
            let mut report = found.ok_or(Error::NotFound("cra report"))?;
            report.change(&values, desk.now_ms).map_err(Error::Invalid)?;
            update(desk, &report)?;
            history::remark(desk, &id, &values)?;
            Ok(report)
        })
    }

    /// Records a stage as sent, or what came back of one that was, out of values that passed the form `SUBMISSION`.
    pub fn record_submission(&self, id: &str, values: Values) -> Result<CraReport, Error> {
        let id = id.to_owned();
        self.write(move |desk| {
            let found = find(desk.connection, desk.tenant_id, &id).optional().map_err(failed)?;
            let mut report = found.ok_or(Error::NotFound("cra report"))?;
            let change = recorded(&report, &values).map_err(Error::Invalid)?;
            report.change(&change, desk.now_ms).map_err(Error::Invalid)?;
            update(desk, &report)?;
            history::remark(desk, &id, &values)?;
            Ok(report)
        })
    }

    /// Deletes a draft. What an authority has heard of is withdrawn instead.
    pub fn delete_cra_report(&self, id: &str) -> Result<(), Error> {
        let id = id.to_owned();
        self.write(move |desk| {
            let found = find(desk.connection, desk.tenant_id, &id).optional().map_err(failed)?;
            let report = found.ok_or(Error::NotFound("cra report"))?;
            if report.status != Status::Draft {
                return Err(Error::invalid("only a draft can be deleted; withdraw this report instead"));
            }
            desk.connection
                .prepare_cached("delete from cra_report where tenant_id = ?1 and id = ?2")
                .and_then(|mut row| row.execute((desk.tenant_id, &id)))
                .map_err(failed)?;
            audit::note(desk, Event::CraReportChanged, Some(&id), Some("deleted".into()))?;
            history::forget_notes(desk, &id)?;
            history::deleted(desk, &report)
        })
    }
}

pub(super) fn find(connection: &Connection, tenant_id: &str, id: &str) -> rusqlite::Result<CraReport> {
    connection
        .prepare_cached(&format!("{SELECT} where tenant_id = ?1 and id = ?2"))?
        .query_row((tenant_id, id), of_row)
}

/// All of a tenant's, oldest first.
pub(super) fn all(connection: &Connection, tenant_id: &str) -> rusqlite::Result<Vec<CraReport>> {
    let mut rows = connection.prepare_cached(&format!("{SELECT} where tenant_id = ?1 order by id"))?;
    let all = rows.query_map([tenant_id], of_row)?;
    all.collect()
}

/// A tenant's reports of which a stage is still to be sent.
pub(super) fn running(connection: &Connection, tenant_id: &str) -> rusqlite::Result<Vec<CraReport>> {
    let sql = format!(
        "{SELECT} where tenant_id = ?1 and status in ('draft', 'early_warning_sent', 'notification_sent')"
    );
    let mut rows = connection.prepare_cached(&sql)?;
    let running = rows.query_map([tenant_id], of_row)?;
    running.collect()
}

pub(super) fn insert(desk: &Desk, report: &CraReport) -> Result<(), Error> {
    desk.connection
        .prepare_cached(
            "insert into cra_report (tenant_id, id, external_id, kind, title, product_name, product_version, cve_id,
               severity, cvss_score, status, became_aware_at, corrective_measure_at, early_warning_sent_at,
               notification_sent_at, final_report_sent_at, member_states, summary, root_cause, mitigation,
               user_guidance, submissions, updated_at, created_at)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
               ?22, ?23, ?24)",
        )
        .and_then(|mut row| {
            bind(&mut row, desk, report)?;
            row.raw_bind_parameter(24, report.created_at)?;
            row.raw_execute()
        })
        .map_err(failed)?;
    audit::note(desk, Event::CraReportChanged, Some(&report.id), Some("created".into()))?;
    history::created(desk, report)
}

pub(super) fn update(desk: &Desk, report: &CraReport) -> Result<(), Error> {
    let before = find(desk.connection, desk.tenant_id, &report.id).map_err(failed)?;
    desk.connection
        .prepare_cached(
            "update cra_report set external_id = ?3, kind = ?4, title = ?5, product_name = ?6, product_version = ?7,
               cve_id = ?8, severity = ?9, cvss_score = ?10, status = ?11, became_aware_at = ?12,
               corrective_measure_at = ?13, early_warning_sent_at = ?14, notification_sent_at = ?15,
               final_report_sent_at = ?16, member_states = ?17, summary = ?18, root_cause = ?19, mitigation = ?20,
               user_guidance = ?21, submissions = ?22, updated_at = ?23
             where tenant_id = ?1 and id = ?2",
        )
        .and_then(|mut row| {
            bind(&mut row, desk, report)?;
            row.raw_execute()
        })
        .map_err(failed)?;
    audit::note(desk, Event::CraReportChanged, Some(&report.id), Some(report.status.name().into()))?;
    history::changed(desk, &before, report)
}

/// The columns that insert and update share, in one order.
fn bind(row: &mut rusqlite::Statement, desk: &Desk, report: &CraReport) -> rusqlite::Result<()> {
    let submissions: Vec<Value> = report.submissions.iter().map(Submission::shown).collect();
    row.raw_bind_parameter(1, desk.tenant_id)?;
    row.raw_bind_parameter(2, &report.id)?;
    row.raw_bind_parameter(3, &report.external_id)?;
    row.raw_bind_parameter(4, report.kind.name())?;
    row.raw_bind_parameter(5, &report.title)?;
    row.raw_bind_parameter(6, &report.product_name)?;
    row.raw_bind_parameter(7, &report.product_version)?;
    row.raw_bind_parameter(8, &report.cve_id)?;
    row.raw_bind_parameter(9, report.severity.map(Severity::name))?;
    row.raw_bind_parameter(10, report.cvss_score)?;
    row.raw_bind_parameter(11, report.status.name())?;
    row.raw_bind_parameter(12, report.became_aware_at)?;
    row.raw_bind_parameter(13, report.corrective_measure_at)?;
    row.raw_bind_parameter(14, report.early_warning_sent_at)?;
    row.raw_bind_parameter(15, report.notification_sent_at)?;
    row.raw_bind_parameter(16, report.final_report_sent_at)?;
    row.raw_bind_parameter(17, json_array(&report.member_states))?;
    row.raw_bind_parameter(18, &report.summary)?;
    row.raw_bind_parameter(19, &report.root_cause)?;
    row.raw_bind_parameter(20, &report.mitigation)?;
    row.raw_bind_parameter(21, &report.user_guidance)?;
    row.raw_bind_parameter(22, Value::Array(submissions).to_string())?;
    row.raw_bind_parameter(23, report.updated_at)
}

fn of_row(row: &Row) -> rusqlite::Result<CraReport> {
    let severity: Option<String> = row.get("severity")?;
    Ok(CraReport {
        id: row.get("id")?,
        external_id: row.get("external_id")?,
        kind: word(row, "kind", Kind::parse)?,
        title: row.get("title")?,
        product_name: row.get("product_name")?,
        product_version: row.get("product_version")?,
        cve_id: row.get("cve_id")?,
        severity: severity.map(|_| word(row, "severity", Severity::parse)).transpose()?,
        cvss_score: row.get("cvss_score")?,
        status: word(row, "status", Status::parse)?,
        became_aware_at: row.get("became_aware_at")?,
        corrective_measure_at: row.get("corrective_measure_at")?,
        early_warning_sent_at: row.get("early_warning_sent_at")?,
        notification_sent_at: row.get("notification_sent_at")?,
        final_report_sent_at: row.get("final_report_sent_at")?,
        member_states: texts(row, "member_states")?,
        summary: row.get("summary")?,
        root_cause: row.get("root_cause")?,
        mitigation: row.get("mitigation")?,
        user_guidance: row.get("user_guidance")?,
        submissions: submissions(row)?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

fn submissions(row: &Row) -> rusqlite::Result<Vec<Submission>> {
    let index = row.as_ref().column_index("submissions")?;
    let text = row.get_ref(index)?.as_str().map_err(|cause| damaged(index, cause))?;
    let entries: Vec<Value> = serde_json::from_str(text).map_err(|cause| damaged(index, cause))?;
    let read = entries.iter().map(Submission::of).collect::<Option<Vec<_>>>();
    read.ok_or_else(|| damaged(index, "an entry of submissions does not fit"))
}
