//! Payloads: bytes prepared once and served many times, with their compressed
//! variants and the digest from which their ETags are made.

use bytes::Bytes;
use sha2::{Digest, Sha256};
use std::io::Write;
use std::sync::{Arc, OnceLock};

/// Below this size compression is not worth the client's time.
pub const COMPRESS_FROM_BYTES: usize = 1024;

/// A body that does not change while the process runs.
#[derive(Debug, Clone)]
pub struct Payload {
    /// As it is.
    pub identity: Bytes,
    /// Compressed, where that is worth it; filled by the build, or at the first use, for all clones at once.
    gzip: Arc<OnceLock<Option<Bytes>>>,
    /// Compressed better.
    brotli: Arc<OnceLock<Option<Bytes>>>,
    /// Sixteen hexadecimal digits of SHA-256 over the plain bytes.
    pub digest: String,
}

impl Payload {
    /// A body made at run time. It is compressed once, when the first client asks for that.
    pub fn made(identity: impl Into<Bytes>) -> Payload {
        let identity = identity.into();
        let digest = digest(&[&identity]);
        Payload::with_digest(identity, digest)
    }

    /// A body whose digest is known from what it was made from.
    pub fn with_digest(identity: Bytes, digest: String) -> Payload {
        Payload { digest, identity, gzip: Arc::default(), brotli: Arc::default() }
    }

    /// A body that the build has compressed.
    pub fn built(identity: Bytes, gzip: Bytes, brotli: Bytes, digest: String) -> Payload {
        let (gzip, brotli) = (OnceLock::from(Some(gzip)), OnceLock::from(Some(brotli)));
        Payload { identity, gzip: Arc::new(gzip), brotli: Arc::new(brotli), digest }
    }

    /// Compressed, if that is worth it.
    pub fn gzip(&self) -> Option<&Bytes> {
        self.gzip.get_or_init(|| self.is_worth_it().then(|| gzip(&self.identity, 6)).flatten()).as_ref()
    }

    /// Compressed better, if that is worth it.
    pub fn brotli(&self) -> Option<&Bytes> {
        self.brotli.get_or_init(|| self.is_worth_it().then(|| brotli(&self.identity)).flatten()).as_ref()
    }

    fn is_worth_it(&self) -> bool {
        self.identity.len() > COMPRESS_FROM_BYTES
    }
}

/// Sixteen hexadecimal digits of SHA-256 over the parts, each ended by its length.
pub fn digest(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
        if parts.len() > 1 {
            hasher.update(part.len().to_le_bytes());
        }
    }
    hex(&hasher.finalize()[..8])
}

/// SHA-256 of some bytes.
pub fn digest_bytes(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// Gzip at an effort from 1 to 9. Writing to memory does not fail; if it did, the plain bytes serve.
pub fn gzip(plain: &[u8], effort: u32) -> Option<Bytes> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(effort));
    encoder.write_all(plain).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

/// Brotli at a modest effort: it runs while somebody waits.
pub fn brotli(plain: &[u8]) -> Option<Bytes> {
    let mut packed = Vec::new();
    let settings = brotli::enc::BrotliEncoderParams { quality: 5, lgwin: 18, ..Default::default() };
    brotli::BrotliCompress(&mut &plain[..], &mut packed, &settings).ok()?;
    Some(Bytes::from(packed))
}
