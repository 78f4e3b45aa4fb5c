//! How far a piece of work is, added up from any thread, and whether it shall go on.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// Is reported how far a piece of work is, from any thread.
pub trait Listener: Sync {
    /// So much of it is done by now.
    fn reached(&self, done: u64);
    /// True if the work shall stop as soon as it can.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Is reported, and does nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Listener for Silent {
    fn reached(&self, _: u64) {}
}

/// Adds up what threads have done.
pub struct Progress<'a> {
    listener: &'a dyn Listener,
    done: AtomicU64,
}

impl<'a> Progress<'a> {
    /// Nothing is done yet.
    pub fn new(listener: &'a dyn Listener) -> Self {
        Self { listener, done: AtomicU64::new(0) }
    }

    /// Tells nobody, and is never stopped.
    pub fn silent() -> Progress<'static> {
        Progress::new(&Silent)
    }

    /// So much more is done.
    ///
    /// # Errors
    /// The run shall stop.
    pub fn add(&self, n: u64) -> Result<()> {
        let done = self.done.fetch_add(n, Ordering::Relaxed) + n;
        self.listener.reached(done);
        if self.listener.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// Steps between two looks.
const EVERY: u64 = 1 << 14;

/// The steps of one thread.
pub struct ThreadProgress<'a> {
    progress: &'a Progress<'a>,
    /// So many steps count so much.
    steps: u64,
    worth: u64,
    taken: u64,
    reported: u64,
}

impl<'a> ThreadProgress<'a> {
    /// So many steps count so much.
    pub fn new(progress: &'a Progress<'a>, steps: u64, worth: u64) -> Self {
        Self { progress, steps: steps.max(1), worth, taken: 0, reported: 0 }
    }

    /// One more.
    ///
    /// # Errors
    /// The run shall stop.
    #[inline]
    pub fn step(&mut self) -> Result<()> {
        self.taken += 1;
        if !self.taken.is_multiple_of(EVERY) {
            return Ok(());
        }
        let done = (u128::from(self.taken) * u128::from(self.worth) / u128::from(self.steps)) as u64;
        self.progress.add(done - std::mem::replace(&mut self.reported, done))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[derive(Default)]
    struct Seen(AtomicU64, AtomicBool);

    impl Listener for Seen {
        fn reached(&self, done: u64) {
            self.0.store(done, Ordering::Relaxed);
        }
        fn is_cancelled(&self) -> bool {
            self.1.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn what_is_done_adds_up_until_the_run_is_stopped() {
        let seen = Seen::default();
        let progress = Progress::new(&seen);
        progress.add(7).unwrap();
        let mut steps = ThreadProgress::new(&progress, 4 * EVERY, 100);
        (0..3 * EVERY).for_each(|_| steps.step().unwrap());
        assert_eq!(seen.0.load(Ordering::Relaxed), 82);
        seen.1.store(true, Ordering::Relaxed);
        assert!(matches!(progress.add(1), Err(Error::Cancelled)));
        assert!((0..EVERY).any(|_| steps.step().is_err()));
    }
}
