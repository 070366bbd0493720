//! Imports and exports of a tenant's data: all of it or nothing, in one transaction.

use super::{
    Desk, Tenant, arrangement, audit, cra, failed, finding, programme, provider, risk, test_case, webhook,
};
use crate::domain::audit::Event;
use crate::domain::destination::Allowlist;
use crate::domain::form::Values;
use crate::domain::id::Kind;
use crate::domain::import::{Import, PARTS, Part, Row, THRESHOLDS, blame, write_part};
use crate::error::{Error, Faults};
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// How many objects an import made and changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// New objects.
    pub added: usize,
    /// Objects that were known by their `external_id`.
    pub updated: usize,
}

/// What an import knows beside its rows.
pub(super) struct Intake<'a> {
    pub desk: &'a Desk<'a>,
    pub allowlist: &'a Allowlist,
    /// Are webhooks told?
    pub events: bool,
}

/// What every kind of object must be able to do to be imported.
pub(super) trait Noun: Sized {
    const KIND: Kind;
    /// Finds an id by tenant and `external_id`.
    const BY_EXTERNAL_ID: &'static str;
    fn find(connection: &Connection, tenant_id: &str, id: &str) -> rusqlite::Result<Self>;
    fn make(intake: &Intake, id: String, values: &Values) -> Result<Self, Faults>;
    /// Takes over a row that is known already; it may arrive in any status.
    fn absorb(&mut self, intake: &Intake, values: &Values) -> Result<(), Faults>;
    fn external_id(&mut self) -> &mut Option<String>;
    fn insert(&self, desk: &Desk) -> Result<(), Error>;
    fn update(&self, desk: &Desk) -> Result<(), Error>;
    fn id(self) -> String;
    /// Tells webhooks of a new object, or of one that was as `before`.
    fn tell(&self, _desk: &Desk, _before: Option<&Self>) -> Result<(), Error> {
        Ok(())
    }
}

/// What the rows of a file are called, by part and `ref`.
type Names = HashMap<(&'static str, String), String>;

impl Tenant<'_> {
    /// Imports a checked file. One fault imports nothing, and every fault is named.
    pub fn import(&self, import: Import, events: bool) -> Result<Imported, Error> {
        let allowlist = Arc::clone(&self.store.allowlist);
        self.write(move |desk| {
            let imported = take_all(&Intake { desk, allowlist: &allowlist, events }, &import)?;
            let figures = format!("{} added, {} updated", imported.added, imported.updated);
            audit::note(desk, Event::DataImported, None, Some(figures))?;
            Ok(imported)
        })
    }

    /// What an import would do, or every fault of it: it is done for a trial, and undone.
    pub fn preview_import(&self, import: Import) -> Result<Imported, Error> {
        let allowlist = Arc::clone(&self.store.allowlist);
        let (tell, told) = std::sync::mpsc::channel();
        // An act that ends in an error is undone by the writer; the outcome takes another way.
        let undone: Result<(), Error> = self.write(move |desk| {
            let _ = tell.send(take_all(&Intake { desk, allowlist: &allowlist, events: false }, &import));
            Err(Error::invalid("a preview changes nothing"))
        });
        told.recv().unwrap_or_else(|_| undone.and(Err(Error::Internal("a preview told nothing".into()))))
    }

    /// All of the tenant's data as a file that `import` reads.
    pub fn export(&self) -> Result<Value, Error> {
        let now_ms = self.now_ms();
        let exported = self.read(|connection| {
            let moment = connection.unchecked_transaction()?;
            let mut file = Map::new();
            let mut names = HashMap::new();
            for part in PARTS {
                let shown = shown(&moment, &self.id, part, now_ms)?;
                file.insert(part.name.into(), write_part(part, shown, &mut names).into());
            }
            let thresholds = json!(risk::thresholds(&moment, &self.id)?);
            let mut settings = Map::new();
            for field in crate::domain::risk::THRESHOLD_PATCH.fields {
                settings.insert(field.name.into(), thresholds[field.name].clone());
            }
            file.insert(THRESHOLDS.into(), settings.into());
            Ok(Value::Object(file))
        })?;
        self.note_export("all of the tenant's data", None)?;
        Ok(exported)
    }
}

/// Takes all rows in, or names every fault.
fn take_all(intake: &Intake, import: &Import) -> Result<Imported, Error> {
    let desk = intake.desk;
    desk.importing.set(true);
    let mut names = Names::new();
    let mut faults = Faults::default();
    let mut imported = Imported::default();
    for (part, rows) in &import.parts {
        for row in rows {
            match take(intake, part, row, &mut names) {
                Ok(true) => imported.added += 1,
                Ok(false) => imported.updated += 1,
                Err(Error::Invalid(found)) => blame(&mut faults, &row.place, found),
                Err(other) => return Err(other),
            }
        }
    }
    if let Some(values) = &import.thresholds {
        let mut thresholds = risk::thresholds(desk.connection, desk.tenant_id).map_err(failed)?;
        thresholds.change(values, desk.now_ms);
        risk::set_thresholds(desk, &thresholds)?;
    }
    faults.into_result().map(|()| imported)
}

/// A part's objects as v1 shows them, oldest first.
fn shown(connection: &Connection, tenant_id: &str, part: &Part, now_ms: i64) -> rusqlite::Result<Vec<Value>> {
    fn values<T: serde::Serialize>(objects: Vec<T>) -> Vec<Value> {
        objects.iter().map(|object| json!(object)).collect()
    }
    Ok(match part.name {
        "providers" => values(provider::all(connection, tenant_id)?),
        "arrangements" => values(arrangement::all(connection, tenant_id)?),
        "programmes" => values(programme::all(connection, tenant_id)?),
        "test_cases" => values(test_case::all(connection, tenant_id)?),
        "findings" => values(finding::all(connection, tenant_id)?),
        "cra_reports" => cra::all(connection, tenant_id)?.iter().map(|report| report.shown(now_ms)).collect(),
        "webhooks" => values(webhook::all(connection, tenant_id)?),
        _ => Vec::new(),
    })
}

/// Takes one row in; `true` if it is new.
fn take(intake: &Intake, part: &Part, row: &Row, names: &mut Names) -> Result<bool, Error> {
    let values = &resolved(part, &row.values, names);
    let (id, is_new) = match part.name {
        "providers" => take_as::<crate::domain::provider::Provider>(intake, row, values)?,
        "arrangements" => take_as::<crate::domain::arrangement::Arrangement>(intake, row, values)?,
        "programmes" => take_as::<crate::domain::programme::Programme>(intake, row, values)?,
        "test_cases" => take_as::<crate::domain::test_case::TestCase>(intake, row, values)?,
        "findings" => take_as::<crate::domain::finding::Finding>(intake, row, values)?,
        "cra_reports" => take_as::<crate::domain::cra::CraReport>(intake, row, values)?,
        "webhooks" => take_as::<crate::domain::webhook::Webhook>(intake, row, values)?,
        other => return Err(Error::internal("importing", format!("no part `{other}`"))),
    };
    if let Some(reference) = &row.reference
        && names.insert((part.name, reference.clone()), id).is_some()
    {
        return Err(Error::field("ref", format!("`{reference}` is used twice")));
    }
    Ok(is_new)
}

fn take_as<N: Noun>(intake: &Intake, row: &Row, values: &Values) -> Result<(String, bool), Error> {
    let desk = intake.desk;
    let known = match &row.external_id {
        Some(external_id) => by_external_id::<N>(desk, external_id)?,
        None => None,
    };
    let Some(id) = known else {
        let mut object = N::make(intake, desk.new_id(N::KIND)?, values).map_err(Error::Invalid)?;
        object.external_id().clone_from(&row.external_id);
        object.insert(desk)?;
        if intake.events {
            object.tell(desk, None)?;
        }
        return Ok((object.id(), true));
    };
    let before = N::find(desk.connection, desk.tenant_id, &id).map_err(failed)?;
    let mut object = N::find(desk.connection, desk.tenant_id, &id).map_err(failed)?;
    object.absorb(intake, values).map_err(Error::Invalid)?;
    object.update(desk)?;
    if intake.events {
        object.tell(desk, Some(&before))?;
    }
    Ok((id, false))
}

/// The row with names of other rows replaced by their ids.
fn resolved(part: &Part, values: &Values, names: &Names) -> Values {
    let mut values = values.clone();
    for (field, other) in part.points {
        let named =
            values.text(field).and_then(|reference| names.get(&(*other, reference.to_owned()))).cloned();
        if let Some(id) = named {
            values.replace_text(field, id);
        }
    }
    values
}

fn by_external_id<N: Noun>(desk: &Desk, external_id: &str) -> Result<Option<String>, Error> {
    desk.connection
        .prepare_cached(N::BY_EXTERNAL_ID)
        .and_then(|mut row| row.query_row((desk.tenant_id, external_id), |row| row.get(0)).optional())
        .map_err(failed)
}
