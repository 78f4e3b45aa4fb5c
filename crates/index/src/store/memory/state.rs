//! What a collection is at one moment.

use std::collections::HashMap;
use std::sync::Arc;

use benzer_core::lsh::BandKey;

use super::directory::Bucket;
use super::newest::{Newest, PLACES};
use super::run::{self, Run};
use crate::record::Records;
use crate::settings::Layout;
use crate::store::{DocNo, Postings, Record, Stats};

/// Runs are merged with the one before them when that is not so many times larger.
const FACTOR: usize = 4;
/// Keys that are looked up at the same time.
const TOGETHER: usize = 72;

/// Runs, the newest records, and what is removed of them. Cloning it copies pointers.
#[derive(Debug, Clone)]
pub(super) struct State {
    /// In the order of their numbers.
    runs: Arc<Vec<Part>>,
    newest: Arc<Newest>,
    /// Places of the newest that count.
    len: usize,
    newest_removed: [u64; PLACES / 64],
    n_removed: u64,
}

/// A run, and which of its records are removed.
#[derive(Debug, Clone)]
struct Part {
    run: Arc<Run>,
    removed: Option<Arc<Vec<u64>>>,
}

impl Part {
    #[inline]
    fn has(&self, local: usize) -> bool {
        self.removed.as_ref().is_none_or(|removed| removed[local / 64] >> (local % 64) & 1 == 0)
    }

    fn remove(&mut self, local: usize) {
        let n = self.run.len();
        let removed = self.removed.get_or_insert_with(|| Arc::new(vec![0; n.div_ceil(64)]));
        Arc::make_mut(removed)[local / 64] |= 1 << (local % 64);
    }
}

/// Where a record is.
enum Place {
    Run { part: usize, local: usize },
    Newest(usize),
}

impl State {
    pub fn new(layout: &Layout) -> Self {
        Self {
            runs: Arc::default(),
            newest: Arc::new(Newest::new(0, layout)),
            len: 0,
            newest_removed: [0; PLACES / 64],
            n_removed: 0,
        }
    }

    /// The number of the next record.
    pub fn next(&self) -> DocNo {
        self.newest.first + self.len as u32
    }

    /// Adds one record to the newest, and replaces the one that has its id.
    pub fn add(&mut self, records: &Records, i: usize, layout: &Layout) {
        if self.len == PLACES {
            self.settle(layout);
        }
        self.remove(records.ids.get(i));
        Arc::clone(&self.newest).add(self.len, records, i, layout);
        self.len += 1;
    }

    /// Adds many records as a run.
    pub fn add_run(&mut self, records: Records, layout: &Layout) {
        self.settle(layout);
        let records = without_repeated(records, layout.words());
        if !self.runs.is_empty() {
            for id in records.ids.iter() {
                self.remove(id);
            }
        }
        let first = self.next();
        self.newest = Arc::new(Newest::new(first + records.len() as u32, layout));
        self.push(Run::new((first..).take(records.len()).collect(), records, layout), layout);
    }

    /// Makes a run of the newest records.
    fn settle(&mut self, layout: &Layout) {
        if self.len == 0 {
            return;
        }
        let (mut numbers, mut records) = (Vec::new(), Records::default());
        for place in (0..self.len).filter(|place| !self.is_removed_newest(*place)) {
            numbers.push(self.newest.first + place as u32);
            push(&mut records, self.newest.record(place));
        }
        self.n_removed -= (self.len - numbers.len()) as u64;
        let next = self.next();
        (self.len, self.newest_removed) = (0, [0; PLACES / 64]);
        self.newest = Arc::new(Newest::new(next, layout));
        self.push(Run::new(numbers, records, layout), layout);
    }

    /// Appends a run, and merges as long as the last two are alike.
    fn push(&mut self, run: Run, layout: &Layout) {
        let mut runs = Vec::clone(&self.runs);
        if run.len() > 0 {
            runs.push(Part { run: Arc::new(run), removed: None });
        }
        while let [.., before, last] = &runs[..] {
            if before.run.len() >= FACTOR * last.run.len() {
                break;
            }
            let merged = self.merged(&[before.clone(), last.clone()], layout);
            runs.truncate(runs.len() - 2);
            runs.extend(merged);
        }
        self.runs = Arc::new(runs);
    }

    /// One run of several, without what is removed.
    fn merged(&mut self, parts: &[Part], layout: &Layout) -> Option<Part> {
        let (mut numbers, mut records) = (Vec::new(), Records::default());
        let n: usize = parts.iter().map(|part| part.run.len()).sum();
        records.words.reserve_exact(n * layout.words());
        for part in parts {
            for local in (0..part.run.len()).filter(|local| part.has(*local)) {
                numbers.push(part.run.number(local));
                push(&mut records, part.run.record(local));
            }
        }
        self.n_removed -= (n - numbers.len()) as u64;
        let run = Arc::new(Run::new(numbers, records, layout));
        (run.len() > 0).then_some(Part { run, removed: None })
    }

    /// Makes one run of all.
    pub fn compact(&mut self, layout: &Layout) {
        self.settle(layout);
        let parts = Arc::clone(&self.runs);
        let is_compact = parts.iter().all(|part| part.removed.is_none());
        if parts.len() > 1 || !is_compact {
            self.runs = Arc::new(self.merged(&parts, layout).into_iter().collect());
        }
    }

    /// Removes the record of an id; whether there was one.
    pub fn remove(&mut self, id: &[u8]) -> bool {
        let place = self.place(id);
        if let Some(place) = &place {
            self.remove_at(place);
        }
        place.is_some()
    }

    /// Removes a record that is there.
    pub fn remove_number(&mut self, number: DocNo) {
        if let Some(place) = self.place_of(number) {
            self.remove_at(&place);
        }
    }

    fn remove_at(&mut self, place: &Place) {
        self.n_removed += 1;
        match *place {
            Place::Newest(place) => self.newest_removed[place / 64] |= 1 << (place % 64),
            Place::Run { part, local } => Arc::make_mut(&mut self.runs)[part].remove(local),
        }
    }

    #[inline]
    fn is_removed_newest(&self, place: usize) -> bool {
        self.newest_removed[place / 64] >> (place % 64) & 1 == 1
    }

    fn place(&self, id: &[u8]) -> Option<Place> {
        let mut found = None;
        if self.len > 0 {
            self.newest.find_id(id, self.len, |place| {
                if !self.is_removed_newest(place) {
                    found = Some(Place::Newest(place));
                }
            });
        }
        for (i, part) in self.runs.iter().enumerate().rev() {
            if found.is_some() {
                break;
            }
            part.run.find_id(id, |local| {
                if part.has(local) {
                    found = Some(Place::Run { part: i, local });
                }
            });
        }
        found
    }

    fn place_of(&self, number: DocNo) -> Option<Place> {
        if number >= self.newest.first {
            let place = (number - self.newest.first) as usize;
            return (place < self.len && !self.is_removed_newest(place)).then_some(Place::Newest(place));
        }
        let after = self.runs.partition_point(|part| part.run.number(0) <= number);
        let i = after.checked_sub(1)?;
        let part = &self.runs[i];
        part.run.local(number).filter(|local| part.has(*local)).map(|local| Place::Run { part: i, local })
    }

    /// The number of an id.
    pub fn number(&self, id: &[u8]) -> Option<DocNo> {
        self.place(id).map(|place| match place {
            Place::Newest(place) => self.newest.first + place as u32,
            Place::Run { part, local } => self.runs[part].run.number(local),
        })
    }

    /// The record of a number.
    #[inline]
    pub fn record(&self, number: DocNo) -> Option<Record<'_>> {
        Some(match self.place_of(number)? {
            Place::Newest(place) => self.newest.record(place),
            Place::Run { part, local } => self.runs[part].run.record(local),
        })
    }

    /// Appends the numbers of records that have each key, in order, and of a few others.
    pub fn postings(&self, keys: &[BandKey], postings: &mut Postings) {
        let mut buckets = Vec::with_capacity(TOGETHER * self.runs.len());
        for keys in keys.chunks(TOGETHER) {
            buckets.clear();
            for part in &**self.runs {
                buckets.extend(keys.iter().map(|key| part.run.band(key.band).bucket(key.key)));
            }
            let mut touched = 0;
            for (part, buckets) in self.runs.iter().zip(buckets.chunks_exact(keys.len())) {
                for (key, bucket) in keys.iter().zip(buckets) {
                    touched ^= part.run.band(key.band).touch(*bucket);
                }
            }
            std::hint::black_box(touched);
            for (i, key) in keys.iter().enumerate() {
                self.postings_of(*key, buckets.iter().skip(i).step_by(keys.len()), postings);
            }
        }
    }

    #[inline]
    fn postings_of<'a>(
        &self,
        key: BandKey,
        buckets: impl Iterator<Item = &'a Bucket>,
        postings: &mut Postings,
    ) {
        for (part, bucket) in self.runs.iter().zip(buckets) {
            part.run.band(key.band).find(key.key, *bucket, |local| {
                if part.has(local as usize) {
                    postings.push(part.run.number(local as usize));
                }
            });
        }
        if self.len > 0 {
            self.newest.find(key, self.len, |place| {
                if !self.is_removed_newest(place) {
                    postings.push(self.newest.first + place as u32);
                }
            });
        }
        postings.end_key();
    }

    /// All records from a number on.
    pub fn scan(&self, from: DocNo) -> impl Iterator<Item = (DocNo, Record<'_>)> {
        let of_runs = self.runs.iter().flat_map(move |part| {
            let locals = (part.run.local_from(from)..part.run.len()).filter(|local| part.has(*local));
            locals.map(|local| (part.run.number(local), part.run.record(local)))
        });
        let start = from.saturating_sub(self.newest.first) as usize;
        let places = (start..self.len).filter(|place| !self.is_removed_newest(*place));
        of_runs.chain(places.map(|place| (self.newest.first + place as u32, self.newest.record(place))))
    }

    pub fn stats(&self) -> Stats {
        let records = self.runs.iter().map(|part| part.run.len()).sum::<usize>() + self.len;
        let mut stats = Stats {
            documents: records as u64 - self.n_removed,
            removed: self.n_removed,
            parts: self.runs.len() as u64 + u64::from(self.len > 0),
            posting_bytes: self.newest.bytes() as u64,
            ..Stats::default()
        };
        self.runs.iter().for_each(|part| part.run.add_bytes(&mut stats));
        stats
    }
}

/// Appends a record.
fn push(records: &mut Records, record: Record<'_>) {
    records.words.extend_from_slice(record.words);
    records.ids.push(record.id);
    if !record.document.is_empty() {
        while records.documents.len() + 1 < records.ids.len() {
            records.documents.push(&[]);
        }
        records.documents.push(record.document);
    }
    if record.expires > 0 || !records.expires.is_empty() {
        records.expires.resize(records.ids.len() - 1, 0);
        records.expires.push(record.expires);
    }
}

/// The records whose id does not come again after them.
fn without_repeated(records: Records, stride: usize) -> Records {
    let is_same = |&(a, b): &(u32, u32)| records.ids.get(a as usize) == records.ids.get(b as usize);
    if !run::ids(&records).repeated().any(|pair| is_same(&pair)) {
        return records;
    }
    let last: HashMap<&[u8], usize> = records.ids.iter().zip(0..).collect();
    let mut kept: Vec<usize> = last.into_values().collect();
    kept.sort_unstable();
    picked(&records, kept.into_iter(), stride)
}

/// Some of the records.
fn picked(records: &Records, places: impl Iterator<Item = usize>, stride: usize) -> Records {
    let mut some = Records::default();
    for i in places {
        let record = Record {
            id: records.ids.get(i),
            words: &records.words[i * stride..(i + 1) * stride],
            document: records.documents.get(i),
            expires: records.expires(i),
        };
        push(&mut some, record);
    }
    some
}
