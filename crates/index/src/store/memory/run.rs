//! Records that do not change any more, with a directory for each band and one for the ids.

use benzer_core::hash;

use super::directory::Directory;
use crate::record::Records;
use crate::settings::Layout;
use crate::store::{DocNo, Record};

/// Records in the order of their numbers.
#[derive(Debug, Default)]
pub(super) struct Run {
    numbers: Numbers,
    n: usize,
    stride: usize,
    records: Records,
    bands: Vec<Directory>,
    ids: Directory,
}

/// The numbers of records.
#[derive(Debug)]
enum Numbers {
    /// One after the other, from this one on.
    From(DocNo),
    /// Some are missing.
    Listed(Vec<DocNo>),
}

impl Default for Numbers {
    fn default() -> Self {
        Self::From(0)
    }
}

/// The key by which an id is found.
#[inline]
pub(super) fn id_key(id: &[u8]) -> u64 {
    hash::element(id)
}

/// Bands whose keys are gathered together: the records are read once for all of them.
const TOGETHER: usize = 6;

fn bands(words: &[u64], layout: &Layout) -> Vec<Directory> {
    let n = words.len() / layout.words().max(1);
    let mut keys: [(Vec<u64>, Vec<u32>); TOGETHER] = Default::default();
    let mut directories = Vec::with_capacity(layout.bands());
    for first in (0..layout.bands()).step_by(TOGETHER) {
        let bands = first..layout.bands().min(first + TOGETHER);
        for (keys, locals) in &mut keys[..bands.len()] {
            keys.clear();
            keys.reserve(n);
            locals.clear();
        }
        for (record, local) in words.chunks_exact(layout.words()).zip(0..) {
            for (band, (keys, locals)) in bands.clone().zip(&mut keys) {
                match layout.key(record, band) {
                    Some(key) => keys.push(key),
                    None => continue,
                }
                // As long as no key is missing, the place of a key is its local number.
                if keys.len() as u32 != local + 1 {
                    if locals.is_empty() {
                        locals.extend(0..keys.len() as u32 - 1);
                    }
                    locals.push(local);
                }
            }
        }
        for (keys, locals) in &keys[..bands.len()] {
            directories.push(match locals.is_empty() {
                true => Directory::new(keys, 0..),
                false => Directory::new(keys, locals.iter().copied()),
            });
        }
    }
    directories
}

/// The ids of records.
pub(super) fn ids(records: &Records) -> Directory {
    let keys: Vec<u64> = records.ids.iter().map(id_key).collect();
    Directory::new(&keys, 0..)
}

impl Run {
    /// `numbers` are in order, one for each record.
    pub fn new(numbers: Vec<DocNo>, records: Records, layout: &Layout) -> Self {
        let n = numbers.len();
        let first = numbers.first().copied().unwrap_or_default();
        let is_dense = numbers.last().is_none_or(|last| (last - first) as usize + 1 == n);
        let bands = bands(&records.words, layout);
        let ids = ids(&records);
        let numbers = if is_dense { Numbers::From(first) } else { Numbers::Listed(numbers) };
        Self { numbers, n, stride: layout.words(), records, bands, ids }
    }

    pub fn len(&self) -> usize {
        self.n
    }

    #[inline]
    pub fn number(&self, local: usize) -> DocNo {
        match &self.numbers {
            Numbers::From(first) => first + local as u32,
            Numbers::Listed(numbers) => numbers[local],
        }
    }

    /// Where a number is, if it is here.
    #[inline]
    pub fn local(&self, number: DocNo) -> Option<usize> {
        match &self.numbers {
            Numbers::From(first) => {
                number.checked_sub(*first).map(|local| local as usize).filter(|local| *local < self.n)
            }
            Numbers::Listed(numbers) => numbers.binary_search(&number).ok(),
        }
    }

    /// The first local number that is not before a number.
    pub fn local_from(&self, number: DocNo) -> usize {
        match &self.numbers {
            Numbers::From(first) => (number.saturating_sub(*first) as usize).min(self.n),
            Numbers::Listed(numbers) => numbers.partition_point(|other| *other < number),
        }
    }

    #[inline]
    pub fn words(&self, local: usize) -> &[u64] {
        &self.records.words[local * self.stride..(local + 1) * self.stride]
    }

    pub fn record(&self, local: usize) -> Record<'_> {
        Record {
            id: self.records.ids.get(local),
            words: self.words(local),
            document: self.records.documents.get(local),
            expires: self.records.expires(local),
        }
    }

    /// The directory of a band.
    #[inline]
    pub fn band(&self, band: u32) -> &Directory {
        &self.bands[band as usize]
    }

    /// Hands the local numbers of records that have an id to `visit`; only one of them is not removed.
    pub fn find_id(&self, id: &[u8], mut visit: impl FnMut(usize)) {
        let key = id_key(id);
        self.ids.find(key, self.ids.bucket(key), |local| {
            if self.records.ids.get(local as usize) == id {
                visit(local as usize);
            }
        });
    }

    pub fn add_bytes(&self, stats: &mut crate::store::Stats) {
        let directories = self.bands.iter().map(Directory::bytes).sum::<usize>() as u64;
        stats.posting_bytes +=
            directories + 4 * (matches!(self.numbers, Numbers::Listed(_)) as u64) * self.n as u64;
        stats.sketch_bytes += 8 * (self.records.words.capacity() + self.records.expires.capacity()) as u64;
        stats.id_bytes += (self.ids.bytes() + self.records.ids.bytes()) as u64;
        stats.document_bytes += self.records.documents.bytes() as u64;
    }
}
