//! Pairs whose later documents have the same first earlier document: most of a cluster.
//!
//! The earlier documents, which the later ones share, go into an index of 64 at a time. Each later document then looks up its elements once, whatever the number
//! of its pairs.

use std::collections::HashMap;
use std::ops::Range;

use benzer_core::field::text::{Scratch, Shingler};

use super::index::{Counts, Index, LANES};
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

impl Cache {
    fn features(
        &mut self,
        rank: u32,
        (texts, shingler): (&dyn Texts, &Shingler),
        (scratch, set): (&mut Scratch, &mut ElementSet),
    ) -> Result<&[u64]> {
        if let Some(place) = self.places.get(&rank) {
            return Ok(&self.elements[place.clone()]);
        }
        if self.end > CACHED {
            self.places.clear();
            self.end = 0;
        }
        let start = self.end;
        let Self { elements, end, .. } = self;
        texts.with_text(rank, &mut |text| {
            let written = shingler.write_elements(text, scratch, elements, start);
            *end = start + set.distinct(&mut elements[start..written]);
        })?;
        self.places.insert(rank, start..self.end);
        Ok(&self.elements[start..self.end])
    }
}

/// What a thread reuses.
pub(super) struct Measure {
    scratch: Scratch,
    set: ElementSet,
    index: Index,
    counts: Counts,
    /// The distinct elements of the later documents, one after the other.
    elements: Vec<u64>,
    ends: Vec<usize>,
    cache: Cache,
    /// All earlier documents.
    earlier: Vec<u32>,
    /// Of each pair the intersection, and the size of the earlier document.
    shared: Vec<(u32, u32)>,
}

impl Default for Measure {
    fn default() -> Self {
        Self {
            scratch: Scratch::default(),
            set: ElementSet::default(),
            index: Index::default(),
            counts: Counts::new(),
            elements: Vec::new(),
            ends: Vec::new(),
            cache: Cache::default(),
            earlier: Vec::new(),
            shared: Vec::new(),
        }
    }
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
        for first in (0..self.earlier.len()).step_by(LANES) {
            self.lanes(first, groups, texts, shingler)?;
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

    /// The intersections of all pairs whose earlier document is one of 64.
    fn lanes(
        &mut self,
        first: usize,
        groups: &[Group<'_>],
        texts: &dyn Texts,
        shingler: &Shingler,
    ) -> Result<()> {
        let Self { scratch, set, index, counts, elements, ends, cache, earlier, shared, .. } = self;
        let lanes = &earlier[first..earlier.len().min(first + LANES)];
        index.clear();
        let mut sizes = [0; LANES];
        for (lane, &rank) in lanes.iter().enumerate() {
            let features = cache.features(rank, (texts, shingler), (scratch, set))?;
            sizes[lane] = features.len() as u32;
            index.insert(lane, features);
        }
        let (mut pair, mut start) = (0, 0);
        for (group, &end) in groups.iter().zip(ends.iter()) {
            let features = &elements[start..end];
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
                *shared = (counts.get(lane, features.len()), sizes[lane]);
            }
        }
        Ok(())
    }
}
