//! Rows on all cores. Threads live as long as a call, so that nothing of them is left in a process that forks.

use std::num::NonZero;
use std::ops::Range;
use std::sync::Mutex;
use std::thread;

/// Rows that a thread takes at a time.
pub(crate) const ROWS: usize = 256;

/// The threads that are wanted: all cores, if none are named.
pub(crate) fn threads(wanted: Option<usize>) -> usize {
    wanted.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZero::get)).max(1)
}

/// Rows that a thread takes at a time where many are better; fewer if there are not enough for all threads.
pub(crate) fn many_rows(n: usize, threads: usize) -> usize {
    (n / (4 * threads)).clamp(ROWS, 64 * ROWS)
}

/// Fills `out`, which has `width` values for each of `n` rows: `work` makes the rows of a range.
///
/// # Errors
/// The first error of `work`; the rest is not worked on then.
pub(crate) fn fill<T: Send, E: Send>(
    n: usize,
    width: usize,
    out: &mut [T],
    threads: usize,
    work: impl Fn(Range<usize>, &mut [T]) -> Result<(), E> + Sync,
) -> Result<(), E> {
    fill_by(ROWS, (n, width), out, threads, work)
}

/// [`fill`] with so many rows at a time.
///
/// # Errors
/// As [`fill`].
pub(crate) fn fill_by<T: Send, E: Send>(
    rows: usize,
    (n, width): (usize, usize),
    out: &mut [T],
    threads: usize,
    work: impl Fn(Range<usize>, &mut [T]) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let parts = out.chunks_mut((rows * width).max(1)).enumerate();
    let queue = Mutex::new((parts, None));
    let run = || {
        loop {
            let part = {
                let mut queue = queue.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                if queue.1.is_some() { None } else { queue.0.next() }
            };
            let Some((i, part)) = part else { return };
            if let Err(error) = work(i * rows..(i * rows + rows).min(n), part) {
                queue.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).1 = Some(error);
            }
        }
    };
    let helpers = threads.min(n.div_ceil(rows)).saturating_sub(1);
    thread::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(run);
        }
        run();
    });
    let (_, failed) = queue.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    failed.map_or(Ok(()), Err)
}
