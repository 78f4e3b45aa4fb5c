//! Listening: connections are taken up to a limit, encrypted if there is a certificate, and finished when the server is told to stop.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

use crate::app::{self, Shared, State};
use crate::config::Config;
use crate::{demo, tls};

/// How long the head of a request, or the hello of TLS, may take.
const HEAD: Duration = Duration::from_secs(10);

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
        if !config.listen.ip().is_loopback() && crate::keys::Keys::read(&config.keys)?.keys.is_empty() {
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
        let shared = Arc::clone(&state);
        let is_demo = config.demo;
        let opened = tokio::task::spawn_blocking(move || open_all(&shared, is_demo));
        opened.await.map_err(io::Error::other)??;
        let housekeeping = tokio::spawn(app::housekeeping(Arc::clone(&state)));
        let graceful = GracefulShutdown::new();
        let places = Arc::new(Semaphore::new(config.limits.connections));
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = async {
                let place = Arc::clone(&places).acquire_owned().await;
                (listener.accept().await, place)
            };
            let (stream, place) = tokio::select! {
                (stream, place) = accepted => (stream, place),
                () = &mut stop => break,
            };
            let stream = match stream {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Out of file handles, or a client that is gone already: others may still be served.
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let _ = stream.set_nodelay(true);
            let watcher = graceful.watcher();
            let (router, acceptor) = (router.clone(), acceptor.clone());
            tokio::spawn(async move {
                let _place = place;
                match acceptor {
                    None => connection(stream, router, watcher).await,
                    Some(acceptor) => match tokio::time::timeout(HEAD, acceptor.accept(stream)).await {
                        Ok(Ok(stream)) => connection(stream, router, watcher).await,
                        Ok(Err(error)) => tracing::debug!(%error, "no TLS"),
                        Err(_) => tracing::debug!("no TLS in time"),
                    },
                }
            });
        }
        drop(listener);
        state.stopping.store(true, Ordering::Relaxed);
        tracing::info!("stopping: finishing the requests in flight");
        if tokio::time::timeout(config.grace, graceful.shutdown()).await.is_err() {
            tracing::warn!("requests were still in flight after {:?}; they are cut off", config.grace);
        }
        housekeeping.abort();
        tracing::info!("stopped");
        Ok(())
    }
}

async fn connection<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
    stream: S,
    router: Router,
    watcher: hyper_util::server::graceful::Watcher,
) {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(64 << 10);
    let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection ended");
    }
}

/// Opens every collection, so that the first request does not wait for it; makes the sample if it is wanted.
fn open_all(state: &State, is_demo: bool) -> Result<(), StartError> {
    if is_demo {
        demo::fill(&state.shelf).map_err(|error| io::Error::other(error.detail().message.clone()))?;
    }
    let names = state.shelf.names().map_err(|error| io::Error::other(error.detail().message.clone()))?;
    for name in &names {
        match state.shelf.get(name) {
            Ok(_) => tracing::info!(collection = %name, "open"),
            Err(error) => {
                tracing::error!(collection = %name, error = %error.detail().message, "cannot be opened")
            }
        }
    }
    Ok(())
}

/// Done when the process is told to stop, by Ctrl-C or by the system. Signals count from the call on, not only from when somebody waits.
///
/// # Panics
/// Outside of a runtime.
pub fn told_to_stop() -> impl Future<Output = ()> {
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
