//! Columns whose values come again and again, each encoded once.
//!
//! The general writer would look up every id by its bytes. Here rows are numbered by what decides their values: an id by its rank, a similarity by its two counts. Columns that the same thing
//! decides share the numbers, so that of a pair's ten columns three are looked up. A column chunk is a dictionary page and one data page, as the Parquet format defines them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use benzer_core::hash::mix;
use benzer_flow::workers::in_parallel;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use crate::error::Result;
use crate::tables::Column;
use benzer_io::result_table;
use benzer_join::verify::IdMap;
use benzer_join::{Edge, Rank};
use benzer_storage::FileWriter;

pub(super) const ROWS: usize = 64 << 10;

/// A table being written, some row groups at a time: they are encoded on all threads, and written in order.
pub(super) struct DictionaryTable<C> {
    writer: SerializedFileWriter<FileWriter>,
    columns: Columns<C>,
    threads: usize,
    /// What threads have numbered by, for its memory.
    spare: Mutex<Vec<RankNumbers>>,
}

/// The columns of a table, as the format describes them.
pub(super) type Columns<C> = Vec<(C, ColumnDescPtr)>;

impl<C: Column + Sync> DictionaryTable<C> {
    pub fn begin(out: FileWriter, threads: usize) -> Result<Self> {
        let (writer, _) = result_table::begin(out, &C::declarations())?;
        let (writer, _) = writer.into_serialized_writer()?;
        let columns = C::ALL.iter().copied().zip(writer.schema_descr().columns().iter().cloned()).collect();
        Ok(Self { writer, columns, threads: threads.max(1), spare: Mutex::default() })
    }

    /// Row groups that are given together: each is a few megabytes.
    pub fn at_once(&self) -> usize {
        self.threads
    }

    /// Writes row groups. `encode` gives the columns of one, in order.
    pub fn write<G: Sync>(
        &mut self,
        groups: &[G],
        encode: impl Fn(&G, &Columns<C>, &mut RankNumbers) -> Result<Vec<Encoded>> + Sync,
    ) -> Result<()> {
        let (columns, spare) = (&self.columns, &self.spare);
        let lock = || spare.lock().unwrap_or_else(PoisonError::into_inner);
        let work = |i: usize, (): &mut ()| {
            let mut ranks = lock().pop().unwrap_or_default();
            let encoded = encode(&groups[i], columns, &mut ranks);
            lock().push(ranks);
            encoded
        };
        for encoded in in_parallel(groups.len(), self.threads, || (), work) {
            let mut group = self.writer.next_row_group()?;
            for (bytes, close) in encoded? {
                group.append_column(&bytes, close)?;
            }
            group.close()?;
        }
        Ok(())
    }

    pub fn finish(self) -> Result<FileWriter> {
        Ok(self.writer.into_inner()?)
    }
}

/// Encodes the columns of a row group.
pub(super) fn encoded<C: Copy>(
    columns: &Columns<C>,
    mut encode: impl FnMut(C, &ColumnDescPtr) -> Result<Encoded>,
) -> Result<Vec<Encoded>> {
    columns.iter().map(|(column, description)| encode(*column, description)).collect()
}

/// The encoded bytes of a column, and what the writer of a row group wants to know of them.
pub(super) type Encoded = (Bytes, ColumnCloseResult);

/// Equal numbers in a row that are worth a run of their own.
const RUN: usize = 16;

/// Which of the distinct values each row has.
pub(super) struct DictionaryKeys {
    numbers: Vec<u32>,
    /// The first row of each distinct value.
    firsts: Vec<u32>,
    packed: Bytes,
}

/// The number of each rank, or of other small keys, while rows are numbered by it, and else zero. Kept from one numbering to the next for its memory.
#[derive(Debug, Default)]
pub(super) struct RankNumbers(Vec<u32>);

/// Ranks below are looked up without hashing: every thread has four bytes for each.
const FEW_RANKS: u32 = if cfg!(test) { 500 } else { 2 << 20 };

/// Bits of counts that are looked up without hashing: elements in both documents, and in one of them only. Nearly all are.
const FEW: [u32; 2] = [10, 8];

impl DictionaryKeys {
    /// Rows with the same key have the same value.
    pub fn new(keys: impl ExactSizeIterator<Item = u64>) -> Self {
        // Different keys stay different, and are spread.
        let keys: Vec<u64> = keys.map(mix).collect();
        let (mut known, mut numbers, mut firsts) = (IdMap::default(), Vec::new(), Vec::new());
        numbers.reserve(keys.len());
        known.clear(keys.len() / 32);
        known.number(&keys, &mut numbers);
        // New ones have the next number.
        for (number, row) in numbers.iter().zip(0..) {
            if *number as usize > firsts.len() {
                firsts.push(row);
            }
        }
        numbers.iter_mut().for_each(|number| *number -= 1);
        Self::packed(numbers, firsts)
    }

    pub fn by_rank(ranks: impl ExactSizeIterator<Item = Rank> + Clone, numbers: &mut RankNumbers) -> Self {
        match ranks.clone().all(|rank| rank.0 < FEW_RANKS) {
            true => Self::by_small_key(ranks.map(|rank| rank.0), numbers),
            false => Self::new(ranks.map(|rank| rank.0.into())),
        }
    }

    fn by_small_key(
        keys: impl ExactSizeIterator<Item = u32>,
        RankNumbers(numbers_of): &mut RankNumbers,
    ) -> Self {
        let (mut numbers, mut firsts, mut distinct) =
            (Vec::with_capacity(keys.len()), Vec::new(), Vec::new());
        for (key, row) in keys.zip(0..) {
            if key as usize >= numbers_of.len() {
                numbers_of.resize(key as usize + 1, 0);
            }
            let number = &mut numbers_of[key as usize];
            if *number == 0 {
                firsts.push(row);
                distinct.push(key);
                *number = firsts.len() as u32;
            }
            numbers.push(*number - 1);
        }
        distinct.into_iter().for_each(|key| numbers_of[key as usize] = 0);
        Self::packed(numbers, firsts)
    }

    fn packed(numbers: Vec<u32>, firsts: Vec<u32>) -> Self {
        let packed = packed(&numbers, firsts.len() as u32);
        Self { numbers, firsts, packed: packed.into() }
    }

    /// Rows are numbered by what edges count, and by whether they count the one or the other.
    pub fn by_counts<'a>(
        edges: impl ExactSizeIterator<Item = (&'a Edge, bool)>,
        ranks: &mut RankNumbers,
    ) -> Self {
        let [both, one] = FEW;
        let mut many = HashMap::new();
        let key = |(edge, other): (&Edge, bool)| {
            let (shared, rest) = (edge.intersection, edge.union.wrapping_sub(edge.intersection));
            if shared >> both == 0 && rest >> one == 0 && !other {
                return rest << both | shared;
            }
            let next = (1 << (both + one)) + many.len() as u32;
            *many.entry((shared, edge.union, other)).or_insert(next)
        };
        Self::by_small_key(edges.map(key), ranks)
    }

    /// A column; `write` appends the value of a row in Parquet's plain encoding.
    pub fn column(
        &self,
        column: &ColumnDescPtr,
        write: impl FnMut(usize, &mut Vec<u8>) -> Result<()>,
    ) -> Result<Encoded> {
        self.nullable_column(column, |_| true, write)
    }

    /// A column of which some rows have no value.
    pub fn nullable_column(
        &self,
        column: &ColumnDescPtr,
        is_there: impl Fn(usize) -> bool,
        mut write: impl FnMut(usize, &mut Vec<u8>) -> Result<()>,
    ) -> Result<Encoded> {
        let mut dictionary = Vec::new();
        self.firsts.iter().try_for_each(|row| write(*row as usize, &mut dictionary))?;
        let (levels, n_there) = match column.max_def_level() {
            0 => (Vec::new(), self.numbers.len()),
            _ => levels(self.numbers.len(), &is_there),
        };
        let n = self.firsts.len() as u32;
        let data = if n_there == self.numbers.len() && levels.is_empty() {
            self.packed.clone()
        } else if n_there == self.numbers.len() {
            [&levels, &self.packed[..]].concat().into()
        } else {
            let there = self.numbers.iter().enumerate().filter(|(row, _)| is_there(*row));
            [levels, packed(&there.map(|(_, number)| *number).collect::<Vec<_>>(), n)].concat().into()
        };
        let dictionary = Page::DictionaryPage {
            buf: dictionary.into(),
            num_values: n,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        let data = data_page(data, self.numbers.len(), Encoding::RLE_DICTIONARY);
        Ok(chunk(Some(dictionary), data, column)?)
    }
}

pub(super) fn flags(column: &ColumnDescPtr, flags: impl ExactSizeIterator<Item = bool>) -> Result<Encoded> {
    let n = flags.len();
    let (mut bits, mut word) = (Vec::with_capacity(n / 8 + 8), 0u64);
    for (flag, i) in flags.zip(0..) {
        word |= u64::from(flag) << (i % 64);
        if i % 64 == 63 {
            bits.extend_from_slice(&std::mem::take(&mut word).to_le_bytes());
        }
    }
    bits.extend_from_slice(&word.to_le_bytes());
    bits.truncate(n.div_ceil(8));
    Ok(chunk(None, data_page(bits.into(), n, Encoding::PLAIN), column)?)
}

/// A text in Parquet's plain encoding: its length, and its bytes.
pub(super) fn text(text: &str, into: &mut Vec<u8>) -> Result<()> {
    bytes(text.as_bytes(), into)
}

/// The bytes of a text in Parquet's plain encoding.
pub(super) fn bytes(bytes: &[u8], into: &mut Vec<u8>) -> Result<()> {
    into.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    into.extend_from_slice(bytes);
    Ok(())
}

pub(super) fn number(number: u32, into: &mut Vec<u8>) -> Result<()> {
    into.extend_from_slice(&number.to_le_bytes());
    Ok(())
}

pub(super) fn row(row: u64, into: &mut Vec<u8>) -> Result<()> {
    into.extend_from_slice(&row.to_le_bytes());
    Ok(())
}

pub(super) fn share(share: f64, into: &mut Vec<u8>) -> Result<()> {
    into.extend_from_slice(&share.to_le_bytes());
    Ok(())
}

fn data_page(buf: Bytes, n: usize, encoding: Encoding) -> Page {
    Page::DataPage {
        buf,
        num_values: n as u32,
        encoding,
        def_level_encoding: Encoding::RLE,
        rep_level_encoding: Encoding::RLE,
        statistics: None,
    }
}

/// Which of `n` rows have a value, as a data page begins, and how many have.
fn levels(n: usize, is_there: impl Fn(usize) -> bool) -> (Vec<u8>, usize) {
    let mut page = vec![0; 4];
    let n_there = (0..n).filter(|row| is_there(*row)).count();
    if n_there == n || n_there == 0 {
        push_run(u32::from(n_there > 0), n, 1, &mut page);
    } else {
        let levels: Vec<u32> = (0..n).map(|row| is_there(row).into()).collect();
        push_hybrid(&levels, 1, &mut page);
    }
    let bytes = page.len() as u32 - 4;
    page[..4].copy_from_slice(&bytes.to_le_bytes());
    (page, n_there)
}

/// Numbers below `n` in as few bits as possible, after the width.
fn packed(numbers: &[u32], n: u32) -> Vec<u8> {
    let width = (32 - n.saturating_sub(1).leading_zeros()).max(1);
    let mut out = Vec::with_capacity(numbers.len() * width as usize / 8 + 64);
    out.push(width as u8);
    push_hybrid(numbers, width, &mut out);
    out
}

/// Appends numbers in Parquet's hybrid encoding: runs of one number, and between them groups of eight bit by bit.
fn push_hybrid(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    let is_run = |rest: &[u32]| rest.first_chunk::<RUN>().is_some_and(|run| run.iter().all(|n| *n == run[0]));
    let mut rest = numbers;
    while let Some(&first) = rest.first() {
        if is_run(rest) {
            let n = rest.iter().take_while(|number| **number == first).count();
            push_run(first, n, width, out);
            rest = &rest[n..];
        } else {
            let mut n = rest.len().min(8);
            while n < rest.len() && !is_run(&rest[n..]) {
                n = rest.len().min(n + 8);
            }
            push_varint((n.div_ceil(8) as u64) << 1 | 1, out);
            push_bits(&rest[..n], width, out);
            rest = &rest[n..];
        }
    }
}

fn push_run(number: u32, n: usize, width: u32, out: &mut Vec<u8>) {
    push_varint((n as u64) << 1, out);
    out.extend_from_slice(&number.to_le_bytes()[..width.div_ceil(8) as usize]);
}

fn push_varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends numbers bit by bit; the last group of eight is filled up with zeros.
fn push_bits(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    let end = out.len() + numbers.len().div_ceil(8) * width as usize;
    let (mut bits, mut n_bits) = (0u64, 0);
    for &number in numbers {
        bits |= u64::from(number) << n_bits;
        n_bits += width;
        if n_bits >= 32 {
            out.extend_from_slice(&(bits as u32).to_le_bytes());
            bits >>= 32;
            n_bits -= 32;
        }
    }
    out.extend_from_slice(&bits.to_le_bytes());
    out.resize(end, 0);
}

/// Bytes of the header of a page, at most.
const HEADER: usize = 64;

fn chunk(
    dictionary: Option<Page>,
    data: Page,
    column: &ColumnDescPtr,
) -> std::result::Result<Encoded, ParquetError> {
    // Pages, and their headers.
    let bytes = dictionary.iter().chain([&data]).map(|page| page.buffer().len() + HEADER).sum();
    let mut sink = TrackedWrite::new(Vec::with_capacity(bytes));
    let mut pages = SerializedPageWriter::new(&mut sink);
    let (n, encoding) = (data.num_values(), data.encoding());
    let mut write = |page: Page| {
        let bytes = page.buffer().len();
        pages.write_page(CompressedPage::new(page, bytes))
    };
    let dictionary = dictionary.map(&mut write).transpose()?;
    let data = write(data)?;
    let bytes = data.bytes_written + dictionary.as_ref().map_or(0, |page| page.bytes_written);
    let metadata = ColumnChunkMetaData::builder(column.clone())
        .set_compression(Compression::UNCOMPRESSED)
        .set_encodings(match dictionary {
            Some(_) => vec![Encoding::PLAIN, Encoding::RLE, encoding],
            None => vec![Encoding::RLE, encoding],
        })
        .set_num_values(n.into())
        .set_total_compressed_size(bytes as i64)
        .set_total_uncompressed_size(bytes as i64)
        .set_dictionary_page_offset(dictionary.map(|page| page.offset as i64))
        .set_data_page_offset(data.offset as i64)
        .build()?;
    let close = ColumnCloseResult {
        bytes_written: bytes,
        rows_written: n.into(),
        metadata,
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    Ok((sink.into_inner()?.into(), close))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a reader of the hybrid encoding does.
    fn unpacked(mut bytes: &[u8], width: usize, n: usize) -> Vec<u32> {
        let mut numbers = Vec::new();
        while !bytes.is_empty() {
            let length = bytes.iter().position(|byte| *byte < 0x80).unwrap() + 1;
            let header =
                bytes[..length].iter().rev().fold(0, |sum, byte| sum << 7 | usize::from(byte & 0x7f));
            bytes = &bytes[length..];
            let used = if header & 1 == 0 { width.div_ceil(8) } else { (header >> 1) * width };
            let bit = |i: usize| u32::from(bytes[i / 8] >> (i % 8) & 1);
            let number = |i: usize| (0..width).map(|j| bit(i * width + j) << j).sum::<u32>();
            match header & 1 {
                0 => numbers.extend(std::iter::repeat_n(number(0), header >> 1)),
                _ => numbers.extend((0..8 * (header >> 1)).map(number)),
            }
            bytes = &bytes[used..];
        }
        assert!(numbers.len() < n + 8 && numbers[n..].iter().all(|number| *number == 0));
        numbers.truncate(n);
        numbers
    }

    proptest! {
        #[test]
        fn numbers_come_back_from_their_bits(runs in prop::collection::vec((0u32..1 << 20, prop_oneof![3 => Just(1usize), 1 => 1usize..60]), 0..300), shift in 0u32..20) {
            let numbers: Vec<u32> = runs.iter().flat_map(|&(number, n)| std::iter::repeat_n(number >> shift, n)).collect();
            let n = numbers.iter().max().map_or(0, |max| max + 1);
            let packed = packed(&numbers, n);
            prop_assert_eq!(unpacked(&packed[1..], packed[0].into(), numbers.len()), numbers);
        }

        #[test]
        fn rows_are_numbered_by_their_keys(keys in prop::collection::vec(prop_oneof![0u64..9, Just(7u64), any::<u64>()], 0..200), n_ranks in 1u64..1000) {
            let numbered = DictionaryKeys::new(keys.iter().copied());
            let of_row = |number: &u32| keys[numbered.firsts[*number as usize] as usize];
            prop_assert_eq!(numbered.numbers.iter().map(of_row).collect::<Vec<_>>(), keys.clone());
            let distinct: std::collections::BTreeSet<u64> = keys.iter().copied().collect();
            prop_assert_eq!(numbered.firsts.len(), distinct.len());
            let edge = |key: &u64| Edge { intersection: (key % 1100) as u32, union: (key % 1100 + key % 300) as u32, ..Edge::default() };
            let edges: Vec<(Edge, bool)> = keys.iter().map(|key| (edge(key), key % 5 == 0)).collect();
            let by_counts = DictionaryKeys::by_counts(edges.iter().map(|(edge, other)| (edge, *other)), &mut RankNumbers::default());
            let of_row = |number: &u32| edges[by_counts.firsts[*number as usize] as usize];
            prop_assert_eq!(by_counts.numbers.iter().map(of_row).collect::<Vec<_>>(), edges.clone());
            let distinct: std::collections::BTreeSet<(Edge, bool)> = edges.iter().copied().collect();
            prop_assert_eq!(by_counts.firsts.len(), distinct.len());
            let ranks = || keys.iter().map(|key| Rank((key % n_ranks) as u32));
            let (by_key, mut known) = (DictionaryKeys::new(ranks().map(|rank| rank.0.into())), RankNumbers::default());
            for _ in 0..2 {
                let by_rank = DictionaryKeys::by_rank(ranks(), &mut known);
                prop_assert_eq!((by_rank.numbers, by_rank.firsts, by_rank.packed), (by_key.numbers.clone(), by_key.firsts.clone(), by_key.packed.clone()));
            }
        }
    }
}
