//! Work that blocks, on a bounded number of threads.
//!
//! Index calls read mapped files, sync, or wait for another machine, so they do not run on the threads that serve connections. Reading and writing have a pool each: a long import does not
//! keep searches waiting. The number of calls that wait is bounded by the number of requests that the server lets in.
//!
//! A thread takes one call after the other from its queue by itself. If each waited for the runtime to hand it over, a storm of requests that are refused would let through one call for each time slice of
//! the system.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};

use crate::error::{ApiError, Result};

/// What long work waits for a thread.
const MOMENT: Duration = Duration::from_millis(500);

type Call = Box<dyn FnOnce() + Send>;

/// Threads for calls that end soon.
pub struct Pool {
    calls: Sender<Call>,
}

impl Pool {
    /// A pool of so many threads; at least one. Errors: a thread that cannot be started.
    pub fn new(name: &str, threads: usize) -> std::io::Result<Self> {
        let (calls, queue) = channel::<Call>();
        let queue = Arc::new(Mutex::new(queue));
        for i in 0..threads.max(1) {
            let queue = Arc::clone(&queue);
            thread::Builder::new().name(format!("{name}-{i}")).spawn(move || serve(&queue))?;
        }
        Ok(Self { calls })
    }

    /// Waits for a thread and runs the work on it. If the caller gives up while it waits, the work is not started; if it has started, it is finished. Errors: what the work says; work that panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let span = tracing::Span::current();
        let (sender, answer) = oneshot::channel();
        let call = move || {
            if !sender.is_closed() {
                let outcome = catch_unwind(AssertUnwindSafe(|| span.in_scope(work)));
                // Nobody may be waiting any more.
                let _ = sender.send(outcome.unwrap_or_else(|_| Err(ApiError::unforeseen())));
            }
        };
        self.calls.send(Box::new(call)).map_err(|_| ApiError::unforeseen())?;
        answer.await.map_err(|_| ApiError::unforeseen())?
    }
}

/// Calls one after the other, until nobody can send any.
fn serve(queue: &Mutex<Receiver<Call>>) {
    loop {
        let call = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match call {
            Ok(call) => call(),
            Err(_) => return,
        }
    }
}

/// Threads for long work that streams its results.
pub struct LongPool {
    slots: Arc<Semaphore>,
}

impl LongPool {
    pub fn new(threads: usize) -> Self {
        Self { slots: Arc::new(Semaphore::new(threads.max(1))) }
    }

    /// Starts the work on a thread. It waits for a moment only: long enough for a stream to be put away whose end was just read. Errors: all threads are busy.
    pub async fn start(&self, work: impl FnOnce() + Send + 'static) -> Result<()> {
        let busy = |_| ApiError::overloaded("as many long requests as there are threads for run already");
        let slot = Arc::clone(&self.slots).acquire_owned();
        let slot =
            tokio::time::timeout(MOMENT, slot).await.map_err(busy)?.map_err(|_| ApiError::unforeseen())?;
        tokio::task::spawn_blocking(move || {
            let _slot = slot;
            work();
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::StatusCode;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test]
    async fn no_more_calls_run_than_there_are_threads() {
        let (pool, running, max) =
            (Pool::new("test", 2).unwrap(), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let call = || {
            let (running, max) = (Arc::clone(&running), Arc::clone(&max));
            pool.run(move || {
                max.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(5));
                running.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            })
        };
        let (a, b, c, d) = tokio::join!(call(), call(), call(), call());
        assert!([a, b, c, d].iter().all(Result::is_ok));
        assert_eq!(max.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn long_work_waits_for_a_moment_and_no_longer() {
        let pool = LongPool::new(1);
        pool.start(|| std::thread::sleep(MOMENT / 5)).await.unwrap();
        pool.start(|| std::thread::sleep(4 * MOMENT)).await.unwrap();
        let refused = pool.start(|| ()).await.unwrap_err();
        assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    }

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        let answer = Pool::new("test", 1).unwrap().run::<()>(|| panic!("on purpose")).await;
        assert_eq!(answer.unwrap_err().status, StatusCode::INTERNAL_SERVER_ERROR);
    }

    #[tokio::test]
    async fn work_that_nobody_waits_for_is_not_started() {
        let pool = Pool::new("test", 1).unwrap();
        let (hold, held) = std::sync::mpsc::channel::<()>();
        let first = pool.run(move || {
            let _ = held.recv();
            Ok(())
        });
        let started = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&started);
        let given_up = pool.run(move || {
            count.fetch_add(1, Ordering::SeqCst);
            Ok(())
        });
        let short = Duration::from_millis(20);
        let give_up = async {
            assert!(tokio::time::timeout(short, given_up).await.is_err());
            drop(hold);
        };
        // The first one is asked for before the other.
        let (first, ()) = tokio::join!(biased; first, give_up);
        first.unwrap();
        // Calls are taken in order, so the one that was given up has been passed by.
        pool.run(|| Ok(())).await.unwrap();
        assert_eq!(started.load(Ordering::SeqCst), 0);
    }
}
