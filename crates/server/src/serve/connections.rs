//! Connections: taken up to a limit, encrypted if there is a certificate, and finished when the server stops.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;

/// How long the head of a request, or the hello of TLS, may take.
const HEAD: Duration = Duration::from_secs(10);

pub(super) struct Connections {
    router: Router,
    acceptor: Option<TlsAcceptor>,
    permits: Arc<Semaphore>,
    graceful: GracefulShutdown,
}

impl Connections {
    pub(super) fn new(router: Router, acceptor: Option<TlsAcceptor>, max: usize) -> Self {
        let permits = Arc::new(Semaphore::new(max));
        Self { router, acceptor, permits, graceful: GracefulShutdown::new() }
    }

    /// Takes connections, and serves each in a task of its own, until `stop` is done.
    pub(super) async fn accept(&self, listener: &TcpListener, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = async {
                let permit = Arc::clone(&self.permits).acquire_owned().await;
                (listener.accept().await, permit.ok())
            };
            let (stream, permit) = tokio::select! {
                accepted = accepted => accepted,
                () = &mut stop => return,
            };
            match stream {
                Ok((stream, _)) => self.serve(stream, permit),
                Err(error) => {
                    // Out of file handles, or a client that is gone already: others may still be served.
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    fn serve(&self, stream: TcpStream, permit: Option<OwnedSemaphorePermit>) {
        let _ = stream.set_nodelay(true);
        let watcher = self.graceful.watcher();
        let (router, acceptor) = (self.router.clone(), self.acceptor.clone());
        tokio::spawn(async move {
            let _permit = permit;
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

    /// Waits for the requests in flight, so long at most.
    pub(super) async fn finish(self, grace: Duration) {
        if tokio::time::timeout(grace, self.graceful.shutdown()).await.is_err() {
            tracing::warn!("requests were still in flight after {grace:?}; they are cut off");
        }
    }
}

async fn connection<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
    stream: S,
    router: Router,
    watcher: Watcher,
) {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(64 << 10);
    let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection ended");
    }
}
