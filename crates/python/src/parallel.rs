//! Rows on all cores. Threads live as long as a call, so that nothing of them is left in a process that forks. The thread that called looks after signals between its
//! parts, so that Ctrl-C ends a long call.

use std::num::NonZero;
use std::ops::Range;
use std::sync::Mutex;
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
#[derive(Debug)]
pub(crate) struct Pulse {
    last: Instant,
}

impl Pulse {
    /// From now on.
    pub(crate) fn new() -> Self {
        Self { last: Instant::now() }
    }

    /// Lets Python handle signals, if that was not done lately.
    ///
    /// # Errors
    /// What a handler raises: a KeyboardInterrupt after Ctrl-C.
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

/// Fills `out`, which has `width` values for each of `n` rows: `work` makes the rows of a range, so many `rows` at a time. It is called without the interpreter's lock.
///
/// # Errors
/// The first error of `work`, or what a handler of a signal raised; the rest is not worked on then.
pub(crate) fn fill<T: Send>(
    rows: usize,
    (n, width): (usize, usize),
    out: &mut [T],
    threads: usize,
    work: impl Fn(Range<usize>, &mut [T]) -> PyResult<()> + Sync,
) -> PyResult<()> {
    let parts = out.chunks_mut((rows * width).max(1)).enumerate();
    let queue = Mutex::new((parts, None));
    let run = |mut pulse: Option<Pulse>| {
        loop {
            let part = {
                let mut queue = queue.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                if queue.1.is_some() { None } else { queue.0.next() }
            };
            let Some((i, part)) = part else { return };
            let done = work(i * rows..(i * rows + rows).min(n), part);
            let seen = pulse.as_mut().map_or(Ok(()), Pulse::check);
            if let Err(error) = done.and(seen) {
                queue.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).1 = Some(error);
            }
        }
    };
    let helpers = threads.min(n.div_ceil(rows)).saturating_sub(1);
    thread::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|| run(None));
        }
        run(Some(Pulse::new()));
    });
    let (_, failed) = queue.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    failed.map_or(Ok(()), Err)
}
