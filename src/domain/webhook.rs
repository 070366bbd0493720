//! Webhooks: who is told of which events, and where.
//!
//! A destination is checked whenever channel or address is written; what may pass stands in `destination`.

use super::day::as_time;
use super::delivery::{LastDelivery, Outcome};
use super::destination::{self, Allowlist, URL_CHARS_MAX};
use super::event::EventName;
use super::form::{Field, Form, Values, choice, choices, switch, text, uri};
use crate::error::Faults;
use crate::shape::{self, CREATED_AT, EXTERNAL_ID, Shape, UPDATED_AT, id};
use serde::Serialize;

words! {
    /// The channels: two chat products and mail.
    Channel { Slack = "slack", Teams = "teams", Email = "email" }
}

/// A webhook, as v1 shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Webhook {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    pub name: String,
    pub channel: Channel,
    pub url: String,
    pub events: Vec<EventName>,
    pub active: bool,
    /// The latest try, whatever it told of.
    pub last_delivery: Option<LastDelivery>,
    #[serde(serialize_with = "as_time")]
    pub created_at: i64,
    #[serde(serialize_with = "as_time")]
    pub updated_at: i64,
}

const NAME: Field = text("name", 255).says("What people call the webhook.").such_as(r#""Security team""#);
const CHANNEL: Field = choice("channel", Channel::NAMES).says("Where messages go.").such_as(r#""email""#);
const URL: Field = uri("url", URL_CHARS_MAX)
    .says("The destination; it must pass the channel's allowlist.")
    .such_as(r#""mailto:security@bank.example""#);
const SUBSCRIBED: Field = choices("events", EventName::NAMES).says("The events it is told of.");
const ACTIVE: Field = switch("active").says("Whether it is told of anything.");
const SHOWN: &[&str] = &["id", "external_id", "last_delivery", "created_at", "updated_at"];

/// A webhook, as it is shown.
pub static WEBHOOK: Shape = Shape {
    name: "Webhook",
    fields: &[
        id("whk"),
        EXTERNAL_ID,
        NAME.shown(),
        CHANNEL.shown(),
        URL.shown(),
        SUBSCRIBED.shown(),
        ACTIVE.shown(),
        shape::record("last_delivery", &LAST_DELIVERY)
            .nullable()
            .says("What became of the last message.")
            .such_as("null"),
        CREATED_AT,
        UPDATED_AT,
    ],
};

static LAST_DELIVERY: Shape = Shape {
    name: "LastDelivery",
    fields: &[
        shape::time("at").says("When it was last tried."),
        shape::word("outcome", Outcome::NAMES).says("How that went."),
        shape::whole("http_status").nullable().says("What the destination answered, if it did."),
        shape::whole("attempts").says("How often it was tried."),
    ],
};

/// The body of `POST /api/v1/webhooks`.
pub static NEW_WEBHOOK: Form = Form {
    name: "NewWebhook",
    fields: &[NAME.required(), CHANNEL.required(), URL.required(), SUBSCRIBED.required()],
    read_only: SHOWN,
};

/// The body of `PUT` and `PATCH /api/v1/webhooks/{webhook}`: absent fields keep their value.
pub static WEBHOOK_PATCH: Form =
    Form { name: "WebhookPatch", fields: &[NAME, CHANNEL, URL, SUBSCRIBED, ACTIVE], read_only: SHOWN };

/// A webhook in an import file.
pub static IMPORTED_WEBHOOK: Form = Form {
    name: "ImportedWebhook",
    fields: &[NAME.required(), CHANNEL.required(), URL.required(), SUBSCRIBED.required(), ACTIVE],
    read_only: SHOWN,
};

impl Webhook {
    /// A new webhook; active unless the values say otherwise, which only the import's do.
    pub fn new(id: String, values: &Values, allowlist: &Allowlist, now_ms: i64) -> Result<Webhook, Faults> {
        let mut webhook = Webhook {
            id,
            external_id: None,
            name: String::new(),
            channel: Channel::Slack,
            url: String::new(),
            events: Vec::new(),
            active: true,
            last_delivery: None,
            created_at: now_ms,
            updated_at: now_ms,
        };
        webhook.change(values, allowlist, now_ms)?;
        Ok(webhook)
    }

    /// Changes what was given. One whose destination is no longer allowed can still be renamed or switched off.
    pub fn change(&mut self, values: &Values, allowlist: &Allowlist, now_ms: i64) -> Result<(), Faults> {
        let mut changed = self.clone();
        values.set_text("name", &mut changed.name);
        values.set_word("channel", Channel::parse, &mut changed.channel);
        values.set_text("url", &mut changed.url);
        if values.get("channel").is_some() || values.get("url").is_some() {
            changed.url = destination::check(changed.channel, &changed.url, allowlist)
                .map_err(|reason| blame(values, reason))?;
        }
        if values.get("events").is_some() {
            let mut names = Vec::new();
            values.set_texts("events", &mut names);
            changed.events = names.iter().filter_map(|name| EventName::parse(name)).collect();
        }
        changed.active = values.switch("active").unwrap_or(changed.active);
        changed.updated_at = now_ms;
        *self = changed;
        Ok(())
    }
}

/// The fault stands at the field that was given: a new channel may not fit the address it finds.
fn blame(values: &Values, reason: String) -> Faults {
    match values.get("url") {
        Some(_) => Faults::one("url", reason),
        None => Faults::one("channel", format!("does not fit the url, which {reason}")),
    }
}
