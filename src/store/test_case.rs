//! Test cases.

use super::list::{Filter, Listed, day, json_array, list, texts, word};
use super::{Desk, Tenant, event, failed, history, sort};
use crate::domain::event::EventName;
use crate::domain::form::Values;
use crate::domain::id::Kind;
use crate::domain::query::Query;
use crate::domain::test_case::{Priority, Status, TestCase, Type};
use crate::error::Error;
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::json;

const SELECT: &str =
    "select id, external_id, programme_id, title, description, type, status, priority, assignee,
  scheduled_on, due_on, executed_at, result_summary, measure_ids, created_at, updated_at,
  (select count(*) from finding where finding.tenant_id = test_case.tenant_id and test_case_id = test_case.id)
    as findings
  from test_case";

impl Tenant<'_> {
    /// A page of test cases.
    pub fn test_cases(&self, query: &Query) -> Result<Listed<TestCase>, Error> {
        let filter = Filter::of_tenant(&self.id)
            .equals("status", query.get("status"))
            .equals("type", query.get("type"))
            .equals("priority", query.get("priority"))
            .equals("programme_id", query.get("programme_id"))
            .search(&["title", "description", "assignee", "id"], query)
            .sorted(sort::TEST_CASE_ORDERS, query);
        self.read(|connection| list(connection, "test_case", SELECT, &filter, query.page(), of_row))
    }

    /// One test case.
    pub fn test_case(&self, id: &str) -> Result<TestCase, Error> {
        self.read(|connection| find(connection, &self.id, id).optional())?.ok_or(Error::NotFound("test case"))
    }

    /// Plans a test case, out of values that passed the form `NEW_TEST_CASE`.
    pub fn create_test_case(&self, values: Values) -> Result<TestCase, Error> {
        self.write(move |desk| {
            let case = TestCase::new(desk.new_id(Kind::TestCase)?, &values, desk.now_ms);
            insert(desk, &case)?;
            Ok(case)
        })
    }

    /// Deletes a test case that has not been begun and found nothing. Any other is cancelled instead.
    pub fn delete_test_case(&self, id: &str) -> Result<(), Error> {
        let id = id.to_owned();
        self.write(move |desk| {
            let found = find(desk.connection, desk.tenant_id, &id).optional().map_err(failed)?;
            let case = found.ok_or(Error::NotFound("test case"))?;
            if case.status != Status::Planned || case.finding_count > 0 {
                let text =
                    "only a planned test case without findings can be deleted; cancel this one instead";
                return Err(Error::invalid(text));
            }
            desk.connection
                .prepare_cached("delete from test_case where tenant_id = ?1 and id = ?2")
                .and_then(|mut row| row.execute((desk.tenant_id, &id)))
                .map_err(failed)?;
            history::forget_notes(desk, &id)?;
            history::deleted(desk, &case)
        })
    }

    /// Changes a test case and, if a status is given, moves it.
    pub fn change_test_case(&self, id: &str, values: Values) -> Result<TestCase, Error> {
        let id = id.to_owned();
        self.write(move |desk| {
            let found = find(desk.connection, desk.tenant_id, &id).optional().map_err(failed)?;
            let mut case = found.ok_or(Error::NotFound("test case"))?;
            let moved = case.change(&values, desk.now_ms).map_err(Error::Invalid)?;
            update(desk, &case)?;
            history::remark(desk, &id, &values)?;
            if let Some(before) = moved {
                tell_moved(desk, &case, before)?;
            }
            Ok(case)
        })
    }
}

pub(super) fn tell_moved(desk: &Desk, case: &TestCase, before: Status) -> Result<(), Error> {
    let mut data = json!(case);
    data["previous_status"] = json!(before);
    event::push(desk, EventName::TestCaseStatusChanged, &data)
}

pub(super) fn find(connection: &Connection, tenant_id: &str, id: &str) -> rusqlite::Result<TestCase> {
    connection
        .prepare_cached(&format!("{SELECT} where tenant_id = ?1 and id = ?2"))?
        .query_row((tenant_id, id), of_row)
}

/// All of a tenant's, oldest first.
pub(super) fn all(connection: &Connection, tenant_id: &str) -> rusqlite::Result<Vec<TestCase>> {
    let mut rows = connection.prepare_cached(&format!("{SELECT} where tenant_id = ?1 order by id"))?;
    let all = rows.query_map([tenant_id], of_row)?;
    all.collect()
}

pub(super) fn insert(desk: &Desk, case: &TestCase) -> Result<(), Error> {
    check_programme(desk, case)?;
    desk.connection
        .prepare_cached(
            "insert into test_case (tenant_id, id, external_id, programme_id, title, description, type, status, priority,
               assignee, scheduled_on, due_on, executed_at, result_summary, measure_ids, updated_at, created_at)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
        )
        .and_then(|mut row| {
            bind(&mut row, desk, case)?;
            row.raw_bind_parameter(17, case.created_at)?;
            row.raw_execute()
        })
        .map_err(failed)?;
    history::created(desk, case)
}

pub(super) fn update(desk: &Desk, case: &TestCase) -> Result<(), Error> {
    let before = find(desk.connection, desk.tenant_id, &case.id).map_err(failed)?;
    check_programme(desk, case)?;
    desk.connection
        .prepare_cached(
            "update test_case set external_id = ?3, programme_id = ?4, title = ?5, description = ?6, type = ?7,
               status = ?8, priority = ?9, assignee = ?10, scheduled_on = ?11, due_on = ?12, executed_at = ?13,
               result_summary = ?14, measure_ids = ?15, updated_at = ?16
             where tenant_id = ?1 and id = ?2",
        )
        .and_then(|mut row| {
            bind(&mut row, desk, case)?;
            row.raw_execute()
        })
        .map_err(failed)?;
    history::changed(desk, &before, case)
}

/// The columns that insert and update share, in one order.
fn bind(row: &mut rusqlite::Statement, desk: &Desk, case: &TestCase) -> rusqlite::Result<()> {
    row.raw_bind_parameter(1, desk.tenant_id)?;
    row.raw_bind_parameter(2, &case.id)?;
    row.raw_bind_parameter(3, &case.external_id)?;
    row.raw_bind_parameter(4, &case.programme_id)?;
    row.raw_bind_parameter(5, &case.title)?;
    row.raw_bind_parameter(6, &case.description)?;
    row.raw_bind_parameter(7, case.r#type.name())?;
    row.raw_bind_parameter(8, case.status.name())?;
    row.raw_bind_parameter(9, case.priority.name())?;
    row.raw_bind_parameter(10, &case.assignee)?;
    row.raw_bind_parameter(11, case.scheduled_on.map(|day| day.to_string()))?;
    row.raw_bind_parameter(12, case.due_on.map(|day| day.to_string()))?;
    row.raw_bind_parameter(13, case.executed_at)?;
    row.raw_bind_parameter(14, &case.result_summary)?;
    row.raw_bind_parameter(15, json_array(&case.measure_ids))?;
    row.raw_bind_parameter(16, case.updated_at)
}

/// The programme must be the tenant's own; another tenant's is as unknown as none.
fn check_programme(desk: &Desk, case: &TestCase) -> Result<(), Error> {
    let known: bool = desk
        .connection
        .prepare_cached("select exists (select 1 from programme where tenant_id = ?1 and id = ?2)")
        .and_then(|mut row| row.query_row((desk.tenant_id, &case.programme_id), |row| row.get(0)))
        .map_err(failed)?;
    if known { Ok(()) } else { Err(Error::field("programme_id", "does not exist")) }
}

fn of_row(row: &Row) -> rusqlite::Result<TestCase> {
    Ok(TestCase {
        id: row.get("id")?,
        external_id: row.get("external_id")?,
        programme_id: row.get("programme_id")?,
        title: row.get("title")?,
        description: row.get("description")?,
        r#type: word(row, "type", Type::parse)?,
        status: word(row, "status", Status::parse)?,
        priority: word(row, "priority", Priority::parse)?,
        assignee: row.get("assignee")?,
        scheduled_on: day(row, "scheduled_on")?,
        due_on: day(row, "due_on")?,
        executed_at: row.get("executed_at")?,
        result_summary: row.get("result_summary")?,
        measure_ids: texts(row, "measure_ids")?,
        finding_count: row.get("findings")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}
