//! Two draws: who is compared with whom in a small corpus, or if the number of documents is given.

use benzer_core::hash::split;
use benzer_join::Rank;

/// A corpus of so many documents is compared as a whole.
const SMALL: u64 = 1_000;
/// Pairs at most, about: a large cluster has millions.
const MAX_HELD: f64 = 1e6;

/// How many documents to compare with how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub drawn: u64,
    pub compared: u64,
}

impl Sizes {
    /// All documents with each other, if there are few.
    pub fn all(documents: u64) -> Option<Self> {
        (documents <= SMALL).then_some(Self { drawn: documents, compared: documents })
    }

    /// So many documents with all others, or with as many as have the most pairs that are held; there are about so many pairs.
    pub fn of(documents: u64, drawn: u64, pairs: f64) -> Self {
        let (n, drawn) = (documents as f64, drawn.min(documents));
        // A pair is met with a probability of drawn / n * compared / n in each direction.
        let compared = (n * n * MAX_HELD / (2.0 * pairs.max(0.5)) / drawn.max(1) as f64).ceil() as u64;
        Self { drawn, compared: compared.min(documents) }
    }
}

#[derive(Debug)]
pub(super) struct Sample {
    /// In keep order.
    pub drawn: Vec<Rank>,
    pub n_compared: u64,
    /// Everyone whose number is at most this is compared.
    limit: u64,
    stream: u64,
}

impl Sample {
    pub fn draw(members: &[Rank], sizes: Sizes, seed: u64) -> Self {
        let seed = split(seed, STREAM);
        let [first, stream] = [0, 1].map(|i| split(seed, i));
        let drawn = smallest(members, sizes.drawn, |rank| split(first, rank.0.into()));
        let limit = match sizes.compared < members.len() as u64 {
            true => (sizes.compared as f64 / members.len() as f64 * u64::MAX as f64) as u64,
            false => u64::MAX,
        };
        let mut sample = Self { drawn, n_compared: 0, limit, stream };
        sample.n_compared = members.iter().filter(|rank| sample.is_compared(**rank)).count() as u64;
        sample
    }

    /// True if a document is in the second draw.
    #[inline]
    pub fn is_compared(&self, rank: Rank) -> bool {
        split(self.stream, rank.0.into()) <= self.limit
    }

    /// True if the first of two documents is in the first draw, and the other in the second.
    pub fn has(&self, drawn: Rank, compared: Rank) -> bool {
        self.is_compared(compared) && self.drawn.binary_search(&drawn).is_ok()
    }
}

/// The `n` members whose numbers are smallest, in keep order. Two passes and few bytes, whatever the corpus: the first one finds the numbers that decide.
fn smallest(members: &[Rank], n: u64, number: impl Fn(Rank) -> u64) -> Vec<Rank> {
    let bin = |rank: Rank| (number(rank) >> 48) as usize;
    let mut counts = vec![0u64; 1 << 16];
    members.iter().for_each(|&rank| counts[bin(rank)] += 1);
    let (mut before, mut last) = (0, 0);
    while last < counts.len() && before + counts[last] <= n {
        before += counts[last];
        last += 1;
    }
    let mut deciding: Vec<(u64, Rank)> =
        members.iter().filter(|&&rank| bin(rank) == last).map(|&rank| (number(rank), rank)).collect();
    deciding.sort_unstable();
    let mut drawn: Vec<Rank> = members.iter().copied().filter(|&rank| bin(rank) < last).collect();
    drawn.extend(deciding.iter().take((n - before) as usize).map(|(_, rank)| *rank));
    drawn.sort_unstable();
    drawn
}

/// The stream of the seed that audits take.
const STREAM: u64 = 0x0061_7564_6974;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_corpus_is_compared_as_a_whole_and_many_pairs_bound_the_others() {
        assert_eq!(Sizes::all(1_000), Some(Sizes { drawn: 1_000, compared: 1_000 }));
        assert_eq!(Sizes::all(1_001), None);
        assert_eq!(Sizes::of(1_000_000, 1000, 1e5), Sizes { drawn: 1000, compared: 1_000_000 });
        assert_eq!(Sizes::of(1_000_000, 1000, 5e11), Sizes { drawn: 1000, compared: 1000 });
        assert_eq!(Sizes::of(5, 7, 10.0), Sizes { drawn: 5, compared: 5 });
    }

    #[test]
    fn draws_are_of_the_size_asked_for_and_independent() {
        let members: Vec<Rank> = (0..100_000).map(|i| Rank(3 * i)).collect();
        let sample = Sample::draw(&members, Sizes { drawn: 20_000, compared: 30_000 }, 42);
        assert_eq!(sample.drawn.len(), 20_000);
        assert!(sample.drawn.is_sorted_by(|a, b| a < b) && sample.drawn.iter().all(|rank| rank.0 % 3 == 0));
        assert!((29_000..31_000).contains(&sample.n_compared), "{}", sample.n_compared);
        let both = sample.drawn.iter().filter(|rank| sample.is_compared(**rank)).count();
        assert!((5_700..6_300).contains(&both), "{both}");
        let few = Sample::draw(&members, Sizes { drawn: 3, compared: 30_000 }, 42);
        assert!(few.drawn.len() == 3 && few.drawn.iter().all(|rank| sample.drawn.contains(rank)));
        assert_eq!(Sample::draw(&members, Sizes { drawn: 100_000, compared: 1 }, 42).drawn, members);
        let other = Sample::draw(&members, Sizes { drawn: 20_000, compared: 100_000 }, 43);
        assert_eq!(other.n_compared, 100_000);
        let common = other.drawn.iter().filter(|rank| sample.drawn.contains(rank)).count();
        assert!((3_700..4_300).contains(&common), "{common}");
    }
}
