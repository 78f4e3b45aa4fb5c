//! How far a stage is, told from any thread, and whether it shall go on.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::job::{Observer, Silent};

/// Adds up what threads have done.
pub(crate) struct Watch<'a> {
    observer: &'a dyn Observer,
    done: AtomicU64,
}

impl<'a> Watch<'a> {
    pub fn new(observer: &'a dyn Observer) -> Self {
        Self { observer, done: AtomicU64::new(0) }
    }

    /// Tells nobody, and is never stopped.
    pub fn silent() -> Watch<'static> {
        Watch::new(&Silent)
    }

    /// So much more is done.
    ///
    /// # Errors
    /// The run shall stop.
    pub fn add(&self, n: u64) -> Result<()> {
        let done = self.done.fetch_add(n, Ordering::Relaxed) + n;
        self.observer.reached(done);
        if self.observer.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// Steps between two looks.
const EVERY: u64 = 1 << 14;

/// Steps of one thread.
pub(crate) struct Steps<'a> {
    watch: &'a Watch<'a>,
    /// So many steps count so much.
    steps: u64,
    worth: u64,
    taken: u64,
    told: u64,
}

impl<'a> Steps<'a> {
    /// So many steps count so much.
    pub fn new(watch: &'a Watch<'a>, steps: u64, worth: u64) -> Self {
        Self { watch, steps: steps.max(1), worth, taken: 0, told: 0 }
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
        self.watch.add(done - std::mem::replace(&mut self.told, done))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Stage;
    use std::sync::atomic::AtomicBool;

    #[derive(Default)]
    struct Seen(AtomicU64, AtomicBool);

    impl Observer for Seen {
        fn begin(&self, _: Stage, _: Option<u64>) {}
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
        let watch = Watch::new(&seen);
        watch.add(7).unwrap();
        let mut steps = Steps::new(&watch, 4 * EVERY, 100);
        (0..3 * EVERY).for_each(|_| steps.step().unwrap());
        assert_eq!(seen.0.load(Ordering::Relaxed), 82);
        seen.1.store(true, Ordering::Relaxed);
        assert!(matches!(watch.add(1), Err(Error::Cancelled)));
        assert!((0..EVERY).any(|_| steps.step().is_err()));
    }
}
