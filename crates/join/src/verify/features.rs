//! The distinct elements of documents, made once for as long as they are remembered: the first ones of a cluster come again and again.

use std::{collections::HashMap, ops::Range};

use benzer_core::field::text::{Scratch, Shingler};
use benzer_core::slots::ElementSet;
use benzer_flow::Result;

use super::{Texts, pair::PairCount, reference::ReferenceDocument};
use crate::Rank;

/// Where features come from.
#[derive(Clone, Copy)]
pub struct FeatureSource<'a> {
    /// The texts.
    pub texts: &'a dyn Texts,
    /// Makes elements of them.
    pub shingler: &'a Shingler,
    /// Elements that are remembered at most, if one document does not have more.
    pub remembered: usize,
    /// Bytes that all threads together may hold of one large cluster; the documents of a larger one are made again and again.
    pub held: usize,
}

/// Makes and counts the distinct elements of texts.
#[derive(Debug, Default)]
pub struct ElementCounter {
    scratch: Scratch,
    set: ElementSet,
    elements: Vec<u64>,
}

impl ElementCounter {
    /// How many a text has.
    pub fn count(&mut self, text: &str, shingler: &Shingler) -> u32 {
        let n = shingler.write_elements(text, &mut self.scratch, &mut self.elements, 0);
        self.set.distinct(&mut self.elements[..n]) as u32
    }

    /// The distinct elements of a document, in no order.
    pub(crate) fn of(&mut self, rank: Rank, sources: FeatureSource<'_>) -> Result<&[u64]> {
        let mut n = 0;
        sources.texts.with_text(rank, &mut |text| n = self.count(text, sources.shingler))?;
        Ok(&self.elements[..n as usize])
    }
}

/// The features of documents that were looked at lately.
#[derive(Debug, Default)]
pub(super) struct Features {
    scratch: Scratch,
    set: ElementSet,
    elements: Vec<u64>,
    end: usize,
    places: HashMap<Rank, Range<usize>>,
    /// Of two documents that are compared: the earlier one, which of its elements the later one has, and what else that has.
    first: ReferenceDocument,
    bits: Vec<u64>,
    others: Vec<u64>,
}

impl Features {
    /// The distinct elements of a document.
    pub fn of(&mut self, rank: Rank, sources: FeatureSource<'_>) -> Result<&[u64]> {
        if !self.places.contains_key(&rank) {
            self.forget(sources.remembered);
        }
        let place = self.place(rank, sources)?;
        Ok(&self.elements[place])
    }

    /// The elements of a document, some of them more than once. They are not remembered.
    pub fn with_repetitions(&mut self, rank: Rank, sources: FeatureSource<'_>) -> Result<&[u64]> {
        self.forget(sources.remembered);
        let Self { scratch, elements, end, .. } = self;
        let (start, mut written) = (*end, *end);
        sources.texts.with_text(rank, &mut |text| {
            written = sources.shingler.write_elements(text, scratch, elements, start);
        })?;
        Ok(&elements[start..written])
    }

    /// What two documents share. They are not remembered.
    pub fn compare(&mut self, later: Rank, earlier: Rank, sources: FeatureSource<'_>) -> Result<PairCount> {
        let elements = self.with_repetitions(earlier, sources)?.len();
        let start = self.end;
        self.first.fill(&self.elements[start..start + elements]);
        let elements = self.with_repetitions(later, sources)?.len();
        let Self { first, bits, others, set, .. } = self;
        bits.clear();
        bits.resize(first.places().div_ceil(64), 0);
        others.resize(elements.max(others.len()), 0);
        let n = first.split(&self.elements[start..start + elements], bits, others);
        let n = set.distinct(&mut others[..n]);
        let intersection: u32 = bits.iter().map(|word| word.count_ones()).sum();
        Ok(PairCount { intersection, sizes: (first.distinct() + n) as u32 + intersection })
    }

    /// Makes room when too much is remembered.
    fn forget(&mut self, remembered: usize) {
        if self.end > remembered {
            self.places.clear();
            self.end = 0;
        }
    }

    /// Where the elements of a document are.
    fn place(&mut self, rank: Rank, sources: FeatureSource<'_>) -> Result<Range<usize>> {
        if let Some(place) = self.places.get(&rank) {
            return Ok(place.clone());
        }
        let place = self.distinct(rank, self.end, sources)?;
        self.end = place.end;
        self.places.insert(rank, place.clone());
        Ok(place)
    }

    /// Makes the distinct elements of a document, from `start` on.
    fn distinct(&mut self, rank: Rank, start: usize, sources: FeatureSource<'_>) -> Result<Range<usize>> {
        let Self { scratch, set, elements, .. } = self;
        let mut end = start;
        sources.texts.with_text(rank, &mut |text| {
            let written = sources.shingler.write_elements(text, scratch, elements, start);
            end = start + set.distinct(&mut elements[start..written]);
        })?;
        Ok(start..end)
    }
}
