//! Stylesheet, script and pictures: compiled in, compressed by the build.
//!
//! An asset's address holds a digest of its content, so that a browser may keep it
//! for ever and still never shows an old one.

use crate::error::Error;
use crate::http::prepared::Prepared;
use crate::http::{Answer, Reply, Request};
use crate::payload::Payload;
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// One file of `assets/`, as the build leaves it.
struct Asset {
    /// Its name in `assets/`.
    name: &'static str,
    /// Its name in its address.
    address: &'static str,
    media_type: &'static str,
    digest: &'static str,
    plain: &'static [u8],
    gzip: &'static [u8],
    brotli: &'static [u8],
}

static ASSETS: &[Asset] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

static PREPARED: LazyLock<HashMap<&'static str, Arc<Prepared>>> = LazyLock::new(|| {
    let prepare = |asset: &Asset| {
        let payload = Payload::built(
            Bytes::from_static(asset.plain),
            Bytes::from_static(asset.gzip),
            Bytes::from_static(asset.brotli),
            asset.digest.to_owned(),
        );
        Arc::new(Prepared::asset(payload, asset.media_type))
    };
    ASSETS.iter().map(|asset| (asset.address, prepare(asset))).collect()
});

/// The address of a file of `assets/`, for templates. A name that is not there leads to a 404; a test looks.
pub fn address(name: &str) -> String {
    let known = ASSETS.iter().find(|asset| asset.name == name);
    format!("/assets/{}", known.map_or(name, |asset| asset.address))
}

/// `GET /assets/{name}`
pub fn show(request: &Request) -> Answer {
    let prepared = PREPARED.get(request.id()).ok_or(Error::NotFound("asset"))?;
    Ok(Reply::prepared(Arc::clone(prepared)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_holds_the_digest_of_the_content() {
        for asset in ASSETS {
            assert!(address(asset.name).contains(&crate::payload::digest(&[asset.plain])), "{}", asset.name);
            assert!(PREPARED.contains_key(asset.address));
        }
        assert!(ASSETS.iter().any(|asset| asset.name == "workspace.css"));
    }
}
