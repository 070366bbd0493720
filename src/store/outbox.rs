//! The outbox: a worker leases deliveries, sends them, and settles them.
//!
//! The one rule: a row leaves the outbox only when somebody has settled it. What was leased when the
//! process died is pending again at the next start.

use super::delivery::cancel_pending;
use super::{Store, Tenant, failed, webhook};
use crate::domain::delivery::{GIVE_UP_MS, Next, Outcome, RETRY_AFTER_MAX_MS, State, Tried};
use crate::domain::webhook::Webhook;
use crate::error::Error;
use rusqlite::{Connection, OptionalExtension, params};

/// Nobody else takes a leased row for so long: a proven lane holds 32 leases, tries four at once, and each try
/// may take ten seconds.
const LEASE_MS: i64 = 120_000;
/// What is settled, and the events behind it, are kept so long: thirty days after the last try, which comes
/// within a day of the first.
const KEPT_MS: i64 = 31 * 86_400_000;
/// Rows that one clean-up takes away in one transaction.
const PRUNED_AT_ONCE: i64 = 2_000;

/// A webhook with something due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Whose.
    pub tenant_id: String,
    /// Which.
    pub webhook_id: String,
    /// Its latest try succeeded.
    pub is_proven: bool,
}

/// A leased delivery.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Whose.
    pub tenant_id: String,
    /// Where to.
    pub webhook_id: String,
    /// Which.
    pub delivery_id: String,
    /// Tries before this one.
    pub attempts: u32,
}

/// What a leased delivery needs to be sent.
pub struct Errand {
    /// The webhook as it is now.
    pub webhook: Webhook,
    /// The event as it was stored; none for a test.
    pub payload: Option<String>,
    /// The tenant's name.
    pub tenant: String,
}

/// How a lease ended.
#[derive(Clone, Copy, Debug)]
pub enum Ended {
    /// It was tried at a time for so long, and this follows.
    Tried {
        /// What it brought.
        tried: Tried,
        /// When it began.
        at_ms: i64,
        /// How long it took.
        duration_ms: i64,
        /// What follows.
        next: Next,
    },
    /// The webhook is off: nobody wants it any more.
    Cancelled,
    /// It was not tried and is free again.
    Released,
}

/// A lease and its end.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The lease.
    pub claim: Claim,
    /// Its end.
    pub ended: Ended,
}

impl Tenant<'_> {
    /// Switches a webhook off whose destination is gone or has failed for days.
    fn switch_off(&self, webhook_id: String) -> Result<(), Error> {
        self.write(move |desk| {
            let found =
                webhook::find(desk.connection, desk.tenant_id, &webhook_id).optional().map_err(failed)?;
            let Some(mut webhook) = found.filter(|webhook| webhook.active) else { return Ok(()) };
            webhook.active = false;
            webhook.updated_at = desk.now_ms;
            log::warn!(
                "webhook {webhook_id} is switched off: its destination is gone or has failed for days"
            );
            webhook::update(desk, &webhook)?;
            cancel_pending(desk.connection, desk.tenant_id, &webhook_id).map_err(failed)
        })
    }
}

impl Store {
    /// At start: what the last process had leased is free, and what a wrong clock put off for days is due.
    pub fn revive_deliveries(&self) -> Result<(), Error> {
        let now_ms = self.clock.now_ms();
        // Upkeep: a disk that is nearly full is no reason to stay down.
        self.writer.upkeep(move |connection| {
            connection
                .execute(
                    "update delivery set state = 'pending', lease_until = null, next_at = min(next_at, ?1)
                     where state = 'sending'",
                    [now_ms],
                )
                .and_then(|_| {
                    connection.execute(
                        "update delivery set next_at = ?1
                         where state = 'pending' and next_at > ?2",
                        [now_ms, now_ms + 2 * RETRY_AFTER_MAX_MS],
                    )
                })
                .map(|_| ())
                .map_err(failed)
        })
    }

    /// Webhooks with something due, found by leaps over the index: a destination with a hundred thousand rows
    /// costs as much as one with a single row.
    pub fn due_lanes(&self) -> Result<Vec<Lane>, Error> {
        let now_ms = self.clock.now_ms();
        self.read(|connection| {
            let mut rows = connection.prepare_cached(
                "with recursive lane (webhook_id) as (
                   select min(webhook_id) from delivery where state = 'pending'
                   union all
                   select (select min(webhook_id) from delivery
                           where state = 'pending' and webhook_id > lane.webhook_id)
                   from lane where lane.webhook_id is not null
                 ), first as (
                   select webhook_id,
                     (select tenant_id from delivery
                      where state = 'pending' and delivery.webhook_id = lane.webhook_id and next_at <= ?1
                      order by next_at limit 1) as tenant_id
                   from lane where webhook_id is not null
                 )
                 select first.tenant_id, webhook_id, coalesce(last_outcome = 'delivered', false)
                 from first join webhook on webhook.tenant_id = first.tenant_id and webhook.id = webhook_id",
            )?;
            let lanes = rows.query_map([now_ms], |row| {
                Ok(Lane { tenant_id: row.get(0)?, webhook_id: row.get(1)?, is_proven: row.get(2)? })
            })?;
            lanes.collect()
        })
    }

    /// Leases up to so many due deliveries of each lane, in one commit.
    pub fn claim_deliveries(&self, wanted: Vec<(Lane, usize)>) -> Result<Vec<Claim>, Error> {
        let now_ms = self.clock.now_ms();
        self.write(move |connection| {
            let mut claims = Vec::new();
            let mut lease = connection
                .prepare_cached(
                    "update delivery set state = 'sending', lease_until = ?3
                     where tenant_id = ?1 and id in (
                       select id from delivery
                       where tenant_id = ?1 and webhook_id = ?2 and state = 'pending' and next_at <= ?4
                       order by next_at limit ?5)
                     returning id, attempts",
                )
                .map_err(failed)?;
            for (lane, most) in wanted {
                let most = i64::try_from(most).unwrap_or(0);
                let leased = lease
                    .query_map(
                        params![lane.tenant_id, lane.webhook_id, now_ms + LEASE_MS, now_ms, most],
                        |row| {
                            Ok(Claim {
                                tenant_id: lane.tenant_id.clone(),
                                webhook_id: lane.webhook_id.clone(),
                                delivery_id: row.get(0)?,
                                attempts: row.get(1)?,
                            })
                        },
                    )
                    .map_err(failed)?;
                for claim in leased {
                    claims.push(claim.map_err(failed)?);
                }
            }
            Ok(claims)
        })
    }

    /// What a lease needs to be sent; nothing if it is gone with its webhook.
    pub fn errand(&self, claim: &Claim) -> Result<Option<Errand>, Error> {
        let (tenant_id, webhook_id) = (&claim.tenant_id, &claim.webhook_id);
        self.read(|connection| {
            let Some(webhook) = webhook::find(connection, tenant_id, webhook_id).optional()? else {
                return Ok(None);
            };
            connection
                .prepare_cached(
                    "select tenant.name, event.payload from delivery
                     join tenant on tenant.id = delivery.tenant_id
                     left join event on event.tenant_id = delivery.tenant_id and event.id = delivery.event_id
                     where delivery.tenant_id = ?1 and delivery.id = ?2 and state = 'sending'",
                )?
                .query_row((tenant_id, &claim.delivery_id), |row| {
                    Ok(Errand { tenant: row.get(0)?, payload: row.get(1)?, webhook: webhook.clone() })
                })
                .optional()
        })
    }

    /// Records how leases ended, all in one commit, and switches off webhooks that are given up.
    pub fn settle_deliveries(&self, settled: Vec<Settled>) -> Result<(), Error> {
        let now_ms = self.clock.now_ms();
        let given_up = self.write(move |connection| {
            let mut given_up = Vec::new();
            for settled in settled {
                if settle(connection, &settled, now_ms).map_err(failed)? {
                    given_up.push(settled.claim);
                }
            }
            Ok(given_up)
        })?;
        for claim in given_up {
            self.tenant(&claim.tenant_id).switch_off(claim.webhook_id)?;
        }
        Ok(())
    }

    /// Forgets settled deliveries, events and told deadlines that are old.
    pub fn prune_deliveries(&self) -> Result<(), Error> {
        let before_ms = self.clock.now_ms() - KEPT_MS;
        for sql in [
            "delete from delivery where (tenant_id, id) in (
               select tenant_id, id from delivery
               where state in ('delivered', 'failed', 'cancelled') and created_at < ?1 limit ?2)",
            "delete from event where (tenant_id, id) in (
               select tenant_id, id from event where occurred_at < ?1 limit ?2)",
            "delete from deadline_notice where (tenant_id, object_id, kind, due_at) in (
               select tenant_id, object_id, kind, due_at from deadline_notice where due_at < ?1 limit ?2)",
        ] {
            // In small steps, so that no writer waits for long.
            let prune = move |connection: &Connection| {
                connection.execute(sql, [before_ms, PRUNED_AT_ONCE]).map_err(failed)
            };
            while self.write(prune)? as i64 == PRUNED_AT_ONCE {}
        }
        Ok(())
    }
}

/// Says whether the webhook is to be given up.
fn settle(connection: &Connection, settled: &Settled, now_ms: i64) -> rusqlite::Result<bool> {
    let Claim { tenant_id, webhook_id, delivery_id, attempts } = &settled.claim;
    let (state, next_at, attempts) = match &settled.ended {
        Ended::Cancelled => (State::Cancelled, None, *attempts),
        Ended::Released => (State::Pending, None, *attempts),
        Ended::Tried { next, .. } => match next {
            Next::Done => (State::Delivered, None, attempts + 1),
            Next::GiveUp => (State::Failed, None, attempts + 1),
            Next::RetryAfterMs(wait_ms) => (State::Pending, Some(now_ms + wait_ms), attempts + 1),
        },
    };
    let changed = connection
        .prepare_cached(
            "update delivery set state = ?3, next_at = coalesce(?4, next_at), attempts = ?5, lease_until = null
             where tenant_id = ?1 and id = ?2 and state = 'sending'",
        )?
        .execute((tenant_id, delivery_id, state.name(), next_at, attempts))?;
    let Ended::Tried { tried, at_ms, duration_ms, .. } = settled.ended else { return Ok(false) };
    if changed == 0 {
        // It went with its webhook or its tenant while it was on its way.
        return Ok(false);
    }
    connection
        .prepare_cached(
            "insert into delivery_attempt (tenant_id, delivery_id, number, at, outcome, http_status, duration_ms)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            tenant_id,
            delivery_id,
            attempts,
            at_ms,
            tried.outcome.name(),
            tried.http_status,
            duration_ms
        ])?;
    mark_webhook(connection, tenant_id, webhook_id, &tried, attempts, at_ms)
}

/// What a try says of its webhook: its latest delivery, and whether it is to be given up.
fn mark_webhook(
    connection: &Connection,
    tenant_id: &str,
    webhook_id: &str,
    tried: &Tried,
    attempts: u32,
    at_ms: i64,
) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "update webhook set last_at = ?3, last_outcome = ?4, last_http_status = ?5, last_attempts = ?6,
               failing_since = case when ?4 = 'delivered' then null else coalesce(failing_since, ?3) end
             where tenant_id = ?1 and id = ?2",
        )?
        .execute(params![tenant_id, webhook_id, at_ms, tried.outcome.name(), tried.http_status, attempts])?;
    connection
        .prepare_cached(
            "select exists (select 1 from webhook
             where tenant_id = ?1 and id = ?2 and active = 1 and (?3 or failing_since < ?4))",
        )?
        .query_row(
            params![tenant_id, webhook_id, tried.outcome == Outcome::Gone, at_ms - GIVE_UP_MS],
            |row| row.get(0),
        )
}
