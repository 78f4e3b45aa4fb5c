//! Certificates.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::config::Tls;

/// What encrypts connections with a certificate. Errors: files that cannot be read, or do not belong together.
pub fn acceptor(tls: &Tls) -> io::Result<TlsAcceptor> {
    let chain = CertificateDer::pem_file_iter(&tls.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unreadable(&tls.certificate, "--tls-cert", &error))?;
    let key =
        PrivateKeyDer::from_pem_file(&tls.key).map_err(|error| unreadable(&tls.key, "--tls-key", &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key));
    let mut config = config.map_err(|error| {
        let (certificate, key) = (tls.certificate.display(), tls.key.display());
        let message = format!("`{certificate}` and `{key}` are no certificate with its key: {error}");
        io::Error::new(io::ErrorKind::InvalidInput, message)
    })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn unreadable(path: &Path, flag: &str, error: &dyn std::fmt::Display) -> io::Error {
    let message = format!("{flag} `{}`: {error}; it must be a PEM file", path.display());
    io::Error::new(io::ErrorKind::InvalidInput, message)
}
