//! The sets by size, each with what tells most of the others from it.

use benzer_flow::{Result, Workers, workers::in_parallel};

use super::frequencies::Frequencies;
use crate::Rank;
use crate::verify::{ElementCounter, FeatureSource};

/// Documents that a thread takes at a time.
pub(super) const CHUNK: usize = 256;
/// Bytes of text for an element, at least in most languages.
const ELEMENT_BYTES: u64 = 4;

/// A document as a set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Set {
    pub rank: Rank,
    /// Distinct elements.
    pub size: u32,
    pub signature: Signature,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Sets {
    /// By size, then by rank. The place of a set here is its number.
    pub by_size: Vec<Set>,
    /// The numbers in the order of the members.
    pub numbers: Vec<u32>,
}

/// For each of many places whether an odd number of elements fall there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Signature([u64; 4]);

impl Signature {
    fn new(elements: &[u64]) -> Self {
        let mut words = [0; 4];
        for &element in elements {
            let place = element.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
            words[place as usize / 64] ^= 1 << (place % 64);
        }
        Self(words)
    }

    /// Places that differ: elements that are in one of the sets only, at least.
    #[inline]
    pub fn difference(&self, other: &Self) -> u32 {
        self.0.iter().zip(&other.0).map(|(a, b)| (a ^ b).count_ones()).sum()
    }
}

/// Where the sets are.
pub trait Source: Sync {
    /// About how many elements a set has.
    fn about(&self, rank: Rank) -> Result<u64>;

    /// Gives the elements of sets. Each thread has its own.
    fn elements(&self) -> Box<dyn Elements + '_>;
}

/// Gives the distinct elements of sets.
pub trait Elements: Send {
    /// Those of a set, in no order.
    fn of(&mut self, rank: Rank) -> Result<&[u64]>;
}

/// Texts are sets of shingles.
impl Source for FeatureSource<'_> {
    fn about(&self, rank: Rank) -> Result<u64> {
        Ok(self.texts.bytes(rank)? / ELEMENT_BYTES)
    }

    fn elements(&self) -> Box<dyn Elements + '_> {
        Box::new(Shingles { sources: *self, counter: ElementCounter::default() })
    }
}

struct Shingles<'a> {
    sources: FeatureSource<'a>,
    counter: ElementCounter,
}

impl Elements for Shingles<'_> {
    fn of(&mut self, rank: Rank) -> Result<&[u64]> {
        self.counter.of(rank, self.sources)
    }
}

/// Reads all members once.
pub(super) fn measure(
    members: &[Rank],
    source: &dyn Source,
    workers: Workers<'_>,
) -> Result<(Sets, Frequencies)> {
    let n_elements = members.iter().map(|&rank| source.about(rank)).sum::<Result<u64>>()?;
    let frequencies = Frequencies::new(n_elements);
    let measure_one = |rank: Rank, elements: &mut Box<dyn Elements + '_>| -> Result<Set> {
        let elements = elements.of(rank)?;
        frequencies.add(elements);
        Ok(Set { rank, size: elements.len() as u32, signature: Signature::new(elements) })
    };
    let chunks: Vec<&[Rank]> = members.chunks(CHUNK).collect();
    let measured = in_parallel(
        chunks.len(),
        workers.threads,
        || source.elements(),
        |i, elements| -> Result<Vec<Set>> {
            workers.progress.add(chunks[i].len() as u64)?;
            chunks[i].iter().map(|&rank| measure_one(rank, elements)).collect()
        },
    );
    let measured = measured.into_iter().collect::<Result<Vec<_>>>()?.concat();
    Ok((Sets::new(&measured), frequencies))
}

impl Sets {
    fn new(sets: &[Set]) -> Self {
        let mut order: Vec<u32> = (0..sets.len() as u32).collect();
        order.sort_unstable_by_key(|&member| (sets[member as usize].size, member));
        let mut numbers = vec![0; sets.len()];
        order.iter().zip(0..).for_each(|(&member, number)| numbers[member as usize] = number);
        Self { by_size: order.into_iter().map(|member| sets[member as usize]).collect(), numbers }
    }
}
