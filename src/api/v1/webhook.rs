//! Webhooks.

use crate::domain::delivery::{Delivery, State};
use crate::domain::query::{LIMIT, OFFSET, Param, SEARCH, filter};
use crate::domain::webhook::Channel;
use crate::http::envelope::{v1_item, v1_list};
use crate::http::{Answer, Reply, Request};
use crate::store::Tenant;
use serde_json::json;

/// What the list may be asked for.
pub static PARAMS: &[Param] = &[
    LIMIT,
    OFFSET,
    SEARCH,
    filter("channel", Channel::NAMES, "Only webhooks of this channel."),
    filter("active", &["true", "false"], "Only webhooks that are, or are not, active."),
];

/// What the log of deliveries may be asked for.
pub static DELIVERY_PARAMS: &[Param] =
    &[LIMIT, OFFSET, filter("state", State::NAMES, "Only deliveries in this state.")];

/// A page of webhooks.
pub fn list(request: &Request, tenant: &Tenant) -> Answer {
    v1_list(&tenant.webhooks(&request.query)?)
}

/// One webhook.
pub fn show(request: &Request, tenant: &Tenant) -> Answer {
    Ok(Reply::json(&v1_item(json!(tenant.webhook(request.id())?))))
}

/// Makes a webhook.
pub fn create(request: &Request, tenant: &Tenant) -> Answer {
    let webhook = tenant.create_webhook(request.body.clone())?;
    Ok(Reply::created(&v1_item(json!(webhook))).at(&format!("/api/v1/webhooks/{}", webhook.id)))
}

/// Changes a webhook; PUT and PATCH are the same.
pub fn change(request: &Request, tenant: &Tenant) -> Answer {
    let webhook = tenant.change_webhook(request.id(), request.body.clone())?;
    Ok(Reply::json(&v1_item(json!(webhook))))
}

/// Deletes a webhook.
pub fn delete(request: &Request, tenant: &Tenant) -> Answer {
    tenant.delete_webhook(request.id())?;
    Ok(Reply::empty())
}

/// Sends a test message.
pub fn test(request: &Request, tenant: &Tenant) -> Answer {
    Ok(made(&tenant.test_webhook(request.id())?))
}

/// A page of a webhook's deliveries.
pub fn deliveries(request: &Request, tenant: &Tenant) -> Answer {
    v1_list(&tenant.deliveries(request.id(), &request.query)?)
}

/// Sends a delivery once more.
pub fn replay(request: &Request, tenant: &Tenant) -> Answer {
    Ok(made(&tenant.replay_delivery(request.id())?))
}

/// The new delivery, and where its log is.
fn made(delivery: &Delivery) -> Reply {
    let log = format!("/api/v1/webhooks/{}/deliveries", delivery.webhook_id);
    Reply::created(&v1_item(json!(delivery))).at(&log)
}
