//! Where a webhook may send: each channel's own hosts, and what the operator vouches for.
//!
//! The one rule: a destination is spelled exactly as it is understood. Host and scheme must read the same
//! before and after parsing, so that nobody downstream can understand them otherwise; path and query are
//! kept byte by byte, since they hold the receiver's secret.

use super::webhook::Channel;
use url::{Host, Url};

/// The longest destination, before and after it is brought into its one form.
pub const URL_CHARS_MAX: usize = 512;
const HOST_BYTES_MAX: usize = 253;
const LABEL_BYTES_MAX: usize = 63;
/// The longest part before the `@`.
const LOCAL_BYTES_MAX: usize = 64;
/// What an address may hold before the `@` beside letters and digits. What a URL reads as its own sign
/// (`%`, `?`, `#`, `/`) is left out: what it stands for depends on the reader.
const LOCAL_MARKS: &str = ".!$&'*+=^_{}~-";

const SLACK_HOSTS: &[&str] = &["hooks.slack.com"];
/// `*.` stands for one or more labels.
const TEAMS_HOSTS: &[&str] =
    &["*.webhook.office.com", "*.logic.azure.com", "*.environment.api.powerplatform.com"];

/// What the operator adds to the built-in hosts, and the mail domains he restricts to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Allowlist {
    slack: Vec<Prefix>,
    teams: Vec<Prefix>,
    /// Empty: every domain.
    domains: Vec<String>,
}

/// A prefix that the operator vouches for: it may be plain HTTP, and may name a private host and a port.
#[derive(Clone, Debug, PartialEq)]
struct Prefix {
    scheme: String,
    host: String,
    port: Option<u16>,
    path: String,
}

impl Allowlist {
    /// Adds a comma-separated list of a channel: URL prefixes, or mail domains.
    pub fn add(&mut self, channel: Channel, list: &str) -> Result<(), String> {
        for entry in list.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            match channel {
                Channel::Slack => self.slack.push(Prefix::parse(entry)?),
                Channel::Teams => self.teams.push(Prefix::parse(entry)?),
                Channel::Email => {
                    let domain = entry.to_ascii_lowercase();
                    check_name(&domain).map_err(|reason| format!("`{entry}`: {reason}"))?;
                    self.domains.push(domain);
                }
            }
        }
        Ok(())
    }

    fn prefixes(&self, channel: Channel) -> &[Prefix] {
        match channel {
            Channel::Slack => &self.slack,
            Channel::Teams => &self.teams,
            Channel::Email => &[],
        }
    }
}

impl Prefix {
    fn parse(text: &str) -> Result<Prefix, String> {
        let fault = |reason: &str| format!("`{text}` {reason}");
        let url = Url::parse(text).map_err(|cause| fault(&format!("is no URL: {cause}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(fault("must begin with http:// or https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(fault("must not name a user"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(fault("must end with its path"));
        }
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| fault("names no host"))?;
        Ok(Prefix {
            scheme: url.scheme().to_owned(),
            host: host.to_owned(),
            port: url.port_or_known_default(),
            path: url.path().to_owned(),
        })
    }

    /// Scheme, host and port are the same; the path is the prefix's or lies below it.
    fn covers(&self, url: &Url) -> bool {
        let below = url.path().strip_prefix(self.path.as_str());
        let in_path =
            below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || self.path.ends_with('/'));
        self.scheme == url.scheme()
            && url.host_str() == Some(self.host.as_str())
            && self.port == url.port_or_known_default()
            && in_path
    }
}

/// A destination that may be sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Its one form.
    pub url: String,
    /// The operator's list has it, so that it may be private.
    pub is_vouched: bool,
}

/// Checks a destination of a channel: its one form, or what is wrong with it.
pub fn check(channel: Channel, url: &str, allowlist: &Allowlist) -> Result<String, String> {
    resolve(channel, url, allowlist).map(|checked| checked.url)
}

/// The same, for whoever sends: does the operator vouch for it?
pub fn resolve(channel: Channel, url: &str, allowlist: &Allowlist) -> Result<Checked, String> {
    if url.chars().count() > URL_CHARS_MAX {
        return Err(format!("must have at most {URL_CHARS_MAX} characters"));
    }
    if !url.chars().all(|char| char.is_ascii_graphic() && char != '\\') {
        return Err("must be plain ASCII without white space, control characters or backslashes".into());
    }
    let checked = match channel {
        Channel::Slack => check_chat(channel, url, SLACK_HOSTS, allowlist),
        Channel::Teams => check_chat(channel, url, TEAMS_HOSTS, allowlist),
        Channel::Email => check_mail(url, &allowlist.domains).map(|url| Checked { url, is_vouched: false }),
    }?;
    if checked.url.len() > URL_CHARS_MAX {
        return Err(format!("has more than {URL_CHARS_MAX} characters in its normal form"));
    }
    Ok(checked)
}

fn check_chat(
    channel: Channel,
    text: &str,
    hosts: &[&str],
    allowlist: &Allowlist,
) -> Result<Checked, String> {
    let (url, rest) = parse(text)?;
    let is_vouched = allowlist.prefixes(channel).iter().any(|prefix| prefix.covers(&url));
    if !is_vouched {
        check_public(&url)?;
        let host = url.host_str().unwrap_or_default();
        if !hosts.iter().any(|pattern| is_host(host, pattern)) {
            return Err(format!(
                "is no destination of {}; possible are: {}",
                channel.name(),
                hosts.join(", ")
            ));
        }
    }
    let slash = if rest.starts_with('/') { "" } else { "/" };
    Ok(Checked { url: format!("{}{slash}{rest}", origin(&url)), is_vouched })
}

/// The parsed URL, and its path and query as they were written.
fn parse(text: &str) -> Result<(Url, &str), String> {
    let url = Url::parse(text).map_err(|cause| format!("is no URL: {cause}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("must begin with https://".into());
    }
    if text.contains('#') {
        return Err("must not have a fragment".into());
    }
    let after = text.get(url.scheme().len()..).and_then(|rest| rest.strip_prefix("://"));
    let after = after.ok_or("must have two slashes behind its scheme")?;
    let end = after.find(['/', '?']).unwrap_or(after.len());
    let (authority, rest) = after.split_at(end);
    if authority.contains('@') || !url.username().is_empty() || url.password().is_some() {
        return Err("must not name a user".into());
    }
    let written = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !port.is_empty() => host,
        Some(_) | None => authority,
    };
    // `0x7f.1`, `%31%32%37` and the like mean something else than they say.
    if url.host_str() != Some(written.to_ascii_lowercase().as_str()) {
        return Err("must spell its host plainly".into());
    }
    if has_dot_segments(rest) {
        return Err("must not have the path segments . or ..".into());
    }
    Ok((url, rest))
}

/// Servers decode a path before they resolve dots, so escapes count as what they stand for.
fn has_dot_segments(rest: &str) -> bool {
    let path = rest.split('?').next().unwrap_or_default().to_ascii_lowercase();
    let plain = path.replace("%2e", ".").replace("%2f", "/").replace("%5c", "/");
    plain.split('/').any(|segment| matches!(segment, "." | ".."))
}

/// What holds for every destination that the operator has not vouched for.
fn check_public(url: &Url) -> Result<(), String> {
    if url.scheme() != "https" {
        return Err("must begin with https://".into());
    }
    if url.port().is_some() {
        return Err("must not name a port other than 443".into());
    }
    match url.host() {
        Some(Host::Domain(name)) => check_name(name),
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => Err("must name its host, not an IP address".into()),
        None => Err("names no host".into()),
    }
}

/// A full DNS name in lower case: two labels or more, none empty, no dot at its end.
fn check_name(name: &str) -> Result<(), String> {
    let is_label = |label: &str| {
        (1..=LABEL_BYTES_MAX).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    let labels: Vec<&str> = name.split('.').collect();
    let ends_in_digits = labels.last().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    let fits = name.len() <= HOST_BYTES_MAX && labels.len() >= 2 && labels.into_iter().all(is_label);
    if fits && !ends_in_digits { Ok(()) } else { Err("must name a full host, as in chat.example.com".into()) }
}

/// `*.` in a pattern stands for one or more labels; without it the name is the pattern.
fn is_host(host: &str, pattern: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(suffix) => host.strip_suffix(suffix).is_some_and(|labels| !labels.is_empty()),
        None => host == pattern,
    }
}

/// Scheme, host, and the port where it is not the scheme's own.
fn origin(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}", url.scheme(), url.host_str().unwrap_or_default())
}

fn check_mail(text: &str, domains: &[String]) -> Result<String, String> {
    let (scheme, address) = text.split_once(':').unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("mailto") {
        return Err("must be mailto: and one address".into());
    }
    let plain = "must be mailto: and one plain address, without escapes, names or headers";
    let (local, domain) = address.split_once('@').ok_or(plain)?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || LOCAL_MARKS.contains(char::from(byte));
    let dotted = local.split('.').all(|part| !part.is_empty());
    if local.len() > LOCAL_BYTES_MAX || !dotted || !local.bytes().all(is_plain) {
        return Err(plain.into());
    }
    let domain = domain.to_ascii_lowercase();
    check_name(&domain).map_err(|_| plain)?;
    if !domains.is_empty() && !domains.contains(&domain) {
        return Err(format!("is in no domain that mail may go to; possible are: {}", domains.join(", ")));
    }
    Ok(format!("mailto:{local}@{domain}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(channel: Channel, list: &str) -> Allowlist {
        let mut allowlist = Allowlist::default();
        allowlist.add(channel, list).unwrap();
        allowlist
    }

    fn built_in(channel: Channel, url: &str) -> Result<String, String> {
        check(channel, url, &Allowlist::default())
    }

    #[test]
    fn the_channels_own_hosts_pass_with_path_and_query_byte_by_byte() {
        let teams =
            "https://default0a.1b.environment.api.powerplatform.com/powerautomate/x%2Fy?sig=a'b%20c&sp=%2f";
        for (channel, given, kept) in [
            (
                Channel::Slack,
                "https://hooks.slack.com/services/T0/B0/xY%7e",
                "https://hooks.slack.com/services/T0/B0/xY%7e",
            ),
            (Channel::Slack, "HTTPS://Hooks.Slack.COM:443", "https://hooks.slack.com/"),
            (Channel::Slack, "https://hooks.slack.com?x=1", "https://hooks.slack.com/?x=1"),
            (Channel::Teams, "https://acme.webhook.office.com/a", "https://acme.webhook.office.com/a"),
            (
                Channel::Teams,
                "https://prod-1.westeurope.logic.azure.com:443/w",
                "https://prod-1.westeurope.logic.azure.com/w",
            ),
            (Channel::Teams, teams, teams),
            (Channel::Email, "MAILTO:Ops+alert@Bank.Example", "mailto:Ops+alert@bank.example"),
        ] {
            assert_eq!(built_in(channel, given).as_deref(), Ok(kept));
            assert_eq!(built_in(channel, kept).as_deref(), Ok(kept), "the normal form stays");
        }
    }

    #[test]
    fn a_wildcard_is_one_label_or_more_and_ends_at_a_dot() {
        for bad in [
            "https://webhook.office.com/",
            "https://.webhook.office.com/",
            "https://a..webhook.office.com/",
            "https://evilwebhook.office.com/",
            "https://a.webhook.office.com.evil.example/",
            "https://a.webhook.office.com./",
            "https://hooks.slack.com/",
        ] {
            assert!(built_in(Channel::Teams, bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_operators_prefix_counts_by_scheme_host_port_and_path() {
        let list =
            "http://chat.internal:8065/hooks, http://127.0.0.1:9000/, https://[::1]/in/, http://mattermost";
        let allowlist = with(Channel::Slack, list);
        for good in [
            "http://chat.internal:8065/hooks",
            "http://chat.internal:8065/hooks/abc?x=1",
            "http://127.0.0.1:9000/any",
            "https://[::1]/in/x",
            "http://mattermost/hooks/1",
            "https://hooks.slack.com/services/1",
        ] {
            assert_eq!(check(Channel::Slack, good, &allowlist).as_deref(), Ok(good));
        }
        for bad in [
            "https://chat.internal:8065/hooks/abc",
            "http://chat.internal/hooks/abc",
            "http://chat.internal:8066/hooks/abc",
            "http://chat.internal:8065/hooksabc",
            "http://chat.internal:8065/other",
            "http://chat.internal:8065/hooks/../other",
            "http://chat.internal:8065/hooks/%2e%2e/other",
            "http://chat.internal:8065/hooks/..%2Fother",
            "http://a@chat.internal:8065/hooks/abc",
            "http://chat.internal:8065@evil.example/hooks/abc",
            "http://2130706433:9000/",
            "http://127.1:9000/",
            "http://127.0.0.1:9001/",
            "https://[0:0::1]/in/x",
        ] {
            assert!(check(Channel::Slack, bad, &allowlist).is_err(), "{bad}");
        }
        assert!(
            check(Channel::Teams, "http://mattermost/hooks/1", &allowlist).is_err(),
            "each channel its own"
        );
    }

    #[test]
    fn mail_is_one_plain_address() {
        for bad in [
            "mailto:",
            "mailto:a",
            "mailto:@b.example",
            "mailto:a@b",
            "mailto:a@b.example,c@d.example",
            "mailto:a@b.example;c@d.example",
            "mailto:a@b.example?bcc=x@y.example",
            "mailto:a@b.example%0d%0aBcc:x@y.example",
            "mailto:a%00@b.example",
            "mailto:a?bcc=x@y.example",
            "mailto:a#x@y.example",
            "mailto:<a@b.example>",
            "mailto:\"a\"@b.example",
            "mailto:a@b@c.example",
            "mailto:a@[127.0.0.1]",
            "mailto:a@127.0.0.1",
            "mailto:a@b.example.",
            "mailto:a..b@c.example",
            "mailto://a@b.example",
            "a@b.example",
            "https://hooks.slack.com/x",
        ] {
            assert!(built_in(Channel::Email, bad).is_err(), "{bad}");
        }
        let only = with(Channel::Email, "Bank.Example, other.example");
        assert!(check(Channel::Email, "mailto:a@bank.example", &only).is_ok());
        assert!(check(Channel::Email, "mailto:a@sub.bank.example", &only).is_err());
        assert!(check(Channel::Email, "mailto:a@evilbank.example", &only).is_err());
    }

    #[test]
    fn the_length_counts_in_both_forms() {
        let head = "https://hooks.slack.com/";
        let longest = format!("{head}{}", "x".repeat(URL_CHARS_MAX - head.len()));
        assert!(built_in(Channel::Slack, &longest).is_ok());
        assert!(built_in(Channel::Slack, &format!("{longest}x")).is_err());
        let grows = format!("https://hooks.slack.com?{}", "x".repeat(URL_CHARS_MAX - head.len()));
        assert_eq!(grows.len(), URL_CHARS_MAX);
        assert!(built_in(Channel::Slack, &grows).is_err(), "the slash makes it one too long");
    }

    #[test]
    fn a_prefix_that_does_not_fit_is_refused() {
        for bad in [
            "chat.internal",
            "ftp://x/",
            "http://u@x/",
            "http://x/?q",
            "http://x/#f",
            "http://",
            "mailto:a@b.c",
        ] {
            assert!(Allowlist::default().add(Channel::Slack, bad).is_err(), "{bad}");
        }
        assert!(Allowlist::default().add(Channel::Email, "bank").is_err());
        assert_eq!(with(Channel::Teams, " , "), Allowlist::default());
    }
}
