//! Lists the candidates of documents, range by range: the members that its buckets pair a document with, each once, and only those that its sketch may be similar to.

use benzer_core::hint;
use benzer_core::lsh::Prefilter;

use super::crowds::Crowds;
use super::lists::CandidateLists;
use super::memberships::{FEW, Membership, Memberships, PairedWith, Ranges};
use super::number_set::NumberSet;
use super::sketches::Sketches;
use crate::Rank;

/// Sketches that are asked for before they are compared. Of millions most are in no cache.
const ASKED: usize = 16;
/// Documents whose buckets are asked for before they are looked at.
const AHEAD: usize = 8;

/// Whom the documents of some ranges meet in buckets.
pub(super) struct Meetings {
    pub ranges: Ranges,
    pub parts: Vec<Memberships>,
    pub crowds: Crowds,
}

impl Meetings {
    /// The bytes of memory that they take.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(Memberships::bytes).sum::<u64>() + self.crowds.bytes()
    }
}

/// Lists the candidates of documents. Each thread has its own.
pub(super) struct Lister<'a, S> {
    of: &'a Meetings,
    sketches: &'a S,
    prefilter: Prefilter,
    documents: Documents,
    /// Of crowds; empty before and after each document.
    set: NumberSet,
    /// Those that a document is paired with, and those of the document after it.
    partners: Vec<Rank>,
    next: Vec<Rank>,
}

/// A membership of a document of the range, by the part that has the bucket.
#[derive(Debug, Clone, Copy, Default)]
struct InPart {
    part: u32,
    membership: Membership,
}

/// The memberships of each document of a range.
#[derive(Debug, Default)]
struct Documents {
    first: Rank,
    all: Vec<InPart>,
    /// Where those of each document begin, and the end.
    starts: Vec<u32>,
}

impl Documents {
    /// Takes the memberships of a range that begins with `first` and has `n` ranks, from each part.
    fn fill<'a>(&mut self, first: Rank, n: usize, parts: impl Iterator<Item = &'a [Membership]> + Clone) {
        let Self { all, starts, .. } = self;
        self.first = first;
        // Counted two entries further on, so that filling a document's moves its beginning to where the one before it ends.
        starts.clear();
        starts.resize(n + 2, 0);
        let place = |rank: Rank| (rank.0 - first.0) as usize;
        parts.clone().flatten().for_each(|membership| starts[place(membership.rank) + 2] += 1);
        (1..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
        all.resize(starts[n + 1] as usize, InPart::default());
        for (memberships, part) in parts.zip(0..) {
            for &membership in memberships {
                let next = &mut starts[place(membership.rank) + 1];
                all[*next as usize] = InPart { part, membership };
                *next += 1;
            }
        }
    }

    #[inline]
    fn of(&self, rank: Rank) -> &[InPart] {
        let place = (rank.0 - self.first.0) as usize;
        &self.all[self.starts[place] as usize..self.starts[place + 1] as usize]
    }
}

impl<'a, S: Sketches> Lister<'a, S> {
    pub fn new(of: &'a Meetings, sketches: &'a S, prefilter: Prefilter) -> Self {
        let (documents, set) = (Documents::default(), NumberSet::new(of.crowds.n_numbers()));
        Self { of, sketches, prefilter, documents, set, partners: Vec::new(), next: Vec::new() }
    }

    /// The candidates of the documents of a range.
    pub fn lists(&mut self, ranks: &[Rank], range: usize) -> CandidateLists {
        let Self { of, sketches, prefilter, .. } = *self;
        let [first, end] = [range, range + 1].map(|range| of.ranges.first(range));
        let parts = of.parts.iter().map(|part| part.of_range(range));
        self.documents.fill(first, (end.0 - first.0) as usize, parts);
        let mut lists = CandidateLists::default();
        let mut compare = |later: Rank, partners: &mut Vec<Rank>| {
            prefilter.retain(sketches.sketch(later), partners, |rank| sketches.sketch(rank));
            lists.push(later, partners);
        };
        let mut waiting = None;
        for (i, &later) in ranks.iter().enumerate() {
            ranks.get(i + AHEAD).into_iter().for_each(|rank| self.prefetch(*rank));
            self.list(later);
            if self.next.is_empty() {
                continue;
            }
            // They are compared after the next ones were asked for.
            for &rank in self.next.iter().take(ASKED) {
                let sketch = sketches.sketch(rank);
                (0..sketch.len()).step_by(8).for_each(|word| hint::prefetch(sketch, word));
            }
            std::mem::swap(&mut self.partners, &mut self.next);
            if let Some(before) = waiting.replace(later) {
                compare(before, &mut self.next);
            }
        }
        if let Some(last) = waiting {
            compare(last, &mut self.partners);
        }
        lists
    }

    /// Asks for the first members of a document's buckets.
    #[inline]
    fn prefetch(&self, rank: Rank) {
        for &InPart { part, membership } in self.documents.of(rank) {
            match membership.paired_with() {
                PairedWith::Few { start, .. } => hint::prefetch(&self.of.parts[part as usize].first, start),
                PairedWith::Crowd { start, .. } => hint::prefetch(self.of.crowds.numbers(part), start),
                PairedWith::Large(bucket) => self.of.crowds.prefetch(part, bucket),
            }
        }
    }

    /// Lists the documents that the buckets of one pair it with, each once, in order, in `next`.
    fn list(&mut self, later: Rank) {
        let Self { of, documents, set, next, .. } = self;
        next.clear();
        let mut is_crowded = false;
        for &InPart { part, membership } in documents.of(later) {
            match membership.paired_with() {
                PairedWith::Few { start, end } => add(next, &of.parts[part as usize].first[start..end]),
                PairedWith::Crowd { start, end } => {
                    of.crowds.numbers(part)[start..end].iter().for_each(|number| set.insert(*number));
                    is_crowded = true;
                }
                PairedWith::Large(bucket) => {
                    of.crowds.words(part, bucket).iter().for_each(|word| set.add(word.at, word.bits));
                    is_crowded = true;
                }
            }
        }
        if is_crowded {
            set.drain(|number| next.push(of.crowds.rank(number)));
        }
        if !next.is_sorted_by(|a, b| a < b) {
            // There are few parts, each in order, which are merged.
            next.sort();
            next.dedup();
        }
    }
}

/// Adds the few members of a bucket. Mostly they are those of the bucket before, and so few in all that each is put where it belongs.
#[inline]
fn add(partners: &mut Vec<Rank>, members: &[Rank]) {
    if partners.len() > 2 * FEW {
        // Doubles are taken out in the end.
        partners.extend_from_slice(members);
    } else if partners != members {
        for &member in members {
            let at = partners.iter().rposition(|partner| *partner <= member).map_or(0, |before| before + 1);
            if at == 0 || partners[at - 1] != member {
                partners.insert(at, member);
            }
        }
    }
}
