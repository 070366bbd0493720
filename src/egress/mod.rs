//! The way out: the only place that opens a connection to somebody else.
//!
//! The one rule: whatever is sent passes the allowlist again at the moment of sending, and the address
//! that was checked is the one connected to. Nothing leaves unless a webhook, which a tenant wrote and the
//! allowlist passed, or the operator's relay asks for it.

mod guard;
mod mail;
mod relay;
mod trust;
mod web;

pub use guard::{Names, SystemNames};
pub use relay::{Relay, mailbox_is_plain};

use crate::domain::delivery::{Outcome, Tried};
use crate::domain::destination::{self, Allowlist};
use crate::domain::message::Message;
use crate::domain::webhook::Channel;
use crate::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use trust::Trust;
use web::Web;

/// How the world outside is reached.
#[derive(Clone, Debug)]
pub struct Outside {
    /// Where webhooks may send.
    pub allowlist: Arc<Allowlist>,
    /// The mail relay, and from whom letters are.
    pub relay: Option<Relay>,
    /// Whom to trust beside, or instead of, the system's certificates.
    pub ca_file: Option<PathBuf>,
    /// How names become addresses. A test hands in its own.
    pub names: Arc<dyn Names>,
    /// How long one delivery may take.
    pub time_out: Duration,
}

/// What is sent.
#[derive(Debug)]
pub struct Parcel<'a> {
    /// How.
    pub channel: Channel,
    /// Where to, as the webhook has it.
    pub url: &'a str,
    /// Which delivery it is, the same at every try.
    pub delivery_id: &'a str,
    /// Which event it tells of.
    pub event: &'a str,
    /// What it says.
    pub message: &'a Message,
}

/// The way out, ready to be used by many threads.
pub struct Egress {
    outside: Outside,
    trust: Arc<Trust>,
    web: Web,
}

impl Egress {
    /// Prepares the way; a certificate file that cannot be read is said now.
    pub fn new(outside: Outside) -> Result<Egress, Error> {
        let trust = Arc::new(Trust::new(outside.ca_file.as_deref())?);
        let web = Web::new(Arc::clone(&outside.names), Arc::clone(&trust), outside.time_out);
        Ok(Egress { outside, trust, web })
    }

    /// Tries to send, once.
    pub fn send(&self, parcel: &Parcel, now_ms: i64) -> Tried {
        let checked = match destination::resolve(parcel.channel, parcel.url, &self.outside.allowlist) {
            Ok(checked) => checked,
            // The list may have shrunk since the webhook was written.
            Err(_) => return Tried::without_answer(Outcome::Blocked),
        };
        match parcel.channel {
            Channel::Slack | Channel::Teams => self.web.post(parcel, &checked, now_ms),
            Channel::Email => match &self.outside.relay {
                Some(relay) => mail::send(parcel, relay, &self.trust, self.outside.time_out, now_ms),
                None => Tried::without_answer(Outcome::NotConfigured),
            },
        }
    }
}
