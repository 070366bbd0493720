//! A tenant's own figures for a framework, counted from its programmes.

use super::Tenant;
use crate::domain::day::Day;
use crate::error::Error;
use rusqlite::Connection;
use serde::Serialize;

/// What the programmes of one framework show.
#[derive(Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Figures {
    pub programmes: i64,
    pub test_cases: i64,
    pub passed: i64,
    pub failed: i64,
    /// Share of the test cases, cancelled ones aside, that have a result.
    pub progress_pct: Option<f64>,
    /// Share of those with a result that passed.
    pub passed_pct: Option<f64>,
    pub open_findings: i64,
    pub overdue_findings: i64,
}

impl Tenant<'_> {
    /// The figures of the programmes of a framework.
    pub fn figures_of(&self, framework: &str) -> Result<Figures, Error> {
        let today = Day::of_ms(self.now_ms()).to_string();
        self.read(|connection| figures(&*connection.unchecked_transaction()?, &self.id, framework, &today))
    }
}

fn figures(
    connection: &Connection,
    tenant_id: &str,
    framework: &str,
    today: &str,
) -> rusqlite::Result<Figures> {
    let programmes = "select count(*) from programme where tenant_id = ?1 and framework = ?2";
    // A cross join is not turned round: a tenant has few programmes, and may have many findings of none.
    let cases = "select count(*), coalesce(sum(test_case.status <> 'cancelled'), 0),
         coalesce(sum(test_case.status = 'passed'), 0), coalesce(sum(test_case.status = 'failed'), 0)
       from programme cross join test_case
         on test_case.tenant_id = programme.tenant_id and test_case.programme_id = programme.id
       where programme.tenant_id = ?1 and programme.framework = ?2";
    let findings = "select count(*), coalesce(sum(due_on < ?3), 0)
       from programme cross join finding indexed by finding_programme_open
         on finding.tenant_id = programme.tenant_id and finding.programme_id = programme.id
       where programme.tenant_id = ?1 and programme.framework = ?2
         and finding.status in ('open', 'in_progress', 'resolved')";
    let programmes: i64 =
        connection.prepare_cached(programmes)?.query_row((tenant_id, framework), |row| row.get(0))?;
    let (test_cases, counted, passed, failed): (i64, i64, i64, i64) = connection
        .prepare_cached(cases)?
        .query_row((tenant_id, framework), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    let (open_findings, overdue_findings) = connection
        .prepare_cached(findings)?
        .query_row((tenant_id, framework, today), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(Figures {
        programmes,
        test_cases,
        passed,
        failed,
        progress_pct: share(passed + failed, counted),
        passed_pct: share(passed, passed + failed),
        open_findings,
        overdue_findings,
    })
}

/// In percent with one decimal; nothing of nothing is no share.
fn share(part: i64, whole: i64) -> Option<f64> {
    (whole > 0).then(|| (part as f64 / whole as f64 * 1000.0).round() / 10.0)
}
