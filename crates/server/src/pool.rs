//! Work that blocks, on a bounded number of threads.
//!
//! Index calls read mapped files, sync, or wait for another machine, so they do not run on the threads that serve connections. Reading and writing have a pool each: a long import does not
//! keep searches waiting. The number of calls that wait is bounded by the number of requests that the server lets in.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use tokio::sync::Semaphore;

use crate::error::{ApiError, Result};

/// What long work waits for a thread.
const MOMENT: Duration = Duration::from_millis(500);

/// So many calls at a time.
#[derive(Debug, Clone)]
pub struct Pool {
    slots: Arc<Semaphore>,
}

impl Pool {
    /// A pool of so many threads.
    pub fn new(threads: usize) -> Self {
        Self { slots: Arc::new(Semaphore::new(threads.max(1))) }
    }

    /// Waits for a thread and runs the work on it. If the caller gives up while it waits, the work is not started; if it has started, it is finished, and its thread counts as busy until then.
    ///
    /// # Errors
    /// What the work says; work that panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(|_| stopped())?;
        let span = tracing::Span::current();
        let work = move || {
            let _slot = slot;
            span.in_scope(work)
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| stopped())?
    }

    /// [`Pool::run`] for long work that streams its results. It waits for a moment only: long enough for a stream to be put away whose end was just read.
    ///
    /// # Errors
    /// All threads are busy.
    pub async fn start(&self, work: impl FnOnce() + Send + 'static) -> Result<()> {
        let busy = |_| ApiError::overloaded("as many long requests as there are threads for run already");
        let slot = Arc::clone(&self.slots).acquire_owned();
        let slot = tokio::time::timeout(MOMENT, slot).await.map_err(busy)?.map_err(|_| stopped())?;
        tokio::task::spawn_blocking(move || {
            let _slot = slot;
            work();
        });
        Ok(())
    }
}

fn stopped() -> ApiError {
    let message = "the request ended in a way that was not foreseen; the server's log says how";
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test]
    async fn no_more_calls_run_than_there_are_threads() {
        let (pool, running, most) =
            (Pool::new(2), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let call = || {
            let (running, most) = (Arc::clone(&running), Arc::clone(&most));
            pool.run(move || {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(5));
                running.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            })
        };
        let (a, b, c, d) = tokio::join!(call(), call(), call(), call());
        assert!([a, b, c, d].iter().all(Result::is_ok));
        assert_eq!(most.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn long_work_waits_for_a_moment_and_no_longer() {
        let pool = Pool::new(1);
        pool.start(|| std::thread::sleep(MOMENT / 5)).await.unwrap();
        pool.start(|| std::thread::sleep(4 * MOMENT)).await.unwrap();
        let refused = pool.start(|| ()).await.unwrap_err();
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    }

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        let answer = Pool::new(1).run::<()>(|| panic!("on purpose")).await;
        assert_eq!(answer.unwrap_err().status(), StatusCode::INTERNAL_SERVER_ERROR);
    }
}
