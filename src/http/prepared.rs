//! Payloads with their headers, prepared once: serving one copies nothing.

use super::encoding::Encoding;
use super::route::{Handler, Made, Makings, Route};
use crate::error::Error;
use crate::payload::Payload;
use bytes::Bytes;
use hyper::header::HeaderValue;
use std::sync::Arc;

/// The media type of every JSON answer.
pub const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// The media type of pages.
pub const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const CSV: HeaderValue = HeaderValue::from_static("text/csv; charset=utf-8");

/// A payload with the ETag of each of its encodings.
#[derive(Debug)]
pub struct Prepared {
    /// The bytes, in each encoding.
    pub payload: Payload,
    /// What it is.
    pub content_type: HeaderValue,
    /// That, and under which name, it is to be saved.
    pub disposition: Option<HeaderValue>,
    etags: [HeaderValue; 3],
}

impl Prepared {
    /// A JSON payload.
    pub fn json(payload: Payload) -> Prepared {
        Prepared::new(payload, JSON, None)
    }

    /// A page.
    pub fn html(payload: Payload) -> Prepared {
        Prepared::new(payload, HTML, None)
    }

    /// A part of a page, of a media type that the build knows.
    pub fn asset(payload: Payload, media_type: &'static str) -> Prepared {
        Prepared::new(payload, HeaderValue::from_static(media_type), None)
    }

    /// A spreadsheet.
    pub fn csv(payload: Payload, file_name: &str) -> Prepared {
        let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{file_name}\"")).ok();
        Prepared::new(payload, CSV, disposition)
    }

    fn new(payload: Payload, content_type: HeaderValue, disposition: Option<HeaderValue>) -> Prepared {
        let etags = Encoding::ALL.map(|encoding| etag(&payload.digest, encoding));
        Prepared { payload, content_type, disposition, etags }
    }

    /// The bytes for what the client accepts, and how they are encoded.
    pub fn variant(&self, wanted: Encoding) -> (Bytes, Encoding) {
        let packed = match wanted {
            Encoding::Brotli => self.payload.brotli(),
            Encoding::Gzip => self.payload.gzip(),
            Encoding::Identity => None,
        };
        match packed {
            Some(bytes) => (bytes.clone(), wanted),
            None => (self.payload.identity.clone(), Encoding::Identity),
        }
    }

    /// The ETag of an encoding.
    pub fn etag(&self, encoding: Encoding) -> HeaderValue {
        self.etags[encoding as usize].clone()
    }
}

/// A strong ETag: bytes differ between encodings, so their tags do.
pub fn etag(digest: &str, encoding: Encoding) -> HeaderValue {
    let text = format!("\"{digest}{}\"", encoding.etag_suffix());
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("\"\""))
}

/// The payload of a row whose answer is always the same.
pub fn prepare(route: &Route, makings: &Makings) -> Result<Option<Arc<Prepared>>, Error> {
    let prepared = match route.handler {
        Handler::Whole(dataset) => Prepared::json(makings.reference.table(dataset)?.payload.clone()),
        Handler::Once(make) => match make(makings)? {
            Made::Json(value) => Prepared::json(Payload::made(value.to_string().into_bytes())),
            Made::Html(page) => Prepared::html(Payload::made(page.into_bytes())),
            Made::Csv { bytes, file_name } => Prepared::csv(Payload::made(bytes), &file_name),
        },
        Handler::Service(_)
        | Handler::Shared(_)
        | Handler::Filtered(_)
        | Handler::Tenant(_)
        | Handler::Beside(_)
        | Handler::Platform(_)
        | Handler::Open(_)
        | Handler::Signed(..)
        | Handler::Guest(_)
        | Handler::Later(_) => return Ok(None),
    };
    Ok(Some(Arc::new(prepared)))
}
