//! From texts to settings: what does not fit is said by name, and a secret in it is not repeated.

use super::{Log, Metrics, SETTINGS, TlsFiles};
use crate::domain::deadline::Leads;
use crate::domain::destination::Allowlist;
use crate::domain::limit::Rules;
use crate::domain::webhook::Channel;
use crate::egress::Relay;
use crate::error::Error;
use crate::limiter::Limits;
use std::net::SocketAddr;

/// No setting needs a larger number.
const NUMBER_MAX: usize = 1_000_000_000;

/// Reads one setting after the other.
pub struct Reader<'a> {
    /// The environment, handed in.
    pub env: &'a dyn Fn(&str) -> Option<String>,
}

impl Reader<'_> {
    pub fn text(&self, name: &str) -> String {
        let default =
            SETTINGS.iter().find(|setting| setting.name == name).map_or("", |setting| setting.default);
        (self.env)(name).filter(|value| !value.is_empty()).unwrap_or_else(|| default.to_owned())
    }

    pub fn optional(&self, name: &str) -> Option<String> {
        Some(self.text(name)).filter(|value| !value.is_empty())
    }

    pub fn parsed<T: std::str::FromStr>(&self, name: &str, expected: &str) -> Result<T, Error> {
        let text = self.text(name);
        text.parse().map_err(|_| Error::invalid(format!("{name}={text} does not fit: it must be {expected}")))
    }

    pub fn number(&self, name: &str, min: usize) -> Result<usize, Error> {
        let expected = format!("a whole number from {min} to {NUMBER_MAX}");
        let number = self.parsed(name, &expected)?;
        if (min..=NUMBER_MAX).contains(&number) {
            return Ok(number);
        }
        Err(Error::invalid(format!("{name}={number} does not fit: it must be {expected}")))
    }

    pub fn switch(&self, name: &str) -> Result<bool, Error> {
        match self.text(name).as_str() {
            "1" | "true" | "on" => Ok(true),
            "0" | "false" | "off" => Ok(false),
            other => Err(Error::invalid(format!("{name}={other} does not fit: it must be 1 or 0"))),
        }
    }

    /// A level, `json`, or both with a comma between; `json` alone logs a line per request.
    pub fn log(&self) -> Result<Log, Error> {
        let text = self.text("HOLDFAST_LOG");
        let words: Vec<&str> = text.split(',').map(str::trim).collect();
        let json = words.contains(&"json");
        let levels: Vec<&str> = words.into_iter().filter(|word| *word != "json").collect();
        let level = match levels.as_slice() {
            [] => Some(log::LevelFilter::Info),
            [level] => level.parse().ok(),
            [_, ..] => None,
        };
        level.map(|level| Log { level, json }).ok_or_else(|| {
            Error::invalid(format!(
                "HOLDFAST_LOG={text} does not fit: it must be one of off, error, warn, info, debug, trace, \
                 or json, or both as in json,warn"
            ))
        })
    }

    pub fn metrics(&self) -> Result<Metrics, Error> {
        let text = self.text("HOLDFAST_METRICS");
        match text.as_str() {
            "0" | "false" | "off" => Ok(Metrics::Off),
            "1" | "true" | "on" => Ok(Metrics::On),
            text => address(text).map(Metrics::At).map_err(|_| {
                Error::invalid(format!("HOLDFAST_METRICS={text} does not fit: it must be 0, 1 or an address"))
            }),
        }
    }

    pub fn tls(&self) -> Result<Option<TlsFiles>, Error> {
        match (self.optional("HOLDFAST_TLS_CERT"), self.optional("HOLDFAST_TLS_KEY")) {
            (Some(cert), Some(key)) => Ok(Some(TlsFiles { cert: cert.into(), key: key.into() })),
            (None, None) => Ok(None),
            (Some(_), None) | (None, Some(_)) => Err(Error::invalid(
                "HOLDFAST_TLS_CERT and HOLDFAST_TLS_KEY belong together: set both or none",
            )),
        }
    }

    pub fn base_url(&self) -> Result<Option<String>, Error> {
        let Some(url) = self.optional("HOLDFAST_BASE_URL") else { return Ok(None) };
        let plain = url.chars().all(|char| char.is_ascii_graphic() && !"\"<>\\".contains(char));
        if plain && (url.starts_with("http://") || url.starts_with("https://")) {
            return Ok(Some(url.trim_end_matches('/').to_owned()));
        }
        Err(Error::invalid(format!(
            "HOLDFAST_BASE_URL={url} does not fit: it must begin with http:// or https://"
        )))
    }

    pub fn allowlist(&self) -> Result<Allowlist, Error> {
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

    pub fn relay(&self) -> Result<Option<Relay>, Error> {
        let Some(url) = self.optional("HOLDFAST_SMTP_URL") else { return Ok(None) };
        // The address may hold a password, so what is wrong is said without it.
        Relay::parse(&url, &self.text("HOLDFAST_SMTP_FROM"))
            .map(Some)
            .map_err(|reason| Error::invalid(format!("HOLDFAST_SMTP_URL {reason}")))
    }

    pub fn leads(&self) -> Result<Leads, Error> {
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

    pub fn limits(&self) -> Result<Option<Limits>, Error> {
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

/// An address to listen on.
pub fn address(text: &str) -> Result<SocketAddr, Error> {
    let named = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    named.as_deref().unwrap_or(text).parse().map_err(|_| {
        Error::invalid(format!(
            "`{text}` is no address to listen on; it needs the form 127.0.0.1:8080 or [::1]:8080"
        ))
    })
}
