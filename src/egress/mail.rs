//! Mail: one letter to one address over the operator's relay. The library writes headers and parts.

use super::Parcel;
use super::relay::{Privacy, Relay};
use super::trust::Trust;
use crate::domain::delivery::{Outcome, Tried};
use crate::domain::message::mail::{Letter, letter};
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, CertificateStore, Tls, TlsParameters};
use lettre::{Address, Message, SmtpTransport, Transport};
use std::time::{Duration, UNIX_EPOCH};

/// Sends a parcel, once.
pub fn send(parcel: &Parcel, relay: &Relay, trust: &Trust, time_out: Duration, now_ms: i64) -> Tried {
    let Some(message) = write(parcel, relay, now_ms) else {
        return Tried::without_answer(Outcome::Blocked);
    };
    let Some(transport) = transport(relay, trust, time_out) else {
        return Tried::without_answer(Outcome::NotConfigured);
    };
    match transport.send(&message) {
        Ok(_) => Tried::without_answer(Outcome::Delivered),
        Err(error) if error.is_timeout() => Tried::without_answer(Outcome::TimedOut),
        // The relay has judged: a mailbox that does not exist will not exist in an hour.
        Err(error) if error.is_permanent() => {
            Tried { is_final: true, ..Tried::without_answer(Outcome::Rejected) }
        }
        Err(error) if error.is_transient() => Tried::without_answer(Outcome::Rejected),
        Err(_) => Tried::without_answer(Outcome::Unreachable),
    }
}

fn write(parcel: &Parcel, relay: &Relay, now_ms: i64) -> Option<Message> {
    let to: Address = parcel.url.strip_prefix("mailto:")?.parse().ok()?;
    let from: Address = relay.from.parse().ok()?;
    let Letter { subject, text, html } = letter(parcel.message);
    let sent_at = UNIX_EPOCH + Duration::from_millis(u64::try_from(now_ms).unwrap_or(0));
    // The same at every try, so that a letter that came twice is known as one.
    let message_id = format!("<{}@{}>", parcel.delivery_id, from.domain());
    let header = |name: &'static str, value: &str| {
        HeaderValue::new(HeaderName::new_from_ascii_str(name), value.to_owned())
    };
    Message::builder()
        .from(Mailbox::new(Some("Holdfast".to_owned()), from))
        .to(Mailbox::new(None, to))
        .date(sent_at)
        .message_id(Some(message_id))
        .subject(subject)
        .raw_header(header("Auto-Submitted", "auto-generated"))
        .raw_header(header("X-Holdfast-Event", parcel.event))
        .raw_header(header("X-Holdfast-Delivery", parcel.delivery_id))
        .multipart(MultiPart::alternative_plain_html(text, html))
        .ok()
}

fn transport(relay: &Relay, trust: &Trust, time_out: Duration) -> Option<SmtpTransport> {
    let tls = match relay.privacy {
        Privacy::Plain => Tls::None,
        Privacy::StartTls => Tls::Required(parameters(relay, trust)?),
        Privacy::Wrapped => Tls::Wrapper(parameters(relay, trust)?),
    };
    let mut builder = SmtpTransport::builder_dangerous(relay.host.as_str())
        .port(relay.port)
        .tls(tls)
        .timeout(Some(time_out));
    if let Some((user, password)) = &relay.credentials {
        builder = builder.credentials(Credentials::new(user.clone(), password.clone()));
    }
    Some(builder.build())
}

fn parameters(relay: &Relay, trust: &Trust) -> Option<TlsParameters> {
    let builder = TlsParameters::builder(relay.host.clone());
    let builder = match trust.pem() {
        Some(pem) => builder
            .certificate_store(CertificateStore::None)
            .add_root_certificate(Certificate::from_pem(pem).ok()?),
        None => builder.certificate_store(CertificateStore::WebpkiRoots),
    };
    builder.build().ok()
}
