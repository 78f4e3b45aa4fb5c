//! Pairs whose later documents have the same first earlier document: most of a cluster.
//!
//! The earlier documents, which the later ones share, go into an index of 64 or 512 at a time. Each later document then looks up its elements once, whatever the number
//! of its pairs.

use std::collections::HashMap;
use std::ops::Range;

use benzer_core::field::text::{Scratch, Shingler};

use super::index::{Counts, Index};
use super::set::ElementSet;
use super::{Edge, Texts, Wanted};
use crate::error::Result;

/// The pairs (later, earlier) of one later document, in order.
pub(super) type Group<'a> = &'a [(u32, u32)];

/// Elements that a cache holds at most, if one document does not have more.
const CACHED: usize = 1 << 18;

/// The distinct elements of documents that were looked at lately: the first ones of a cluster come again and again.
#[derive(Debug, Default)]
struct Cache {
    elements: Vec<u64>,
    end: usize,
    places: HashMap<u32, Range<usize>>,
}

/// Where the features of earlier documents come from.
struct Earlier<'a> {
    cache: &'a mut Cache,
    texts: &'a dyn Texts,
    shingler: &'a Shingler,
    scratch: &'a mut Scratch,
    set: &'a mut ElementSet,
}

impl Earlier<'_> {
    fn features(&mut self, rank: u32) -> Result<&[u64]> {
        let Self { cache, texts, shingler, scratch, set } = self;
        if let Some(place) = cache.places.get(&rank) {
            return Ok(&cache.elements[place.clone()]);
        }
        if cache.end > CACHED {
            cache.places.clear();
            cache.end = 0;
        }
        let start = cache.end;
        let Cache { elements, end, .. } = &mut **cache;
        texts.with_text(rank, &mut |text| {
            let written = shingler.write_elements(text, scratch, elements, start);
            *end = start + set.distinct(&mut elements[start..written]);
        })?;
        cache.places.insert(rank, start..cache.end);
        Ok(&cache.elements[start..cache.end])
    }
}

/// What a thread reuses.
#[derive(Default)]
pub(super) struct Measure {
    scratch: Scratch,
    set: ElementSet,
    few: Lanes<1>,
    many: Lanes<8>,
    /// The distinct elements of the later documents, one after the other.
    elements: Vec<u64>,
    ends: Vec<usize>,
    cache: Cache,
    /// All earlier documents.
    earlier: Vec<u32>,
    /// Of each pair the intersection, and the size of the earlier document.
    shared: Vec<(u32, u32)>,
}

impl Measure {
    /// Appends the wanted edges of each group, and where they end.
    pub fn run(
        &mut self,
        groups: &[Group<'_>],
        (texts, shingler): (&dyn Texts, &Shingler),
        wanted: Wanted,
        (edges, ends): (&mut Vec<Edge>, &mut Vec<usize>),
    ) -> Result<()> {
        self.load(groups, texts, shingler)?;
        self.shared.clear();
        self.shared.resize(groups.iter().map(|group| group.len()).sum(), (0, 0));
        let Self { scratch, set, few, many, elements, ends: later_ends, cache, earlier, shared } = self;
        let later = Later { groups, elements, ends: later_ends };
        let mut earlier_documents = Earlier { cache, texts, shingler, scratch, set };
        if earlier.len() <= Index::<1>::LANES {
            few.measure(earlier, later, &mut earlier_documents, shared)?;
        } else {
            for lanes in earlier.chunks(Index::<8>::LANES) {
                many.measure(lanes, later, &mut earlier_documents, shared)?;
            }
        }
        let mut pair = 0;
        for (i, group) in groups.iter().enumerate() {
            let size = self.features(i).len();
            for &(later, earlier) in *group {
                let (intersection, size_of_earlier) = self.shared[pair];
                let union = size as u32 + size_of_earlier - intersection;
                pair += 1;
                if wanted.has(intersection, union) {
                    edges.push(Edge { later, earlier, intersection, union });
                }
            }
            ends.push(edges.len());
        }
        Ok(())
    }

    /// The features of the later documents, and the list of the earlier ones.
    fn load(&mut self, groups: &[Group<'_>], texts: &dyn Texts, shingler: &Shingler) -> Result<()> {
        let Self { scratch, set, elements, ends, earlier, .. } = self;
        ends.clear();
        earlier.clear();
        let mut start = 0;
        for group in groups {
            texts.with_text(group[0].0, &mut |text| {
                let end = shingler.write_elements(text, scratch, elements, start);
                start += set.distinct(&mut elements[start..end]);
            })?;
            ends.push(start);
            earlier.extend(group.iter().map(|(_, earlier)| *earlier));
        }
        earlier.sort_unstable();
        earlier.dedup();
        Ok(())
    }

    fn features(&self, i: usize) -> &[u64] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.elements[start..self.ends[i]]
    }
}

/// The later documents of a run.
#[derive(Clone, Copy)]
struct Later<'a> {
    groups: &'a [Group<'a>],
    /// Their distinct elements, and where those of each end.
    elements: &'a [u64],
    ends: &'a [usize],
}

/// An index of earlier documents, and counters.
struct Lanes<const W: usize> {
    index: Index<W>,
    counts: Counts<W>,
}

impl<const W: usize> Default for Lanes<W> {
    fn default() -> Self {
        Self { index: Index::default(), counts: Counts::new() }
    }
}

impl<const W: usize> Lanes<W> {
    /// Of all pairs whose earlier document is one of `lanes` the intersection, and the size of that document.
    fn measure(
        &mut self,
        lanes: &[u32],
        later: Later<'_>,
        earlier: &mut Earlier<'_>,
        shared: &mut [(u32, u32)],
    ) -> Result<()> {
        let Self { index, counts } = self;
        index.clear();
        let mut sizes = Vec::with_capacity(lanes.len());
        for (lane, &rank) in lanes.iter().enumerate() {
            let features = earlier.features(rank)?;
            sizes.push(features.len() as u32);
            index.insert(lane, features);
        }
        let (mut pair, mut start) = (0, 0);
        for (group, &end) in later.groups.iter().zip(later.ends) {
            let features = &later.elements[start..end];
            let shared = &mut shared[pair..pair + group.len()];
            (pair, start) = (pair + group.len(), end);
            // Pairs are sorted, and so are the lanes.
            let from = group.partition_point(|(_, rank)| *rank < lanes[0]);
            let to = group.partition_point(|(_, rank)| *rank <= lanes[lanes.len() - 1]);
            if from == to {
                continue;
            }
            index.count(features, counts);
            let mut lane = 0;
            for (&(_, rank), shared) in group[from..to].iter().zip(&mut shared[from..to]) {
                lane += lanes[lane..]
                    .iter()
                    .position(|other| *other == rank)
                    .expect("every earlier document has a lane");
                *shared = (counts.get(lane), sizes[lane]);
            }
        }
        Ok(())
    }
}
