//! Work on many threads: so many tasks, two things at once, a state for each thread.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::{Progress, Result};

/// How many threads a piece of work may use, and who is told how far it is.
#[derive(Clone, Copy)]
pub struct Workers<'a> {
    /// The threads, at least one.
    pub threads: usize,
    /// Adds up what they have done.
    pub progress: &'a Progress<'a>,
}

/// What both give, at the same time if there are threads for it.
pub fn both<A, B: Send>(threads: usize, a: impl FnOnce() -> A, b: impl FnOnce() -> B + Send) -> (A, B) {
    if threads <= 1 {
        return (a(), b());
    }
    thread::scope(|scope| {
        let other = scope.spawn(b);
        (a(), other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// `work(0..n)` on some threads, in the order of the numbers. What each of them needs is made before they begin, where most memory is.
pub fn in_parallel<T: Send, S: Send>(
    n: usize,
    threads: usize,
    scratch: impl Fn() -> S,
    work: impl Fn(usize, &mut S) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let run = |mut scratch: S| {
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= n {
                return done;
            }
            done.push((i, work(i, &mut scratch)));
        }
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(n))
            .map(|_| {
                let (run, scratch) = (&run, scratch());
                scope.spawn(move || run(scratch))
            })
            .collect();
        let mut done = run(scratch());
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, made)| made).collect()
}

/// Does work on as many threads as there are states, each with its own.
pub fn on_threads<S: Send>(states: &mut [S], work: impl Fn(&mut S) -> Result<()> + Sync) -> Result<()> {
    let Some((own, others)) = states.split_first_mut() else { return Ok(()) };
    thread::scope(|scope| {
        let work = &work;
        let others: Vec<_> = others.iter_mut().map(|state| scope.spawn(move || work(state))).collect();
        let own = work(own);
        let mut done = others
            .into_iter()
            .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        done.try_for_each(|done| done).and(own)
    })
}

/// The next range of `n` things that threads share, of about `length`.
pub fn next_range(next: &AtomicUsize, n: usize, length: usize) -> Option<Range<usize>> {
    let start = next.fetch_add(1, Ordering::Relaxed).saturating_mul(length);
    (start < n).then(|| start..n.min(start + length))
}
