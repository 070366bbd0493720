//! Deliveries as people see them: made with the event that they tell of, listed with every try, sent once more.

use super::list::{Filter, Listed, word};
use super::{Desk, Tenant, failed, webhook};
use crate::domain::delivery::{Attempt, Delivery, Outcome, State};
use crate::domain::event::EventName;
use crate::domain::id::Kind;
use crate::domain::query::Query;
use crate::error::Error;
use rusqlite::{Connection, OptionalExtension, Row};

const SELECT: &str = "select id, webhook_id, event_id, state, attempts, next_at, created_at,
  (select name from event where event.tenant_id = delivery.tenant_id and event.id = event_id) as event
  from delivery";
impl Tenant<'_> {
    /// A page of a webhook's deliveries with every try, newest first.
    pub fn deliveries(&self, webhook_id: &str, query: &Query) -> Result<Listed<Delivery>, Error> {
        self.webhook(webhook_id)?;
        let filter = Filter::of_tenant(&self.id)
            .equals("webhook_id", Some(webhook_id))
            .equals("state", query.get("state"));
        self.read(|connection| {
            // Of one moment: a try that ends meanwhile is in both, the row and its log, or in neither.
            let moment = connection.unchecked_transaction()?;
            let total = filter.count(&moment, "delivery")?;
            let mut items = filter.page(&moment, "delivery", SELECT, query.page(), of_row)?;
            for delivery in &mut items {
                delivery.log = log(&moment, &self.id, &delivery.id)?;
            }
            Ok(Listed { items, total, page: query.page() })
        })
    }

    /// Puts a test message in the outbox of a webhook, whether it is active or not.
    pub fn test_webhook(&self, webhook_id: &str) -> Result<Delivery, Error> {
        let webhook_id = webhook_id.to_owned();
        self.write(move |desk| {
            let known =
                webhook::find(desk.connection, desk.tenant_id, &webhook_id).optional().map_err(failed)?;
            known.ok_or(Error::NotFound("webhook"))?;
            let id = insert(desk, &webhook_id, None)?;
            find(desk.connection, desk.tenant_id, &id).map_err(failed)
        })
    }

    /// Sends what a delivery sent, or failed to send, once more: as a new delivery, so that the log stays.
    pub fn replay_delivery(&self, id: &str) -> Result<Delivery, Error> {
        let id = id.to_owned();
        self.write(move |desk| {
            let found = find(desk.connection, desk.tenant_id, &id).optional().map_err(failed)?;
            let before = found.ok_or(Error::NotFound("delivery"))?;
            match before.state {
                State::Pending | State::Sending => {
                    return Err(Error::invalid("this delivery is still under way; wait until it has ended"));
                }
                State::Delivered | State::Failed | State::Cancelled => {}
            }
            let webhook =
                webhook::find(desk.connection, desk.tenant_id, &before.webhook_id).map_err(failed)?;
            if !webhook.active && before.event_id.is_some() {
                return Err(Error::invalid("the webhook is switched off; switch it on first"));
            }
            let id = insert(desk, &before.webhook_id, before.event_id.as_deref())?;
            find(desk.connection, desk.tenant_id, &id).map_err(failed)
        })
    }
}

/// Makes a delivery to every active webhook of the tenant that asked for the event.
pub(super) fn fan_out(desk: &Desk, event_id: &str, name: EventName) -> Result<(), Error> {
    let mut subscribed = desk
        .connection
        .prepare_cached(
            "select id from webhook where tenant_id = ?1 and active = 1
             and exists (select 1 from json_each(events) where value = ?2)",
        )
        .map_err(failed)?;
    let webhooks: Vec<String> = subscribed
        .query_map((desk.tenant_id, name.name()), |row| row.get(0))
        .and_then(Iterator::collect)
        .map_err(failed)?;
    for webhook_id in webhooks {
        insert(desk, &webhook_id, Some(event_id))?;
    }
    Ok(())
}

fn insert(desk: &Desk, webhook_id: &str, event_id: Option<&str>) -> Result<String, Error> {
    let id = desk.new_id(Kind::Delivery)?;
    desk.connection
        .prepare_cached(
            "insert into delivery (tenant_id, id, webhook_id, event_id, state, next_at, created_at)
             values (?1, ?2, ?3, ?4, 'pending', ?5, ?5)",
        )
        .and_then(|mut row| row.execute((desk.tenant_id, &id, webhook_id, event_id, desk.now_ms)))
        .map_err(failed)?;
    Ok(id)
}

/// A webhook that is switched off wants nothing that is waiting for it; a test was asked for all the same.
pub(super) fn cancel_pending(
    connection: &Connection,
    tenant_id: &str,
    webhook_id: &str,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "update delivery set state = 'cancelled'
             where tenant_id = ?1 and webhook_id = ?2 and state = 'pending' and event_id is not null",
        )?
        .execute((tenant_id, webhook_id))
        .map(|_| ())
}

fn find(connection: &Connection, tenant_id: &str, id: &str) -> rusqlite::Result<Delivery> {
    let mut delivery = connection
        .prepare_cached(&format!("{SELECT} where tenant_id = ?1 and id = ?2"))?
        .query_row((tenant_id, id), of_row)?;
    delivery.log = log(connection, tenant_id, id)?;
    Ok(delivery)
}

fn log(connection: &Connection, tenant_id: &str, delivery_id: &str) -> rusqlite::Result<Vec<Attempt>> {
    let mut rows = connection.prepare_cached(
        "select number, at, outcome, http_status, duration_ms from delivery_attempt
         where tenant_id = ?1 and delivery_id = ?2 order by number",
    )?;
    let tries = rows.query_map((tenant_id, delivery_id), |row| {
        Ok(Attempt {
            attempt: row.get(0)?,
            at: row.get(1)?,
            outcome: word(row, 2, Outcome::parse)?,
            http_status: row.get(3)?,
            duration_ms: row.get(4)?,
        })
    })?;
    tries.collect()
}

fn of_row(row: &Row) -> rusqlite::Result<Delivery> {
    let state = word(row, "state", State::parse)?;
    let next_at: i64 = row.get("next_at")?;
    Ok(Delivery {
        id: row.get("id")?,
        webhook_id: row.get("webhook_id")?,
        event_id: row.get("event_id")?,
        event: row.get("event")?,
        state,
        attempts: row.get("attempts")?,
        next_attempt_at: (state == State::Pending).then_some(next_at),
        created_at: row.get("created_at")?,
        log: Vec::new(),
    })
}
