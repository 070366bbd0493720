//! Payloads with their headers, prepared at start: serving one copies nothing.

use super::encoding::Encoding;
use crate::payload::Payload;
use bytes::Bytes;
use hyper::header::HeaderValue;

/// The media type of every JSON answer.
pub const JSON: HeaderValue = HeaderValue::from_static("application/json");
const CSV: HeaderValue = HeaderValue::from_static("text/csv; charset=utf-8");

/// A payload in each encoding, with the ETag of each.
#[derive(Debug)]
pub struct Prepared {
    identity: Variant,
    gzip: Option<Variant>,
    brotli: Option<Variant>,
    /// What the ETags are made from.
    pub digest: String,
    /// What it is.
    pub content_type: HeaderValue,
    /// That, and under which name, it is to be saved.
    pub disposition: Option<HeaderValue>,
}

/// One encoding of a payload.
#[derive(Debug)]
pub struct Variant {
    /// The bytes.
    pub bytes: Bytes,
    /// Their ETag.
    pub etag: HeaderValue,
    /// How they are encoded.
    pub encoding: Encoding,
}

impl Prepared {
    /// A JSON payload.
    pub fn json(payload: Payload) -> Prepared {
        Prepared::new(payload, JSON, None)
    }

    /// A spreadsheet.
    pub fn csv(payload: Payload, file_name: &str) -> Prepared {
        let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{file_name}\"")).ok();
        Prepared::new(payload, CSV, disposition)
    }

    fn new(payload: Payload, content_type: HeaderValue, disposition: Option<HeaderValue>) -> Prepared {
        let variant = |bytes: Bytes, encoding: Encoding| Variant {
            etag: etag(&payload.digest, encoding),
            bytes,
            encoding,
        };
        Prepared {
            gzip: payload.gzip.clone().map(|bytes| variant(bytes, Encoding::Gzip)),
            brotli: payload.brotli.clone().map(|bytes| variant(bytes, Encoding::Brotli)),
            identity: variant(payload.identity.clone(), Encoding::Identity),
            digest: payload.digest,
            content_type,
            disposition,
        }
    }

    /// The variant for what the client accepts.
    pub fn variant(&self, encoding: Encoding) -> &Variant {
        let wanted = match encoding {
            Encoding::Brotli => self.brotli.as_ref(),
            Encoding::Gzip => self.gzip.as_ref(),
            Encoding::Identity => None,
        };
        wanted.unwrap_or(&self.identity)
    }
}

/// A strong ETag: bytes differ between encodings, so their tags do.
pub fn etag(digest: &str, encoding: Encoding) -> HeaderValue {
    let text = format!("\"{digest}{}\"", encoding.etag_suffix());
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("\"\""))
}
