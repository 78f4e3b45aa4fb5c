//! A segment with what is removed of it, and several made one.

use std::sync::Arc;

use super::block::Rows;
use super::build::{self, SegmentFormat, Source};
use super::policy::Tier;
use super::segment::{End, Segment};
use crate::bit_set::BitSet;
use crate::error::Result;
use crate::record::DocNo;

/// What may be merged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// The first part; those before it are in the hands of another.
    pub first: usize,
    /// Records, at most.
    pub max: usize,
    pub tiers: [Tier; 4],
}

/// A segment, and which of its records are removed.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub segment: Arc<Segment>,
    removed: Option<Arc<BitSet>>,
    pub n_removed: usize,
}

impl Part {
    pub fn new(segment: Segment) -> Self {
        Self { segment: Arc::new(segment), removed: None, n_removed: 0 }
    }

    #[inline]
    pub fn has(&self, local: usize) -> bool {
        local < self.segment.len() && self.removed.as_ref().is_none_or(|removed| !removed.has(local))
    }

    /// Removes a record, if it is here.
    pub fn remove_number(&mut self, number: DocNo) {
        if let Some(local) = self.segment.local(number) {
            self.remove(local);
        }
    }

    pub fn remove(&mut self, local: usize) {
        if !self.has(local) {
            return;
        }
        let n = self.segment.len();
        let removed = self.removed.get_or_insert_with(|| Arc::new(BitSet::with_capacity(n)));
        Arc::make_mut(removed).insert(local);
        self.n_removed += 1;
    }

    /// The local numbers of records that are there.
    pub fn locals(&self, from: usize) -> impl Iterator<Item = usize> {
        (from..self.segment.len()).filter(|local| self.has(*local))
    }

    /// The numbers of records that are removed.
    pub fn removed(&self) -> impl Iterator<Item = DocNo> {
        let n = if self.n_removed == 0 { 0 } else { self.segment.len() };
        (0..n).filter(|local| !self.has(*local)).map(|local| self.segment.number(local))
    }
}

/// Live records of several parts.
#[derive(Debug)]
pub(super) struct Merge {
    pub numbers: Vec<DocNo>,
    places: Vec<u64>,
    from: usize,
    to: End,
}

impl Merge {
    pub fn new(parts: &[Part]) -> Self {
        let n = parts.iter().map(|part| part.segment.len() - part.n_removed).sum();
        let (mut numbers, mut places) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for part in parts {
            numbers.extend(part.locals(0).map(|local| part.segment.number(local)));
            places.extend(part.locals(0).map(|local| part.segment.place(local) as u64));
        }
        let (from, to) = (parts.first().map(|part| part.segment.shape.from), parts.last());
        let to = to.map_or(End::START, |part| part.segment.shape.to);
        Self { numbers, places, from: from.unwrap_or_default(), to }
    }

    pub fn source<'a>(&'a self, rows: &'a Rows) -> Source<'a> {
        Source { rows, numbers: &self.numbers, places: &self.places, from: self.from, to: self.to }
    }

    /// A segment on the heap; nothing if nothing is left.
    pub fn on_heap(&self, rows: &Rows, format: SegmentFormat<'_>) -> Result<Option<Segment>> {
        match self.numbers.is_empty() {
            true => Ok(None),
            false => build::on_heap(&self.source(rows), format).map(Some),
        }
    }
}
