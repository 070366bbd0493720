//! The gate: who asks, how often, and may they. Behind it nobody thinks about keys.
//!
//! The order is fixed: key (401), rate limit (429), permission (403).

use super::peer::address;
use super::request::Caller;
use super::route::{Credentials, Route};
use crate::app::App;
use crate::domain::audit::Event;
use crate::domain::key::Secret;
use crate::domain::limit::{Allowance, Verdict};
use crate::error::Error;
use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use hyper::http::request::Parts;

/// `X-API-Key`
const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// What the gate found out, whether it opened or not.
#[derive(Debug, Default)]
pub struct Passage {
    /// Who asks, once the key is known.
    pub caller: Option<Caller>,
    /// What is left of the rate limit.
    pub allowance: Option<Allowance>,
    /// When the standard limit has room again, where a limit was hit.
    pub reset_seconds: Option<u64>,
    /// Something about the key's limit that must be stored before the answer leaves.
    pub store_now: bool,
    /// Why the gate stays shut.
    pub refused: Option<Error>,
}

/// Lets a request through, or says why not.
pub fn admit(app: &App, route: &Route, head: &Parts) -> Passage {
    let mut passage = Passage::default();
    passage.refused = pass(app, route, head, &mut passage).err();
    passage
}

fn pass(app: &App, route: &Route, head: &Parts, passage: &mut Passage) -> Result<(), Error> {
    let Some(secret) = credential(route.tier.credentials(), &head.headers)? else { return Ok(()) };
    let key = app.store.find_key(&secret)?.ok_or(Error::NoKey)?;
    let caller = Caller { key: key.clone(), address: address(head, app.config.behind_proxy) };
    passage.caller = Some(caller.clone());
    if let Some(class) = route.tier.limit_class() {
        match app.limiter.admit(&key, class) {
            Some(Verdict::Admitted(allowance)) => {
                passage.store_now = allowance.exceeded;
                passage.allowance = Some(allowance);
            }
            Some(Verdict::Refused(refusal)) => {
                passage.store_now = refusal.newly_blocked;
                if refusal.newly_blocked {
                    app.store.note_refusal(Event::KeyBlocked, &key.tenant_id, caller.actor(), None);
                }
                passage.reset_seconds = Some(refusal.reset_seconds);
                return Err(Error::TooMany(refusal));
            }
            None => {}
        }
    }
    match route.needs {
        Some(permission) if !key.permissions.has(permission) => {
            let detail = format!("{} needs {permission}", route.name());
            app.store.note_refusal(Event::PermissionRefused, &key.tenant_id, caller.actor(), Some(detail));
            Err(Error::NotAllowed(permission))
        }
        Some(_) | None => Ok(()),
    }
}

/// The key of a request. Two headers with different keys, or one header twice, is no key.
fn credential(accepted: Credentials, headers: &HeaderMap) -> Result<Option<Secret>, Error> {
    let (bearer, plain) = match accepted {
        Credentials::None => return Ok(None),
        Credentials::Bearer => (single(headers, &AUTHORIZATION)?, None),
        Credentials::BearerOrHeader => (single(headers, &AUTHORIZATION)?, single(headers, &X_API_KEY)?),
    };
    // Another scheme than Bearer is somebody else's business, a proxy's perhaps.
    let bearer = bearer.and_then(bearer_token);
    let candidate = match (bearer, plain.map(HeaderValue::as_bytes)) {
        (Some(one), Some(other)) if one != other => return Err(Error::NoKey),
        (Some(one), _) | (None, Some(one)) => one,
        (None, None) => return Err(Error::NoKey),
    };
    Secret::parse(candidate).map(Some).ok_or(Error::NoKey)
}

fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a HeaderValue>, Error> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() { Err(Error::NoKey) } else { Ok(first) }
}

fn bearer_token(value: &HeaderValue) -> Option<&[u8]> {
    let (scheme, token) = value.as_bytes().split_at_checked("bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"bearer ").then_some(token)
}
