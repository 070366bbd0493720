//! Programmes, with what is counted in them.

use super::list::{Filter, Listed, day, list, word};
use super::{Desk, Tenant, failed, history, sort};
use crate::domain::form::Values;
use crate::domain::id::Kind;
use crate::domain::programme::{Framework, Programme, Status, progress_pct};
use crate::domain::query::Query;
use crate::error::Error;
use rusqlite::{Connection, OptionalExtension, Row};

// The index is named: with statistics from when the tenant was small, SQLite walks over all its findings.
const SELECT: &str = "select id, external_id, name, description, framework, status, owner, starts_on, ends_on,
  created_at, updated_at,
  (select count(*) from test_case
   where test_case.tenant_id = programme.tenant_id and programme_id = programme.id) as cases,
  (select count(*) from test_case
   where test_case.tenant_id = programme.tenant_id and programme_id = programme.id and status <> 'cancelled') as counted,
  (select count(*) from test_case
   where test_case.tenant_id = programme.tenant_id and programme_id = programme.id
     and status in ('passed', 'failed')) as done,
  (select count(*) from finding indexed by finding_programme_open
   where finding.tenant_id = programme.tenant_id and programme_id = programme.id
     and status in ('open', 'in_progress', 'resolved')) as open_findings
  from programme";

impl Tenant<'_> {
    /// A page of programmes.
    pub fn programmes(&self, query: &Query) -> Result<Listed<Programme>, Error> {
        let filter = Filter::of_tenant(&self.id)
            .equals("status", query.get("status"))
            .equals("framework", query.get("framework"))
            .search(&["name", "description", "owner", "id"], query)
            .sorted(sort::PROGRAMME_ORDERS, query);
        self.read(|connection| list(connection, "programme", SELECT, &filter, query.page(), of_row))
    }

    /// One programme.
    pub fn programme(&self, id: &str) -> Result<Programme, Error> {
        self.read(|connection| find(connection, &self.id, id).optional())?.ok_or(Error::NotFound("programme"))
    }

    /// Makes a programme out of values that passed the form `NEW_PROGRAMME`.
    pub fn create_programme(&self, values: Values) -> Result<Programme, Error> {
        self.write(move |desk| {
            let programme = Programme::new(desk.new_id(Kind::Programme)?, &values, desk.now_ms);
            programme.faults().into_result()?;
            insert(desk, &programme)?;
            Ok(programme)
        })
    }

    /// Changes a programme and, if a status is given, moves it.
    pub fn change_programme(&self, id: &str, values: Values) -> Result<Programme, Error> {
        let id = id.to_owned();
        self.write(move |desk| {
            let mut programme = known(desk, &id)?;
            programme.change(&values, desk.now_ms).map_err(Error::Invalid)?;
            update(desk, &programme)?;
            history::remark(desk, &id, &values)?;
            Ok(programme)
        })
    }

    /// Deletes a programme in which there is nothing. One that was worked with is archived instead.
    pub fn delete_programme(&self, id: &str) -> Result<(), Error> {
        let id = id.to_owned();
        self.write(move |desk| {
            let programme = known(desk, &id)?;
            let sql = "select (select count(*) from test_case where tenant_id = ?1 and programme_id = ?2)
                            + (select count(*) from finding where tenant_id = ?1 and programme_id = ?2)";
            let inside: i64 = desk
                .connection
                .prepare_cached(sql)
                .and_then(|mut row| row.query_row((desk.tenant_id, &id), |row| row.get(0)))
                .map_err(failed)?;
            if inside > 0 {
                let text =
                    format!("{inside} test cases and findings belong to this programme; archive it instead");
                return Err(Error::invalid(text));
            }
            desk.connection
                .prepare_cached("delete from programme where tenant_id = ?1 and id = ?2")
                .and_then(|mut row| row.execute((desk.tenant_id, &id)))
                .map_err(failed)?;
            history::forget_notes(desk, &id)?;
            history::deleted(desk, &programme)
        })
    }
}

fn known(desk: &Desk, id: &str) -> Result<Programme, Error> {
    let found = find(desk.connection, desk.tenant_id, id).optional().map_err(failed)?;
    found.ok_or(Error::NotFound("programme"))
}

pub(super) fn find(connection: &Connection, tenant_id: &str, id: &str) -> rusqlite::Result<Programme> {
    connection
        .prepare_cached(&format!("{SELECT} where tenant_id = ?1 and id = ?2"))?
        .query_row((tenant_id, id), of_row)
}

/// All of a tenant's, oldest first.
pub(super) fn all(connection: &Connection, tenant_id: &str) -> rusqlite::Result<Vec<Programme>> {
    let mut rows = connection.prepare_cached(&format!("{SELECT} where tenant_id = ?1 order by id"))?;
    let all = rows.query_map([tenant_id], of_row)?;
    all.collect()
}

pub(super) fn insert(desk: &Desk, programme: &Programme) -> Result<(), Error> {
    desk.connection
        .prepare_cached(
            "insert into programme (tenant_id, id, external_id, name, description, framework, status, owner, starts_on,
               ends_on, updated_at, created_at)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )
        .and_then(|mut row| {
            bind(&mut row, desk, programme)?;
            row.raw_bind_parameter(12, programme.created_at)?;
            row.raw_execute()
        })
        .map_err(failed)?;
    history::created(desk, programme)
}

pub(super) fn update(desk: &Desk, programme: &Programme) -> Result<(), Error> {
    let before = find(desk.connection, desk.tenant_id, &programme.id).map_err(failed)?;
    desk.connection
        .prepare_cached(
            "update programme set external_id = ?3, name = ?4, description = ?5, framework = ?6, status = ?7,
               owner = ?8, starts_on = ?9, ends_on = ?10, updated_at = ?11
             where tenant_id = ?1 and id = ?2",
        )
        .and_then(|mut row| {
            bind(&mut row, desk, programme)?;
            row.raw_execute()
        })
        .map_err(failed)?;
    history::changed(desk, &before, programme)
}

/// The columns that insert and update share, in one order.
fn bind(row: &mut rusqlite::Statement, desk: &Desk, programme: &Programme) -> rusqlite::Result<()> {
    row.raw_bind_parameter(1, desk.tenant_id)?;
    row.raw_bind_parameter(2, &programme.id)?;
    row.raw_bind_parameter(3, &programme.external_id)?;
    row.raw_bind_parameter(4, &programme.name)?;
    row.raw_bind_parameter(5, &programme.description)?;
    row.raw_bind_parameter(6, programme.framework.name())?;
    row.raw_bind_parameter(7, programme.status.name())?;
    row.raw_bind_parameter(8, &programme.owner)?;
    row.raw_bind_parameter(9, programme.starts_on.map(|day| day.to_string()))?;
    row.raw_bind_parameter(10, programme.ends_on.map(|day| day.to_string()))?;
    row.raw_bind_parameter(11, programme.updated_at)
}

fn of_row(row: &Row) -> rusqlite::Result<Programme> {
    Ok(Programme {
        id: row.get("id")?,
        external_id: row.get("external_id")?,
        name: row.get("name")?,
        description: row.get("description")?,
        framework: word(row, "framework", Framework::parse)?,
        status: word(row, "status", Status::parse)?,
        owner: row.get("owner")?,
        starts_on: day(row, "starts_on")?,
        ends_on: day(row, "ends_on")?,
        test_case_count: row.get("cases")?,
        open_finding_count: row.get("open_findings")?,
        progress_pct: progress_pct(row.get("done")?, row.get("counted")?),
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}
