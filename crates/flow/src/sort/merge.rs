//! Merging sorted sources.

use benzer_storage::Result;

use super::{record::Record, run::RunReader, sorted::Sorted};

/// Records in order.
#[derive(Debug)]
pub(super) enum Source<T> {
    Memory(std::vec::IntoIter<T>),
    Run(RunReader<T>),
    /// Had begun to give records when it was merged with others.
    Sorted(Box<Sorted<T>>),
}

impl<T: Record> Source<T> {
    #[inline]
    fn next(&mut self) -> Result<Option<T>> {
        match self {
            Self::Memory(records) => Ok(records.next()),
            Self::Run(run) => run.next(),
            Self::Sorted(sorted) => sorted.advance(),
        }
    }
}

/// A tree of losers: each inner node keeps the source that lost there, so the next record costs one comparison on each level.
#[derive(Debug)]
pub(super) struct Merge<T> {
    sources: Vec<Source<T>>,
    /// The first record of each source that was not given out; nothing at its end.
    heads: Vec<Option<T>>,
    /// Node `i` has the children `2i` and `2i + 1`; source `s` is the leaf `s + number of sources`. Node 0 is the winner.
    losers: Vec<usize>,
}

impl<T: Record> Merge<T> {
    pub fn new(mut sources: Vec<Source<T>>) -> Result<Self> {
        let heads = sources.iter_mut().map(Source::next).collect::<Result<Vec<_>>>()?;
        let n = sources.len();
        let mut merge = Self { sources, heads, losers: vec![0; n] };
        let mut winners = vec![0; n];
        winners.extend(0..n);
        for node in (1..n).rev() {
            let (left, right) = (winners[2 * node], winners[2 * node + 1]);
            let right_wins = merge.precedes(right, left);
            (winners[node], merge.losers[node]) = if right_wins { (right, left) } else { (left, right) };
        }
        if n > 0 {
            merge.losers[0] = winners[1];
        }
        Ok(merge)
    }

    /// The smallest record, nothing at the end.
    #[inline]
    pub fn next(&mut self) -> Result<Option<T>> {
        let Some(&winner) = self.losers.first() else { return Ok(None) };
        let Some(record) = self.heads[winner] else { return Ok(None) };
        self.heads[winner] = self.sources[winner].next()?;
        if self.heads[winner].is_none() {
            // Its memory and its file are not needed any more.
            self.sources[winner] = Source::Memory(Vec::new().into_iter());
        }
        let mut best = winner;
        let mut node = (winner + self.sources.len()) / 2;
        while node > 0 {
            if self.precedes(self.losers[node], best) {
                std::mem::swap(&mut best, &mut self.losers[node]);
            }
            node /= 2;
        }
        self.losers[0] = best;
        Ok(Some(record))
    }

    /// Whether source `a` comes before source `b`; of equal records the one of the earlier source.
    #[inline]
    fn precedes(&self, a: usize, b: usize) -> bool {
        match (&self.heads[a], &self.heads[b]) {
            (Some(of_a), Some(of_b)) => (of_a, a) < (of_b, b),
            (of_a, _) => of_a.is_some(),
        }
    }
}
