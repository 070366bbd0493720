//! The operator's mail relay: where it is, how it is spoken to, and from whom letters are.

use crate::domain::query::decode_segment;
use std::fmt;
use url::{Host, Url};

const SUBMISSION_PORT: u16 = 587;
const SUBMISSIONS_PORT: u16 = 465;

/// How the connection to the relay is kept private.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privacy {
    /// TLS from the first byte.
    Wrapped,
    /// STARTTLS, or nothing is sent.
    StartTls,
    /// Plain, to a relay on this machine.
    Plain,
}

/// A relay that letters go out by.
#[derive(Clone, PartialEq, Eq)]
pub struct Relay {
    /// Its host.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the connection is kept private.
    pub privacy: Privacy,
    /// User and password, if it asks for them.
    pub credentials: Option<(String, String)>,
    /// From whom letters are.
    pub from: String,
}

impl fmt::Debug for Relay {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Relay({}:{}, {:?})", self.host, self.port, self.privacy)
    }
}

impl Relay {
    /// Reads `smtps://user:password@host:465`, `smtp://host:587` (STARTTLS), or `smtp://127.0.0.1:25?tls=none` on
    /// this machine. What is wrong is said without the address, which may hold a password.
    pub fn parse(text: &str, from: &str) -> Result<Relay, &'static str> {
        let url =
            Url::parse(text).map_err(|_| "is no address like smtps://user:password@mail.example:465")?;
        let host = match url.host() {
            Some(Host::Domain(name)) if !name.is_empty() => name.to_owned(),
            Some(Host::Ipv4(address)) => address.to_string(),
            Some(Host::Ipv6(address)) => address.to_string(),
            Some(Host::Domain(_)) | None => return Err("names no host"),
        };
        let (privacy, default_port) = match (url.scheme(), url.query()) {
            ("smtps", None) => (Privacy::Wrapped, SUBMISSIONS_PORT),
            ("smtp", None) => (Privacy::StartTls, SUBMISSION_PORT),
            ("smtp", Some("tls=none")) if is_this_machine(&host) => (Privacy::Plain, 25),
            ("smtp", Some("tls=none")) => return Err("may do without TLS only on this machine"),
            _ => return Err("must begin with smtps:// or smtp://"),
        };
        if !mailbox_is_plain(from) {
            return Err("needs HOLDFAST_SMTP_FROM, one plain address");
        }
        let credentials = match (url.username(), url.password()) {
            ("", None) => None,
            (user, password) => Some((decoded(user)?, decoded(password.unwrap_or_default())?)),
        };
        let port = url.port().unwrap_or(default_port);
        Ok(Relay { host, port, privacy, credentials, from: from.to_owned() })
    }
}

/// One address without a name, a blank or a control character.
pub fn mailbox_is_plain(text: &str) -> bool {
    let plain = text.chars().all(|char| char.is_ascii_graphic() && !"<>(),;:\"\\[]".contains(char));
    plain && text.split('@').count() == 2 && text.split('@').all(|part| !part.is_empty())
}

fn is_this_machine(host: &str) -> bool {
    matches!(host, "localhost" | "::1") || host.starts_with("127.")
}

fn decoded(text: &str) -> Result<String, &'static str> {
    decode_segment(text).ok_or("has a user or password with a broken % escape, or that is no text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relay_is_private_unless_it_is_this_machine() {
        let read = |text| Relay::parse(text, "holdfast@bank.example");
        let relay = read("smtps://ops%40bank:p%3Aw%2f@mail.bank.example").unwrap();
        assert_eq!((relay.port, relay.privacy), (465, Privacy::Wrapped));
        assert_eq!(relay.credentials, Some(("ops@bank".into(), "p:w/".into())));
        assert_eq!(read("smtp://mail.bank.example").unwrap().privacy, Privacy::StartTls);
        assert_eq!(read("smtp://localhost:2525?tls=none").unwrap().privacy, Privacy::Plain);
        for bad in [
            "mail.bank.example",
            "http://mail.bank.example",
            "smtp://",
            "smtp://mail.bank.example?tls=none",
            "smtp://mail.bank.example?tls=opportunistic",
            "smtps://a:%zz@mail.bank.example",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        for bad in ["", "bank", "a@b@c", "Holdfast <a@b.example>", "a@b.example\r\nBcc: c@d.example"] {
            assert!(Relay::parse("smtp://localhost", bad).is_err(), "{bad}");
        }
        assert!(!format!("{relay:?}").contains("p:w"));
    }
}
