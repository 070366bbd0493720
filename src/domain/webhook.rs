//! Webhooks. So far: what a tenant may write.

use super::event::EventName;
use super::form::{Field, Form, choice, choices, switch, text, uri};

/// The channels: two chat products and mail.
pub const CHANNELS: &[&str] = &["slack", "teams", "email"];
/// The events that a webhook may subscribe to.
pub const EVENTS: &[&str] = EventName::NAMES;

const NAME: Field = text("name", 255).says("What people call the webhook.");
const CHANNEL: Field = choice("channel", CHANNELS).says("Where messages go.");
const URL: Field = uri("url", 512).says("The destination; it must pass the channel's allowlist.");
const SUBSCRIBED: Field = choices("events", EVENTS).says("The events it is told of.");
const SHOWN: &[&str] = &["id", "last_delivery", "created_at", "updated_at"];

/// The body of `POST /api/v1/webhooks`.
pub static NEW_WEBHOOK: Form = Form {
    name: "NewWebhook",
    fields: &[NAME.required(), CHANNEL.required(), URL.required(), SUBSCRIBED.required()],
    read_only: SHOWN,
};

/// The body of `PUT` and `PATCH /api/v1/webhooks/{webhook}`: absent fields keep their value.
pub static WEBHOOK_PATCH: Form = Form {
    name: "WebhookPatch",
    fields: &[NAME, CHANNEL, URL, SUBSCRIBED, switch("active").says("Whether it is told of anything.")],
    read_only: SHOWN,
};
