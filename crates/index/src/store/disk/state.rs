//! What a collection is at one moment.

use benzer_core::lsh::BandKey;

use super::block::{Block, Rows};
use super::build::{self, SegmentFormat, Source};
use super::directory::Place;
use super::part::{Limits, Merge, Part};
use super::policy;
use super::row::Row;
use super::segment::{End, id_key};
use crate::error::Result;
use crate::hints::prefetch;
use crate::record::DocNo;
use crate::store::{Parts, Postings, Stats};

/// Keys that are looked up at the same time.
const KEY_BATCH: usize = 72;
/// Records that are asked for at the same time.
pub(super) const FETCHED: usize = 8;

/// Segments, and what is removed of them. Cloning it copies pointers.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub rows: Rows,
    /// In the order of their numbers.
    pub parts: Vec<Part>,
    /// How far the log is part of it.
    pub end: End,
    /// A stretch of the log could not be read: what was put, replaced and removed there is not known.
    pub has_lost: bool,
}

impl State {
    pub fn new(rows: Rows, end: End) -> Self {
        Self { rows, parts: Vec::new(), end, has_lost: false }
    }

    /// Takes batches in, and merges segments on the heap. Damaged rows are left out.
    pub fn apply(&mut self, blocks: &[Block<'_>], format: SegmentFormat<'_>, limits: Limits) -> Result<()> {
        let Some(from) = blocks.first().map(|block| block.at) else { return Ok(()) };
        let (mut numbers, mut places, mut removed) = (Vec::new(), Vec::new(), Vec::new());
        for block in blocks {
            removed.extend_from_slice(block.removed);
            self.end = self.end.after(block);
            let is_there = |place: usize| block.is_whole || self.rows.whole(place, Parts::All).is_some();
            for (number, place) in block.places().filter(|(_, place)| is_there(*place)) {
                numbers.push(number);
                places.push(place as u64);
            }
        }
        removed.iter().for_each(|number| self.remove(*number));
        if let Some(&first) = numbers.first() {
            let source = Source { rows: &self.rows, numbers: &numbers, places: &places, from, to: self.end };
            self.parts.push(Part::new(build::on_heap(&source, format)?));
            // Those that a later one of these batches has removed.
            removed.iter().filter(|number| **number >= first).for_each(|number| self.remove(*number));
        }
        while let Some(from) = self.unmerged(limits) {
            let segment = Merge::new(&self.parts[from..]).on_heap(&self.rows, format)?;
            self.parts.truncate(from);
            self.parts.extend(segment.map(Part::new));
        }
        Ok(())
    }

    /// From which part on all should be one.
    pub fn unmerged(&self, limits: Limits) -> Option<usize> {
        let sizes: Vec<usize> =
            self.parts.get(limits.first..)?.iter().map(|part| part.segment.len()).collect();
        let from = policy::unmerged(&sizes, &limits.tiers)?;
        (sizes[from..].iter().sum::<usize>() <= limits.max).then_some(limits.first + from)
    }

    /// Records in parts that are on the heap.
    pub fn n_on_heap(&self) -> usize {
        let on_heap = self.parts.iter().filter(|part| part.segment.path.is_none());
        on_heap.map(|part| part.segment.len()).sum()
    }

    /// Removes a record, if it is there.
    pub fn remove(&mut self, number: DocNo) {
        if let Some((part, local)) = self.place(number) {
            self.parts[part].remove(local);
        }
    }

    /// Part and local number of a record.
    #[inline]
    fn place(&self, number: DocNo) -> Option<(usize, usize)> {
        let after = self.parts.partition_point(|part| part.segment.shape.first <= number);
        let i = after.checked_sub(1)?;
        let part = &self.parts[i];
        part.segment.local(number).filter(|local| part.has(*local)).map(|local| (i, local))
    }

    /// The numbers of some ids.
    pub fn numbers(&self, ids: &[&[u8]]) -> Vec<Option<DocNo>> {
        let mut found = vec![None; ids.len()];
        let parts: Vec<(&Part, &[u64], Place)> = self
            .parts
            .iter()
            .filter_map(|part| Some((part, part.segment.words(), part.segment.ids()?)))
            .collect();
        let mut keys = Vec::with_capacity(KEY_BATCH);
        for (ids, found) in ids.chunks(KEY_BATCH).zip(found.chunks_mut(KEY_BATCH)) {
            keys.clear();
            keys.extend(ids.iter().map(|id| id_key(id)));
            for (_, words, place) in &parts {
                keys.iter().for_each(|key| prefetch(words, place.at(*key)));
            }
            for (part, words, place) in &parts {
                let may_have = |key: u64| place.may_have(words[place.at(key)], key);
                let some = || keys.iter().zip(0..).filter(|(key, _)| may_have(**key));
                some().for_each(|(key, _)| place.prefetch(words, words[place.at(*key)]));
                for (key, i) in some() {
                    place.find(words, *key, |local| {
                        let local = local as usize;
                        let is_it = || {
                            self.rows
                                .get(part.segment.place(local))
                                .is_some_and(|row| row.record.id == ids[i])
                        };
                        if part.has(local) && is_it() {
                            found[i] = Some(part.segment.number(local));
                        }
                    });
                }
            }
        }
        found
    }

    /// Where the row of a record is in the log.
    pub fn place_of(&self, number: DocNo) -> Option<usize> {
        self.place(number).map(|(part, local)| self.parts[part].segment.place(local))
    }

    /// The id of a record, which may be damaged.
    pub fn id_of(&self, number: DocNo) -> Option<&[u8]> {
        self.rows.get(self.place_of(number)?).map(|row| row.record.id)
    }

    /// The numbers of records that are gone at some time.
    pub fn gone(&self, now: u64) -> Vec<DocNo> {
        let may_have = |part: &&Part| (1..=now).contains(&part.segment.shape.soonest);
        let mut gone = Vec::new();
        for part in self.parts.iter().filter(may_have) {
            let rows = part.locals(0).map(|local| (local, self.rows.get(part.segment.place(local))));
            let is_gone = |row: Row<'_>| (1..=now).contains(&row.record.expires);
            let locals = rows.filter(|(_, row)| row.is_some_and(is_gone)).map(|(local, _)| local);
            gone.extend(locals.map(|local| part.segment.number(local)));
        }
        gone
    }

    /// The row of a number; the error is its number, if it is there and damaged.
    #[inline]
    pub fn row(&self, number: DocNo, parts: Parts) -> Option<Result<Row<'_>, DocNo>> {
        let (part, local) = self.place(number)?;
        Some(self.row_at(&self.parts[part], local, parts))
    }

    #[inline]
    fn row_at(&self, part: &Part, local: usize, parts: Parts) -> Result<Row<'_>, DocNo> {
        self.rows.whole(part.segment.place(local), parts).ok_or_else(|| part.segment.number(local))
    }

    /// Appends the numbers of records that have each key, in order, and of a few others.
    ///
    /// Everything is asked for before the first of it is read: buckets of all keys in all parts, then the postings of those that may have something.
    pub fn postings(&self, keys: &[BandKey], postings: &mut Postings) {
        let parts: Vec<(&Part, &[u64])> =
            self.parts.iter().map(|part| (part, part.segment.words())).collect();
        let place = |part: &Part, key: &BandKey| part.segment.shape.directories[key.band as usize];
        let mut some: Vec<(u32, u32)> = Vec::with_capacity(KEY_BATCH * parts.len());
        for keys in keys.chunks(KEY_BATCH) {
            for (part, words) in &parts {
                keys.iter().for_each(|key| prefetch(words, place(part, key).at(key.key)));
            }
            some.clear();
            for (key, i) in keys.iter().zip(0..) {
                for ((part, words), j) in parts.iter().zip(0..) {
                    let place = place(part, key);
                    let bucket = words[place.at(key.key)];
                    if place.may_have(bucket, key.key) {
                        place.prefetch(words, bucket);
                        some.push((i, j));
                    }
                }
            }
            let mut some = some.iter().peekable();
            for (key, i) in keys.iter().zip(0..) {
                while let Some((_, part)) = some.next_if(|(of, _)| *of == i) {
                    let (part, words) = parts[*part as usize];
                    place(part, key).find(words, key.key, |local| {
                        if part.has(local as usize) {
                            postings.push(part.segment.number(local as usize));
                        }
                    });
                }
                postings.end_key();
            }
        }
    }

    /// Asks for the rows of some numbers, at most [`FETCHED`].
    pub fn prefetch(&self, numbers: &[DocNo]) {
        let words = self.rows.map.words();
        for number in numbers {
            let at = self.place_of(*number).unwrap_or(usize::MAX);
            (0..self.rows.stride + 8).step_by(8).for_each(|word| prefetch(words, at.saturating_add(word)));
        }
    }

    /// All records from a number on; those that are damaged by their number.
    pub fn scan(&self, from: DocNo, parts: Parts) -> impl Iterator<Item = (DocNo, Result<Row<'_>, DocNo>)> {
        self.parts.iter().flat_map(move |part| {
            let locals = part.locals(part.segment.local_from(from));
            locals.map(move |local| (part.segment.number(local), self.row_at(part, local, parts)))
        })
    }

    pub fn n_documents(&self) -> u64 {
        self.parts.iter().map(|part| (part.segment.len() - part.n_removed) as u64).sum()
    }

    pub fn stats(&self) -> Stats {
        let segment_bytes = |part: &Part| 8 * part.segment.shape.words as u64;
        let documents = self.n_documents();
        let fixed = 8 * (self.rows.stride as u64 + 3) * self.end.n_rows;
        let texts = (8 * self.end.place as u64).saturating_sub(fixed);
        Stats {
            documents,
            removed: self.end.n_rows - documents,
            parts: self.parts.len() as u64,
            posting_bytes: self.parts.iter().map(segment_bytes).sum(),
            sketch_bytes: fixed,
            id_bytes: 0,
            document_bytes: texts,
            ..Stats::default()
        }
    }
}
