//! A server with a certificate, over a real connection.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use benzer_server::{Config, Server, Tls};
use rustls::pki_types::ServerName;

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_encrypts_connections() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let config = Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        keys: folder.path().join("keys.json"),
        tls: Some(Tls { certificate, key }),
        ..Config::default()
    };
    let server = Server::new(config).unwrap();
    let listener = server.listen().await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(server.run(listener, async { drop(stopped.await) }));

    let mut roots = rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let client =
        rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
    let asked = move || {
        let name = ServerName::try_from("localhost").unwrap();
        let session = rustls::ClientConnection::new(Arc::new(client), name).unwrap();
        let encrypted = ask(rustls::StreamOwned::new(session, TcpStream::connect(address).unwrap()));
        // Who does not speak TLS gets no answer.
        (encrypted, ask(TcpStream::connect(address).unwrap()))
    };
    let (encrypted, plain) = tokio::task::spawn_blocking(asked).await.unwrap();
    assert!(encrypted.starts_with("HTTP/1.1 200"), "{encrypted}");
    assert!(!plain.starts_with("HTTP"), "{plain}");

    stop.send(()).unwrap();
    running.await.unwrap().unwrap();
}

fn ask(mut stream: impl Read + Write) -> String {
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    // The connection may end without a farewell.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}
