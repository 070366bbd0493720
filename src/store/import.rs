//! Imports and exports of a tenant's data: all of it or nothing, in one transaction.

use super::{Desk, Tenant, event, failed, finding, programme, test_case};
use crate::domain::event::EventName;
use crate::domain::finding::Finding;
use crate::domain::form::Values;
use crate::domain::id::Kind;
use crate::domain::import::{Import, Row, part};
use crate::domain::programme::Programme;
use crate::domain::test_case::TestCase;
use crate::error::{Error, Faults};
use rusqlite::OptionalExtension;
use serde_json::json;
use std::collections::HashMap;

/// How many objects an import made and changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// New objects.
    pub added: usize,
    /// Objects that were known by their `external_id`.
    pub updated: usize,
}

/// What the rows of a file are called, by part and `ref`.
type Names = HashMap<(&'static str, String), String>;

impl Tenant<'_> {
    /// Imports a checked file. One fault imports nothing, and every fault is named.
    pub fn import(&self, import: Import, events: bool) -> Result<Imported, Error> {
        self.write(move |desk| {
            let mut names = Names::new();
            let mut faults = Faults::default();
            let mut imported = Imported::default();
            for (part, rows) in &import.parts {
                for row in rows {
                    match take(desk, part, row, &mut names, events) {
                        Ok(true) => imported.added += 1,
                        Ok(false) => imported.updated += 1,
                        Err(Error::Invalid(found)) => blame(&mut faults, row, found),
                        Err(other) => return Err(other),
                    }
                }
            }
            faults.into_result().map(|()| imported)
        })
    }
}

fn blame(faults: &mut Faults, row: &Row, found: Faults) {
    if !found.summary.is_empty() {
        faults.add(row.place.trim_end_matches(['.', ' ']), found.summary);
    }
    for (name, reason) in found.fields {
        faults.add(&format!("{}{name}", row.place), reason);
    }
}

/// Takes one row in; `true` if it is new.
fn take(desk: &Desk, name: &'static str, row: &Row, names: &mut Names, events: bool) -> Result<bool, Error> {
    let values = &resolved(name, &row.values, names);
    let external_id = values.text("external_id").map(str::to_owned);
    let known = match &external_id {
        Some(external_id) => by_external_id(desk, name, external_id)?,
        None => None,
    };
    let id = match name {
        "programmes" => take_programme(desk, values, known.as_deref(), external_id)?,
        "test_cases" => take_test_case(desk, values, known.as_deref(), external_id, events)?,
        "findings" => take_finding(desk, values, known.as_deref(), external_id, events)?,
        other => return Err(Error::internal("importing", format!("no part `{other}`"))),
    };
    if let Some(reference) = values.text("ref")
        && names.insert((name, reference.to_owned()), id).is_some()
    {
        return Err(Error::field("ref", format!("`{reference}` is used twice")));
    }
    Ok(known.is_none())
}

/// The row with names of other rows replaced by their ids.
fn resolved(name: &str, values: &Values, names: &Names) -> Values {
    let mut values = values.clone();
    for (field, other) in part(name).map_or(&[][..], |part| part.points) {
        let named =
            values.text(field).and_then(|reference| names.get(&(*other, reference.to_owned()))).cloned();
        if let Some(id) = named {
            values.replace_text(field, id);
        }
    }
    values
}

fn by_external_id(desk: &Desk, name: &str, external_id: &str) -> Result<Option<String>, Error> {
    let sql = match name {
        "programmes" => "select id from programme where tenant_id = ?1 and external_id = ?2",
        "test_cases" => "select id from test_case where tenant_id = ?1 and external_id = ?2",
        _ => "select id from finding where tenant_id = ?1 and external_id = ?2",
    };
    desk.connection
        .prepare_cached(sql)
        .and_then(|mut row| row.query_row((desk.tenant_id, external_id), |row| row.get(0)).optional())
        .map_err(failed)
}

fn take_programme(
    desk: &Desk,
    values: &Values,
    known: Option<&str>,
    external_id: Option<String>,
) -> Result<String, Error> {
    let mut programme = match known {
        Some(id) => programme::find(desk.connection, desk.tenant_id, id).map_err(failed)?,
        None => Programme::new(desk.new_id(Kind::Programme)?, values, desk.now_ms),
    };
    programme.external_id = external_id;
    if known.is_some() {
        programme.set(values);
        programme.updated_at = desk.now_ms;
        programme::update(desk, &programme)?;
    } else {
        programme::insert(desk, &programme)?;
    }
    Ok(programme.id)
}

fn take_test_case(
    desk: &Desk,
    values: &Values,
    known: Option<&str>,
    external_id: Option<String>,
    events: bool,
) -> Result<String, Error> {
    let mut case = match known {
        Some(id) => test_case::find(desk.connection, desk.tenant_id, id).map_err(failed)?,
        None => TestCase::new(desk.new_id(Kind::TestCase)?, values, desk.now_ms),
    };
    let before = case.status;
    case.external_id = external_id;
    case.absorb(values, desk.now_ms);
    match known {
        Some(_) => test_case::update(desk, &case)?,
        None => test_case::insert(desk, &case)?,
    }
    if events && known.is_some() && case.status != before {
        test_case::tell_moved(desk, &case, before)?;
    }
    Ok(case.id)
}

fn take_finding(
    desk: &Desk,
    values: &Values,
    known: Option<&str>,
    external_id: Option<String>,
    events: bool,
) -> Result<String, Error> {
    let mut finding = match known {
        Some(id) => finding::find(desk.connection, desk.tenant_id, id).map_err(failed)?,
        None => Finding::new(desk.new_id(Kind::Finding)?, values, desk.now_ms),
    };
    let before = finding.status;
    finding.external_id = external_id;
    finding.absorb(values, desk.now_ms).map_err(Error::Invalid)?;
    match known {
        Some(_) => finding::update(desk, &finding)?,
        None => finding::insert(desk, &finding)?,
    }
    match known {
        None if events => event::push(desk, EventName::FindingCreated, &json!(finding))?,
        Some(_) if events && finding.status != before => finding::tell_moved(desk, &finding, before)?,
        None | Some(_) => {}
    }
    Ok(finding.id)
}
