//! Settings: one row each, from which the reader, `holdfast help` and the README are made.
//!
//! The environment is read here and nowhere else, and it is handed in, so that a
//! test needs no process of its own. A command-line flag comes before the
//! environment, the environment before the default.

use crate::domain::deadline::Leads;
use crate::domain::destination::Allowlist;
use crate::domain::limit::Rules;
use crate::domain::webhook::Channel;
use crate::egress::{Names, Outside, Relay, SystemNames};
use crate::error::Error;
use crate::limiter::Limits;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// One setting.
#[derive(Debug)]
pub struct Setting {
    /// The environment variable.
    pub name: &'static str,
    /// The value when it is not set; empty means none.
    pub default: &'static str,
    /// What it does, for people.
    pub says: &'static str,
}

const fn setting(name: &'static str, default: &'static str, says: &'static str) -> Setting {
    Setting { name, default, says }
}

/// Every setting.
pub static SETTINGS: &[Setting] = &[
    setting("HOLDFAST_DB", "holdfast.db", "The database file; `--db` comes before it."),
    setting(
        "HOLDFAST_LISTEN",
        "127.0.0.1:8080",
        "Address and port; port 0 picks a free one. `--listen` comes before it.",
    ),
    setting("HOLDFAST_TLS_CERT", "", "PEM file with the certificate chain; with it the service speaks TLS."),
    setting("HOLDFAST_TLS_KEY", "", "PEM file with the certificate's private key."),
    setting(
        "HOLDFAST_BEHIND_PROXY",
        "0",
        "1: a proxy in front ends TLS, so plain HTTP on any address is fine.",
    ),
    setting("HOLDFAST_BASE_URL", "", "The address people use, for links; the listen address if not set."),
    setting(
        "HOLDFAST_CONTACT",
        "",
        "Whom to ask for access; shown in 401 and 403 and in the OpenAPI document.",
    ),
    setting(
        "HOLDFAST_LOG",
        "warn",
        "How much is logged: error, warn, info (a line per request), debug, trace.",
    ),
    setting("HOLDFAST_RATE_LIMITS", "on", "off: no limits at all, for benchmarks."),
    setting("HOLDFAST_V1_STANDARD", "60", "API v1: requests per minute and key that are normal."),
    setting("HOLDFAST_V1_BURST", "100", "API v1: requests per minute and key that are served at the most."),
    setting("HOLDFAST_V1_BLOCK_SECONDS", "300", "API v1: how long the third exceedance blocks a key."),
    setting("HOLDFAST_V2_LIMIT", "60", "API v2: requests per minute and key."),
    setting(
        "HOLDFAST_TIMELINE_FILE",
        "",
        "JSON file with milestones of your own for the compliance timeline; read at start and by its sync.",
    ),
    setting(
        "HOLDFAST_ADVISORIES",
        "",
        "Folder of OSV records (JSON) that the daily scan of this executable is held against.",
    ),
    setting("HOLDFAST_KEYS_MAX", "1000", "Live keys per tenant at the most."),
    setting(
        "HOLDFAST_ALLOW_SLACK",
        "",
        "Further destinations of `slack` webhooks: URL prefixes, comma-separated; http and private hosts are fine.",
    ),
    setting("HOLDFAST_ALLOW_TEAMS", "", "Further destinations of `teams` webhooks, likewise."),
    setting(
        "HOLDFAST_ALLOW_EMAIL",
        "",
        "The only domains of `email` webhooks, comma-separated; any if not set.",
    ),
    setting(
        "HOLDFAST_SMTP_URL",
        "",
        "Mail relay for `email` webhooks: smtps://user:password@host:465, smtp://host:587 (STARTTLS), or smtp://127.0.0.1:25?tls=none.",
    ),
    setting("HOLDFAST_SMTP_FROM", "", "The address that mail comes from."),
    setting(
        "HOLDFAST_CA_FILE",
        "",
        "PEM file with the authorities to trust in deliveries; the system's bundle if not set.",
    ),
    setting("HOLDFAST_LEAD_DAYS", "7", "Days before a finding or test case is due that people are told."),
    setting("HOLDFAST_LEAD_REVIEW_DAYS", "30", "Days before a review of concentration risk, likewise."),
    setting(
        "HOLDFAST_LEAD_CRA_HOURS",
        "",
        "Hours before a stage of a CRA report, likewise; a quarter of its period if not set, and never more.",
    ),
    setting("HOLDFAST_CONNECTIONS_MAX", "10240", "Open connections at the most."),
];

/// The settings, read and checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// The database file.
    pub db: PathBuf,
    /// Where to listen.
    pub listen: SocketAddr,
    /// Certificate and key files.
    pub tls: Option<TlsFiles>,
    /// A proxy ends TLS.
    pub behind_proxy: bool,
    /// The address people use, without a slash at its end.
    pub base_url: Option<String>,
    /// Whom to ask for access.
    pub contact: Option<String>,
    /// The log's filter.
    pub log: log::LevelFilter,
    /// Rate limits, unless they are off.
    pub limits: Option<Limits>,
    /// Milestones of the operator's own.
    pub timeline_file: Option<PathBuf>,
    /// The operator's folder of OSV records.
    pub advisories: Option<PathBuf>,
    /// Live keys per tenant at the most.
    pub keys_max: usize,
    /// Where webhooks may send beside the built-in hosts.
    pub allowlist: Arc<Allowlist>,
    /// The mail relay.
    pub relay: Option<Relay>,
    /// Whom to trust in deliveries.
    pub ca_file: Option<PathBuf>,
    /// How names become addresses. No setting: a test hands in its own.
    pub names: Arc<dyn Names>,
    /// How long before a deadline people are told.
    pub leads: Leads,
    /// Open connections at the most.
    pub connections_max: usize,
    /// How long the server waits for whom.
    pub patience: Patience,
}

/// How long the server waits. No settings: a test shortens them, nobody else needs to.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For a request's head; it also ends idle connections.
    pub head: Duration,
    /// For a body.
    pub body: Duration,
    /// For a client that reads nothing.
    pub write: Duration,
    /// For a TLS handshake.
    pub handshake: Duration,
    /// For begun requests, when the service stops.
    pub stop: Duration,
    /// For a receiver of a delivery.
    pub delivery: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            head: Duration::from_secs(10),
            body: Duration::from_secs(30),
            write: Duration::from_secs(30),
            handshake: Duration::from_secs(10),
            stop: Duration::from_secs(10),
            delivery: Duration::from_secs(10),
        }
    }
}

/// The two PEM files.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate chain.
    pub cert: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// What the command line says about settings.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `--db`
    pub db: Option<PathBuf>,
    /// `--listen`
    pub listen: Option<String>,
}

impl Config {
    /// Reads every setting; the first that does not fit is the error, by name.
    pub fn read(flags: &Flags, env: &dyn Fn(&str) -> Option<String>) -> Result<Config, Error> {
        let reader = Reader { env };
        let listen = flags.listen.clone().unwrap_or_else(|| reader.text("HOLDFAST_LISTEN"));
        Ok(Config {
            db: flags.db.clone().unwrap_or_else(|| reader.text("HOLDFAST_DB").into()),
            listen: address(&listen)?,
            tls: reader.tls()?,
            behind_proxy: reader.switch("HOLDFAST_BEHIND_PROXY")?,
            base_url: reader.base_url()?,
            contact: reader.optional("HOLDFAST_CONTACT"),
            log: reader.parsed("HOLDFAST_LOG", "one of: off, error, warn, info, debug, trace")?,
            limits: reader.limits()?,
            timeline_file: reader.optional("HOLDFAST_TIMELINE_FILE").map(PathBuf::from),
            advisories: reader.optional("HOLDFAST_ADVISORIES").map(PathBuf::from),
            keys_max: reader.number("HOLDFAST_KEYS_MAX", 1)?,
            allowlist: Arc::new(reader.allowlist()?),
            relay: reader.relay()?,
            ca_file: reader.optional("HOLDFAST_CA_FILE").map(PathBuf::from),
            names: Arc::new(SystemNames),
            leads: reader.leads()?,
            connections_max: reader.number("HOLDFAST_CONNECTIONS_MAX", 1)?,
            patience: Patience::default(),
        })
    }

    /// The address people use: the one set, or the listen address.
    pub fn base_url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        self.base_url.clone().unwrap_or_else(|| format!("{scheme}://{}", self.listen))
    }

    /// How the world outside is reached.
    pub fn outside(&self) -> Outside {
        Outside {
            allowlist: Arc::clone(&self.allowlist),
            relay: self.relay.clone(),
            ca_file: self.ca_file.clone(),
            names: Arc::clone(&self.names),
            time_out: self.patience.delivery,
        }
    }

    /// Plain HTTP may leave the machine only when somebody said that a proxy is in front.
    pub fn refuse_open_plain_http(&self) -> Result<(), Error> {
        if self.tls.is_some() || self.behind_proxy || self.listen.ip().is_loopback() {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "{} can be reached from other machines, and keys would cross the network in clear: set HOLDFAST_TLS_CERT \
             and HOLDFAST_TLS_KEY, or HOLDFAST_BEHIND_PROXY=1 if a proxy in front ends TLS",
            self.listen
        )))
    }
}

/// Variables that begin like ours but are none: most often a slip of the pen.
pub fn unknown_names(names: impl Iterator<Item = String>) -> Vec<String> {
    names
        .filter(|name| name.starts_with("HOLDFAST_") && !SETTINGS.iter().any(|setting| setting.name == name))
        .collect()
}

/// No setting needs a larger number.
const NUMBER_MAX: usize = 1_000_000_000;

struct Reader<'a> {
    env: &'a dyn Fn(&str) -> Option<String>,
}

impl Reader<'_> {
    fn text(&self, name: &str) -> String {
        let default =
            SETTINGS.iter().find(|setting| setting.name == name).map_or("", |setting| setting.default);
        (self.env)(name).filter(|value| !value.is_empty()).unwrap_or_else(|| default.to_owned())
    }

    fn optional(&self, name: &str) -> Option<String> {
        Some(self.text(name)).filter(|value| !value.is_empty())
    }

    fn parsed<T: std::str::FromStr>(&self, name: &str, expected: &str) -> Result<T, Error> {
        let text = self.text(name);
        text.parse().map_err(|_| Error::invalid(format!("{name}={text} does not fit: it must be {expected}")))
    }

    fn number(&self, name: &str, min: usize) -> Result<usize, Error> {
        let expected = format!("a whole number from {min} to {NUMBER_MAX}");
        let number = self.parsed(name, &expected)?;
        if (min..=NUMBER_MAX).contains(&number) {
            return Ok(number);
        }
        Err(Error::invalid(format!("{name}={number} does not fit: it must be {expected}")))
    }

    fn switch(&self, name: &str) -> Result<bool, Error> {
        match self.text(name).as_str() {
            "1" | "true" | "on" => Ok(true),
            "0" | "false" | "off" => Ok(false),
            other => Err(Error::invalid(format!("{name}={other} does not fit: it must be 1 or 0"))),
        }
    }

    fn tls(&self) -> Result<Option<TlsFiles>, Error> {
        match (self.optional("HOLDFAST_TLS_CERT"), self.optional("HOLDFAST_TLS_KEY")) {
            (Some(cert), Some(key)) => Ok(Some(TlsFiles { cert: cert.into(), key: key.into() })),
            (None, None) => Ok(None),
            (Some(_), None) | (None, Some(_)) => Err(Error::invalid(
                "HOLDFAST_TLS_CERT and HOLDFAST_TLS_KEY belong together: set both or none",
            )),
        }
    }

    fn base_url(&self) -> Result<Option<String>, Error> {
        let Some(url) = self.optional("HOLDFAST_BASE_URL") else { return Ok(None) };
        let plain = url.chars().all(|char| char.is_ascii_graphic() && !"\"<>\\".contains(char));
        if plain && (url.starts_with("http://") || url.starts_with("https://")) {
            return Ok(Some(url.trim_end_matches('/').to_owned()));
        }
        Err(Error::invalid(format!(
            "HOLDFAST_BASE_URL={url} does not fit: it must begin with http:// or https://"
        )))
    }

    fn allowlist(&self) -> Result<Allowlist, Error> {
        let mut allowlist = Allowlist::default();
        for (name, channel) in [
            ("HOLDFAST_ALLOW_SLACK", Channel::Slack),
            ("HOLDFAST_ALLOW_TEAMS", Channel::Teams),
            ("HOLDFAST_ALLOW_EMAIL", Channel::Email),
        ] {
            allowlist
                .add(channel, &self.text(name))
                .map_err(|reason| Error::invalid(format!("{name} does not fit: {reason}")))?;
        }
        Ok(allowlist)
    }

    fn relay(&self) -> Result<Option<Relay>, Error> {
        let Some(url) = self.optional("HOLDFAST_SMTP_URL") else { return Ok(None) };
        // The address may hold a password, so what is wrong is said without it.
        Relay::parse(&url, &self.text("HOLDFAST_SMTP_FROM"))
            .map(Some)
            .map_err(|reason| Error::invalid(format!("HOLDFAST_SMTP_URL {reason}")))
    }

    fn leads(&self) -> Result<Leads, Error> {
        const HOUR_MS: i64 = 3_600_000;
        let ms =
            |number: usize, unit_ms: i64| i64::try_from(number).unwrap_or(i64::MAX).saturating_mul(unit_ms);
        let stage_ms = match self.optional("HOLDFAST_LEAD_CRA_HOURS") {
            Some(_) => ms(self.number("HOLDFAST_LEAD_CRA_HOURS", 1)?, HOUR_MS),
            None => Leads::default().stage_ms,
        };
        Ok(Leads {
            work_ms: ms(self.number("HOLDFAST_LEAD_DAYS", 1)?, 24 * HOUR_MS),
            stage_ms,
            review_ms: ms(self.number("HOLDFAST_LEAD_REVIEW_DAYS", 1)?, 24 * HOUR_MS),
        })
    }

    fn limits(&self) -> Result<Option<Limits>, Error> {
        if !self.switch("HOLDFAST_RATE_LIMITS")? {
            return Ok(None);
        }
        let standard = self.number("HOLDFAST_V1_STANDARD", 1)?;
        let burst = self.number("HOLDFAST_V1_BURST", 1)?;
        if burst < standard {
            return Err(Error::invalid("HOLDFAST_V1_BURST must not be less than HOLDFAST_V1_STANDARD"));
        }
        let block_seconds = self.number("HOLDFAST_V1_BLOCK_SECONDS", 1)?;
        let v2 = self.number("HOLDFAST_V2_LIMIT", 1)?;
        Ok(Some(Limits {
            v1: Rules { standard, burst, block_ms: block_seconds as u64 * 1000 },
            v2: Rules { standard: v2, burst: v2, block_ms: 0 },
        }))
    }
}

fn address(text: &str) -> Result<SocketAddr, Error> {
    let named = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    named.as_deref().unwrap_or(text).parse().map_err(|_| {
        Error::invalid(format!(
            "`{text}` is no address to listen on; it needs the form 127.0.0.1:8080 or [::1]:8080"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Config, Error> {
        let env =
            |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Config::read(&Flags::default(), &env)
    }

    #[test]
    fn the_defaults_are_those_of_the_table() {
        let config = read(&[]).unwrap();
        assert_eq!(config.db, PathBuf::from("holdfast.db"));
        assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
        let limits = config.limits.unwrap();
        assert_eq!((limits.v1.standard, limits.v1.burst, limits.v1.block_ms), (60, 100, 300_000));
        assert_eq!((limits.v2.standard, limits.v2.burst), (60, 60));
    }

    #[test]
    fn a_value_that_does_not_fit_is_named() {
        for (name, value) in [
            ("HOLDFAST_LISTEN", "nowhere"),
            ("HOLDFAST_TLS_CERT", "cert.pem"),
            ("HOLDFAST_BEHIND_PROXY", "maybe"),
            ("HOLDFAST_BASE_URL", "ftp://x"),
            ("HOLDFAST_V1_STANDARD", "0"),
            ("HOLDFAST_V1_STANDARD", "101"),
            ("HOLDFAST_V2_LIMIT", "-1"),
            ("HOLDFAST_LOG", "loud"),
            ("HOLDFAST_ALLOW_SLACK", "https://ok.example/,chat.internal"),
            ("HOLDFAST_ALLOW_TEAMS", "ftp://x/"),
            ("HOLDFAST_ALLOW_EMAIL", "bank"),
            ("HOLDFAST_CONNECTIONS_MAX", "many"),
        ] {
            let fault = read(&[(name, value)]).unwrap_err().to_string();
            assert!(fault.contains(name) || fault.contains(value), "{name}: {fault}");
        }
    }

    #[test]
    fn plain_http_on_an_open_address_needs_a_proxy_or_tls() {
        assert!(read(&[("HOLDFAST_LISTEN", "0.0.0.0:80")]).unwrap().refuse_open_plain_http().is_err());
        let proxied = read(&[("HOLDFAST_LISTEN", "0.0.0.0:80"), ("HOLDFAST_BEHIND_PROXY", "1")]).unwrap();
        assert!(proxied.refuse_open_plain_http().is_ok());
        assert!(read(&[("HOLDFAST_LISTEN", "[::1]:80")]).unwrap().refuse_open_plain_http().is_ok());
    }

    #[test]
    fn slips_of_the_pen_are_found() {
        let names = ["HOLDFAST_DB", "HOLDFAST_LISTNE", "HOME"].map(str::to_owned);
        assert_eq!(unknown_names(names.into_iter()), ["HOLDFAST_LISTNE"]);
    }
}
