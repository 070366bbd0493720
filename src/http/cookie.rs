//! Cookies: how ours are called, read and written.
//!
//! With TLS, or behind a proxy that has it, a name begins with `__Host-`: the browser then takes the cookie only from
//! this very host and sends it over TLS alone. Over plain HTTP, which is served on loopback only, that is not possible.

use hyper::HeaderMap;
use hyper::header::COOKIE;

/// The cookie of a session.
pub const SESSION: &str = "holdfast";
/// The cookie of somebody who is about to sign in.
pub const VISIT: &str = "holdfast-visit";
/// The cookie that carries a notice to the next page.
pub const NOTICE: &str = "holdfast-notice";

/// Writes and reads cookies the one way that fits the transport.
#[derive(Clone, Copy, Debug)]
pub struct Jar {
    /// Do browsers come over TLS?
    pub secure: bool,
}

impl Jar {
    /// A cookie that lasts until the browser closes, or for some seconds.
    pub fn set(self, name: &str, value: &str, seconds: Option<u32>) -> String {
        let secure = if self.secure { "; Secure" } else { "" };
        let age = seconds.map(|seconds| format!("; Max-Age={seconds}")).unwrap_or_default();
        format!("{}={value}; HttpOnly; SameSite=Lax; Path=/{secure}{age}", self.name(name))
    }

    /// Takes a cookie away.
    pub fn clear(self, name: &str) -> String {
        self.set(name, "", Some(0))
    }

    /// A cookie of a request. One that comes twice is none: somebody else may have slipped one in.
    pub fn read(self, headers: &HeaderMap, name: &str) -> Option<String> {
        let name = self.name(name);
        let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut found = lines
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(known, _)| *known == name)
            .map(|(_, value)| value.to_owned());
        let first = found.next().filter(|value| !value.is_empty());
        if found.next().is_some() { None } else { first }
    }

    fn name(self, name: &str) -> String {
        if self.secure { format!("__Host-{name}") } else { name.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    #[test]
    fn a_cookie_is_read_once_by_its_whole_name() {
        let plain = Jar { secure: false };
        let read = |line: &'static str| {
            let mut headers = HeaderMap::new();
            headers.append(COOKIE, HeaderValue::from_static(line));
            plain.read(&headers, SESSION)
        };
        assert_eq!(read("a=b; holdfast=x; holdfast-visit=y").as_deref(), Some("x"));
        for none in ["holdfast=x; holdfast=y", "xholdfast=1", "__Host-holdfast=1", "holdfast=", ""] {
            assert_eq!(read(none), None, "{none}");
        }
    }

    #[test]
    fn over_tls_it_is_bound_to_the_host() {
        let text = Jar { secure: true }.set(SESSION, "v", None);
        assert_eq!(text, "__Host-holdfast=v; HttpOnly; SameSite=Lax; Path=/; Secure");
        assert!(Jar { secure: false }.clear(NOTICE).starts_with("holdfast-notice=; "));
    }
}
