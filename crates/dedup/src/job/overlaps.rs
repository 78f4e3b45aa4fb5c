//! The input against all old documents, by the exact overlaps of their features: containment, and the exact join.
//!
//! Documents without elements overlap with nothing. Old documents go into an index, as many at a time as half of the memory for sorting has room for, and all documents of the input go through it.

use benzer_core::field::text::Scratch;
use benzer_join::Rank;
use benzer_join::overlap::{self, Counter, Index, IndexBuilder};
use benzer_join::verify::Texts;

use super::against::{OldEdge, each_document, with_ranks};
use super::setup::Job;
use crate::archive::{Archives, OldDocument, OldNumber, Prober, sorted_elements};
use crate::corpus::CorpusView;
use crate::decide::{Removal, Rule};
use crate::edges::{EdgesWriter, OLD_EDGES};
use crate::error::Result;
use crate::found_old::FoundOld;
use crate::request::{Measure, Verify};
use crate::summary::Counts;
use crate::write::{CountKind, Excerpt};

/// Documents after which it is asked whether the run shall stop.
const TOGETHER: usize = 1 << 14;

#[derive(Default)]
struct Buffers {
    scratch: Scratch,
    own: Vec<u64>,
    counter: Counter,
}

impl Job<'_> {
    pub fn overlapping_old(
        &self,
        view: &CorpusView<'_>,
        compared: &[Rank],
        found_old: &mut FoundOld,
        counts: &mut Counts,
    ) -> Result<EdgesWriter<'_>> {
        let mut found = self.workspace().sorter::<(Rank, u64, u32, u32)>(4);
        let mut sets = OldSets::new(&found_old.archives);
        while let Some(part) = sets.next(self.budget.sorting / 2)? {
            let mut done = 0;
            for documents in compared.chunks(TOGETHER) {
                let find = |buffers: &mut Buffers, rank: Rank| self.overlaps(view, rank, &part, buffers);
                let threads = self.request.resources.threads;
                for (met, edges) in each_document(documents, threads, Buffers::default, find)? {
                    counts.met += met;
                    counts.candidates += met;
                    for OldEdge { rank, old, intersection, union } in edges {
                        found.push((rank, old.packed(), intersection, union))?;
                    }
                }
                done += documents.len() as u64;
                self.observer.reached(done);
                self.check_cancelled()?;
            }
        }
        let mut edges = self.edges_writer(OLD_EDGES);
        for record in found.finish()? {
            let (rank, old, intersection, union) = record?;
            let made = with_ranks(
                vec![OldEdge { rank, old: OldDocument::unpacked(old), intersection, union }],
                found_old,
            )?;
            made.into_iter().try_for_each(|edge| edges.push(edge))?;
        }
        Ok(edges)
    }

    /// How many sets of an index a document meets, and the edges among them.
    fn overlaps(
        &self,
        view: &CorpusView<'_>,
        rank: Rank,
        IndexPart { index, olds }: &IndexPart,
        buffers: &mut Buffers,
    ) -> Result<Vec<(u64, Vec<OldEdge>)>> {
        let Buffers { scratch, own, counter } = buffers;
        let (mut met, mut edges) = (0, Vec::new());
        view.with_text(rank, &mut |text| {
            let elements = sorted_elements(&self.ingest.shingler, text, scratch, own);
            counter.count(index, elements, |set, both| {
                met += 1;
                let of = match self.request.compare.measure {
                    Measure::Containment => index.size(set),
                    Measure::Jaccard => index.size(set) + elements.len() as u32 - both,
                };
                if self.request.compare.threshold.is_reached(both.into(), of.into()) {
                    edges.push(OldEdge { rank, old: olds[set as usize], intersection: both, union: of });
                }
            });
        })?;
        Ok(vec![(met, edges)])
    }

    pub fn counted(&self) -> CountKind {
        match (self.request.compare.measure, self.request.compare.verify) {
            (Measure::Containment, _) => CountKind::Contained,
            (Measure::Jaccard, Verify::Exact) => CountKind::Union,
            (Measure::Jaccard, Verify::Estimate) => CountKind::Registers,
        }
    }

    /// Where a removed document has what it contains.
    pub fn span(&self, view: &CorpusView<'_>, removal: &Removal) -> Result<Option<Excerpt>> {
        let Some(old) = view.found_old.at(removal.kept()).filter(|_| removal.rule == Rule::Contained) else {
            return Ok(None);
        };
        let segment = view.found_old.archives.segment(old);
        let mut elements = Vec::new();
        segment.features(&segment.row(old.number)?, &mut elements)?;
        let mut found = None;
        view.with_text(removal.removed(), &mut |text| {
            let range = overlap::span(&self.ingest.shingler, text, &elements);
            found = range.map(|range| Excerpt { text: text[range.clone()].to_owned(), range });
        })?;
        Ok(found)
    }
}

/// As many old documents as there is room for.
struct IndexPart {
    index: Index,
    olds: Vec<OldDocument>,
}

/// Old documents in order, each text once.
struct OldSets<'a> {
    archives: &'a Archives,
    prober: Prober<'a>,
    next: OldDocument,
}

impl<'a> OldSets<'a> {
    fn new(archives: &'a Archives) -> Self {
        Self {
            archives,
            prober: Prober::new(archives),
            next: OldDocument { segment: 0, number: OldNumber(0) },
        }
    }

    /// An index of as many as there is room for. Nothing when all were given.
    fn next(&mut self, budget_bytes: usize) -> Result<Option<IndexPart>> {
        let (mut builder, mut olds, mut features) = (IndexBuilder::new(budget_bytes), Vec::new(), Vec::new());
        while let Some(segment) = self.archives.segments.get(self.next.segment as usize) {
            if self.next.number.0 >= segment.n {
                self.next = OldDocument { segment: self.next.segment + 1, number: OldNumber(0) };
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
            self.next.number.0 += 1;
        }
        Ok((!olds.is_empty()).then(|| IndexPart { index: builder.build(), olds }))
    }
}
