//! Pairs whose documents have the same origin: most of a cluster.
//!
//! Its documents are held as sets of bits (the module `bits`) if those are small enough. Otherwise the elements of the earlier documents, which the later ones share, are numbered; each document looks its elements up once. From there on sets are lists of numbers:
//! 64 or 512 earlier documents at a time go into an index, and each later document counts what it shares with all of them, whatever the number of its pairs.

use super::PairFilter;
use super::bits::Bits;
use super::features::{FeatureSource, Features};
use super::id_map::IdMap;
use super::lanes::{Counts, LaneIndex};
use crate::Edge;
use crate::bands::Candidates;
use benzer_flow::Result;

/// Elements of earlier documents that are numbered together, if one document does not have more.
const NUMBERED: usize = 1 << 20;

/// What a thread reuses.
#[derive(Default)]
pub(super) struct ClusterComparer {
    features: Features,
    bits: Bits,
    documents: Documents,
    /// The earlier documents of one later one, and what it shares with them.
    places: Vec<u32>,
    counts: Vec<u32>,
    found: Vec<Edge>,
    numbers: IdMap,
    few: Lanes<1>,
    many: Lanes<8>,
    /// All earlier documents, in order.
    earlier: Vec<u32>,
    /// Some of them as sets, and the later ones.
    earlier_sets: Sets,
    later_sets: Sets,
    /// Of each pair the intersection, and the sizes of both together.
    shared: Vec<(u32, u32)>,
    /// How many pairs of each group are measured.
    done: Vec<u32>,
}

/// Sets of numbers, one after the other.
#[derive(Debug, Default)]
struct Sets {
    numbers: Vec<u32>,
    ends: Vec<usize>,
    /// How many elements each has, also such without a number.
    sizes: Vec<u32>,
}

impl Sets {
    fn clear(&mut self) {
        self.numbers.clear();
        self.ends.clear();
        self.sizes.clear();
    }

    fn get(&self, i: usize) -> &[u32] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.numbers[start..self.ends[i]]
    }

    fn push(&mut self, elements: &[u64], number: impl FnOnce(&[u64], &mut Vec<u32>)) {
        number(elements, &mut self.numbers);
        self.ends.push(self.numbers.len());
        self.sizes.push(elements.len() as u32);
    }
}

impl ClusterComparer {
    /// Appends the wanted edges of each group, and where they end.
    pub fn run(
        &mut self,
        groups: &[Candidates<'_>],
        sources: FeatureSource<'_>,
        wanted: PairFilter,
        (edges, ends): (&mut Vec<Edge>, &mut Vec<usize>),
    ) -> Result<()> {
        if let [Candidates { later, earlier: &[earlier] }] = *groups {
            let (intersection, sizes) = self.features.compare(later, earlier, sources)?;
            let union = sizes - intersection;
            edges.extend(wanted.has(intersection, sizes).then_some(Edge {
                later,
                earlier,
                intersection,
                union,
            }));
            ends.push(edges.len());
            return Ok(());
        }
        self.documents.list(groups);
        if self.bits.hold(&self.documents.ranks, &mut self.features, sources)? {
            self.count(groups, wanted, (edges, ends));
            return Ok(());
        }
        list_earlier(groups, &mut self.earlier);
        self.shared.clear();
        self.shared.resize(n_pairs(groups), (0, 0));
        self.done.clear();
        self.done.resize(groups.len(), 0);
        let mut measured = 0;
        while measured < self.earlier.len() {
            measured += self.measure(measured, groups, sources)?;
        }
        let mut pairs = self.shared.iter();
        for &Candidates { later, earlier } in groups {
            for (&earlier, &(intersection, sizes)) in earlier.iter().zip(&mut pairs) {
                if wanted.has(intersection, sizes) {
                    edges.push(Edge { later, earlier, intersection, union: sizes - intersection });
                }
            }
            ends.push(edges.len());
        }
        Ok(())
    }

    /// [`ClusterComparer::run`] of documents that are held as bits.
    fn count(
        &mut self,
        groups: &[Candidates<'_>],
        wanted: PairFilter,
        (edges, ends): (&mut Vec<Edge>, &mut Vec<usize>),
    ) {
        for &Candidates { later, earlier } in groups {
            self.places.clear();
            self.places.extend(earlier.iter().map(|rank| self.documents.place(*rank)));
            let place = self.documents.place(later);
            self.bits.count(place as usize, &self.places, &mut self.counts);
            let size = self.bits.size(place);
            // Written in any case: which pairs are wanted cannot be foretold, and guessing wrong takes longer.
            self.found.resize(self.found.len().max(earlier.len()), Edge::default());
            let mut n = 0;
            for ((&earlier, &place), &intersection) in earlier.iter().zip(&self.places).zip(&self.counts) {
                let sizes = size + self.bits.size(place);
                self.found[n] = Edge { later, earlier, intersection, union: sizes - intersection };
                n += usize::from(wanted.has(intersection, sizes));
            }
            edges.extend_from_slice(&self.found[..n]);
            ends.push(edges.len());
        }
    }

    /// Measures the pairs with as many earlier documents as may be numbered together, from one of them on; their number.
    fn measure(
        &mut self,
        from: usize,
        groups: &[Candidates<'_>],
        sources: FeatureSource<'_>,
    ) -> Result<usize> {
        let Self { features, numbers, earlier_sets, later_sets, shared, done, .. } = self;
        earlier_sets.clear();
        later_sets.clear();
        for &rank in &self.earlier[from..] {
            let elements = features.of(rank, sources)?;
            if earlier_sets.ends.is_empty() {
                numbers.clear(elements.len());
            }
            earlier_sets.push(elements, |elements, into| numbers.number(elements, into));
            if earlier_sets.numbers.len() > NUMBERED {
                break;
            }
        }
        for group in groups {
            let elements = features.of(group.later, sources)?;
            later_sets.push(elements, |elements, into| numbers.find(elements, into));
        }
        let n = earlier_sets.ends.len();
        let earlier = &self.earlier[from..from + n];
        let sets = (&*earlier_sets, &*later_sets);
        if n <= LaneIndex::<1>::LANES {
            self.few.measure((earlier, 0), groups, sets, numbers.len(), (shared, done));
        } else {
            for (lanes, i) in earlier.chunks(LaneIndex::<8>::LANES).zip(0..) {
                let first = i * LaneIndex::<8>::LANES;
                self.many.measure((lanes, first), groups, sets, numbers.len(), (shared, done));
            }
        }
        Ok(n)
    }
}

/// All documents of some groups.
#[derive(Debug, Default)]
struct Documents {
    /// Each once, in order.
    ranks: Vec<u32>,
    /// Where each rank is among them, counted from the first rank; empty if that would be a long list for few pairs. Ranks that are not there have any place.
    places: Vec<u32>,
}

impl Documents {
    fn list(&mut self, groups: &[Candidates<'_>]) {
        list_earlier(groups, &mut self.ranks);
        self.ranks.extend(groups.iter().map(|group| group.later));
        self.ranks.sort_unstable();
        self.ranks.dedup();
        let (first, last) = (self.ranks[0], self.ranks[self.ranks.len() - 1]);
        let n = (last - first) as usize + 1;
        match n <= 2 * n_pairs(groups) {
            true => self.places.resize(n, 0),
            false => self.places.clear(),
        }
        if !self.places.is_empty() {
            for (&rank, place) in self.ranks.iter().zip(0..) {
                self.places[(rank - first) as usize] = place;
            }
        }
    }

    /// Where a document is in the list.
    #[inline]
    fn place(&self, rank: u32) -> u32 {
        match self.places.get((rank - self.ranks[0]) as usize) {
            Some(place) => *place,
            None => self.ranks.binary_search(&rank).expect("every document is listed") as u32,
        }
    }
}

fn n_pairs(groups: &[Candidates<'_>]) -> usize {
    groups.iter().map(|group| group.earlier.len()).sum()
}

/// The earlier documents of all groups, each once, in order.
fn list_earlier(groups: &[Candidates<'_>], earlier: &mut Vec<u32>) {
    earlier.clear();
    if let [group] = groups {
        earlier.extend_from_slice(group.earlier);
        return;
    }
    let all = || groups.iter().flat_map(|group| group.earlier).copied();
    // Each group is in order.
    let first = groups.iter().map(|group| group.earlier[0]).min().unwrap_or_default();
    let last = groups.iter().map(|group| group.earlier[group.earlier.len() - 1]).max().unwrap_or_default();
    let words = (last.saturating_sub(first) / 64 + 1) as usize;
    // A bit for each, if they are not too far apart.
    if words <= n_pairs(groups) {
        let mut bits = vec![0u64; words];
        all().for_each(|rank| bits[((rank - first) / 64) as usize] |= 1 << ((rank - first) % 64));
        for (mut word, start) in bits.into_iter().zip((first..).step_by(64)) {
            while word != 0 {
                earlier.push(start + word.trailing_zeros());
                word &= word - 1;
            }
        }
    } else {
        earlier.extend(all());
        earlier.sort_unstable();
        earlier.dedup();
    }
}

/// An index of earlier documents, and counters.
struct Lanes<const W: usize> {
    index: LaneIndex<W>,
    counts: Counts<W>,
}

impl<const W: usize> Default for Lanes<W> {
    fn default() -> Self {
        Self { index: LaneIndex::default(), counts: Counts::new() }
    }
}

impl<const W: usize> Lanes<W> {
    /// Of all pairs whose earlier document is one of `lanes` the intersection, and the sizes of both together. The sets of the lanes begin at `first`.
    fn measure(
        &mut self,
        (lanes, first): (&[u32], usize),
        groups: &[Candidates<'_>],
        (earlier, later): (&Sets, &Sets),
        n_numbers: usize,
        (shared, done): (&mut [(u32, u32)], &mut [u32]),
    ) {
        let Self { index, counts } = self;
        index.clear(n_numbers);
        for lane in 0..lanes.len() {
            index.insert(lane, earlier.get(first + lane));
        }
        let sizes = &earlier.sizes[first..];
        let (last, mut end) = (lanes[lanes.len() - 1], 0);
        for (i, (group, done)) in groups.iter().zip(done).enumerate() {
            let start = end + *done as usize;
            end += group.earlier.len();
            // Pairs are sorted, and so are the lanes.
            let rest = &group.earlier[*done as usize..];
            if rest.first().is_none_or(|rank| *rank > last) {
                continue;
            }
            index.count(later.get(i), counts);
            let mut lane = 0;
            let here = rest.iter().take_while(|rank| **rank <= last);
            for (&rank, shared) in here.zip(&mut shared[start..end]) {
                lane += lanes[lane..]
                    .iter()
                    .position(|other| *other == rank)
                    .expect("every earlier document has a lane");
                *shared = (counts.get(lane), later.sizes[i] + sizes[lane]);
                *done += 1;
            }
        }
    }
}
