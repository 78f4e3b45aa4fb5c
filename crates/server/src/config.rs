//! What can be chosen about a server.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Everything that can be chosen about a server.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where the collections are: `memory:`, a folder, or another address that the index knows.
    pub db: String,
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The file with the API keys; it need not exist.
    pub keys: PathBuf,
    /// Certificate chain and private key, as PEM files.
    pub tls: Option<Tls>,
    /// Origins of other pages that may use the API from a browser; `*` is any.
    pub cors: Vec<String>,
    /// Start with a sample collection.
    pub demo: bool,
    /// What is too much.
    pub limits: Limits,
    /// How long requests in flight may take after the server was told to stop.
    pub grace: Duration,
}

/// Files of a certificate.
#[derive(Debug, Clone)]
pub struct Tls {
    /// The certificate, followed by those that signed it.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// What is too much. Beyond any of these a request is refused, and memory does not grow.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Bytes of a body, after decompression.
    pub body: usize,
    /// Bytes of all bodies together that are in memory at a time.
    pub bodies: usize,
    /// Bytes of one document as JSON.
    pub document: usize,
    /// Documents of a batch.
    pub batch: usize,
    /// Levels of brackets in JSON.
    pub depth: usize,
    /// How long a request may take.
    pub time: Duration,
    /// Requests at a time.
    pub requests: usize,
    /// Connections at a time.
    pub connections: usize,
    /// Requests per second of one key (of everybody together where no key is needed); 0 is no limit.
    pub rate: f64,
    /// Threads that work on the collections.
    pub threads: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 64 << 20,
            bodies: 256 << 20,
            document: 1 << 20,
            batch: 10_000,
            depth: 32,
            time: Duration::from_secs(30),
            requests: 256,
            connections: 1024,
            rate: 0.0,
            threads: std::thread::available_parallelism().map_or(2, usize::from).max(2),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            db: "memory:".to_owned(),
            listen: SocketAddr::from(([127, 0, 0, 1], 7700)),
            keys: PathBuf::from("benzer-keys.json"),
            tls: None,
            cors: Vec::new(),
            demo: false,
            limits: Limits::default(),
            grace: Duration::from_secs(30),
        }
    }
}
