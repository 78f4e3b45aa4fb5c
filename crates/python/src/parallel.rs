//! Rows on all cores. Threads live as long as a call, so that nothing of them is left in a process that forks. The thread that called looks after signals between its
//! parts, so that Ctrl-C ends a long call.

use std::num::NonZero;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// Rows that a thread takes at a time.
pub(crate) const ROWS: usize = 256;
/// Steps of work that a thread takes at a time at most, of a fraction of a nanosecond each: a signal is seen soon, whatever the size of rows.
const STEPS: usize = 1 << 28;
/// How often signals are looked for.
const PULSE: Duration = Duration::from_millis(50);

/// Looks for signals now and then, on the thread that the interpreter called.
pub(crate) struct Pulse {
    last: Instant,
}

impl Pulse {
    pub(crate) fn new() -> Self {
        Self { last: Instant::now() }
    }

    /// Lets Python handle signals, if that was not done lately. Errors: what a handler raises: a KeyboardInterrupt after Ctrl-C.
    pub(crate) fn check(&mut self) -> PyResult<()> {
        if self.last.elapsed() < PULSE {
            return Ok(());
        }
        self.last = Instant::now();
        Python::attach(|py| py.check_signals())
    }
}

/// The threads that are wanted: all cores, if none are named.
pub(crate) fn threads(wanted: Option<usize>) -> usize {
    wanted.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZero::get)).max(1)
}

/// Rows that a thread takes at a time where many are better; fewer if there are not enough for all threads.
pub(crate) fn many_rows(n: usize, threads: usize) -> usize {
    (n / (4 * threads)).clamp(ROWS, 64 * ROWS)
}

/// So many rows at a time, or fewer where all `n` together take very many steps of work.
pub(crate) fn at_a_time(rows: usize, n: usize, steps: usize) -> usize {
    let each = (steps / n.max(1)).max(1);
    (STEPS / each).clamp(1, rows)
}

/// Rows of one width, and how they are shared by threads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Division {
    pub(crate) n: usize,
    pub(crate) width: usize,
    pub(crate) at_a_time: usize,
    pub(crate) threads: usize,
}

/// The parts that no thread has taken yet, and why there is nothing to take any more.
struct Queue<P> {
    parts: P,
    failed: Option<PyErr>,
}

impl Division {
    /// Fills `out`, which has the values of all rows: `work` makes the rows of a range. It is called without the interpreter's lock.
    /// Errors: the first error of `work`, or what a handler of a signal raised; the rest is not worked on then.
    pub(crate) fn fill<T: Send>(
        self,
        out: &mut [T],
        work: impl Fn(Range<usize>, &mut [T]) -> PyResult<()> + Sync,
    ) -> PyResult<()> {
        let Self { n, width, at_a_time, threads } = self;
        let parts = out.chunks_mut((at_a_time * width).max(1)).enumerate();
        let queue = Mutex::new(Queue { parts, failed: None });
        let run = |mut pulse: Option<Pulse>| {
            loop {
                let part = {
                    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
                    if queue.failed.is_some() { None } else { queue.parts.next() }
                };
                let Some((i, part)) = part else { return };
                let done = work(i * at_a_time..(i * at_a_time + at_a_time).min(n), part);
                let seen = pulse.as_mut().map_or(Ok(()), Pulse::check);
                if let Err(error) = done.and(seen) {
                    queue.lock().unwrap_or_else(PoisonError::into_inner).failed = Some(error);
                }
            }
        };
        let helpers = threads.min(n.div_ceil(at_a_time)).saturating_sub(1);
        thread::scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(|| run(None));
            }
            run(Some(Pulse::new()));
        });
        queue.into_inner().unwrap_or_else(PoisonError::into_inner).failed.map_or(Ok(()), Err)
    }
}
