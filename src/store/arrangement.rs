//! Arrangements of the register.

use super::list::{Filter, Listed, list, word};
use super::{Desk, Tenant, failed, history, sort};
use crate::domain::arrangement::{Arrangement, Criticality, Substitutability};
use crate::domain::form::Values;
use crate::domain::id::Kind;
use crate::domain::query::Query;
use crate::error::Error;
use rusqlite::{Connection, OptionalExtension, Row};

const SELECT: &str =
    "select id, external_id, provider_id, service, function, criticality, technology, country, region,
  annual_cost_eur, substitutability, exit_plan, created_at, updated_at from arrangement";
/// People look for an arrangement by the name of the provider.
const PROVIDER_NAME: &str = "(select name from provider
  where provider.tenant_id = arrangement.tenant_id and provider.id = arrangement.provider_id)";

impl Tenant<'_> {
    /// A page of arrangements.
    pub fn arrangements(&self, query: &Query) -> Result<Listed<Arrangement>, Error> {
        let filter = Filter::of_tenant(&self.id)
            .equals("provider_id", query.get("provider_id"))
            .equals("criticality", query.get("criticality"))
            .search(&["service", "function", "technology", "country", "region", "id", PROVIDER_NAME], query)
            .sorted(sort::ARRANGEMENT_ORDERS, query);
        self.read(|connection| list(connection, "arrangement", SELECT, &filter, query.page(), of_row))
    }

    /// One arrangement.
    pub fn arrangement(&self, id: &str) -> Result<Arrangement, Error> {
        self.read(|connection| find(connection, &self.id, id).optional())?
            .ok_or(Error::NotFound("arrangement"))
    }

    /// Enters an arrangement.
    pub fn create_arrangement(&self, values: Values) -> Result<Arrangement, Error> {
        self.write(move |desk| {
            let arrangement = Arrangement::new(desk.new_id(Kind::Arrangement)?, &values, desk.now_ms);
            insert(desk, &arrangement)?;
            Ok(arrangement)
        })
    }

    /// Changes an arrangement.
    pub fn change_arrangement(&self, id: &str, values: Values) -> Result<Arrangement, Error> {
        let id = id.to_owned();
        self.write(move |desk| {
            let found = find(desk.connection, desk.tenant_id, &id).optional().map_err(failed)?;
            let mut arrangement = found.ok_or(Error::NotFound("arrangement"))?;
            arrangement.set(&values);
            arrangement.updated_at = desk.now_ms;
            update(desk, &arrangement)?;
            Ok(arrangement)
        })
    }

    /// Deletes an arrangement.
    pub fn delete_arrangement(&self, id: &str) -> Result<(), Error> {
        let id = id.to_owned();
        self.write(move |desk| {
            let found = find(desk.connection, desk.tenant_id, &id).optional().map_err(failed)?;
            let arrangement = found.ok_or(Error::NotFound("arrangement"))?;
            desk.connection
                .prepare_cached("delete from arrangement where tenant_id = ?1 and id = ?2")
                .and_then(|mut row| row.execute((desk.tenant_id, &id)))
                .map_err(failed)?;
            history::deleted(desk, &arrangement)
        })
    }
}

pub(super) fn find(connection: &Connection, tenant_id: &str, id: &str) -> rusqlite::Result<Arrangement> {
    connection
        .prepare_cached(&format!("{SELECT} where tenant_id = ?1 and id = ?2"))?
        .query_row((tenant_id, id), of_row)
}

/// All of a tenant's arrangements, oldest first.
pub(super) fn all(connection: &Connection, tenant_id: &str) -> rusqlite::Result<Vec<Arrangement>> {
    let mut rows = connection.prepare_cached(&format!("{SELECT} where tenant_id = ?1 order by id"))?;
    let arrangements = rows.query_map([tenant_id], of_row)?;
    arrangements.collect()
}

pub(super) fn insert(desk: &Desk, arrangement: &Arrangement) -> Result<(), Error> {
    write(
        desk,
        arrangement,
        "insert into arrangement (tenant_id, id, external_id, provider_id, service, function, criticality, technology,
           country, region, annual_cost_eur, substitutability, exit_plan, created_at, updated_at)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    )?;
    history::created(desk, arrangement)
}

pub(super) fn update(desk: &Desk, arrangement: &Arrangement) -> Result<(), Error> {
    let before = find(desk.connection, desk.tenant_id, &arrangement.id).map_err(failed)?;
    write(
        desk,
        arrangement,
        "update arrangement set external_id = ?3, provider_id = ?4, service = ?5, function = ?6, criticality = ?7,
           technology = ?8, country = ?9, region = ?10, annual_cost_eur = ?11, substitutability = ?12,
           exit_plan = ?13, created_at = ?14, updated_at = ?15
         where tenant_id = ?1 and id = ?2",
    )?;
    history::changed(desk, &before, arrangement)
}

/// Insert and update share their columns, in one order.
fn write(desk: &Desk, arrangement: &Arrangement, sql: &str) -> Result<(), Error> {
    check_provider(desk, &arrangement.provider_id)?;
    desk.connection
        .prepare_cached(sql)
        .and_then(|mut row| {
            row.execute((
                desk.tenant_id,
                &arrangement.id,
                &arrangement.external_id,
                &arrangement.provider_id,
                &arrangement.service,
                &arrangement.function,
                arrangement.criticality.name(),
                &arrangement.technology,
                &arrangement.country,
                &arrangement.region,
                arrangement.annual_cost_eur,
                arrangement.substitutability.map(Substitutability::name),
                arrangement.exit_plan,
                arrangement.created_at,
                arrangement.updated_at,
            ))
        })
        .map(|_| ())
        .map_err(failed)
}

/// The provider must be the tenant's own; another tenant's is as unknown as none.
fn check_provider(desk: &Desk, id: &str) -> Result<(), Error> {
    let known: bool = desk
        .connection
        .prepare_cached("select exists (select 1 from provider where tenant_id = ?1 and id = ?2)")
        .and_then(|mut row| row.query_row((desk.tenant_id, id), |row| row.get(0)))
        .map_err(failed)?;
    if known { Ok(()) } else { Err(Error::field("provider_id", "does not exist")) }
}

fn of_row(row: &Row) -> rusqlite::Result<Arrangement> {
    let substitutability: Option<String> = row.get("substitutability")?;
    Ok(Arrangement {
        id: row.get("id")?,
        external_id: row.get("external_id")?,
        provider_id: row.get("provider_id")?,
        service: row.get("service")?,
        function: row.get("function")?,
        criticality: word(row, "criticality", Criticality::parse)?,
        technology: row.get("technology")?,
        country: row.get("country")?,
        region: row.get("region")?,
        annual_cost_eur: row.get("annual_cost_eur")?,
        substitutability: match substitutability {
            Some(_) => Some(word(row, "substitutability", Substitutability::parse)?),
            None => None,
        },
        exit_plan: row.get("exit_plan")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}
