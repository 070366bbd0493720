//! Names and addresses: a name is looked up once for each try, every answer is checked, and what was
//! checked is what is connected to, so that a second answer cannot lead elsewhere.

use crate::domain::address::is_forbidden;
use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// How long a name may take.
const LOOKUP_MAX: Duration = Duration::from_secs(3);
/// More addresses than this are not tried.
const ADDRESSES_MAX: usize = 16;

/// How names become addresses.
pub trait Names: fmt::Debug + Send + Sync {
    /// The addresses of a host and port.
    fn look_up(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>>;
}

/// The system's own way.
#[derive(Debug)]
pub struct SystemNames;

impl Names for SystemNames {
    fn look_up(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        // The system's call cannot be told to hurry, so it gets a thread that may be left behind.
        let (answer, answered) = sync_channel(1);
        let place = format!("{host}:{port}");
        std::thread::Builder::new().name("names".into()).spawn(move || {
            let _ = answer.send(place.to_socket_addrs().map(Iterator::collect));
        })?;
        answered.recv_timeout(LOOKUP_MAX).map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }
}

/// A name led to an address that nothing may be sent to.
#[derive(Debug)]
pub struct Forbidden;

impl fmt::Display for Forbidden {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the name leads to an address that nothing may be sent to")
    }
}

impl std::error::Error for Forbidden {}

/// The resolver of deliveries.
#[derive(Debug)]
pub struct Guard {
    /// How names become addresses.
    pub names: Arc<dyn Names>,
    /// The operator vouches for the destination, so that it may be private.
    pub is_vouched: bool,
}

impl Resolver for Guard {
    fn resolve(&self, uri: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let host = uri.host().ok_or(ureq::Error::HostNotFound)?;
        let default_port = if uri.scheme_str() == Some("http") { 80 } else { 443 };
        let port = uri.port_u16().unwrap_or(default_port);
        let found = self.names.look_up(host, port)?;
        if !self.is_vouched && found.iter().any(|address| is_forbidden(address.ip())) {
            return Err(ureq::Error::Other(Box::new(Forbidden)));
        }
        let mut kept = self.empty();
        for address in found.into_iter().take(ADDRESSES_MAX) {
            kept.push(address);
        }
        if kept.is_empty() { Err(ureq::Error::HostNotFound) } else { Ok(kept) }
    }
}
