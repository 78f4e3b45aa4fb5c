//! The one place where asynchronous work runs: two threads that wait for the network.

use std::io;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, sync_channel};

use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;

static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();

/// The runtime, which is made when it is first needed and lives as long as the process.
fn runtime() -> io::Result<&'static Runtime> {
    let made = RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2).thread_name("benzer-net").enable_all().build().map_err(|e| e.to_string())
    });
    made.as_ref().map_err(|error| io::Error::other(error.clone()))
}

/// Work under way. Dropped, it is given up.
#[derive(Debug)]
pub(super) struct Task<T> {
    made: Receiver<T>,
    abort: AbortHandle,
}

impl<T: Send + 'static> Task<T> {
    /// Begins it.
    pub(super) fn spawn(work: impl Future<Output = T> + Send + 'static) -> io::Result<Self> {
        let (sender, made) = sync_channel(1);
        let running = runtime()?.spawn(async move {
            // Nobody waits any more: fine.
            let _ = sender.send(work.await);
        });
        Ok(Self { made, abort: running.abort_handle() })
    }

    /// Waits for it.
    pub(super) fn wait(self) -> io::Result<T> {
        self.made.recv().map_err(|_| gone())
    }

    /// Waits for it for a moment; nothing if it is not done by then.
    pub(super) fn wait_a_moment(&self) -> io::Result<Option<T>> {
        use std::sync::mpsc::RecvTimeoutError;
        match self.made.recv_timeout(std::time::Duration::from_millis(100)) {
            Ok(made) => Ok(Some(made)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(gone()),
        }
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.abort.abort();
    }
}

/// Does it, and waits for it.
pub(super) fn wait<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> io::Result<T> {
    Task::spawn(work)?.wait()
}

fn gone() -> io::Error {
    io::Error::other("the client of the store stopped working")
}
