//! Records that do not change any more, with a directory for each band and one for the ids.

use std::ops::Range;

use benzer_core::hash;

use super::columns::{BLOCK, Columns, first_half};
use super::directory::{Cut, Directories};
use crate::hints;
use crate::record::{DocNo, Record, Records, Texts};
use crate::settings::Layout;
use crate::store::Stats;

/// Words of a cache line.
const LINE: usize = 8;

/// Records in the order of their numbers.
#[derive(Debug)]
pub(super) struct Run {
    numbers: Numbers,
    n: usize,
    stride: usize,
    records: Records,
    bands: Directories,
    ids: Directories,
}

/// The numbers of records.
#[derive(Debug)]
enum Numbers {
    /// One after the other, from this one on.
    From(DocNo),
    /// Some are missing.
    Listed(Vec<DocNo>),
}

/// The key by which an id is found.
#[inline]
pub(super) fn id_key(id: &[u8]) -> u64 {
    hash::element(id)
}

/// Bands whose keys are gathered together, at most: the records are read once for all of them.
const MAX_BANDS: usize = 9;

fn bands(words: &[u64], n: usize, layout: &Layout) -> Directories {
    let mut directories = Directories::new(Cut::new(n), layout.bands());
    let together = layout.bands().div_ceil(layout.bands().div_ceil(MAX_BANDS).max(1)).max(1);
    let mut columns = Columns::new(together, n);
    for first in (0..layout.bands()).step_by(together) {
        let bands = first..layout.bands().min(first + together);
        columns.clear();
        gather(words, layout, bands.clone(), &mut columns);
        directories.append(&columns, bands.len());
    }
    directories
}

/// Writes the keys of some bands of all records into columns.
#[inline(never)]
fn gather(words: &[u64], layout: &Layout, bands: Range<usize>, columns: &mut Columns) {
    for (records, block) in words.chunks(BLOCK * layout.words()).zip(0..) {
        let mut keys = [[0; BLOCK]; MAX_BANDS];
        layout.keys_within(records, bands.clone(), |place, band, key| match key {
            Some(key) => keys[band - bands.start][place % BLOCK] = first_half(key),
            None => columns.leave_out(band - bands.start, (block * BLOCK + place) as u32),
        });
        for (keys, band) in keys.iter().zip(0..bands.len()) {
            columns.put(band, block, keys);
        }
    }
}

/// The ids of records, as a directory of one band.
fn ids(ids: &Texts) -> Directories {
    let mut columns = Columns::new(1, ids.len());
    for (first, block) in (0..ids.len()).step_by(BLOCK).zip(0..) {
        columns.put(0, block, &std::array::from_fn(|place| first_half(id_key(ids.get(first + place)))));
    }
    let mut directories = Directories::new(Cut::new(ids.len()), 1);
    directories.append(&columns, 1);
    directories
}

/// Records to make a run of: no id comes twice.
#[derive(Debug)]
pub(super) struct Distinct {
    pub records: Records,
    ids: Directories,
}

impl Distinct {
    /// Of records whose ids are known to differ.
    pub fn of_distinct(records: Records) -> Self {
        Self { ids: ids(&records.ids), records }
    }

    /// Of an id that comes again only the last record stays.
    pub fn of_any(records: Records, stride: usize) -> Self {
        let distinct = Self::of_distinct(records);
        let records = &distinct.records;
        let is_same = |a: u32, b: u32| records.ids.get(a as usize) == records.ids.get(b as usize);
        if !distinct.ids.any_pair(is_same) {
            return distinct;
        }
        let mut some = Records::default();
        records.last_of_each_id().into_iter().for_each(|i| some.push(records.get(i, stride)));
        Self::of_distinct(some)
    }
}

impl Run {
    /// `numbers` are in order, one for each record.
    pub fn new(numbers: Vec<DocNo>, records: Distinct, layout: &Layout) -> Self {
        let first = numbers.first().copied().unwrap_or_default();
        let is_dense = numbers.last().is_none_or(|last| last.places_after(first) + 1 == numbers.len());
        let numbers = if is_dense { Numbers::From(first) } else { Numbers::Listed(numbers) };
        Self::of(numbers, records, layout)
    }

    /// Records with numbers from `first` on.
    pub fn from(first: DocNo, records: Distinct, layout: &Layout) -> Self {
        Self::of(Numbers::From(first), records, layout)
    }

    fn of(numbers: Numbers, Distinct { records, ids }: Distinct, layout: &Layout) -> Self {
        let n = records.len();
        let bands = bands(&records.words, n, layout);
        Self { numbers, n, stride: layout.words(), records, bands, ids }
    }

    pub fn len(&self) -> usize {
        self.n
    }

    #[inline]
    pub fn number(&self, local: usize) -> DocNo {
        match &self.numbers {
            Numbers::From(first) => first.plus(local),
            Numbers::Listed(numbers) => numbers[local],
        }
    }

    /// The number of the first record, if they follow each other without a gap.
    #[inline]
    pub fn first(&self) -> Option<DocNo> {
        match &self.numbers {
            Numbers::From(first) => Some(*first),
            Numbers::Listed(_) => None,
        }
    }

    /// Where a number is, if it is here.
    #[inline]
    pub fn local(&self, number: DocNo) -> Option<usize> {
        match &self.numbers {
            Numbers::From(first) => {
                number.0.checked_sub(first.0).map(|local| local as usize).filter(|local| *local < self.n)
            }
            Numbers::Listed(numbers) => numbers.binary_search(&number).ok(),
        }
    }

    /// The first local number that is not before a number.
    pub fn local_from(&self, number: DocNo) -> usize {
        match &self.numbers {
            Numbers::From(first) => (number.0.saturating_sub(first.0) as usize).min(self.n),
            Numbers::Listed(numbers) => numbers.partition_point(|other| *other < number),
        }
    }

    #[inline]
    pub fn record(&self, local: usize) -> Record<'_> {
        self.records.get(local, self.stride)
    }

    /// Begins to bring the words of a record into the cache, and the place of its id.
    #[inline]
    pub fn prefetch(&self, local: usize) {
        let start = local * self.stride;
        for word in (start..start + self.stride).step_by(LINE) {
            hints::prefetch(&self.records.words, word);
        }
        hints::prefetch(&self.records.words, start + self.stride - 1);
        self.records.ids.prefetch(local);
    }

    /// Begins to bring the id of a record into the cache, whose place is there.
    #[inline]
    pub fn prefetch_id(&self, local: usize) {
        let id = self.records.ids.get(local);
        hints::prefetch(id, 0);
        hints::prefetch(id, id.len().saturating_sub(1));
    }

    /// The records, if nothing has to be left out of them.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// The directories of the bands.
    #[inline]
    pub fn bands(&self) -> &Directories {
        &self.bands
    }

    /// The directory of the ids, which has one band.
    pub fn ids(&self) -> &Directories {
        &self.ids
    }

    /// Hands the local numbers of records that have an id to `visit`; only one of them is not removed.
    #[inline]
    pub fn find_id(&self, id: &[u8], key: u64, mut visit: impl FnMut(usize)) {
        self.ids.find(0, key, |local| {
            if self.records.ids.get(local as usize) == id {
                visit(local as usize);
            }
        });
    }

    pub fn add_bytes(&self, stats: &mut Stats) {
        stats.posting_bytes += self.bands.bytes() as u64
            + 4 * (matches!(self.numbers, Numbers::Listed(_)) as u64) * self.n as u64;
        stats.sketch_bytes += 8 * (self.records.words.capacity() + self.records.expires.capacity()) as u64;
        stats.id_bytes += (self.ids.bytes() + self.records.ids.bytes()) as u64;
        stats.document_bytes += self.records.documents.bytes() as u64;
    }
}
