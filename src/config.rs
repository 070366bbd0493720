//! Settings: one row each, from which the reader, `holdfast help` and the README are made.
//!
//! The environment is read here and nowhere else, and it is handed in, so that a
//! test needs no process of its own. A command-line flag comes before the
//! environment, the environment before the default.

mod reader;

use crate::disk::{Disk, Reserve};
use crate::domain::deadline::Leads;
use crate::domain::destination::Allowlist;
use crate::egress::{Names, Outside, Relay, SystemNames};
use crate::error::Error;
use crate::limiter::Limits;
use reader::{Reader, address};
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
        "How much is logged: error, warn, info (a line per request), debug, trace; json: JSON lines, \
         at info or as in json,warn.",
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
    setting("HOLDFAST_BACKUP_DIR", "", "Folder for a verified backup every night; none is made if not set."),
    setting(
        "HOLDFAST_DISK_RESERVE_MIB",
        "32",
        "Room that stays free for the last checkpoint: with less, writes are refused and reads go on.",
    ),
    setting(
        "HOLDFAST_METRICS",
        "0",
        "1: figures for Prometheus at /metrics; an address like 127.0.0.1:9090: there, and nowhere else.",
    ),
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
    /// How much is logged, and in which form.
    pub log: Log,
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
    /// Where the nightly backups go.
    pub backup_dir: Option<PathBuf>,
    /// Room that stays free on the database's disk.
    pub reserve: Reserve,
    /// A log of more bytes is folded into the file. No setting: a test lowers it, nobody else needs to.
    pub wal_limit_bytes: u64,
    /// Who gets figures.
    pub metrics: Metrics,
    /// How long the server waits for whom.
    pub patience: Patience,
}

/// How much is logged, and in which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Log {
    /// The least important line that is written.
    pub level: log::LevelFilter,
    /// As JSON lines.
    pub json: bool,
}

/// Where figures for Prometheus are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metrics {
    /// Nowhere.
    Off,
    /// Beside everything else.
    On,
    /// On an address of their own.
    At(SocketAddr),
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
            log: reader.log()?,
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
            backup_dir: reader.optional("HOLDFAST_BACKUP_DIR").map(PathBuf::from),
            reserve: Reserve {
                disk: Disk::system(),
                bytes: reader.number("HOLDFAST_DISK_RESERVE_MIB", 0)? as u64 * 1024 * 1024,
            },
            wal_limit_bytes: WAL_LIMIT_BYTES,
            metrics: reader.metrics()?,
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

/// A log that has grown beyond this is folded into the file.
const WAL_LIMIT_BYTES: u64 = 64 * 1024 * 1024;
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
            ("HOLDFAST_LOG", "json,loud"),
            ("HOLDFAST_LOG", "info,warn"),
            ("HOLDFAST_METRICS", "somewhere"),
            ("HOLDFAST_DISK_RESERVE_MIB", "a lot"),
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
    fn the_log_takes_a_level_a_form_or_both() {
        for (text, level, json) in [
            ("warn", log::LevelFilter::Warn, false),
            ("json", log::LevelFilter::Info, true),
            ("json,warn", log::LevelFilter::Warn, true),
            ("debug, json", log::LevelFilter::Debug, true),
        ] {
            assert_eq!(read(&[("HOLDFAST_LOG", text)]).unwrap().log, Log { level, json }, "{text}");
        }
    }

    #[test]
    fn slips_of_the_pen_are_found() {
        let names = ["HOLDFAST_DB", "HOLDFAST_LISTNE", "HOME"].map(str::to_owned);
        assert_eq!(unknown_names(names.into_iter()), ["HOLDFAST_LISTNE"]);
    }
}
