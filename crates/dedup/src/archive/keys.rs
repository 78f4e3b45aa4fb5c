//! Sorted keys on disk: records of (list, key, number) in pages of 4 KiB. The first records of all pages are records themselves, in pages above, and so on
//! up to a single page. Finding a key reads one page of each level; pages above the lowest are remembered.
//!
//! List 0 has the upper half of the hash of each text, list `1 + b` the keys of band `b`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use benzer_core::sketch::SketchSpec;

use super::part::{Kind, Part, seal};
use crate::error::Result;
use benzer_storage::{FileWriter, Stamp};

pub(super) const HASHES: u16 = 0;

/// A list, a key of it, the number of a document.
pub(super) type Record = (u16, u64, u32);

/// Bytes of a record, big-endian, so that bytes compare as records do.
const RECORD: usize = 14;
/// Records of a page; its last eight bytes are a checksum.
const PER_PAGE: usize = (PAGE - 8) / RECORD;
const PAGE: usize = 4096;

#[derive(Debug)]
pub(super) struct KeysWriter {
    out: FileWriter,
    page: Vec<u8>,
    n: u64,
    /// The first record of each full or begun page.
    firsts: Vec<Record>,
}

impl KeysWriter {
    pub fn new(mut out: FileWriter, spec: &SketchSpec) -> Result<Self> {
        out.append(&Kind::Keys.header(spec))?;
        Ok(Self { out, page: Vec::with_capacity(PAGE), n: 0, firsts: Vec::new() })
    }

    pub fn push(&mut self, record: Record) -> Result<()> {
        if self.page.is_empty() {
            self.firsts.push(record);
        }
        self.page.extend(encode(record));
        self.n += 1;
        if self.page.len() == PER_PAGE * RECORD { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if self.page.is_empty() {
            return Ok(());
        }
        self.page.resize(PAGE - 8, 0);
        seal(&mut self.page, 0);
        self.out.append(&self.page)?;
        self.page.clear();
        Ok(())
    }

    /// Writes the pages above, and in the end how many records there are.
    pub fn finish(mut self) -> Result<Stamp> {
        let n = self.n;
        self.flush()?;
        while self.firsts.len() > 1 {
            for record in std::mem::take(&mut self.firsts) {
                self.push(record)?;
            }
            self.flush()?;
        }
        let mut end = n.to_le_bytes().to_vec();
        seal(&mut end, 0);
        self.out.append(&end)?;
        Ok(self.out.commit()?)
    }
}

#[derive(Debug)]
pub(crate) struct Keys {
    part: Part,
    n: u64,
    /// Where each level begins, in pages, and how many records it has; the lowest first.
    levels: Vec<(u64, u64)>,
}

impl Keys {
    pub fn open(path: &Path, spec: &SketchSpec, stamp: &Stamp) -> Result<Self> {
        let part = Part::open(path.to_owned(), Kind::Keys, spec, stamp)?;
        let mut end = Vec::new();
        part.read_checked(stamp.bytes.saturating_sub(super::part::HEADER + 16), 16, &mut end)?;
        let n = u64::from_le_bytes(end[..8].try_into().expect("eight bytes"));
        let (mut levels, mut start, mut records) = (Vec::new(), 0, n);
        while records > 0 {
            levels.push((start, records));
            let pages = records.div_ceil(PER_PAGE as u64);
            start += pages;
            records = if pages > 1 { pages } else { 0 };
        }
        Ok(Self { part, n, levels })
    }
}

/// Looks into keys. Each thread has its own.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    keys: &'a Keys,
    /// Pages above the lowest level.
    upper: HashMap<u64, Box<[u8]>>,
    /// The page of the lowest level that was read last.
    lowest: (u64, Vec<u8>),
}

impl<'a> Cursor<'a> {
    pub fn new(keys: &'a Keys) -> Self {
        Self { keys, upper: HashMap::new(), lowest: (u64::MAX, Vec::new()) }
    }

    /// The place of the first record of a key, or of what comes after it.
    pub fn find(&mut self, list: u16, key: u64) -> Result<u64> {
        let target = encode((list, key, 0));
        let mut page = 0;
        for level in (0..self.keys.levels.len()).rev() {
            let (start, records) = self.keys.levels[level];
            let n = (records - page * PER_PAGE as u64).min(PER_PAGE as u64) as usize;
            let bytes = self.page(start + page, level)?;
            if level == 0 {
                let before = before(bytes, n, |record| record < &target[..]);
                return Ok(page * PER_PAGE as u64 + before as u64);
            }
            let child = before(bytes, n, |record| record <= &target[..]).saturating_sub(1);
            page = page * PER_PAGE as u64 + child as u64;
        }
        Ok(0)
    }

    /// The record at a place; nothing behind the last.
    pub fn record(&mut self, place: u64) -> Result<Option<Record>> {
        if place >= self.keys.n {
            return Ok(None);
        }
        let (page, i) = (place / PER_PAGE as u64, (place % PER_PAGE as u64) as usize);
        Ok(Some(decode(&self.page(page, 0)?[i * RECORD..][..RECORD])))
    }

    fn page(&mut self, page: u64, level: usize) -> Result<&[u8]> {
        let Self { keys, upper, lowest } = self;
        if level == 0 {
            if lowest.0 != page {
                lowest.0 = u64::MAX;
                keys.part.read_checked(page.saturating_mul(PAGE as u64), PAGE, &mut lowest.1)?;
                lowest.0 = page;
            }
            return Ok(&lowest.1);
        }
        match upper.entry(page) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => {
                let mut bytes = Vec::new();
                keys.part.read_checked(page.saturating_mul(PAGE as u64), PAGE, &mut bytes)?;
                Ok(entry.insert(bytes.into()))
            }
        }
    }
}

/// How many of the first `n` records of a page `comes_before` is true for.
fn before(page: &[u8], n: usize, comes_before: impl Fn(&[u8]) -> bool) -> usize {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = (low + high) / 2;
        match comes_before(&page[middle * RECORD..][..RECORD]) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

fn encode((list, key, number): Record) -> [u8; RECORD] {
    let mut bytes = [0; RECORD];
    bytes[..2].copy_from_slice(&list.to_be_bytes());
    bytes[2..10].copy_from_slice(&key.to_be_bytes());
    bytes[10..].copy_from_slice(&number.to_be_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> Record {
    let list = u16::from_be_bytes(bytes[..2].try_into().expect("two bytes"));
    let key = u64::from_be_bytes(bytes[2..10].try_into().expect("eight bytes"));
    (list, key, u32::from_be_bytes(bytes[10..].try_into().expect("four bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_core::hash::stream;
    use benzer_storage::Files;

    #[test]
    fn every_key_is_found_with_all_its_records_and_others_are_not() {
        let (folder, spec) = (tempfile::tempdir().unwrap(), SketchSpec::default());
        // One page, two levels, three levels; keys that repeat over several pages.
        for (n, keys) in
            [(0, 1), (1, 1), (PER_PAGE, 9), (2 * PER_PAGE + 1, 3), (90_000, 200), (90_000, u64::MAX)]
        {
            let path = folder.path().join("1.keys");
            let mut random = stream(7);
            let mut next = || random.next().unwrap();
            let mut records: Vec<Record> =
                (0..n as u32).map(|i| ((next() % 4) as u16, next() % keys, i)).collect();
            records.sort_unstable();
            let mut writer = KeysWriter::new(Files::new().create(&path).unwrap(), &spec).unwrap();
            records.iter().for_each(|record| writer.push(*record).unwrap());
            let stamp = writer.finish().unwrap();
            let keys = Keys::open(&path, &spec, &stamp).unwrap();
            let mut cursor = Cursor::new(&keys);
            let some = records.iter().step_by(1 + n / 500).map(|&(list, key, _)| (list, key));
            let others = some.clone().map(|(list, key)| (list, key.wrapping_add(1)));
            for (list, key) in some.chain(others).chain([(0, 0), (4, 0), (u16::MAX, u64::MAX)]) {
                let place = cursor.find(list, key).unwrap();
                assert_eq!(place as usize, records.partition_point(|&(l, k, _)| (l, k) < (list, key)));
                assert_eq!(cursor.record(place).unwrap(), records.get(place as usize).copied());
            }
        }
    }

    #[test]
    fn a_changed_byte_of_a_page_is_noticed() {
        let (folder, spec) = (tempfile::tempdir().unwrap(), SketchSpec::default());
        let path = folder.path().join("1.keys");
        let mut writer = KeysWriter::new(Files::new().create(&path).unwrap(), &spec).unwrap();
        (0..100).for_each(|i| writer.push((1, 7 * u64::from(i), i)).unwrap());
        let stamp = writer.finish().unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[700] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let keys = Keys::open(&path, &spec, &stamp).unwrap();
        let error = Cursor::new(&keys).find(1, 70).unwrap_err().to_string();
        assert!(error.contains("1.keys` is damaged: expected the checksum"), "{error}");
    }
}
