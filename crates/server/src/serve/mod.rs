//! A server from its start to its end: everything is checked, the address is bound, connections are served until it is told to stop.

mod connections;
mod housekeeping;
mod tls;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::access::keys::Keys;
use crate::app;
use crate::collections::demo;
use crate::config::Config;
use crate::state::{Shared, State};
use connections::Connections;

pub use housekeeping::compact_if_wasteful;

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Everybody could use it.
    #[error(
        "refusing to listen on {listen} without a key: everybody who reaches this machine could read and change the collections; \
         make one with `benzer key create --keys {keys}`, or listen on 127.0.0.1"
    )]
    NoKey {
        /// Where it was to listen.
        listen: SocketAddr,
        /// The file of keys.
        keys: String,
    },
    /// An origin for other pages that is none.
    #[error("`{0}` is no origin; one looks like https://example.org")]
    Origin(String),
    /// The collections cannot be used.
    #[error(transparent)]
    Index(#[from] benzer_index::Error),
    /// Files or the network.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// A server that is ready to run.
pub struct Server {
    config: Config,
    state: Shared,
    router: Router,
    acceptor: Option<TlsAcceptor>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Server {
    /// Checks everything that can be checked before listening.
    ///
    /// # Errors
    /// No key where one is needed; a certificate, a file of keys or collections that cannot be used.
    pub fn new(config: Config) -> Result<Self, StartError> {
        let mut collections = benzer_index::store::open(&config.db)?;
        if config.demo {
            collections = demo::beside(collections)?;
        }
        let state = Arc::new(State::new(&config, collections)?);
        if !config.listen.ip().is_loopback() && Keys::read(&config.keys)?.keys.is_empty() {
            let keys = config.keys.display().to_string();
            return Err(StartError::NoKey { listen: config.listen, keys });
        }
        let acceptor = config.tls.as_ref().map(tls::acceptor).transpose()?;
        let router = app::app(Arc::clone(&state), &config.cors)
            .map_err(|_| StartError::Origin(config.cors.join(", ")))?;
        Ok(Self { config, state, router, acceptor })
    }

    /// The state, for those who want to look inside.
    pub fn state(&self) -> &Shared {
        &self.state
    }

    /// Binds the address, and tells which it is.
    ///
    /// # Errors
    /// An address that is in use or not this machine's.
    pub async fn listen(&self) -> Result<TcpListener, StartError> {
        let listen = self.config.listen;
        TcpListener::bind(listen).await.map_err(|error| {
            let message = format!("cannot listen on {listen}: {error}; choose another address with --listen");
            StartError::Io(io::Error::new(error.kind(), message))
        })
    }

    /// Serves until `stop` is done and the requests in flight are answered.
    ///
    /// # Errors
    /// A sample collection that cannot be made.
    pub async fn run(self, listener: TcpListener, stop: impl Future<Output = ()>) -> Result<(), StartError> {
        let Self { config, state, router, acceptor } = self;
        let (shared, is_demo) = (Arc::clone(&state), config.demo);
        let opened = tokio::task::spawn_blocking(move || open_all(&shared, is_demo));
        opened.await.map_err(io::Error::other)??;
        let housekeeping = tokio::spawn(housekeeping::run(Arc::clone(&state)));
        let connections = Connections::new(router, acceptor, config.limits.connections);
        connections.accept(&listener, stop).await;
        drop(listener);
        state.stopping.store(true, Ordering::Relaxed);
        tracing::info!("stopping: finishing the requests in flight");
        connections.finish(config.grace).await;
        housekeeping.abort();
        tracing::info!("stopped");
        Ok(())
    }
}

/// Opens every collection, so that the first request does not wait for it; makes the sample if it is wanted.
fn open_all(state: &State, is_demo: bool) -> Result<(), StartError> {
    if is_demo {
        demo::fill(&state.collections).map_err(|error| io::Error::other(error.detail.message.clone()))?;
    }
    let names = state.collections.names().map_err(|error| io::Error::other(error.detail.message.clone()))?;
    for name in &names {
        match state.collections.get(name) {
            Ok(_) => tracing::info!(collection = %name, "open"),
            Err(error) => {
                tracing::error!(collection = %name, error = %error.detail.message, "cannot be opened")
            }
        }
    }
    Ok(())
}

/// Done when the process is told to stop, by Ctrl-C or by the system. Signals count from the call on, not only from when somebody waits.
///
/// # Panics
/// Outside of a runtime.
pub fn stop_signal() -> impl Future<Output = ()> {
    #[cfg(unix)]
    let mut signals = {
        use tokio::signal::unix::{SignalKind, signal};
        [SignalKind::interrupt(), SignalKind::terminate()].map(|kind| signal(kind).ok())
    };
    async move {
        #[cfg(unix)]
        if let [Some(interrupt), Some(terminate)] = &mut signals {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
        drop(tokio::signal::ctrl_c().await);
    }
}
