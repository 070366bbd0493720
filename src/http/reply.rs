//! Replies: what handlers give back, and the one place where an error becomes a status.

use super::prepared::Prepared;
use crate::domain::limit::Refusal;
use crate::error::Error;
use crate::payload::Payload;
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{HeaderName, HeaderValue};
use serde_json::{Value, json};
use std::sync::Arc;

/// What a handler gives back.
pub type Answer = Result<Reply, Error>;

/// An answer, not yet on the wire.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// What is sent.
    pub content: Content,
    /// The digest behind the ETag; none where the answer is not to be kept.
    pub digest: Option<String>,
    /// The sentence of an error, for those who get a page instead of JSON.
    pub text: Option<String>,
    /// Further headers.
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

/// What is sent.
#[derive(Clone, Debug)]
pub enum Content {
    /// Nothing.
    Empty,
    /// JSON made for this request.
    Json(Bytes),
    /// A page made for this request.
    Html(Bytes),
    /// Figures as Prometheus reads them.
    Figures(Bytes),
    /// A file to be saved, made for this request.
    File {
        /// Its bytes.
        bytes: Bytes,
        /// What it is.
        media_type: &'static str,
        /// Under which name it is saved: plain letters, digits, `-` and `.`.
        file_name: String,
    },
    /// A payload prepared at start.
    Prepared(Arc<Prepared>),
}

impl Reply {
    /// 200 with JSON bytes.
    pub fn json_bytes(bytes: impl Into<Bytes>) -> Reply {
        Reply::new(StatusCode::OK, Content::Json(bytes.into()))
    }

    /// 200 with a JSON value.
    pub fn json(value: &Value) -> Reply {
        Reply::json_bytes(value.to_string().into_bytes())
    }

    /// 200 with a page made for this request.
    pub fn html(page: String) -> Reply {
        Reply::new(StatusCode::OK, Content::Html(page.into()))
    }

    /// 200 with figures.
    pub fn figures(text: String) -> Reply {
        Reply::new(StatusCode::OK, Content::Figures(text.into()))
    }

    /// 422 with a page that shows its faults.
    pub fn faulty_page(page: String) -> Reply {
        Reply { status: StatusCode::UNPROCESSABLE_ENTITY, ..Reply::html(page) }
    }

    /// 429 with a page that says when to come again.
    pub fn busy_page(page: String, seconds: u64) -> Reply {
        let mut reply = Reply { status: StatusCode::TOO_MANY_REQUESTS, ..Reply::html(page) };
        reply.headers.push((hyper::header::RETRY_AFTER, HeaderValue::from(seconds)));
        reply
    }

    /// 429 with a sentence: too many ask for the same.
    pub fn come_again(text: &str, seconds: u64) -> Reply {
        let mut reply = Reply::refusal(StatusCode::TOO_MANY_REQUESTS, text);
        reply.headers.push((hyper::header::RETRY_AFTER, HeaderValue::from(seconds)));
        reply
    }

    /// 200 with a file to be saved.
    pub fn file(bytes: impl Into<Bytes>, media_type: &'static str, file_name: String) -> Reply {
        Reply::new(StatusCode::OK, Content::File { bytes: bytes.into(), media_type, file_name })
    }

    /// 303: the browser goes on to a page of this origin.
    pub fn see_other(path: &str) -> Reply {
        Reply::new(StatusCode::SEE_OTHER, Content::Empty).at(path)
    }

    /// With a cookie.
    pub fn cookie(mut self, cookie: &str) -> Reply {
        if let Ok(value) = HeaderValue::from_str(cookie) {
            self.headers.push((hyper::header::SET_COOKIE, value));
        }
        self
    }

    /// 201 with a JSON value.
    pub fn created(value: &Value) -> Reply {
        Reply { status: StatusCode::CREATED, ..Reply::json(value) }
    }

    /// 204.
    pub fn empty() -> Reply {
        Reply::new(StatusCode::NO_CONTENT, Content::Empty)
    }

    /// 503 with JSON: the service is down and says why.
    pub fn unavailable(value: &Value) -> Reply {
        Reply { status: StatusCode::SERVICE_UNAVAILABLE, ..Reply::json(value) }
    }

    /// A payload prepared at start.
    pub fn prepared(payload: Arc<Prepared>) -> Reply {
        Reply::new(StatusCode::OK, Content::Prepared(payload))
    }

    /// A payload that is kept for a while: it is compressed once, however often it is sent.
    pub fn kept(payload: &Payload) -> Reply {
        Reply::prepared(Arc::new(Prepared::json(payload.clone())))
    }

    /// With the digest of what the answer was made from, where that is cheaper to know than the answer's own.
    pub fn with_digest(mut self, digest: String) -> Reply {
        self.digest = Some(digest);
        self
    }

    /// With the address of a new object.
    pub fn at(mut self, path: &str) -> Reply {
        if let Ok(location) = HeaderValue::from_str(path) {
            self.headers.push((hyper::header::LOCATION, location));
        }
        self
    }

    /// The answer to an error: its status, its sentence, and for the caller nothing more.
    pub fn of_error(error: &Error, contact: Option<&str>) -> Reply {
        let ask = contact.map(|contact| format!("; for access ask {contact}")).unwrap_or_default();
        let plain = |text: String| json!({ "error": text });
        let (status, body) = match error {
            Error::NoKey => (
                StatusCode::UNAUTHORIZED,
                plain(format!(
                    "a valid API key is needed in the header `Authorization: Bearer <key>` (API v1 also takes `X-API-Key`){ask}"
                )),
            ),
            Error::NotAllowed(permission) => {
                (StatusCode::FORBIDDEN, plain(format!("this key lacks the permission `{permission}`{ask}")))
            }
            Error::Denied(why) => (StatusCode::FORBIDDEN, plain((*why).to_owned())),
            Error::NotFound(what) => (StatusCode::NOT_FOUND, plain(format!("{what} not found"))),
            Error::Invalid(faults) => (StatusCode::UNPROCESSABLE_ENTITY, faults_body(faults)),
            Error::TooLarge { limit_bytes } => (
                StatusCode::PAYLOAD_TOO_LARGE,
                plain(format!("the body is too large: at most {limit_bytes} bytes are read")),
            ),
            Error::TooMany(refusal) => return Reply::of_refusal(refusal),
            Error::NotYet => {
                (StatusCode::NOT_IMPLEMENTED, plain("this route is not available in this build yet".into()))
            }
            Error::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, plain("internal server error".into())),
        };
        let text = body["error"].as_str().map(str::to_owned);
        let mut reply = Reply { status, text, ..Reply::json(&body) };
        if status == StatusCode::UNAUTHORIZED {
            reply
                .headers
                .push((hyper::header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"api\"")));
        }
        reply
    }

    /// A refusal by status and sentence, for faults of the transport that no handler knows.
    pub fn refusal(status: StatusCode, text: &str) -> Reply {
        Reply { status, text: Some(text.to_owned()), ..Reply::json(&json!({ "error": text })) }
    }

    fn of_refusal(refusal: &Refusal) -> Reply {
        let wait = refusal.retry_after_seconds;
        let body = json!({
            "error": refusal.text(),
            "limit": refusal.limit,
            "window": "60s",
            "retry_after": wait,
        });
        let mut reply = Reply { status: StatusCode::TOO_MANY_REQUESTS, ..Reply::json(&body) };
        reply.headers.push((hyper::header::RETRY_AFTER, HeaderValue::from(wait)));
        reply
    }

    fn new(status: StatusCode, content: Content) -> Reply {
        Reply { status, content, digest: None, text: None, headers: Vec::new() }
    }
}

fn faults_body(faults: &crate::error::Faults) -> Value {
    let fields: serde_json::Map<String, Value> =
        faults.fields.iter().map(|(name, reason)| (name.clone(), Value::from(reason.as_str()))).collect();
    json!({ "error": faults.to_string(), "fields": fields })
}
