//! `benzer serve`: collections over REST, and a page to look at them.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use benzer_server::log::{self, LogFormat};
use benzer_server::serve::stop_signal;
use benzer_server::{Config, Limits, Server, StartError, Tls};
use clap::{Args, ValueEnum};

use crate::Usage;
use crate::options::amount;
use crate::options::db::{DbArguments, KeysArguments};
use crate::output::{Format, View};

pub const ABOUT: &str = "\
Serve collections over REST, with a page to search, compare and look at them.

The page is at the address that is printed, the API is described at /openapi.json and /reference. \
On this machine no key is needed as long as there is none; beyond it the server does not start without \
one (`benzer key create`). Ctrl-C finishes the requests in flight.";

const EXAMPLES: &str = "\
Examples:
  benzer serve --demo
  benzer serve --db ./benzer-data --listen 127.0.0.1:8080
  benzer serve --log-format json --log-level warn --rate-limit 100

";
const AFTER: &str = "\
Then, for example: curl localhost:7700/collections";

/// Where to listen, and what is too much.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}{AFTER}"))]
pub struct Arguments {
    #[command(flatten)]
    db: DbArguments,
    #[command(flatten)]
    keys: KeysArguments,
    /// The address to listen on; port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7700")]
    listen: SocketAddr,
    /// Serve a sample collection too, named `demo`; it is in memory, and leaves nothing behind
    #[arg(long)]
    demo: bool,
    /// Check keys, certificate and address, and end without serving
    #[arg(long)]
    check: bool,
    /// The certificate and those that signed it, as a PEM file; with --tls-key
    #[arg(long, value_name = "FILE", requires = "tls_key", help_heading = "Security")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate, as a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert", help_heading = "Security")]
    tls_key: Option<PathBuf>,
    /// Let pages of these origins use the API, such as `https://example.org`; `*` is any [default: none]
    #[arg(long, value_name = "ORIGINS", value_delimiter = ',', help_heading = "Security")]
    cors: Vec<String>,
    /// Requests per second of each key; 0 is no limit
    #[arg(long, value_name = "N", default_value = "0", help_heading = "Limits")]
    rate_limit: f64,
    /// The largest body, after decompression
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = amount::bytes, help_heading = "Limits")]
    max_body: u64,
    /// The memory for all bodies together
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = amount::bytes, help_heading = "Limits")]
    max_bodies: u64,
    /// The largest document
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = amount::bytes, help_heading = "Limits")]
    max_document: u64,
    /// Documents of a batch
    #[arg(long, value_name = "N", default_value = "10000", help_heading = "Limits")]
    max_batch: usize,
    /// Levels of brackets in JSON
    #[arg(long, value_name = "N", default_value = "32", help_heading = "Limits")]
    max_depth: usize,
    /// Requests at a time; more are answered with 503
    #[arg(long, value_name = "N", default_value = "256", help_heading = "Limits")]
    max_requests: usize,
    /// Connections at a time; more wait
    #[arg(long, value_name = "N", default_value = "1024", help_heading = "Limits")]
    max_connections: usize,
    /// Seconds that a request may take
    #[arg(long, value_name = "SECONDS", default_value = "30", help_heading = "Limits")]
    timeout: u64,
    /// Seconds that requests in flight may take after Ctrl-C
    #[arg(long, value_name = "SECONDS", default_value = "30", help_heading = "Limits")]
    grace: u64,
    /// Threads that work on the collections [default: as many as the machine has]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    threads: Option<usize>,
    /// Log from this level on: error, warn, info, debug, off
    #[arg(long, value_name = "LEVEL", default_value = "info", help_heading = "Logs")]
    log_level: String,
    /// Logs as text or as JSON
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        default_value = "text",
        hide_possible_values = true,
        help_heading = "Logs"
    )]
    log_format: Logs,
}

/// How logs look.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Logs {
    Text,
    Json,
}

pub fn run(arguments: &Arguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let format = match arguments.log_format {
        Logs::Text => LogFormat::Text,
        Logs::Json => LogFormat::Json,
    };
    log::start(&arguments.log_level, format).map_err(|error| Usage::new(format!("--log-level: {error}")))?;
    let config = config(arguments)?;
    let (tls, threads) = (config.tls.is_some(), config.limits.threads);
    let server = Server::new(config).map_err(refused)?;
    let needs_key = server.state().authenticator.needs_key();
    if arguments.check {
        return Ok(writeln!(out, "ready to serve `{}` on {}", arguments.db.shown(), arguments.listen)?);
    }
    // Connections are little work; what takes time runs on the pools.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads.div_ceil(2))
        // Answers come from the pools: under overload they must not wait behind new requests.
        .global_queue_interval(5)
        .enable_all()
        .build()
        .context("cannot start threads")?;
    runtime.block_on(async {
        // Whoever reads the address may tell it to stop at once.
        let stop = stop_signal();
        let listener = server.listen().await.map_err(refused)?;
        let address = listener.local_addr()?;
        let url = format!("{}://{address}", if tls { "https" } else { "http" });
        match view.format {
            Format::Json => writeln!(out, "{}", serde_json::json!({"url": url, "needs_key": needs_key}))?,
            Format::Table => {
                let key = if needs_key { "; requests need a key" } else { "" };
                let demo = if arguments.demo { " and a sample that is gone when it ends" } else { "" };
                writeln!(out, "{url} serves `{}`{demo}{key}; Ctrl-C stops it", arguments.db.shown())?;
            }
        }
        out.flush()?;
        server.run(listener, stop).await.map_err(refused)
    })
}

fn refused(error: StartError) -> anyhow::Error {
    match error {
        StartError::NoKey { .. } | StartError::Origin(_) => Usage::new(error).into(),
        StartError::Index(error) => crate::options::db::failed(error),
        other => other.into(),
    }
}

fn config(arguments: &Arguments) -> anyhow::Result<Config> {
    if !(arguments.rate_limit.is_finite() && arguments.rate_limit >= 0.0) {
        bail!(Usage::new("--rate-limit must be 0 or more"));
    }
    let at_least_one = [
        ("--max-batch", arguments.max_batch),
        ("--max-depth", arguments.max_depth),
        ("--max-requests", arguments.max_requests),
        ("--max-connections", arguments.max_connections),
        ("--threads", arguments.threads.unwrap_or(1)),
        ("--timeout", arguments.timeout as usize),
    ];
    if let Some((flag, _)) = at_least_one.iter().find(|(_, value)| *value == 0) {
        bail!(Usage::new(format!("{flag} must be at least 1")));
    }
    if arguments.max_bodies < arguments.max_body {
        bail!(Usage::new("--max-bodies must be at least --max-body, or no body of that size could be read"));
    }
    let tls = arguments.tls_cert.clone().zip(arguments.tls_key.clone());
    Ok(Config {
        db: arguments.db.url(None)?,
        listen: arguments.listen,
        keys: arguments.keys.path(&arguments.db),
        tls: tls.map(|(certificate, key)| Tls { certificate, key }),
        cors: arguments.cors.clone(),
        demo: arguments.demo,
        limits: Limits {
            body: arguments.max_body as usize,
            bodies: arguments.max_bodies as usize,
            document: arguments.max_document as usize,
            batch: arguments.max_batch,
            depth: arguments.max_depth,
            time: Duration::from_secs(arguments.timeout),
            requests: arguments.max_requests,
            connections: arguments.max_connections,
            rate: arguments.rate_limit,
            threads: arguments.threads.unwrap_or(Limits::default().threads),
        },
        grace: Duration::from_secs(arguments.grace),
    })
}
