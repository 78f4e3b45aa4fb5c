//! Clusters that are larger than a task: all threads compare their documents, and share what was made of them.
//!
//! Later members of a cluster meet the first members of more and more buckets, so that each task would make most documents of its cluster once more: the number of times grows with the cluster. Here each
//! document is made once, by any thread: as a row of bits that says which elements of the cluster's first document it has, as in the module `bits`, and a list of its others. Of these only those stay
//! that some other document may have too.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use benzer_core::{sketch::count::common_bits, slots::ElementSet};
use benzer_flow::{Result, Workers, share, workers::in_parallel};

use super::bits::WIDTH;
use super::features::{FeatureSource, Features};
use super::id_map::IdMap;
use super::rank_places::RankPlaces;
use super::reference::ReferenceDocument;
use crate::{Rank, bands::Candidates, prefetch};

/// Documents that a thread makes in one go.
const TOGETHER: usize = 256;
/// Documents that are looked at to say which elements many have, and how many of these are many.
const SAMPLED: usize = 64;
const MANY: usize = 4;

/// The documents of a cluster, to be read by all threads.
#[derive(Debug)]
pub(super) struct LargeCluster {
    places: RankPlaces,
    /// Which elements of the first document each document has.
    rows: Vec<u64>,
    /// Words of a row.
    width: usize,
    /// The other elements, of [`TOGETHER`] documents each.
    others: Vec<Others>,
}

/// What some documents have besides the elements of the first one.
#[derive(Debug, Default)]
struct Others {
    elements: Vec<u64>,
    /// Where those of each document end.
    ends: Vec<usize>,
    /// How many elements each document has, of all.
    sizes: Vec<u32>,
}

impl Others {
    #[inline]
    fn of(&self, i: usize) -> &[u64] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.elements[start..self.ends[i]]
    }

    /// Drops those that no other document has.
    fn drop_single(&mut self, filter: &SharedRepeats) {
        let (mut start, mut kept) = (0, 0);
        for end in &mut self.ends {
            for i in std::mem::replace(&mut start, *end)..*end {
                let element = self.elements[i];
                self.elements[kept] = element;
                kept += usize::from(filter.may_be_repeated(element));
            }
            *end = kept;
        }
        self.elements.truncate(kept);
        self.elements.shrink_to_fit();
    }
}

/// What a thread needs to make documents.
#[derive(Debug, Default)]
struct Maker {
    features: Features,
    distinct: ElementSet,
}

/// What a thread needs to count what documents share.
#[derive(Debug, Default)]
pub(super) struct Counter {
    /// The other elements of the later document.
    others: ElementSet,
}

impl LargeCluster {
    /// Makes the documents of groups of one origin; none if they take more memory than there is.
    pub fn hold(
        groups: &[Candidates<'_>],
        sources: FeatureSource<'_>,
        workers: Workers<'_>,
    ) -> Result<Option<Self>> {
        let threads = workers.threads;
        let Some(places) = RankPlaces::new(groups, threads, sources.held) else { return Ok(None) };
        let ranks = places.ranks();
        let first = Maker::default().first(&ranks, sources)?;
        let width = first.places().div_ceil(64).max(1).next_multiple_of(WIDTH);
        let taken = places.bytes()
            + size_of_val(groups)
            + ranks.len() * (size_of::<Rank>() + width * size_of::<u64>());
        let Some(left) = sources.held.checked_sub(taken) else { return Ok(None) };
        let mut cluster = Self { places, rows: vec![0; ranks.len() * width], width, others: Vec::new() };
        // For each other element there are two bits in many places of the filter, too.
        let room = Room(AtomicUsize::new(left / (size_of::<u64>() + SPARE / 2)));
        let rows = cluster.rows.chunks_mut(TOGETHER * width).map(Mutex::new).collect::<Vec<_>>();
        let make = |i: usize, maker: &mut Maker| {
            // Nothing is counted yet, but the run may have been stopped.
            workers.progress.add(0)?;
            let mut rows = rows[i].lock().expect("no thread has panicked");
            let ahead = &ranks[i * TOGETHER..];
            maker.split(ahead, &first, &mut rows, sources, &room)
        };
        let made = in_parallel(ranks.len().div_ceil(TOGETHER), threads, Maker::default, make);
        drop(rows);
        let Some(others) = made.into_iter().collect::<Result<Option<Vec<_>>>>()? else { return Ok(None) };
        cluster.others = without_single(others, threads);
        Ok(Some(cluster))
    }

    /// Where a document is.
    #[inline]
    pub fn place(&self, rank: Rank) -> u32 {
        self.places.place(rank)
    }

    /// How many elements a document has.
    #[inline]
    pub fn size(&self, one: u32) -> u32 {
        self.others[one as usize / TOGETHER].sizes[one as usize % TOGETHER]
    }

    /// Of a document and some others: how many elements both have.
    pub fn count(&self, one: u32, others: &[u32], counter: &mut Counter, shared: &mut Vec<u32>) {
        shared.resize(others.len(), 0);
        let row = &self.rows[one as usize * self.width..][..self.width];
        common_bits(row, &self.rows, others, shared);
        let elements = self.others(one);
        if elements.is_empty() {
            return;
        }
        counter.others.reset(elements.len());
        for &element in elements {
            counter.others.insert(element);
        }
        for (&other, shared) in others.iter().zip(shared) {
            let has = |element: &u64| u32::from(counter.others.contains(*element));
            *shared += self.others(other).iter().map(has).sum::<u32>();
        }
    }

    #[inline]
    fn others(&self, one: u32) -> &[u64] {
        self.others[one as usize / TOGETHER].of(one as usize % TOGETHER)
    }
}

impl Maker {
    /// The first document, and behind its elements those that many documents have and it has not.
    fn first(&mut self, ranks: &[Rank], sources: FeatureSource<'_>) -> Result<ReferenceDocument> {
        let mut elements = self.features.with_repetitions(ranks[0], sources)?.to_vec();
        let mut first = ReferenceDocument::default();
        first.fill(&elements);
        let mut row = vec![0; first.places().div_ceil(64)];
        let (mut of_sample, mut others) = (Vec::new(), Vec::new());
        for i in 0..SAMPLED.min(ranks.len()) {
            let sampled = ranks[share(i, SAMPLED.min(ranks.len()), ranks.len()).start];
            let elements = self.features.with_repetitions(sampled, sources)?;
            others.resize(elements.len(), 0);
            let n = first.split(elements, &mut row, &mut others);
            let n = self.distinct.distinct(&mut others[..n]);
            of_sample.extend_from_slice(&others[..n]);
            if of_sample.len() > sources.remembered {
                break;
            }
        }
        let (mut ids, mut numbers) = (IdMap::default(), Vec::new());
        ids.clear(of_sample.len());
        ids.number(&of_sample, &mut numbers);
        let mut counts = vec![0; ids.n_numbers() + 1];
        numbers.iter().for_each(|number| counts[*number as usize] += 1);
        for (&element, &number) in of_sample.iter().zip(&numbers) {
            // Each once, where it comes first: those of a passage stay together.
            let count = std::mem::take(&mut counts[number as usize]);
            elements.extend((count >= MANY).then_some(element));
        }
        first.fill(&elements);
        Ok(first)
    }

    /// Splits the elements of the first [`TOGETHER`] documents into those of the cluster's first one and others; none if there is no room for these.
    fn split(
        &mut self,
        ranks: &[Rank],
        first: &ReferenceDocument,
        rows: &mut [u64],
        sources: FeatureSource<'_>,
        room: &Room,
    ) -> Result<Option<Others>> {
        let mut made = Others::default();
        let n = ranks.len().min(TOGETHER);
        let width = rows.len() / n;
        let mut start = 0;
        for (i, &rank) in ranks[..n].iter().enumerate() {
            for (ahead, what) in prefetch::DISTANCES {
                ranks.get(i + ahead).into_iter().for_each(|&rank| sources.texts.prefetch(rank, what));
            }
            let elements = self.features.with_repetitions(rank, sources)?;
            let row = &mut rows[i * width..(i + 1) * width];
            made.elements.resize(made.elements.len().max(start + elements.len()), 0);
            let n = first.split(elements, row, &mut made.elements[start..]);
            let n = self.distinct.distinct(&mut made.elements[start..start + n]);
            start += n;
            if !room.take(n) {
                return Ok(None);
            }
            made.ends.push(start);
            made.sizes.push(row.iter().map(|word| word.count_ones()).sum::<u32>() + n as u32);
        }
        made.elements.truncate(start);
        made.elements.shrink_to_fit();
        Ok(Some(made))
    }
}

/// Drops elements that only one document has, as most do.
fn without_single(others: Vec<Others>, threads: usize) -> Vec<Others> {
    let filter = SharedRepeats::new(others.iter().map(|others| others.elements.len()).sum());
    in_parallel(others.len(), threads, || (), |i, ()| others[i].elements.iter().for_each(|e| filter.add(*e)));
    let others: Vec<Mutex<Others>> = others.into_iter().map(Mutex::new).collect();
    let drop_single = |i: usize, _: &mut ()| {
        let mut others = std::mem::take(&mut *others[i].lock().expect("no thread has panicked"));
        others.drop_single(&filter);
        others
    };
    in_parallel(others.len(), threads, || (), drop_single)
}

/// Room for elements that threads share.
struct Room(AtomicUsize);

impl Room {
    /// False if there is not enough.
    fn take(&self, n: usize) -> bool {
        let take = |left: usize| left.checked_sub(n);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }
}

/// Bits of the filter per element.
const SPARE: usize = 8;

/// Tells which elements may come again, for many threads.
struct SharedRepeats {
    /// Which bits were hit once or more, and which twice or more.
    words: Vec<[AtomicU64; 2]>,
    shift: u32,
}

impl SharedRepeats {
    fn new(n: usize) -> Self {
        let bits = (n * SPARE / 2).next_power_of_two().max(64);
        let words = std::iter::repeat_with(Default::default).take(bits / 64).collect();
        Self { words, shift: 64 - bits.trailing_zeros() }
    }

    #[inline]
    fn add(&self, element: u64) {
        let (word, bit) = self.bit(element);
        let [once, again] = &self.words[word];
        if once.fetch_or(bit, Ordering::Relaxed) & bit != 0 && again.load(Ordering::Relaxed) & bit == 0 {
            again.fetch_or(bit, Ordering::Relaxed);
        }
    }

    #[inline]
    fn may_be_repeated(&self, element: u64) -> bool {
        let (word, bit) = self.bit(element);
        self.words[word][1].load(Ordering::Relaxed) & bit != 0
    }

    #[inline]
    fn bit(&self, element: u64) -> (usize, u64) {
        // The product spreads elements whose bits are not.
        let slot = element.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift;
        (slot as usize / 64, 1 << (slot % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Few;
    use super::*;
    use benzer_core::field::text::{Shingler, TextOptions};
    use benzer_flow::Progress;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Parts of one list, and what many or few have besides.
    fn words() -> impl Strategy<Value = BTreeSet<u32>> {
        let parts = (0u32..300, 0u32..300, prop::collection::btree_set(300u32..1500, 0..60), any::<bool>());
        parts.prop_map(|(start, n, others, is_like_many)| {
            let many = if is_like_many { 2000..2040 } else { 0..0 };
            (start..start + n).chain(others).chain(many).chain([u32::MAX]).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn counts_are_those_of_sets(sets in prop_oneof![prop::collection::vec(words(), 2..12), prop::collection::vec(words(), 300..700)], step in 1u32..5, held in 0usize..1 << 18, threads in 1usize..4) {
            let text = |set: &BTreeSet<u32>| set.iter().map(|word| format!("w{word} w{} ", set.first().unwrap())).collect();
            let texts = Few(sets.iter().map(text).collect());
            let shingler = Shingler::new(&TextOptions { n: 1, ..TextOptions::default() }).unwrap();
            let sources = FeatureSource { texts: &texts, shingler: &shingler, remembered: 1000, held: 1 << 28 };
            let workers = Workers { threads, progress: &Progress::silent() };
            let n = sets.len() as u32;
            let earlier = |later: u32| Rank::all(later).rev().step_by(step as usize).take(20).collect::<BTreeSet<Rank>>();
            let lists: Vec<(Rank, Vec<Rank>)> = (1..n).map(|later| (Rank(later), earlier(later).into_iter().collect())).collect();
            let groups: Vec<Candidates<'_>> = lists.iter().map(|(later, earlier)| Candidates { later: *later, earlier }).collect();
            let cluster = LargeCluster::hold(&groups, sources, workers).unwrap().unwrap();
            let (mut counter, mut counts) = (Counter::default(), Vec::new());
            for (later, earlier) in &lists {
                let places: Vec<u32> = earlier.iter().map(|rank| cluster.place(*rank)).collect();
                let one = cluster.place(*later);
                cluster.count(one, &places, &mut counter, &mut counts);
                let expected: Vec<u32> = earlier.iter().map(|rank| sets[later.index()].intersection(&sets[rank.index()]).count() as u32).collect();
                prop_assert_eq!(&counts, &expected);
                prop_assert_eq!(cluster.size(one) as usize, sets[later.index()].len());
            }
            // With little memory there is none, or the same.
            if let Some(other) = LargeCluster::hold(&groups, FeatureSource { held, ..sources }, workers).unwrap() {
                prop_assert_eq!(other.rows, cluster.rows);
                prop_assert!(other.others.iter().zip(&cluster.others).all(|(a, b)| a.elements == b.elements));
            }
        }
    }

    #[test]
    fn what_many_documents_have_and_the_first_has_not_is_a_bit() {
        let text =
            |i: u32| format!("a{} {}", i, (0..200).map(|word| format!("w{word} ")).collect::<String>());
        let texts = Few(std::iter::once("first".to_owned()).chain((1..400).map(text)).collect());
        let shingler = Shingler::new(&TextOptions { n: 1, ..TextOptions::default() }).unwrap();
        let sources = FeatureSource { texts: &texts, shingler: &shingler, remembered: 1000, held: 1 << 20 };
        let groups: Vec<Candidates<'_>> =
            (1..400).map(|later| Candidates { later: Rank(later), earlier: &[Rank(0)] }).collect();
        let workers = Workers { threads: 2, progress: &Progress::silent() };
        let cluster = LargeCluster::hold(&groups, sources, workers).unwrap().unwrap();
        assert!(cluster.others.iter().map(|others| others.elements.len()).sum::<usize>() < 400);
        assert!(
            LargeCluster::hold(&groups, FeatureSource { held: 20_000, ..sources }, workers)
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn a_first_document_may_be_empty() {
        let texts = Few(["", "a b", "b c", ""].map(str::to_owned).to_vec());
        let shingler = Shingler::new(&TextOptions { n: 1, ..TextOptions::default() }).unwrap();
        let sources = FeatureSource { texts: &texts, shingler: &shingler, remembered: 0, held: 1 << 20 };
        let workers = Workers { threads: 2, progress: &Progress::silent() };
        let groups = [
            Candidates { later: Rank(2), earlier: &[Rank(0), Rank(1)] },
            Candidates { later: Rank(3), earlier: &[Rank(0)] },
        ];
        let cluster = LargeCluster::hold(&groups, sources, workers).unwrap().unwrap();
        let mut counts = Vec::new();
        cluster.count(2, &[0, 1, 3], &mut Counter::default(), &mut counts);
        assert_eq!((counts, cluster.size(0), cluster.size(2)), (vec![0, 1, 0], 0, 2));
    }
}
