//! What a collection is at one moment.

use std::sync::Arc;

use super::newest::{Newest, PLACES};
use super::run::{Distinct, Run, id_key};
use crate::bit_set::BitSet;
use crate::record::{DocNo, Record, Records, Texts};
use crate::settings::Layout;
use crate::store::Stats;

/// So many runs of one class are merged.
const ALIKE: usize = 4;
/// Ids that are looked up at the same time.
const ID_BATCH: usize = 16;
/// Runs, the newest records, and what is removed of them. Cloning it copies pointers.
#[derive(Debug, Clone)]
pub(super) struct State {
    /// In the order of their numbers.
    pub(super) runs: Arc<Vec<Part>>,
    pub(super) newest: Arc<Newest>,
    /// The number of the first of the newest.
    pub(super) first: DocNo,
    /// Places of the newest that count.
    pub(super) len: usize,
    newest_removed: [u64; PLACES / 64],
    n_removed: u64,
}

/// A run, and which of its records are removed.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) run: Arc<Run>,
    pub(super) removed: Option<Arc<BitSet>>,
}

impl Part {
    /// How large the run is: a class has four times as many records as the one before.
    fn class(&self) -> u32 {
        (self.run.len() / PLACES).checked_ilog(ALIKE).map_or(0, |class| class + 1)
    }

    #[inline]
    pub fn has(&self, local: usize) -> bool {
        self.removed.as_ref().is_none_or(|removed| !removed.has(local))
    }

    fn remove(&mut self, local: usize) {
        let n = self.run.len();
        let removed = self.removed.get_or_insert_with(|| Arc::new(BitSet::with_capacity(n)));
        Arc::make_mut(removed).insert(local);
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
            newest: Arc::new(Newest::new(layout)),
            first: DocNo::default(),
            len: 0,
            newest_removed: [0; PLACES / 64],
            n_removed: 0,
        }
    }

    /// The number of the next record.
    pub fn next(&self) -> DocNo {
        self.first.plus(self.len)
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
        let records = Distinct::of_any(records, layout.words());
        self.remove_all(&records.records.ids);
        let run = Run::from(self.first, records, layout);
        self.first = self.first.plus(run.len());
        self.push(run, layout);
    }

    /// Makes a run of the newest records.
    fn settle(&mut self, layout: &Layout) {
        if self.len == 0 {
            return;
        }
        let (mut numbers, mut records) = (Vec::new(), Records::default());
        for place in (0..self.len).filter(|place| !self.is_removed_newest(*place)) {
            numbers.push(self.first.plus(place));
            records.push(self.newest.record(place));
        }
        self.n_removed -= (self.len - numbers.len()) as u64;
        self.first = self.next();
        (self.len, self.newest_removed) = (0, [0; PLACES / 64]);
        self.newest = Arc::new(Newest::new(layout));
        self.push(Run::new(numbers, Distinct::of_distinct(records), layout), layout);
    }

    /// Appends a run, and merges until runs are the smaller the later they come, and few of a class.
    fn push(&mut self, run: Run, layout: &Layout) {
        let mut runs = Vec::clone(&self.runs);
        if run.len() > 0 {
            runs.push(Part { run: Arc::new(run), removed: None });
        }
        while let Some(class) = runs.last().map(Part::class) {
            let first = runs.iter().rposition(|part| part.class() > class).map_or(0, |before| before + 1);
            let is_alike = runs[first..].iter().all(|part| part.class() == class);
            if is_alike && runs.len() - first < ALIKE {
                break;
            }
            let merged = self.merged(&runs[first..], layout);
            runs.truncate(first);
            runs.extend(merged);
        }
        self.runs = Arc::new(runs);
    }

    /// One run of several, without what is removed.
    fn merged(&mut self, parts: &[Part], layout: &Layout) -> Option<Part> {
        let n: usize = parts.iter().map(|part| part.run.len()).sum();
        let mut numbers = Vec::with_capacity(n);
        let mut records = Records::with_capacity(layout, n);
        for part in parts {
            let locals = (0..part.run.len()).filter(|local| part.has(*local));
            numbers.extend(locals.clone().map(|local| part.run.number(local)));
            match part.removed {
                None => records.extend(part.run.records()),
                Some(_) => locals.for_each(|local| records.push(part.run.record(local))),
            }
        }
        self.n_removed -= (n - numbers.len()) as u64;
        let run = Arc::new(Run::new(numbers, Distinct::of_distinct(records), layout));
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

    /// Removes the records of many ids.
    fn remove_all(&mut self, ids: &Texts) {
        let mut keys = [0; ID_BATCH];
        for first in (0..ids.len()).step_by(if self.runs.is_empty() { usize::MAX } else { ID_BATCH }) {
            let together = first..ids.len().min(first + ID_BATCH);
            keys.iter_mut().zip(together.clone()).for_each(|(key, i)| *key = id_key(ids.get(i)));
            let keys = &keys[..together.len()];
            for part in &**self.runs {
                keys.iter().for_each(|key| part.run.ids().prefetch(0, *key));
            }
            for (i, key) in together.zip(keys) {
                if let Some(place) = self.place(ids.get(i), *key) {
                    self.remove_at(&place);
                }
            }
        }
    }

    /// Removes the record of an id; whether there was one.
    pub fn remove(&mut self, id: &[u8]) -> bool {
        let place = self.place(id, id_key(id));
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
    pub fn is_removed_newest(&self, place: usize) -> bool {
        self.newest_removed[place / 64] >> (place % 64) & 1 == 1
    }

    /// Where the record of an id is, of which this is the key.
    fn place(&self, id: &[u8], key: u64) -> Option<Place> {
        let mut found = None;
        if self.len > 0 {
            self.newest.find_id(id, key, self.len, |place| {
                if !self.is_removed_newest(place) {
                    found = Some(Place::Newest(place));
                }
            });
        }
        for (i, part) in self.runs.iter().enumerate().rev() {
            if found.is_some() {
                break;
            }
            part.run.find_id(id, key, |local| {
                if part.has(local) {
                    found = Some(Place::Run { part: i, local });
                }
            });
        }
        found
    }

    fn place_of(&self, number: DocNo) -> Option<Place> {
        if number >= self.first {
            let place = number.places_after(self.first);
            return (place < self.len && !self.is_removed_newest(place)).then_some(Place::Newest(place));
        }
        let (part, local) = self.in_run(number)?;
        self.runs[part].has(local).then_some(Place::Run { part, local })
    }

    /// Which run has a number, removed or not, and where.
    #[inline]
    pub fn in_run(&self, number: DocNo) -> Option<(usize, usize)> {
        let after = match &self.runs[..] {
            [_] => 1,
            runs => runs.partition_point(|part| part.run.number(0) <= number),
        };
        let i = after.checked_sub(1)?;
        Some((i, self.runs[i].run.local(number)?))
    }

    /// The number of an id.
    pub fn number(&self, id: &[u8]) -> Option<DocNo> {
        self.place(id, id_key(id)).map(|place| match place {
            Place::Newest(place) => self.first.plus(place),
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

    /// All records from a number on.
    pub fn scan(&self, from: DocNo) -> impl Iterator<Item = (DocNo, Record<'_>)> {
        let of_runs = self.runs.iter().flat_map(move |part| {
            let locals = (part.run.local_from(from)..part.run.len()).filter(|local| part.has(*local));
            locals.map(|local| (part.run.number(local), part.run.record(local)))
        });
        let start = from.0.saturating_sub(self.first.0) as usize;
        let places = (start..self.len).filter(|place| !self.is_removed_newest(*place));
        of_runs.chain(places.map(|place| (self.first.plus(place), self.newest.record(place))))
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
        for record in (0..self.len).map(|place| self.newest.record(place)) {
            stats.sketch_bytes += size_of_val(record.words) as u64 + size_of_val(&record.expires) as u64;
            stats.id_bytes += record.id.len() as u64;
            stats.document_bytes += record.document.len() as u64;
        }
        stats
    }
}
