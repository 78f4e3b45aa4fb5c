//! Shares of the pairs that were met: what became of the pairs of each document, and with it the interval (`interval`).

use super::Pair;
use super::interval::{Share, Tally, share};
use benzer_join::Rank;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Design {
    /// Between two draws, which have these shares of all documents.
    Draws([f64; 2]),
    /// By drawn documents, each with others that have its minimum.
    Twins,
}

/// Pairs whose documents are numbered.
#[derive(Debug)]
pub(super) struct Shares<'a> {
    pairs: &'a [Pair],
    /// Of each pair the number of the document that was drawn, and that of the other.
    numbers: [Vec<u32>; 2],
    n: [usize; 2],
    design: Design,
}

impl<'a> Shares<'a> {
    pub fn new(pairs: &'a [Pair], design: Design) -> Self {
        let rank = |pair: &Pair, side: usize| match pair.later_is_drawn == (side == 0) {
            true => pair.edge.later,
            false => pair.edge.earlier,
        };
        let mut n = [0; 2];
        let numbers = [0, 1].map(|side| {
            let mut ranks: Vec<Rank> = pairs.iter().map(|pair| rank(pair, side)).collect();
            ranks.sort_unstable();
            ranks.dedup();
            n[side] = ranks.len();
            pairs.iter().map(|pair| ranks.partition_point(|other| *other < rank(pair, side)) as u32).collect()
        });
        Self { pairs, numbers, n, design }
    }

    /// The share of the pairs for which something is true.
    pub fn of(&self, is: impl Fn(&Pair) -> bool) -> Option<Share> {
        let tallies = [0, 1].map(|side| {
            let mut tallies = vec![Tally::default(); self.n[side]];
            for (pair, &number) in self.pairs.iter().zip(&self.numbers[side]) {
                let tally = &mut tallies[number as usize];
                tally.pairs += pair.weight;
                tally.found += if is(pair) { pair.weight } else { 0.0 };
            }
            tallies
        });
        let drawn = match self.design {
            Design::Draws(drawn) => drawn,
            // Which others have the minimum of a document is chance as well: so drawing all documents would leave some.
            Design::Twins => [0.0, 1.0],
        };
        share([&tallies[0], &tallies[1]], drawn)
    }
}
