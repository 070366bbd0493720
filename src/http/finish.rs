//! The last step: a reply becomes bytes and headers, the same for every route of a tier.

use super::dispatch::{House, Ticket};
use super::encoding::Encoding;
use super::envelope::V1_VERSION;
use super::prepared::{HTML, JSON, etag};
use super::reply::{Content, Reply};
use super::route::{Credentials, Tier};
use super::site::Mishap;
use super::visit::language_of;
use crate::domain::limit::Allowance;
use crate::error::Error;
use crate::limiter::{LimitClass, Limiter};
use crate::payload::{COMPRESS_FROM_BYTES, brotli, digest, gzip};
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::*;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Response, StatusCode};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const X_API_VERSION: HeaderName = HeaderName::from_static("x-api-version");
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

const DATA_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; object-src 'none'; \
    frame-ancestors 'none'";
const PAGE_HEADERS: [(&str, &str); 4] = [
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
    ("vary", "Accept, Accept-Encoding, Origin, Sec-Fetch-Site"),
];

/// Effort for JSON that is made for one request.
const DYNAMIC_GZIP_EFFORT: u32 = 3;

/// Names for requests that bring none: a random beginning per process, then a count.
pub struct RequestIds {
    beginning: String,
    count: AtomicU64,
}

impl RequestIds {
    /// A new beginning.
    pub fn new() -> Result<RequestIds, Error> {
        let bytes = crate::chance::Chance::system().bytes::<5>()?;
        Ok(RequestIds { beginning: crate::payload::hex(&bytes), count: AtomicU64::new(0) })
    }

    /// What all of ours begin with: random, so that it tells one run of the process from another.
    pub fn beginning(&self) -> &str {
        &self.beginning
    }

    /// The client's own, if it is short and plain, or the next of ours.
    pub fn of(&self, headers: &HeaderMap) -> HeaderValue {
        match headers.get(X_REQUEST_ID) {
            Some(given) if is_plain(given.as_bytes()) => given.clone(),
            Some(_) | None => self.next(),
        }
    }

    fn next(&self) -> HeaderValue {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        short_header(format_args!("{}-{number:x}", self.beginning))
    }
}

/// A header value of at most 64 characters, written on the stack.
fn short_header(text: std::fmt::Arguments) -> HeaderValue {
    use std::io::Write;
    let mut buffer = [0_u8; 64];
    let mut rest = &mut buffer[..];
    let _ = rest.write_fmt(text);
    let left = rest.len();
    HeaderValue::from_bytes(&buffer[..buffer.len() - left]).unwrap_or(HeaderValue::from_static("0"))
}

fn is_plain(id: &[u8]) -> bool {
    (1..=64).contains(&id.len())
        && id.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

/// `RateLimit-Policy` of both tiers; none with limits off.
pub struct Policies {
    v1: Option<HeaderValue>,
    v2: Option<HeaderValue>,
}

impl Policies {
    /// From the numbers in force.
    pub fn new(limiter: &Limiter) -> Policies {
        let header = |class: LimitClass| {
            let rules = limiter.limits()?.rules(class);
            let mut text = format!("\"standard\";q={};w=60", rules.standard);
            if rules.burst > rules.standard {
                let _ = write!(text, ", \"burst\";q={};w=60", rules.burst);
            }
            HeaderValue::from_str(&text).ok()
        };
        Policies { v1: header(LimitClass::V1), v2: header(LimitClass::V2) }
    }

    fn of(&self, class: LimitClass) -> Option<&HeaderValue> {
        match class {
            LimitClass::V1 => self.v1.as_ref(),
            LimitClass::V2 => self.v2.as_ref(),
        }
    }
}

/// Builds the response.
pub fn response(house: &House, head: &Parts, ticket: &Ticket, reply: Reply) -> Response<Full<Bytes>> {
    let tier = house.route(ticket).map(|route| route.tier);
    let reply = for_people(house, head, ticket, reply);
    let mut headers = HeaderMap::with_capacity(24);
    headers.insert(X_REQUEST_ID, ticket.request_id.clone());
    // By the path, not by the row: an unknown path below it is an answer of v1 too.
    if head.uri.path().starts_with("/api/v1/") {
        headers.insert(X_API_VERSION, HeaderValue::from_static(V1_VERSION));
    }
    tier_headers(&mut headers, house, tier, ticket);
    browser_headers(&mut headers, house, &reply.content, tier);
    let keeps = reply.status == StatusCode::OK
        && matches!(head.method, Method::GET | Method::HEAD)
        && !matches!(tier, Some(Tier::Service | Tier::Workspace));
    headers.insert(CACHE_CONTROL, cache_control(tier, keeps));
    for (name, value) in reply.headers {
        headers.append(name, value);
    }
    let sent = encode(head, &mut headers, reply.content, reply.digest, keeps);
    let (status, body) = match sent {
        Some(body) => (reply.status, body),
        None => (StatusCode::NOT_MODIFIED, Bytes::new()),
    };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// Chooses the encoding and sets the headers that follow from it. `None`: the client has it already.
fn encode(
    head: &Parts,
    headers: &mut HeaderMap,
    content: Content,
    known_digest: Option<String>,
    keeps: bool,
) -> Option<Bytes> {
    let accepted = head.headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    match content {
        Content::Empty => Some(Bytes::new()),
        Content::Prepared(prepared) => {
            let (bytes, encoding) = prepared.variant(Encoding::negotiate(accepted));
            headers.insert(CONTENT_TYPE, prepared.content_type.clone());
            if let Some(disposition) = &prepared.disposition {
                headers.insert(CONTENT_DISPOSITION, disposition.clone());
            }
            set_encoding(headers, encoding);
            if keeps {
                headers.insert(ETAG, prepared.etag(encoding));
                if has_it(head, &prepared.payload.digest) {
                    return None;
                }
            }
            Some(bytes)
        }
        // Not compressed: what is made for one reader may hold a secret beside text of others.
        Content::Html(bytes) => {
            headers.insert(CONTENT_TYPE, HTML);
            encode_dynamic(head, headers, bytes, known_digest, keeps, None)
        }
        Content::Figures(bytes) => {
            headers
                .insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8"));
            encode_dynamic(head, headers, bytes, known_digest, keeps, accepted)
        }
        Content::File { bytes, media_type, file_name } => {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
            let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{file_name}\""));
            headers
                .insert(CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment")));
            Some(bytes)
        }
        Content::Json(bytes) => {
            headers.insert(CONTENT_TYPE, JSON);
            encode_dynamic(head, headers, bytes, known_digest, keeps, accepted)
        }
    }
}

fn encode_dynamic(
    head: &Parts,
    headers: &mut HeaderMap,
    bytes: Bytes,
    known_digest: Option<String>,
    keeps: bool,
    accepted: Option<&str>,
) -> Option<Bytes> {
    let encoding = match bytes.len() > COMPRESS_FROM_BYTES {
        true => Encoding::negotiate_dynamic(accepted),
        false => Encoding::Identity,
    };
    if keeps {
        let digest = known_digest.unwrap_or_else(|| digest(&[&bytes]));
        headers.insert(ETAG, etag(&digest, encoding));
        if has_it(head, &digest) {
            return None;
        }
    }
    let packed = match encoding {
        Encoding::Gzip => gzip(&bytes, DYNAMIC_GZIP_EFFORT),
        Encoding::Brotli => brotli(&bytes),
        Encoding::Identity => None,
    };
    if packed.is_some() {
        set_encoding(headers, encoding);
    }
    Some(packed.unwrap_or(bytes))
}

fn set_encoding(headers: &mut HeaderMap, encoding: Encoding) {
    if let Some(name) = encoding.name() {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(name));
    }
}

/// Does `If-None-Match` name this content, in whichever encoding?
fn has_it(head: &Parts, digest: &str) -> bool {
    let mut given = head.headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    given.any(|list| {
        list.split(',').map(str::trim).any(|tag| {
            let opaque = tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"');
            let plain = opaque.strip_suffix("-gz").or_else(|| opaque.strip_suffix("-br")).unwrap_or(opaque);
            tag == "*" || plain == digest
        })
    })
}

/// An error outside the API becomes a page where the client asks for pages.
fn for_people(house: &House, head: &Parts, ticket: &Ticket, reply: Reply) -> Reply {
    let path = head.uri.path();
    let api = path == "/api" || path.starts_with("/api/");
    let Some(text) = reply.text.as_deref().filter(|_| !api && asks_for_pages(&head.headers)) else {
        return reply;
    };
    let mishap = Mishap {
        status: reply.status.as_u16(),
        text,
        language: ticket.language.unwrap_or_else(|| language_of(&head.headers)),
        request_id: ticket.request_id.to_str().unwrap_or_default(),
    };
    match (house.site.error_page)(&mishap) {
        Ok(page) => Reply { content: Content::Html(page.into()), ..reply },
        Err(cause) => {
            log::error!("the error page: {cause}");
            reply
        }
    }
}

fn asks_for_pages(headers: &HeaderMap) -> bool {
    headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.split([',', ';']).any(|range| range.trim().eq_ignore_ascii_case("text/html")))
}

/// What a browser may do with an answer. Pages get scripts and styles from here and nowhere else, none of
/// them inline; all other answers may do nothing.
fn browser_headers(headers: &mut HeaderMap, house: &House, content: &Content, tier: Option<Tier>) {
    let is_page = match content {
        Content::Html(_) => true,
        Content::Prepared(prepared) => prepared.content_type == HTML,
        Content::Json(_) | Content::Figures(_) | Content::File { .. } | Content::Empty => false,
    };
    let policy = if is_page { PAGE_POLICY } else { DATA_POLICY };
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if is_page {
        for (name, value) in PAGE_HEADERS {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
    }
    if matches!(content, Content::Html(_)) {
        headers.append(VARY, HeaderValue::from_static("Accept-Language"));
    }
    if is_page || tier == Some(Tier::Asset) {
        headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
        if house.app.config.tls.is_some() || house.app.base_url.starts_with("https://") {
            headers.insert(
                STRICT_TRANSPORT_SECURITY,
                HeaderValue::from_static("max-age=31536000; includeSubDomains"),
            );
        }
    }
}

fn tier_headers(headers: &mut HeaderMap, house: &House, tier: Option<Tier>, ticket: &Ticket) {
    let Some(tier) = tier else { return };
    if tier.is_open_to_browsers() {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    }
    let vary = match tier.credentials() {
        Credentials::None => "Accept-Encoding",
        Credentials::Bearer | Credentials::BearerOrHeader => "Authorization, X-API-Key, Accept-Encoding",
    };
    headers.insert(VARY, HeaderValue::from_static(vary));
    let Some(policy) = tier.limit_class().and_then(|class| house.policies.of(class)) else { return };
    let left = match (&ticket.passage.allowance, ticket.passage.reset_seconds) {
        (Some(Allowance { remaining, reset_seconds, .. }), _) => (*remaining, *reset_seconds),
        (None, Some(wait)) => (0, wait),
        (None, None) => return,
    };
    headers.insert(RATE_LIMIT_POLICY, policy.clone());
    headers.insert(RATE_LIMIT, short_header(format_args!("\"standard\";r={};t={}", left.0, left.1)));
}

fn cache_control(tier: Option<Tier>, keeps: bool) -> HeaderValue {
    match tier {
        Some(Tier::Public) if keeps => HeaderValue::from_static("public, max-age=300"),
        Some(Tier::V1 | Tier::V2) if keeps => HeaderValue::from_static("private, no-cache"),
        Some(Tier::Page) if keeps => HeaderValue::from_static("no-cache"),
        Some(Tier::Asset) if keeps => HeaderValue::from_static("public, max-age=31536000, immutable"),
        Some(
            Tier::Public | Tier::Service | Tier::V1 | Tier::V2 | Tier::Page | Tier::Workspace | Tier::Asset,
        )
        | None => HeaderValue::from_static("no-store"),
    }
}
