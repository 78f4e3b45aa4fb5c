//! The distinct elements of documents, made once for as long as they are remembered: the first ones of a cluster come again and again.

use std::collections::HashMap;
use std::ops::Range;

use benzer_core::field::text::{Scratch, Shingler};

use super::Texts;
use super::set::ElementSet;
use crate::error::Result;

/// Where features come from.
#[derive(Clone, Copy)]
pub(crate) struct Sources<'a> {
    pub texts: &'a dyn Texts,
    pub shingler: &'a Shingler,
    /// Elements that are remembered at most, if one document does not have more.
    pub remembered: usize,
}

/// The features of documents that were looked at lately.
#[derive(Debug, Default)]
pub(super) struct Features {
    scratch: Scratch,
    set: ElementSet,
    elements: Vec<u64>,
    end: usize,
    places: HashMap<u32, Range<usize>>,
}

impl Features {
    /// The distinct elements of a document.
    pub fn of(&mut self, rank: u32, sources: Sources<'_>) -> Result<&[u64]> {
        if let Some(place) = self.places.get(&rank) {
            return Ok(&self.elements[place.clone()]);
        }
        if self.end > sources.remembered {
            self.places.clear();
            self.end = 0;
        }
        let Self { scratch, set, elements, end, places } = self;
        let start = *end;
        sources.texts.with_text(rank, &mut |text| {
            let written = sources.shingler.write_elements(text, scratch, elements, start);
            *end = start + set.distinct(&mut elements[start..written]);
        })?;
        places.insert(rank, start..*end);
        Ok(&elements[start..*end])
    }
}
