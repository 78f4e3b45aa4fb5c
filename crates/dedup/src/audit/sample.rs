//! Who is compared with whom.
//!
//! Comparing everyone with everyone is the exact join; half of the documents with the other half already costs as much. But pairs grow with the product: a thousandth of all pairs
//! are between 3% of the documents and 3% of them. So documents are drawn twice, and the first draw is compared with the second.

use benzer_core::hash::split;

use crate::job::Audit;
use crate::job::decide::{Removal, Rule};

/// Pairs that are wanted, if every removed document had one partner.
const WANTED: f64 = 400.0;
/// A corpus of so many documents is compared as a whole.
const SMALL: f64 = 5_000.0;
/// Pairs at most, about: a large cluster has millions.
const MOST: f64 = 50_000.0;
/// Pairs at most, about, if the number of documents is given.
const MOST_HELD: f64 = 1e6;
/// Documents that can be drawn, and bytes of their texts: their elements are held in memory, or else everything is read several times.
const MOST_DRAWN: u64 = 1 << 15;
const MOST_DRAWN_BYTES: u64 = 64 << 20;
/// Documents that are read in any case, if there are so many. Above, at most half of them are.
const READ: u64 = 10_000;

/// How many documents to compare with how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub drawn: u64,
    pub compared: u64,
}

impl Sizes {
    /// What is asked for, or, for [`Audit::Auto`], what gives enough pairs at a small part of the cost of the run. It follows from the corpus and what was removed only.
    pub fn new(audit: Audit, documents: u64, text_bytes: u64, removals: &[Removal]) -> Option<Self> {
        match audit {
            Audit::Off => None,
            _ => {
                let mut keepers: Vec<u32> = removals
                    .iter()
                    .filter(|removal| removal.rule != Rule::ExactCopy)
                    .map(Removal::kept)
                    .collect();
                keepers.sort_unstable();
                let clusters = keepers.chunk_by(|a, b| a == b).map(|cluster| cluster.len() as f64);
                let pairs = clusters.map(|removed| removed * (removed + 1.0) / 2.0).sum();
                Some(match audit {
                    Audit::Sample(n) => Self::of(documents, u64::from(n), pairs),
                    _ => Self::automatic(documents, text_bytes, keepers.len() as f64, pairs),
                })
            }
        }
    }

    /// So many documents with all others, or with as many as have the most pairs that are held.
    fn of(documents: u64, drawn: u64, pairs: f64) -> Self {
        let (n, drawn) = (documents as f64, drawn.min(documents));
        let compared = (product(n, MOST_HELD, pairs) / drawn.max(1) as f64).ceil() as u64;
        Self { drawn, compared: compared.min(documents) }
    }

    /// `removed` documents, whose clusters have `pairs`.
    fn automatic(documents: u64, text_bytes: u64, removed: f64, pairs: f64) -> Self {
        let n = documents as f64;
        let product = product(n, WANTED, removed).max(SMALL * SMALL).min(product(n, MOST, pairs)).min(n * n);
        let mean_bytes = (text_bytes / documents.max(1)).max(1);
        let most_drawn = MOST_DRAWN.min(MOST_DRAWN_BYTES / mean_bytes).clamp(1, documents.max(1));
        let read = documents / 2 + READ.min(MOST_DRAWN_BYTES / mean_bytes);
        let drawn = (product.sqrt().ceil() as u64).clamp(1, most_drawn.min(read / 2).max(1));
        let compared = (product / drawn as f64).ceil() as u64;
        let compared = compared.clamp(1, read.saturating_sub(drawn).clamp(1, documents.max(1)));
        Self { drawn: drawn.min(documents), compared: compared.min(documents) }
    }
}

/// How many drawn times how many compared documents, of `n`, meet so many pairs, of `of` that there are: a share of drawn / n * compared / n in each direction.
fn product(n: f64, pairs: f64, of: f64) -> f64 {
    n * n * pairs / (2.0 * of.max(0.5))
}

/// Both draws.
#[derive(Debug)]
pub(super) struct Sample {
    /// In keep order.
    pub drawn: Vec<u32>,
    pub n_compared: u64,
    /// Everyone whose number is at most this is compared.
    limit: u64,
    stream: u64,
}

impl Sample {
    pub fn draw(members: &[u32], sizes: Sizes, seed: u64) -> Self {
        let seed = split(seed, STREAM);
        let [first, stream] = [0, 1].map(|i| split(seed, i));
        let drawn = smallest(members, sizes.drawn, |rank| split(first, rank.into()));
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
    pub fn is_compared(&self, rank: u32) -> bool {
        split(self.stream, rank.into()) <= self.limit
    }

    /// True if the first of two documents is in the first draw, and the other in the second.
    pub fn has(&self, drawn: u32, compared: u32) -> bool {
        self.is_compared(compared) && self.drawn.binary_search(&drawn).is_ok()
    }

    pub fn share_drawn(&self, documents: u64) -> f64 {
        self.drawn.len() as f64 / documents.max(1) as f64
    }

    pub fn share_compared(&self, documents: u64) -> f64 {
        self.n_compared as f64 / documents.max(1) as f64
    }
}

/// The `n` members whose numbers are smallest, in keep order. Two passes and few bytes, whatever the corpus: the first one finds the numbers that decide.
fn smallest(members: &[u32], n: u64, number: impl Fn(u32) -> u64) -> Vec<u32> {
    let bin = |rank: u32| (number(rank) >> 48) as usize;
    let mut counts = vec![0u64; 1 << 16];
    members.iter().for_each(|&rank| counts[bin(rank)] += 1);
    let (mut before, mut last) = (0, 0);
    while last < counts.len() && before + counts[last] <= n {
        before += counts[last];
        last += 1;
    }
    let mut deciding: Vec<(u64, u32)> =
        members.iter().filter(|&&rank| bin(rank) == last).map(|&rank| (number(rank), rank)).collect();
    deciding.sort_unstable();
    let mut drawn: Vec<u32> = members.iter().copied().filter(|&rank| bin(rank) < last).collect();
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
    fn a_small_corpus_is_compared_as_a_whole_and_a_large_one_in_part() {
        let auto = |documents: u64, removed: f64, pairs: f64| {
            Sizes::automatic(documents, documents * 800, removed, pairs)
        };
        assert_eq!(auto(0, 0.0, 0.0), Sizes { drawn: 0, compared: 0 });
        assert_eq!(auto(5_000, 100.0, 100.0), Sizes { drawn: 5_000, compared: 5_000 });
        assert_eq!(auto(5_000, 3_000.0, 9_000.0), Sizes { drawn: 5_000, compared: 5_000 });
        // Hardly any duplicates: half of the corpus is read.
        let rare = auto(100_000, 10.0, 10.0);
        assert_eq!(rare.drawn + rare.compared, 60_000);
        let usual = auto(1_000_000, 200_000.0, 300_000.0);
        assert!(usual.drawn + usual.compared < 100_000, "{usual:?}");
        let pairs =
            |sizes: Sizes, n: f64, of: f64| 2.0 * of * sizes.drawn as f64 * sizes.compared as f64 / n / n;
        assert!((pairs(usual, 1e6, 200_000.0) - WANTED).abs() < 2.0, "{usual:?}");
        // One cluster of everything.
        let large = auto(1_000_000, 999_999.0, 5e11);
        assert!((pairs(large, 1e6, 5e11) / MOST - 1.0).abs() < 0.01, "{large:?}");
        // Books.
        assert!(Sizes::automatic(1_000_000, 1 << 40, 1e5, 1e5).drawn <= 64);
        assert_eq!(Sizes::new(Audit::Off, 10, 10, &[]), None);
        assert_eq!(Sizes::of(1_000_000, 1000, 1e5), Sizes { drawn: 1000, compared: 1_000_000 });
        assert_eq!(Sizes::of(1_000_000, 1000, 5e11), Sizes { drawn: 1000, compared: 1000 });
        assert_eq!(Sizes::new(Audit::Sample(7), 5, 10, &[]), Some(Sizes { drawn: 5, compared: 5 }));
    }

    #[test]
    fn draws_are_of_the_size_asked_for_and_independent() {
        let members: Vec<u32> = (0..100_000).map(|i| 3 * i).collect();
        let sample = Sample::draw(&members, Sizes { drawn: 20_000, compared: 30_000 }, 42);
        assert_eq!(sample.drawn.len(), 20_000);
        assert!(sample.drawn.is_sorted_by(|a, b| a < b) && sample.drawn.iter().all(|rank| rank % 3 == 0));
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
