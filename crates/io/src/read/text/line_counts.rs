//! How many lines of a file come before each of its stretches, which are read in any order.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The lines of the stretches of one file, as they become known.
#[derive(Debug, Default)]
pub(in crate::read) struct LineCounts {
    known: Mutex<Known>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Known {
    /// The lines of all stretches up to each, as far as none is missing.
    sums: Vec<u64>,
    /// Those of stretches behind one that is missing.
    early: BTreeMap<usize, u64>,
}

impl LineCounts {
    fn count(&self, stretch: usize, n_lines: u64) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Known { sums, early } = &mut *known;
        early.insert(stretch, n_lines);
        while let Some(n_lines) = early.remove(&sums.len()) {
            sums.push(sums.last().copied().unwrap_or(0) + n_lines);
        }
        self.changed.notify_all();
    }

    /// The lines before a stretch. Waits for those who read them.
    fn before(&self, stretch: usize) -> u64 {
        let Some(last) = stretch.checked_sub(1) else { return 0 };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match known.sums.get(last) {
                Some(sum) => return *sum,
                None => known = self.changed.wait(known).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

/// The duty of whoever reads a stretch to say how many lines it has: others wait for it. Who gives up says none.
pub(super) struct Counting<'a> {
    pub counts: &'a Arc<LineCounts>,
    pub stretch: usize,
    pub n_lines: u64,
}

impl Drop for Counting<'_> {
    fn drop(&mut self) {
        self.counts.count(self.stretch, self.n_lines);
    }
}

/// Where the line numbers of a batch begin, once the stretches before it are read.
#[derive(Debug)]
pub(in crate::read) struct LinesBefore {
    pub(super) counts: Arc<LineCounts>,
    pub(super) stretch: usize,
}

impl LinesBefore {
    pub(in crate::read) fn get(&self) -> u64 {
        self.counts.before(self.stretch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_before_a_stretch_are_known_when_all_before_it_are() {
        let counts = Arc::new(LineCounts::default());
        let count = |stretch, n_lines| drop(Counting { counts: &counts, stretch, n_lines });
        count(2, 5);
        count(0, 3);
        assert_eq!((counts.before(0), counts.before(1)), (0, 3));
        let before = LinesBefore { counts: Arc::clone(&counts), stretch: 3 };
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| before.get());
            count(1, 0);
            assert_eq!(waiting.join().unwrap(), 8);
        });
    }
}
