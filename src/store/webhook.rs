//! Webhooks.

use super::list::{Filter, Listed, json_array, list, texts, word};
use super::{Desk, Tenant, audit, delivery, failed, history, sort};
use crate::domain::audit::Event;
use crate::domain::delivery::{LastDelivery, Outcome};
use crate::domain::event::EventName;
use crate::domain::form::Values;
use crate::domain::id::Kind;
use crate::domain::query::Query;
use crate::domain::webhook::{Channel, Webhook};
use crate::error::Error;
use rusqlite::{Connection, OptionalExtension, Row};
use std::sync::Arc;

const SELECT: &str =
    "select id, external_id, name, channel, url, events, active, last_at, last_outcome, last_http_status,
  last_attempts, created_at, updated_at from webhook";

impl Tenant<'_> {
    /// A page of webhooks.
    pub fn webhooks(&self, query: &Query) -> Result<Listed<Webhook>, Error> {
        let active = query.get("active").map(|word| i64::from(word == "true"));
        let mut filter = Filter::of_tenant(&self.id).equals("channel", query.get("channel"));
        if let Some(active) = active {
            filter = filter.and_with("active = ?", active);
        }
        let filter = filter.search(&["name", "url", "id"], query).sorted(sort::WEBHOOK_ORDERS, query);
        self.read(|connection| list(connection, "webhook", SELECT, &filter, query.page(), of_row))
    }

    /// One webhook.
    pub fn webhook(&self, id: &str) -> Result<Webhook, Error> {
        self.read(|connection| find(connection, &self.id, id).optional())?.ok_or(Error::NotFound("webhook"))
    }

    /// Makes a webhook; its destination must be allowed.
    pub fn create_webhook(&self, values: Values) -> Result<Webhook, Error> {
        let allowlist = Arc::clone(&self.store.allowlist);
        self.write(move |desk| {
            let id = desk.new_id(Kind::Webhook)?;
            let webhook = Webhook::new(id, &values, &allowlist, desk.now_ms).map_err(Error::Invalid)?;
            insert(desk, &webhook)?;
            Ok(webhook)
        })
        .inspect_err(|error| self.note_destination(error))
    }

    /// Changes a webhook; a destination that is written must be allowed.
    pub fn change_webhook(&self, id: &str, values: Values) -> Result<Webhook, Error> {
        let (id, allowlist) = (id.to_owned(), Arc::clone(&self.store.allowlist));
        self.write(move |desk| {
            let found = find(desk.connection, desk.tenant_id, &id).optional().map_err(failed)?;
            let mut webhook = found.ok_or(Error::NotFound("webhook"))?;
            webhook.change(&values, &allowlist, desk.now_ms).map_err(Error::Invalid)?;
            update(desk, &webhook)?;
            if !webhook.active {
                delivery::cancel_pending(desk.connection, desk.tenant_id, &webhook.id).map_err(failed)?;
            }
            Ok(webhook)
        })
        .inspect_err(|error| self.note_destination(error))
    }

    /// A destination that is not allowed may be an attempt to reach inwards.
    fn note_destination(&self, error: &Error) {
        let Error::Invalid(faults) = error else { return };
        if faults.fields.iter().any(|(name, _)| name == "url" || name == "channel") {
            let actor = self.actor.clone();
            self.store.note_refusal(Event::DestinationRefused, &self.id, actor, None);
        }
    }

    /// Deletes a webhook.
    pub fn delete_webhook(&self, id: &str) -> Result<(), Error> {
        let id = id.to_owned();
        self.write(move |desk| {
            let found = find(desk.connection, desk.tenant_id, &id).optional().map_err(failed)?;
            let webhook = found.ok_or(Error::NotFound("webhook"))?;
            desk.connection
                .prepare_cached("delete from webhook where tenant_id = ?1 and id = ?2")
                .and_then(|mut row| row.execute((desk.tenant_id, &id)))
                .map_err(failed)?;
            audit::note(desk, Event::WebhookDeleted, Some(&id), None)?;
            history::deleted(desk, &webhook)
        })
    }
}

pub(super) fn find(connection: &Connection, tenant_id: &str, id: &str) -> rusqlite::Result<Webhook> {
    connection
        .prepare_cached(&format!("{SELECT} where tenant_id = ?1 and id = ?2"))?
        .query_row((tenant_id, id), of_row)
}

/// All of a tenant's, oldest first.
pub(super) fn all(connection: &Connection, tenant_id: &str) -> rusqlite::Result<Vec<Webhook>> {
    let mut rows = connection.prepare_cached(&format!("{SELECT} where tenant_id = ?1 order by id"))?;
    let all = rows.query_map([tenant_id], of_row)?;
    all.collect()
}

pub(super) fn insert(desk: &Desk, webhook: &Webhook) -> Result<(), Error> {
    desk.connection
        .prepare_cached(
            "insert into webhook (tenant_id, id, external_id, name, channel, url, events, active, updated_at, created_at)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )
        .and_then(|mut row| {
            bind(&mut row, desk, webhook)?;
            row.raw_bind_parameter(10, webhook.created_at)?;
            row.raw_execute()
        })
        .map_err(failed)?;
    audit::note(desk, Event::WebhookCreated, Some(&webhook.id), None)?;
    history::created(desk, webhook)
}

pub(super) fn update(desk: &Desk, webhook: &Webhook) -> Result<(), Error> {
    let before = find(desk.connection, desk.tenant_id, &webhook.id).map_err(failed)?;
    desk.connection
        .prepare_cached(
            "update webhook set external_id = ?3, name = ?4, channel = ?5, url = ?6, events = ?7, active = ?8,
               updated_at = ?9
             where tenant_id = ?1 and id = ?2",
        )
        .and_then(|mut row| {
            bind(&mut row, desk, webhook)?;
            row.raw_execute()
        })
        .map_err(failed)?;
    audit::note(desk, Event::WebhookChanged, Some(&webhook.id), None)?;
    history::changed(desk, &before, webhook)
}

/// The columns that insert and update share, in one order.
fn bind(row: &mut rusqlite::Statement, desk: &Desk, webhook: &Webhook) -> rusqlite::Result<()> {
    let events: Vec<String> = webhook.events.iter().map(|event| event.name().to_owned()).collect();
    row.raw_bind_parameter(1, desk.tenant_id)?;
    row.raw_bind_parameter(2, &webhook.id)?;
    row.raw_bind_parameter(3, &webhook.external_id)?;
    row.raw_bind_parameter(4, &webhook.name)?;
    row.raw_bind_parameter(5, webhook.channel.name())?;
    row.raw_bind_parameter(6, &webhook.url)?;
    row.raw_bind_parameter(7, json_array(&events))?;
    row.raw_bind_parameter(8, webhook.active)?;
    row.raw_bind_parameter(9, webhook.updated_at)
}

fn of_row(row: &Row) -> rusqlite::Result<Webhook> {
    Ok(Webhook {
        id: row.get("id")?,
        external_id: row.get("external_id")?,
        name: row.get("name")?,
        channel: word(row, "channel", Channel::parse)?,
        url: row.get("url")?,
        events: texts(row, "events")?.iter().filter_map(|name| EventName::parse(name)).collect(),
        active: row.get("active")?,
        last_delivery: last_delivery(row)?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

fn last_delivery(row: &Row) -> rusqlite::Result<Option<LastDelivery>> {
    let Some(at) = row.get("last_at")? else { return Ok(None) };
    Ok(Some(LastDelivery {
        at,
        outcome: word(row, "last_outcome", Outcome::parse)?,
        http_status: row.get("last_http_status")?,
        attempts: row.get("last_attempts")?,
    }))
}
