//! Chats: one POST to a destination, no redirects, no proxy, no connection kept.

use super::Parcel;
use super::guard::{Forbidden, Guard, Names};
use super::trust::Trust;
use crate::clock::parse_http_date;
use crate::domain::delivery::{Outcome, Tried};
use crate::domain::destination::Checked;
use crate::domain::message::{slack, teams};
use crate::domain::webhook::Channel;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, Body};

const CONNECT_MAX: Duration = Duration::from_secs(5);
/// Of an answer no more is read than this.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// Two agents, made at their first use: for destinations that the operator vouches for, and for others.
pub struct Web {
    names: Arc<dyn Names>,
    trust: Arc<Trust>,
    time_out: Duration,
    vouched: OnceLock<Agent>,
    public: OnceLock<Agent>,
}

impl Web {
    /// Nothing is read or opened yet.
    pub fn new(names: Arc<dyn Names>, trust: Arc<Trust>, time_out: Duration) -> Web {
        Web { names, trust, time_out, vouched: OnceLock::new(), public: OnceLock::new() }
    }

    /// Posts a message in the channel's form.
    pub fn post(&self, parcel: &Parcel, checked: &Checked, now_ms: i64) -> Tried {
        let body = match parcel.channel {
            Channel::Teams => teams::body(parcel.message),
            Channel::Slack | Channel::Email => slack::body(parcel.message, checked.is_vouched),
        };
        let answer = self
            .agent(checked.is_vouched)
            .post(checked.url.as_str())
            .header("Content-Type", "application/json")
            .header("X-Holdfast-Event", parcel.event)
            .header("X-Holdfast-Delivery", parcel.delivery_id)
            .send(body.to_string());
        match answer {
            Ok(mut answer) => {
                let retry_after_ms = retry_after(&answer, now_ms);
                // Read so that an orderly receiver is not cut off; what it says does not matter.
                let _ = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
                Tried::answered(answer.status().as_u16(), retry_after_ms)
            }
            Err(error) => Tried::without_answer(outcome(&error)),
        }
    }

    fn agent(&self, is_vouched: bool) -> &Agent {
        let place = if is_vouched { &self.vouched } else { &self.public };
        place.get_or_init(|| {
            let roots = match self.trust.pem() {
                Some(pem) => RootCerts::from(parse_pem(pem).filter_map(|item| match item {
                    Ok(PemItem::Certificate(certificate)) => Some(certificate),
                    Ok(_) | Err(_) => None,
                })),
                None => RootCerts::WebPki,
            };
            let config = Agent::config_builder()
                .timeout_global(Some(self.time_out))
                .timeout_connect(Some(CONNECT_MAX.min(self.time_out)))
                .max_redirects(0)
                .max_redirects_will_error(false)
                .http_status_as_error(false)
                .proxy(None)
                .max_idle_connections(0)
                .max_response_header_size(HEAD_BYTES_MAX)
                .user_agent(concat!("holdfast/", env!("CARGO_PKG_VERSION")))
                .tls_config(TlsConfig::builder().root_certs(roots).build())
                .build();
            let guard = Guard { names: Arc::clone(&self.names), is_vouched };
            Agent::with_parts(config, DefaultConnector::default(), guard)
        })
    }
}

/// The wait that a receiver asks for, in seconds or as a date.
fn retry_after(answer: &ureq::http::Response<Body>, now_ms: i64) -> Option<i64> {
    let text = answer.headers().get("retry-after")?.to_str().ok()?.trim();
    match text.parse::<u32>() {
        Ok(seconds) => Some(i64::from(seconds) * 1000),
        Err(_) => parse_http_date(text).map(|until_ms| until_ms - now_ms),
    }
}

fn outcome(error: &ureq::Error) -> Outcome {
    let is_forbidden = matches!(error, ureq::Error::Other(cause) if cause.is::<Forbidden>());
    let is_late = matches!(error, ureq::Error::Io(cause) if cause.kind() == std::io::ErrorKind::TimedOut);
    if is_forbidden || matches!(error, ureq::Error::BadUri(_)) {
        Outcome::Blocked
    } else if is_late || matches!(error, ureq::Error::Timeout(_)) {
        Outcome::TimedOut
    } else {
        Outcome::Unreachable
    }
}
