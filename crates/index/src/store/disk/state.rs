//! What a collection is at one moment.

use benzer_core::lsh::BandKey;

use super::block::{Block, Rows};
use super::build::{self, Made, Source};
use super::directory::Bucket;
use super::part::{Limits, Merge, Part};
use super::row::Row;
use super::segment::End;
use crate::error::Result;
use crate::store::{DocNo, Parts, Postings, Stats};

/// Segments are merged with those before them that are not so many times larger.
const FACTOR: usize = 4;
/// Keys that are looked up at the same time.
const TOGETHER: usize = 72;

/// Segments, and what is removed of them. Cloning it copies pointers.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub rows: Rows,
    /// In the order of their numbers.
    pub parts: Vec<Part>,
    /// How far the log is part of it.
    pub end: End,
}

impl State {
    pub fn new(rows: Rows, end: End) -> Self {
        Self { rows, parts: Vec::new(), end }
    }

    /// Takes a batch in, and merges segments on the heap. Damaged rows are left out.
    pub fn apply(&mut self, block: &Block<'_>, made: Made<'_>, limits: Limits) -> Result<()> {
        block.removed.iter().for_each(|number| self.remove(*number));
        self.end = self.end.after(block);
        let is_there =
            |(_, place): &(DocNo, usize)| block.is_whole || self.rows.whole(*place, Parts::All).is_some();
        let (numbers, places): (Vec<DocNo>, Vec<u64>) =
            block.places().filter(is_there).map(|(number, place)| (number, place as u64)).unzip();
        if numbers.is_empty() {
            return Ok(());
        }
        let source =
            Source { rows: &self.rows, numbers: &numbers, places: &places, from: block.at, to: self.end };
        self.parts.push(Part::new(build::on_heap(&source, made)?));
        while let Some(from) = self.unmerged(limits) {
            let segment = Merge::new(&self.parts[from..]).on_heap(&self.rows, made)?;
            self.parts.truncate(from);
            self.parts.extend(segment.map(Part::new));
        }
        Ok(())
    }

    /// From which part on all should be one.
    pub fn unmerged(&self, limits: Limits) -> Option<usize> {
        let mut from = self.parts.len().checked_sub(1)?;
        let mut len = self.parts[from].segment.len();
        while from > limits.first {
            let before = self.parts[from - 1].segment.len();
            if before >= FACTOR * len || len + before > limits.most {
                break;
            }
            len += before;
            from -= 1;
        }
        (from + 1 < self.parts.len()).then_some(from)
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

    /// The number of an id.
    pub fn number(&self, id: &[u8]) -> Option<DocNo> {
        let mut found = None;
        for part in self.parts.iter().rev() {
            part.segment.find_id(id, |local| {
                if part.has(local)
                    && self.rows.get(part.segment.place(local)).is_some_and(|row| row.record.id == id)
                {
                    found = Some(part.segment.number(local));
                }
            });
            if found.is_some() {
                break;
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
        let (part, local) = self.place(number)?;
        self.rows.get(self.parts[part].segment.place(local)).map(|row| row.record.id)
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
    pub fn postings(&self, keys: &[BandKey], postings: &mut Postings) {
        let mut buckets: Vec<Bucket> = Vec::with_capacity(TOGETHER * self.parts.len());
        let parts: Vec<(&Part, &[u64])> =
            self.parts.iter().map(|part| (part, part.segment.words())).collect();
        for keys in keys.chunks(TOGETHER) {
            buckets.clear();
            for (part, words) in &parts {
                let directories = &part.segment.shape.directories;
                buckets.extend(keys.iter().map(|key| directories[key.band as usize].bucket(words, key.key)));
            }
            let mut touched = 0;
            for ((part, words), buckets) in parts.iter().zip(buckets.chunks_exact(keys.len())) {
                let directories = &part.segment.shape.directories;
                for (key, bucket) in keys.iter().zip(buckets) {
                    touched ^= directories[key.band as usize].touch(words, *bucket);
                }
            }
            std::hint::black_box(touched);
            for (i, key) in keys.iter().enumerate() {
                for ((part, words), bucket) in parts.iter().zip(buckets.iter().skip(i).step_by(keys.len())) {
                    let directory = &part.segment.shape.directories[key.band as usize];
                    directory.find(words, key.key, *bucket, |local| {
                        if part.has(local as usize) {
                            postings.push(part.segment.number(local as usize));
                        }
                    });
                }
                postings.end_key();
            }
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
        }
    }
}
