//! The input against all old documents, by the exact overlaps of their features: containment, and the exact join.
//!
//! Documents without elements overlap with nothing. Old documents go into an index, as many at a time as half of the memory for sorting has room for, and all members go through it.

use benzer_core::field::text::Scratch;

use super::against::{OldEdge, each_member, numbered};
use super::stages::Run;
use crate::archive::{Archives, OldDocument, Prober, sorted_elements};
use crate::corpus::CorpusView;
use crate::decide::{Removal, Rule};
use crate::edges::{EdgesWriter, OLD_EDGES};
use crate::error::Result;
use crate::found_old::FoundOld;
use crate::request::{Measure, Verify};
use crate::write::{CountKind, Excerpt};
use benzer_join::overlap::{self, Counter, Index, IndexBuilder};
use benzer_join::verify::Texts;

/// Documents that are looked at between two looks at the wish to stop.
const TOGETHER: usize = 1 << 14;

/// What a thread counts with.
#[derive(Default)]
struct Buffers {
    scratch: Scratch,
    own: Vec<u64>,
    counter: Counter,
}

impl Run<'_> {
    pub(super) fn overlapping_old(
        &mut self,
        ranked: &CorpusView<'_>,
        members: &[u32],
        guests: &mut FoundOld,
    ) -> Result<EdgesWriter> {
        let mut found = self.room().sorter::<(u32, u64, u32, u32)>(4);
        let mut sets = Sets::new(&guests.archives);
        while let Some((index, olds)) = sets.next(self.memory.sorting / 2)? {
            let mut done = 0;
            for some in members.chunks(TOGETHER) {
                let look =
                    |buffers: &mut Buffers, rank: u32| self.overlaps(ranked, rank, (&index, &olds), buffers);
                let looked = each_member(some, self.request.resources.threads, Buffers::default, look)?;
                for (met, edges) in looked {
                    self.counts.met += met;
                    self.counts.candidates += met;
                    for (rank, old, both, size) in edges {
                        found.push((rank, old.packed(), both, size))?;
                    }
                }
                done += some.len() as u64;
                self.observer.reached(done);
                Self::check_cancelled(self.observer)?;
            }
        }
        let mut edges = self.edges_writer(ranked.corpus, OLD_EDGES, 0)?;
        for record in found.finish()? {
            let (rank, old, both, size) = record?;
            let made = numbered(vec![(rank, OldDocument::unpacked(old), both, size)], guests)?;
            made.into_iter().try_for_each(|edge| edges.push(edge))?;
        }
        Ok(edges)
    }

    /// How many sets of an index a document meets, and the edges among them.
    fn overlaps(
        &self,
        ranked: &CorpusView<'_>,
        rank: u32,
        (index, olds): (&Index, &[OldDocument]),
        buffers: &mut Buffers,
    ) -> Result<Vec<(u64, Vec<OldEdge>)>> {
        let Buffers { scratch, own, counter } = buffers;
        let (mut met, mut edges) = (0, Vec::new());
        ranked.with_text(rank, &mut |text| {
            let elements = sorted_elements(&self.ingest.shingler, text, scratch, own);
            counter.count(index, elements, |set, both| {
                met += 1;
                let of = match self.request.compare.measure {
                    Measure::Containment => index.size(set),
                    Measure::Jaccard => index.size(set) + elements.len() as u32 - both,
                };
                if self.request.compare.threshold.is_reached(both.into(), of.into()) {
                    edges.push((rank, olds[set as usize], both, of));
                }
            });
        })?;
        Ok(vec![(met, edges)])
    }
}

impl Run<'_> {
    /// What the numbers of edges are.
    pub(super) fn counted(&self) -> CountKind {
        match (self.request.compare.measure, self.request.compare.verify) {
            (Measure::Containment, _) => CountKind::Contained,
            (Measure::Jaccard, Verify::Exact) => CountKind::Union,
            (Measure::Jaccard, Verify::Estimate) => CountKind::Registers,
        }
    }

    /// Where a removed document has what it contains.
    pub(super) fn span(&self, ranked: &CorpusView<'_>, removal: &Removal) -> Result<Option<Excerpt>> {
        let Some(old) = ranked.found_old.at(removal.kept()).filter(|_| removal.rule == Rule::Contained)
        else {
            return Ok(None);
        };
        let segment = ranked.found_old.archives.segment(old);
        let mut elements = Vec::new();
        segment.features(&segment.row(old.number)?, &mut elements)?;
        let mut found = None;
        ranked.with_text(removal.removed(), &mut |text| {
            let range = overlap::span(&self.ingest.shingler, text, &elements);
            found = range.map(|range| Excerpt { text: text[range.clone()].to_owned(), range });
        })?;
        Ok(found)
    }
}

/// Old documents in order, each text once.
struct Sets<'a> {
    archives: &'a Archives,
    prober: Prober<'a>,
    next: OldDocument,
}

impl<'a> Sets<'a> {
    fn new(archives: &'a Archives) -> Self {
        Self { archives, prober: Prober::new(archives), next: OldDocument { segment: 0, number: 0 } }
    }

    /// An index of as many as there is room for, with what its sets are. Nothing when all were given.
    fn next(&mut self, budget_bytes: usize) -> Result<Option<(Index, Vec<OldDocument>)>> {
        let (mut builder, mut olds, mut features) = (IndexBuilder::new(budget_bytes), Vec::new(), Vec::new());
        while let Some(segment) = self.archives.segments().get(self.next.segment as usize) {
            if self.next.number >= segment.len() {
                self.next = OldDocument { segment: self.next.segment + 1, number: 0 };
                continue;
            }
            let row = segment.row(self.next.number)?;
            if !builder.has_room(row.n_features as usize) {
                break;
            }
            if row.n_features > 0 && self.prober.first_of(row.hash)? == Some(self.next) {
                segment.features(&row, &mut features)?;
                builder.push(&features);
                olds.push(self.next);
            }
            self.next.number += 1;
        }
        Ok((!olds.is_empty()).then(|| (builder.build(), olds)))
    }
}
