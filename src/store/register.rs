//! The register out of a file: what it would do, and doing it, all of it or nothing.

use super::{Desk, Tenant, arrangement, audit, failed, provider};
use crate::domain::arrangement::Arrangement;
use crate::domain::audit::Event;
use crate::domain::id::Kind;
use crate::domain::import_csv::Table;
use crate::domain::provider::Provider;
use crate::domain::register::{Entry, Figures, Holding, Plan, Step, plan_arrangements, plan_providers};
use crate::error::Error;
use crate::payload::digest;
use rusqlite::Connection;

impl Tenant<'_> {
    /// What a file of providers would do. Nothing is changed.
    pub fn plan_providers(&self, table: &Table) -> Result<Plan<Provider>, Error> {
        let now_ms = self.now_ms();
        self.read(|connection| providers(connection, &self.id, table, now_ms))
    }

    /// What a file of arrangements would do. Nothing is changed.
    pub fn plan_arrangements(&self, table: &Table) -> Result<Plan<Arrangement>, Error> {
        let now_ms = self.now_ms();
        self.read(|connection| {
            let moment = connection.unchecked_transaction()?;
            arrangements(&moment, &self.id, table, now_ms)
        })
    }

    /// Takes a file in, if it does what somebody was shown: it is planned anew in the transaction, and `seal`
    /// is that of the plan that was looked at.
    pub fn import_register(&self, holding: Holding, table: Table, seal: String) -> Result<Figures, Error> {
        self.write(move |desk| {
            desk.importing.set(true);
            let done = match holding {
                Holding::Providers => {
                    let plan =
                        providers(desk.connection, desk.tenant_id, &table, desk.now_ms).map_err(failed)?;
                    for step in agreed(&plan, &seal)? {
                        let mut entry = step.after.clone();
                        if step.before.is_some() {
                            provider::update(desk, &entry)?;
                        } else {
                            entry.id = desk.new_id(Kind::Provider)?;
                            provider::insert(desk, &entry)?;
                        }
                    }
                    plan.figures()
                }
                Holding::Arrangements => {
                    let plan =
                        arrangements(desk.connection, desk.tenant_id, &table, desk.now_ms).map_err(failed)?;
                    for step in agreed(&plan, &seal)? {
                        let mut entry = step.after.clone();
                        if step.before.is_some() {
                            arrangement::update(desk, &entry)?;
                        } else {
                            entry.id = desk.new_id(Kind::Arrangement)?;
                            arrangement::insert(desk, &entry)?;
                        }
                    }
                    plan.figures()
                }
            };
            note(desk, holding, done)?;
            Ok(done)
        })
    }
}

fn providers(
    connection: &Connection,
    tenant_id: &str,
    table: &Table,
    now_ms: i64,
) -> rusqlite::Result<Plan<Provider>> {
    Ok(plan_providers(table, &provider::all(connection, tenant_id)?, now_ms))
}

fn arrangements(
    connection: &Connection,
    tenant_id: &str,
    table: &Table,
    now_ms: i64,
) -> rusqlite::Result<Plan<Arrangement>> {
    let known = arrangement::all(connection, tenant_id)?;
    Ok(plan_arrangements(table, &known, &provider::all(connection, tenant_id)?, now_ms))
}

/// What stands for a plan that somebody looked at.
pub fn seal<T: Entry>(plan: &Plan<T>) -> String {
    digest(&[plan.outline().as_bytes()])
}

/// The steps of a plan without a fault that does what was shown.
fn agreed<'a, T: Entry>(plan: &'a Plan<T>, shown: &str) -> Result<&'a [Step<T>], Error> {
    if plan.found.count() > 0 {
        return Err(Error::invalid("the file has faults; nothing was imported"));
    }
    if seal(plan) != shown {
        return Err(Error::invalid("the register was changed since you looked; nothing was imported"));
    }
    Ok(&plan.steps)
}

/// An import that changes nothing is no act.
fn note(desk: &Desk, holding: Holding, done: Figures) -> Result<(), Error> {
    if done.added + done.changed == 0 {
        return Ok(());
    }
    let detail = format!("{}: {} added, {} updated", holding.name(), done.added, done.changed);
    audit::note(desk, Event::DataImported, None, Some(detail))
}
