//! What a handler sees of a request: everything in it has passed its check.

use crate::domain::actor::Actor;
use crate::domain::form::Values;
use crate::domain::query::Query;
use crate::error::Error;
use crate::store::LiveKey;
use std::net::IpAddr;
use std::sync::Arc;

/// A checked request.
#[derive(Debug, Default)]
pub struct Request {
    /// The identifier in the path, decoded.
    pub id: Option<String>,
    /// The query, by the row's parameters.
    pub query: Query,
    /// The body, by the row's form.
    pub body: Values,
    /// The header `Idempotency-Key`, where the route honours it.
    pub once: Option<String>,
    /// Who asks; always there on keyed routes.
    pub caller: Option<Caller>,
}

/// Whoever holds the key.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The key.
    pub key: Arc<LiveKey>,
    /// From where, if that is known.
    pub address: Option<IpAddr>,
}

impl Caller {
    /// The key as the one who acts.
    pub fn actor(&self) -> Actor {
        self.key.actor().at(self.address)
    }
}

impl Request {
    /// Who asks. The gate has let nobody through to a keyed route without a key.
    pub fn caller(&self) -> Result<&Caller, Error> {
        self.caller.as_ref().ok_or(Error::NoKey)
    }

    /// The identifier in the path; empty where the path has none.
    pub fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }
}
