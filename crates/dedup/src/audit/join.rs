//! All pairs between the two draws that reach the threshold, and some that come near.
//!
//! Two sets with J >= T share at least T |a| elements of a, so any |a| - T |a| + 1 elements of it cannot all be missing from b. An index of so many elements of each drawn document, the
//! rarest of them, tells who may be similar to b. Those pairs are then measured as those of a run are.

use std::sync::atomic::{AtomicU64, Ordering};

use benzer_core::field::text::Shingler;

use super::Pair;
use super::sample::Sample;
use crate::error::Result;
use benzer_core::Threshold;
use benzer_flow::workers::in_parallel;
use benzer_flow::{Progress, Workers};
use benzer_join::bands::CandidateLists;
use benzer_join::exact::{Elements, Frequencies, Source};
use benzer_join::verify::{FeatureSource, PairFilter, Texts, verify_held};
use benzer_join::{Edge, Rank};

/// Documents that a thread takes at a time.
const CHUNK: usize = 256;
/// Documents whose candidates are held together.
const SECTION: usize = 1 << 20;
/// Bytes of text for an element, at least in most languages.
const ELEMENT_BYTES: u64 = 4;
/// Bytes of memory for an element of a drawn document: itself, its share of the index, and what is needed to make it.
const INDEXED_BYTES: u64 = 48;

/// Elements that a thread remembers while pairs are measured: one for so many bytes, and at most so many.
const REMEMBERED_SHARE: usize = 64;
const MAX_REMEMBERED: usize = 1 << 21;

/// What an audit may use, and who learns how it goes on.
#[derive(Clone, Copy)]
pub(crate) struct AuditWorkspace<'a> {
    pub threads: usize,
    pub bytes: u64,
    /// Gets the number of documents that were read; what it returns ends the join.
    pub progress: &'a (dyn Fn(u64) -> Result<()> + Sync),
}

impl<'a> AuditWorkspace<'a> {
    pub(super) fn sources(self, texts: &'a dyn Texts, shingler: &'a Shingler) -> FeatureSource<'a> {
        let remembered = self.bytes as usize / REMEMBERED_SHARE / self.threads.max(1);
        let held = self.bytes as usize / REMEMBERED_SHARE;
        FeatureSource { texts, shingler, remembered: remembered.min(MAX_REMEMBERED), held }
    }
}

/// All pairs that reach the threshold and, of those that were looked at, the ones that reach seven eighths of it; by (later, earlier). The drawn documents are taken in as many parts as
/// the memory needs.
pub(super) fn join(
    sample: &Sample,
    members: &[Rank],
    sources: FeatureSource<'_>,
    threshold: Threshold,
    workspace: AuditWorkspace<'_>,
) -> Result<Vec<Pair>> {
    let read = AtomicU64::new(0);
    let mut pairs = Vec::new();
    let mut rest = &sample.drawn[..];
    while !rest.is_empty() {
        let n = part(rest, sources.texts, workspace.bytes)?;
        let index = Index::new(&rest[..n], sources, threshold, workspace.threads)?;
        rest = &rest[n..];
        for section in members.chunks(SECTION) {
            let candidates = candidates(section, sample, &index, sources, workspace, &read)?;
            let candidates: CandidateLists = candidates.into_iter().collect();
            let wanted = PairFilter::Reaching(threshold.lowered());
            let workers = Workers { threads: workspace.threads, progress: &Progress::silent() };
            let edges = verify_held([&candidates], sources, wanted, workers)?;
            pairs.extend(edges.iter().map(|edge| pair(edge, sample)));
        }
    }
    pairs.sort_unstable_by_key(|pair| (pair.edge.later, pair.edge.earlier));
    Ok(pairs)
}

fn pair(edge: Edge, sample: &Sample) -> Pair {
    Pair::new(edge, !sample.has(edge.earlier, edge.later))
}

/// How many of the documents fit together.
fn part(ranks: &[Rank], texts: &dyn Texts, bytes: u64) -> Result<usize> {
    let mut left = bytes / INDEXED_BYTES;
    for (i, &rank) in ranks.iter().enumerate() {
        let elements = texts.bytes(rank)? / ELEMENT_BYTES + 1;
        if elements > left {
            return Ok(i.max(1));
        }
        left -= elements;
    }
    Ok(ranks.len())
}

/// The pairs (later, earlier) of an index with those of a section who are compared, in order.
fn candidates(
    section: &[Rank],
    sample: &Sample,
    index: &Index<'_>,
    sources: FeatureSource<'_>,
    workspace: AuditWorkspace<'_>,
    read: &AtomicU64,
) -> Result<Vec<(Rank, Rank)>> {
    let chunks: Vec<&[Rank]> = section.chunks(CHUNK).collect();
    let probe = || Probe { elements: sources.elements(), seen: vec![0; index.ranks.len()], n_probes: 0 };
    let found = in_parallel(chunks.len(), workspace.threads, probe, |i, probe| -> Result<_> {
        let mut pairs = Vec::new();
        for rank in chunks[i].iter().copied().filter(|rank| sample.is_compared(*rank)) {
            probe.run(rank, index, sample, &mut pairs)?;
        }
        let n = chunks[i].len() as u64;
        (workspace.progress)(read.fetch_add(n, Ordering::Relaxed) + n)?;
        Ok(pairs)
    });
    let mut pairs = found.into_iter().collect::<Result<Vec<_>>>()?.concat();
    pairs.sort_unstable();
    Ok(pairs)
}

/// Who of the drawn documents has a rare element.
struct Index<'a> {
    threshold: Threshold,
    ranks: &'a [Rank],
    sizes: Vec<u32>,
    /// Open addressing without hashing, because elements are hashes already; zero marks an empty slot.
    slots: Vec<u64>,
    /// Where the postings of each slot end, and those of the next one begin.
    ends: Vec<u32>,
    /// Documents, by their place in `ranks`.
    postings: Vec<u32>,
}

/// The elements of some documents, one after the other, and how many each has.
type Read = (Vec<u64>, Vec<u32>);

impl<'a> Index<'a> {
    fn new(
        ranks: &'a [Rank],
        sources: FeatureSource<'_>,
        threshold: Threshold,
        threads: usize,
    ) -> Result<Self> {
        let chunks: Vec<&[Rank]> = ranks.chunks(CHUNK).collect();
        let bytes = ranks.iter().map(|&rank| sources.texts.bytes(rank)).sum::<benzer_flow::Result<u64>>()?;
        let frequencies = Frequencies::new(bytes / ELEMENT_BYTES);
        let elements = || sources.elements();
        let read = in_parallel(chunks.len(), threads, elements, |i, elements| -> Result<Read> {
            let (mut all, mut sizes) = (Vec::new(), Vec::new());
            for &rank in chunks[i] {
                let elements = elements.of(rank)?;
                frequencies.add(elements);
                all.extend_from_slice(elements);
                sizes.push(elements.len() as u32);
            }
            Ok((all, sizes))
        });
        let read = read.into_iter().collect::<Result<Vec<Read>>>()?;
        let rare = in_parallel(chunks.len(), threads, Vec::new, |i, keys| {
            rare(&read[i], i * CHUNK, &frequencies, threshold, keys)
        });
        let sizes = read.into_iter().flat_map(|(_, sizes)| sizes).collect();
        let mut index =
            Self { threshold, ranks, sizes, slots: Vec::new(), ends: Vec::new(), postings: Vec::new() };
        index.fill(&rare);
        Ok(index)
    }

    fn fill(&mut self, rare: &[Vec<(u64, u32)>]) {
        let n: usize = rare.iter().map(Vec::len).sum();
        let size = (2 * n).next_power_of_two().max(16);
        (self.slots, self.ends) = (vec![0; size], vec![0; size]);
        for &(element, _) in rare.iter().flatten() {
            let slot = self.slot(element);
            self.slots[slot] = element.max(1);
            self.ends[slot] += 1;
        }
        // Where they begin, until all are in place.
        let mut begin = 0;
        for end in &mut self.ends {
            begin += std::mem::replace(end, begin);
        }
        self.postings = vec![0; n];
        for &(element, document) in rare.iter().flatten() {
            let slot = self.slot(element);
            self.postings[self.ends[slot] as usize] = document;
            self.ends[slot] += 1;
        }
    }

    /// Where an element is, or would be. Zero shares a slot with one, which costs a comparison.
    #[inline]
    fn slot(&self, element: u64) -> usize {
        let (element, mask) = (element.max(1), self.slots.len() - 1);
        let mut slot = element as usize & mask;
        while self.slots[slot] != element && self.slots[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Those who have an element among their rare ones.
    #[inline]
    fn who_has(&self, element: u64) -> &[u32] {
        let slot = self.slot(element);
        let begin = if slot == 0 { 0 } else { self.ends[slot - 1] };
        &self.postings[begin as usize..self.ends[slot] as usize]
    }
}

/// The elements of documents that cannot all be missing from a similar one, with the document. `first` is the number of the first one.
fn rare(
    (elements, sizes): &Read,
    first: usize,
    frequencies: &Frequencies,
    threshold: Threshold,
    keys: &mut Vec<u128>,
) -> Vec<(u64, u32)> {
    let (mut rare, mut start) = (Vec::new(), 0);
    for (&size, document) in sizes.iter().zip(first as u32..) {
        let end = start + size as usize;
        keys.clear();
        keys.extend(elements[start..end].iter().map(|&element| frequencies.key(element)));
        start = end;
        if size > 0 {
            let last = (size - threshold.min_overlap(size)) as usize;
            keys.select_nth_unstable(last);
            rare.extend(keys[..=last].iter().map(|&key| (key as u64, document)));
        }
    }
    rare
}

struct Probe<'a> {
    elements: Box<dyn Elements + 'a>,
    /// The last probe that met each drawn document.
    seen: Vec<u32>,
    n_probes: u32,
}

impl Probe<'_> {
    /// Appends the pairs of a document with those of an index that may be similar to it.
    fn run(
        &mut self,
        rank: Rank,
        index: &Index<'_>,
        sample: &Sample,
        pairs: &mut Vec<(Rank, Rank)>,
    ) -> Result<()> {
        self.n_probes += 1;
        let elements = self.elements.of(rank)?;
        let size = elements.len() as u32;
        for &element in elements {
            for &document in index.who_has(element) {
                let seen = &mut self.seen[document as usize];
                if std::mem::replace(seen, self.n_probes) == self.n_probes {
                    continue;
                }
                let (drawn, other) = (index.ranks[document as usize], index.sizes[document as usize]);
                let fits = index.threshold.is_reached(size.min(other).into(), size.max(other).into());
                // Of two documents that are in both draws, the pair counts once.
                let is_twice = || rank < drawn && sample.has(rank, drawn);
                if fits && drawn != rank && !is_twice() {
                    pairs.push((rank.max(drawn), rank.min(drawn)));
                }
            }
        }
        Ok(())
    }
}
