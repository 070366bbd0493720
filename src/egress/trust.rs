//! Whom we trust when we speak TLS: the operator's file, else the system's bundle, else the roots that are
//! compiled in. A machine without internet has its own authority more often than not.

use crate::error::Error;
use std::path::Path;
use std::sync::OnceLock;

/// Where distributions keep their bundle.
const SYSTEM_BUNDLES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The certificates, read when the first message needs them.
pub struct Trust {
    own: Option<Vec<u8>>,
    found: OnceLock<Option<Vec<u8>>>,
}

impl Trust {
    /// `ca_file` is the operator's; if it is given it must be readable.
    pub fn new(ca_file: Option<&Path>) -> Result<Trust, Error> {
        let own = ca_file.map(read_own).transpose()?;
        Ok(Trust { own, found: OnceLock::new() })
    }

    /// Certificates as PEM; none means those that are compiled in.
    pub fn pem(&self) -> Option<&[u8]> {
        if let Some(own) = &self.own {
            return Some(own);
        }
        self.found.get_or_init(|| SYSTEM_BUNDLES.iter().find_map(|path| std::fs::read(path).ok())).as_deref()
    }
}

fn read_own(path: &Path) -> Result<Vec<u8>, Error> {
    let unusable = |cause: &dyn std::fmt::Display| {
        Error::invalid(format!("HOLDFAST_CA_FILE {}: {cause}", path.display()))
    };
    let pem = std::fs::read(path).map_err(|cause| unusable(&cause))?;
    let certificates =
        ureq::tls::parse_pem(&pem).filter(|item| matches!(item, Ok(ureq::tls::PemItem::Certificate(_))));
    if certificates.count() == 0 {
        return Err(unusable(&"it holds no certificate"));
    }
    Ok(pem)
}
