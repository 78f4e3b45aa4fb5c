//! Exact similarity of candidate pairs, on the features of their texts.
//!
//! Texts are shingled again: that is faster than keeping the shingles. Pairs come sorted by their later document, some thousands at a time; each text of such a block
//! is shingled once. The elements of the later document go into a hash table, those of each earlier one are looked up in it.

mod set;

use benzer_core::field::text::{Scratch, Shingler};

use crate::error::Result;
use crate::group::in_parallel;
use crate::threshold::Threshold;
use set::ElementSet;

/// Pairs of a block, and bytes of their texts.
const BLOCK: usize = 2048;
const BLOCK_BYTES: u64 = 4 << 20;
/// Blocks of a wave, for each thread.
const WAVE: usize = 8;

/// The texts of documents by rank.
pub(crate) trait Texts: Sync {
    /// The length of a text.
    fn bytes(&self, rank: u32) -> u64;

    /// Hands a text to `visit`.
    fn with_text(&self, rank: u32, visit: &mut dyn FnMut(&str)) -> Result<()>;
}

/// Two documents with their exact similarity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    /// The one that is later in keep order.
    pub later: u32,
    /// The other.
    pub earlier: u32,
    /// Elements in both.
    pub intersection: u32,
    /// Elements in either.
    pub union: u32,
}

/// Which pairs to look at, and which to keep.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted {
    /// Those that reach a threshold.
    Reaching(Threshold),
    /// All of them.
    All,
}

/// Measures pairs that come sorted by (later, earlier), and hands those that are wanted to `sink`, in the same order.
pub(crate) fn verify(
    pairs: impl Iterator<Item = Result<(u32, u32)>>,
    (texts, shingler): (&dyn Texts, &Shingler),
    wanted: Wanted,
    threads: usize,
    mut sink: impl FnMut(usize, Vec<Edge>) -> Result<()>,
) -> Result<()> {
    let mut pairs = pairs.peekable();
    // A wave of blocks goes to the threads, and comes back before the next one is read: that bounds what is held.
    while pairs.peek().is_some() {
        let mut blocks = Vec::new();
        while blocks.len() < WAVE * threads && pairs.peek().is_some() {
            blocks.push(next_block(&mut pairs, texts)?);
        }
        let made = in_parallel(blocks.len(), threads, Block::default, |i, block| -> Result<Vec<Edge>> {
            block.load(&blocks[i], texts, shingler)?;
            Ok(block.edges(&blocks[i], wanted))
        });
        for (block, edges) in blocks.iter().zip(made) {
            sink(block.len(), edges?)?;
        }
    }
    Ok(())
}

/// Pairs of few enough, and short enough, texts.
fn next_block(
    pairs: &mut impl Iterator<Item = Result<(u32, u32)>>,
    texts: &dyn Texts,
) -> Result<Vec<(u32, u32)>> {
    let (mut block, mut bytes, mut last) = (Vec::new(), 0, None);
    for pair in pairs {
        let (later, earlier) = pair?;
        block.push((later, earlier));
        bytes += texts.bytes(earlier) + if last == Some(later) { 0 } else { texts.bytes(later) };
        last = Some(later);
        if block.len() == BLOCK || bytes > BLOCK_BYTES {
            break;
        }
    }
    Ok(block)
}

/// The features of the documents of some pairs.
#[derive(Default)]
struct Block {
    ranks: Vec<u32>,
    /// The distinct elements of each, one after the other.
    elements: Vec<u64>,
    ends: Vec<usize>,
    scratch: Scratch,
    set: ElementSet,
}

impl Block {
    fn load(&mut self, pairs: &[(u32, u32)], texts: &dyn Texts, shingler: &Shingler) -> Result<()> {
        self.ranks.clear();
        self.ranks.extend(pairs.iter().flat_map(|&(later, earlier)| [later, earlier]));
        self.ranks.sort_unstable();
        self.ranks.dedup();
        self.ends.clear();
        let mut start = 0;
        for &rank in &self.ranks {
            let (scratch, elements, set) = (&mut self.scratch, &mut self.elements, &mut self.set);
            texts.with_text(rank, &mut |text| {
                let end = shingler.write_elements(text, scratch, elements, start);
                start += set.distinct(&mut elements[start..end]);
            })?;
            self.ends.push(start);
        }
        Ok(())
    }

    fn features(&self, rank: u32) -> &[u64] {
        let i = self.ranks.binary_search(&rank).expect("every rank of the pairs was loaded");
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.elements[start..self.ends[i]]
    }

    fn edges(&mut self, pairs: &[(u32, u32)], wanted: Wanted) -> Vec<Edge> {
        let reaches = |intersection: usize, union: usize| match wanted {
            Wanted::Reaching(threshold) => threshold.is_reached(intersection as u64, union as u64),
            Wanted::All => true,
        };
        let mut set = std::mem::take(&mut self.set);
        let mut edges = Vec::new();
        for pairs in pairs.chunk_by(|a, b| a.0 == b.0) {
            let later = pairs[0].0;
            let b = self.features(later);
            set.fill(b);
            for &(_, earlier) in pairs {
                let a = self.features(earlier);
                // Sets of too different sizes cannot reach it, whatever they share.
                if !reaches(a.len().min(b.len()), a.len().max(b.len())) {
                    continue;
                }
                let intersection = a.iter().filter(|element| set.contains(**element)).count();
                let union = a.len() + b.len() - intersection;
                if reaches(intersection, union) {
                    edges.push(Edge { later, earlier, intersection: intersection as u32, union: union as u32 });
                }
            }
        }
        self.set = set;
        edges
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_core::field::text::TextOptions;

    struct Few(Vec<String>);

    impl Texts for Few {
        fn bytes(&self, rank: u32) -> u64 {
            self.0[rank as usize].len() as u64
        }

        fn with_text(&self, rank: u32, visit: &mut dyn FnMut(&str)) -> Result<()> {
            visit(&self.0[rank as usize]);
            Ok(())
        }
    }

    #[test]
    fn edges_are_those_of_sorted_sets_whatever_the_number_of_threads() {
        let word = |i: u64| format!("w{}", benzer_core::hash::mix(i) % 7);
        let texts = Few((0..60).map(|t| (t / 3..t / 3 + 30 + t % 5).map(word).collect::<Vec<_>>().join(" ")).collect());
        let shingler = Shingler::new(&TextOptions { n: 2, ..TextOptions::default() }).unwrap();
        let threshold: Threshold = "0.7".parse().unwrap();
        let pairs: Vec<(u32, u32)> = (0..60).flat_map(|b| (0..b).map(move |a| (b, a))).collect();
        let expected: Vec<Edge> = pairs
            .iter()
            .filter_map(|&(later, earlier)| {
                let (a, b) = (shingler.features(&texts.0[earlier as usize]), shingler.features(&texts.0[later as usize]));
                let both = a.elements().iter().filter(|x| b.elements().contains(x)).count();
                let union = (a.len() + b.len() - both) as u32;
                let edge = Edge { later, earlier, intersection: both as u32, union };
                threshold.is_reached(both as u64, union.into()).then_some(edge)
            })
            .collect();
        assert!(expected.len() > 50 && expected.len() < pairs.len());
        for threads in 1..4 {
            let all = |wanted| {
                let (mut found, mut n) = (Vec::new(), 0);
                let sink = |n_pairs, edges: Vec<Edge>| {
                    n += n_pairs;
                    found.extend(edges);
                    Ok(())
                };
                verify(pairs.iter().copied().map(Ok), (&texts, &shingler), wanted, threads, sink).unwrap();
                assert_eq!(n, pairs.len());
                found
            };
            assert_eq!(all(Wanted::Reaching(threshold)), expected);
            assert_eq!(all(Wanted::All).len(), pairs.len());
        }
    }
}
