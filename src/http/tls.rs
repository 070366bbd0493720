//! TLS: rustls with the certificate that the operator gave. HTTP/1.1 only.

use crate::config::TlsFiles;
use crate::error::Error;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Reads the files; whatever is wrong with them is said at start.
pub fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, Error> {
    let chain = CertificateDer::pem_file_iter(&files.cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|cause| unusable("certificate", &files.cert, &cause))?;
    if chain.is_empty() {
        return Err(unusable("certificate", &files.cert, &"it holds no certificate"));
    }
    let key =
        PrivateKeyDer::from_pem_file(&files.key).map_err(|cause| unusable("key", &files.key, &cause))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|cause| Error::internal("setting up TLS", cause))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|cause| unusable("key", &files.key, &cause))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn unusable(what: &str, path: &Path, cause: &dyn std::fmt::Display) -> Error {
    Error::invalid(format!("the TLS {what} {} cannot be used: {cause}", path.display()))
}
