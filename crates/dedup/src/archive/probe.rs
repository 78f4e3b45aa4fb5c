//! Which old documents a new one is compared with.
//!
//! **The bucket rule.** Old documents come before new ones in keep order, in the order in which they were added; of the same text only the first counts. A
//! new document is compared with the first C old ones of each bucket it is in. New documents are compared with each other as if there were no old ones, so that a bucket
//! that is full in the archive does not hide them from each other.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::keys::{Cursor, HASHES};
use super::segment::OldRow;
use super::{Archives, OldDocument, OldNumber};
use crate::error::Result;
use benzer_join::bands::BandRules;

/// Looks into archives. Each thread has its own.
#[derive(Debug)]
pub(crate) struct Prober<'a> {
    archives: &'a Archives,
    cursors: Vec<Cursor<'a>>,
    /// The rows that the document at hand met.
    rows: HashMap<OldDocument, OldRow>,
    features: Vec<u64>,
    /// How often a new document met an old one in a bucket.
    pub n_bucket_pairs: u64,
}

impl<'a> Prober<'a> {
    pub fn new(archives: &'a Archives) -> Self {
        let cursors = archives.segments.iter().map(|segment| Cursor::new(&segment.keys)).collect();
        Self { archives, cursors, rows: HashMap::new(), features: Vec::new(), n_bucket_pairs: 0 }
    }

    /// The first document with this hash of its text and these features, sorted, which are asked for only where a hash agrees.
    pub fn copy_of(
        &mut self,
        hash: u128,
        mut features: impl FnMut() -> Result<Vec<u64>>,
    ) -> Result<Option<OldDocument>> {
        let key = (hash >> 64) as u64;
        for segment in 0..self.cursors.len() as u32 {
            let mut place = self.cursors[segment as usize].find(HASHES, key)?;
            while let Some(old) = self.next(HASHES, key, segment, &mut place)? {
                let row = self.archives.segment(old).row(old.number)?;
                if row.hash == hash {
                    self.archives.segment(old).features(&row, &mut self.features)?;
                    if self.features == features()? {
                        return Ok(Some(old));
                    }
                }
            }
        }
        Ok(None)
    }

    /// The first document with this hash of its text.
    pub fn first_of(&mut self, hash: u128) -> Result<Option<OldDocument>> {
        Ok(self.of_text(hash, 1)?.first().copied())
    }

    /// The first `most` documents with this hash of their texts, in order.
    pub fn of_text(&mut self, hash: u128, max: usize) -> Result<Vec<OldDocument>> {
        let (key, mut found) = ((hash >> 64) as u64, Vec::new());
        for segment in 0..self.cursors.len() as u32 {
            let mut place = self.cursors[segment as usize].find(HASHES, key)?;
            while found.len() < max
                && let Some(old) = self.next(HASHES, key, segment, &mut place)?
            {
                if self.archives.segment(old).row(old.number)?.hash == hash {
                    found.push(old);
                }
            }
        }
        Ok(found)
    }

    /// The documents to compare a sketch with, in order; `cap` is the C of the bucket rule.
    pub fn candidates(
        &mut self,
        words: &[u64],
        BandRules { banding, prefilter, cap }: BandRules,
    ) -> Result<Vec<OldDocument>> {
        self.rows.clear();
        let mut found = Vec::new();
        for band in 0..banding.bands() {
            self.bucket(1 + band as u16, banding.key(words, band), cap, &mut found)?;
        }
        self.n_bucket_pairs += found.len() as u64;
        found.sort_unstable();
        found.dedup();
        found.retain(|old| prefilter.passes(words, &self.rows[old].words));
        Ok(found)
    }

    /// Appends the first members of a bucket, each text once.
    fn bucket(&mut self, list: u16, key: u64, cap: usize, found: &mut Vec<OldDocument>) -> Result<()> {
        let mut hashes = Vec::new();
        for segment in 0..self.cursors.len() as u32 {
            let mut place = self.cursors[segment as usize].find(list, key)?;
            while hashes.len() < cap
                && let Some(old) = self.next(list, key, segment, &mut place)?
            {
                let hash = self.row(old)?.hash;
                if !hashes.contains(&hash) {
                    hashes.push(hash);
                    found.push(old);
                }
            }
        }
        Ok(())
    }

    /// The document at a place of a list of keys of a segment, if it has the key; then the next place.
    fn next(&mut self, list: u16, key: u64, segment: u32, place: &mut u64) -> Result<Option<OldDocument>> {
        let record = self.cursors[segment as usize].record(*place)?;
        *place += 1;
        let is_visible = |number: &u32| *number < self.archives.segments[segment as usize].n;
        let number = record.filter(|record| (record.0, record.1) == (list, key)).map(|record| record.2);
        // Numbers of a key are in order: behind one that is hidden all are.
        Ok(number.filter(is_visible).map(|number| OldDocument { segment, number: OldNumber(number) }))
    }

    fn row(&mut self, old: OldDocument) -> Result<&OldRow> {
        if !self.rows.contains_key(&old) {
            self.rows.insert(old, self.archives.segment(old).row(old.number)?);
        }
        Ok(&self.rows[&old])
    }
}

pub(crate) fn intersection(a: &[u64], b: &[u64]) -> u32 {
    let (mut i, mut j, mut n) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => (i, j, n) = (i + 1, j + 1, n + 1),
        }
    }
    n
}
