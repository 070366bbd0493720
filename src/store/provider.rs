//! Providers of the register.

use super::list::{Filter, Listed, list};
use super::{Desk, Tenant, failed, history, sort};
use crate::domain::form::Values;
use crate::domain::id::Kind;
use crate::domain::provider::Provider;
use crate::domain::query::Query;
use crate::error::Error;
use rusqlite::{Connection, OptionalExtension, Row};

const SELECT: &str =
    "select id, external_id, name, lei, parent, sector, country, region, created_at, updated_at
  from provider";

impl Tenant<'_> {
    /// A page of providers.
    pub fn providers(&self, query: &Query) -> Result<Listed<Provider>, Error> {
        let filter = Filter::of_tenant(&self.id)
            .search(&["name", "lei", "parent", "sector", "country", "region", "id"], query)
            .sorted(sort::PROVIDER_ORDERS, query);
        self.read(|connection| list(connection, "provider", SELECT, &filter, query.page(), of_row))
    }

    /// One provider.
    pub fn provider(&self, id: &str) -> Result<Provider, Error> {
        self.read(|connection| find(connection, &self.id, id).optional())?.ok_or(Error::NotFound("provider"))
    }

    /// Enters a provider.
    pub fn create_provider(&self, values: Values) -> Result<Provider, Error> {
        self.write(move |desk| {
            let provider = Provider::new(desk.new_id(Kind::Provider)?, &values, desk.now_ms);
            insert(desk, &provider)?;
            Ok(provider)
        })
    }

    /// Changes a provider.
    pub fn change_provider(&self, id: &str, values: Values) -> Result<Provider, Error> {
        let id = id.to_owned();
        self.write(move |desk| {
            let found = find(desk.connection, desk.tenant_id, &id).optional().map_err(failed)?;
            let mut provider = found.ok_or(Error::NotFound("provider"))?;
            provider.set(&values);
            provider.updated_at = desk.now_ms;
            update(desk, &provider)?;
            Ok(provider)
        })
    }

    /// Deletes a provider with whom there is no arrangement.
    pub fn delete_provider(&self, id: &str) -> Result<(), Error> {
        let id = id.to_owned();
        self.write(move |desk| {
            let found = find(desk.connection, desk.tenant_id, &id).optional().map_err(failed)?;
            let provider = found.ok_or(Error::NotFound("provider"))?;
            let sql = "select count(*) from arrangement where tenant_id = ?1 and provider_id = ?2";
            let arrangements: i64 = desk
                .connection
                .prepare_cached(sql)
                .and_then(|mut row| row.query_row((desk.tenant_id, &id), |row| row.get(0)))
                .map_err(failed)?;
            if arrangements > 0 {
                let text = format!("this provider has {arrangements} arrangements; delete those first");
                return Err(Error::invalid(text));
            }
            desk.connection
                .prepare_cached("delete from provider where tenant_id = ?1 and id = ?2")
                .and_then(|mut row| row.execute((desk.tenant_id, &id)))
                .map_err(failed)?;
            history::deleted(desk, &provider)
        })
    }
}

pub(super) fn find(connection: &Connection, tenant_id: &str, id: &str) -> rusqlite::Result<Provider> {
    connection
        .prepare_cached(&format!("{SELECT} where tenant_id = ?1 and id = ?2"))?
        .query_row((tenant_id, id), of_row)
}

/// All of a tenant's providers, oldest first.
pub(super) fn all(connection: &Connection, tenant_id: &str) -> rusqlite::Result<Vec<Provider>> {
    let mut rows = connection.prepare_cached(&format!("{SELECT} where tenant_id = ?1 order by id"))?;
    let providers = rows.query_map([tenant_id], of_row)?;
    providers.collect()
}

pub(super) fn insert(desk: &Desk, provider: &Provider) -> Result<(), Error> {
    write(
        desk,
        provider,
        "insert into provider (tenant_id, id, external_id, name, lei, parent, sector, country, region, created_at,
           updated_at)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    history::created(desk, provider)
}

pub(super) fn update(desk: &Desk, provider: &Provider) -> Result<(), Error> {
    let before = find(desk.connection, desk.tenant_id, &provider.id).map_err(failed)?;
    write(
        desk,
        provider,
        "update provider set external_id = ?3, name = ?4, lei = ?5, parent = ?6, sector = ?7, country = ?8,
           region = ?9, created_at = ?10, updated_at = ?11
         where tenant_id = ?1 and id = ?2",
    )?;
    history::changed(desk, &before, provider)
}

/// Insert and update share their columns, in one order.
fn write(desk: &Desk, provider: &Provider, sql: &str) -> Result<(), Error> {
    desk.connection
        .prepare_cached(sql)
        .and_then(|mut row| {
            row.execute((
                desk.tenant_id,
                &provider.id,
                &provider.external_id,
                &provider.name,
                &provider.lei,
                &provider.parent,
                &provider.sector,
                &provider.country,
                &provider.region,
                provider.created_at,
                provider.updated_at,
            ))
        })
        .map(|_| ())
        .map_err(failed)
}

fn of_row(row: &Row) -> rusqlite::Result<Provider> {
    Ok(Provider {
        id: row.get("id")?,
        external_id: row.get("external_id")?,
        name: row.get("name")?,
        lei: row.get("lei")?,
        parent: row.get("parent")?,
        sector: row.get("sector")?,
        country: row.get("country")?,
        region: row.get("region")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}
