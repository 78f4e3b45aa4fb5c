//! A column of values that come again and again, each encoded once.
//!
//! The general writer would look up every id by its bytes; here each distinct rank fetches its id once. And similarities, which are ratios of small numbers, need no compression. The column chunk is a
//! dictionary page and one data page, as the Parquet format defines them.

use benzer_core::hash::mix;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use crate::error::Result;
use crate::verify::Numbers;

/// The encoded bytes of a column, and what the writer of a row group wants to know of them. Different values have different keys; `write` appends a value in Parquet's plain encoding.
pub(super) fn encode<T: Copy>(
    values: impl Iterator<Item = T>,
    key: impl Fn(T) -> u64,
    column: ColumnDescPtr,
    write: impl FnMut(T, &mut Vec<u8>) -> Result<()>,
) -> Result<(Bytes, ColumnCloseResult)> {
    let (indices, dictionary) = by_dictionary(values, key, write)?;
    let n_values = indices.iter().max().map_or(0, |most| most + 1);
    let dictionary = Page::DictionaryPage {
        buf: dictionary.into(),
        num_values: n_values,
        encoding: Encoding::PLAIN,
        is_sorted: false,
    };
    let data = Page::DataPage {
        buf: bit_packed(&indices, n_values).into(),
        num_values: indices.len() as u32,
        encoding: Encoding::RLE_DICTIONARY,
        def_level_encoding: Encoding::RLE,
        rep_level_encoding: Encoding::RLE,
        statistics: None,
    };
    Ok(chunk(dictionary, data, column)?)
}

/// A text in Parquet's plain encoding: its length, and its bytes.
pub(super) fn text(text: &str, into: &mut Vec<u8>) {
    into.extend_from_slice(&(text.len() as u32).to_le_bytes());
    into.extend_from_slice(text.as_bytes());
}

/// Of each value its place in a dictionary, and that dictionary.
fn by_dictionary<T: Copy>(
    values: impl Iterator<Item = T>,
    key: impl Fn(T) -> u64,
    mut write: impl FnMut(T, &mut Vec<u8>) -> Result<()>,
) -> Result<(Vec<u32>, Vec<u8>)> {
    let (mut numbers, mut indices, mut dictionary) = (Numbers::default(), Vec::new(), Vec::new());
    indices.reserve(values.size_hint().0);
    numbers.clear(256);
    for value in values {
        let known = numbers.len();
        // Different keys stay different, and are spread.
        numbers.number(&[mix(key(value))], &mut indices);
        if numbers.len() > known {
            write(value, &mut dictionary)?;
        }
    }
    indices.iter_mut().for_each(|number| *number -= 1);
    Ok((indices, dictionary))
}

/// Numbers below `n` in as few bits as possible: the width, then one bit-packed run of Parquet's hybrid encoding.
fn bit_packed(numbers: &[u32], n: u32) -> Vec<u8> {
    let width = (32 - n.saturating_sub(1).leading_zeros()).max(1);
    let groups = numbers.len().div_ceil(8);
    let mut out = Vec::with_capacity(groups * width as usize + 16);
    out.push(width as u8);
    let mut header = (groups as u64) << 1 | 1;
    while header >= 0x80 {
        out.push(header as u8 | 0x80);
        header >>= 7;
    }
    out.push(header as u8);
    let end = out.len() + groups * width as usize;
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
    out
}

/// Writes the pages one after the other.
fn chunk(
    dictionary: Page,
    data: Page,
    column: ColumnDescPtr,
) -> std::result::Result<(Bytes, ColumnCloseResult), ParquetError> {
    let mut sink = TrackedWrite::new(Vec::new());
    let mut pages = SerializedPageWriter::new(&mut sink);
    let n = data.num_values();
    let mut write = |page: Page| {
        let bytes = page.buffer().len();
        pages.write_page(CompressedPage::new(page, bytes))
    };
    let (first, second) = (write(dictionary)?, write(data)?);
    let bytes = first.bytes_written + second.bytes_written;
    let metadata = ColumnChunkMetaData::builder(column)
        .set_compression(Compression::UNCOMPRESSED)
        .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
        .set_num_values(n.into())
        .set_total_compressed_size(bytes as i64)
        .set_total_uncompressed_size(bytes as i64)
        .set_dictionary_page_offset(Some(first.offset as i64))
        .set_data_page_offset(second.offset as i64)
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

    /// What a reader of the hybrid encoding does with a bit-packed run.
    fn unpacked(bytes: &[u8], n: usize) -> Vec<u32> {
        let (width, mut at, mut header, mut shift) = (usize::from(bytes[0]), 1, 0u64, 0);
        loop {
            header |= u64::from(bytes[at] & 0x7f) << shift;
            at += 1;
            shift += 7;
            if bytes[at - 1] < 0x80 {
                break;
            }
        }
        assert_eq!(header & 1, 1);
        assert_eq!(bytes.len() - at, (header >> 1) as usize * width);
        let bit = |i: usize| u32::from(bytes[at + i / 8] >> (i % 8) & 1);
        (0..n).map(|i| (0..width).map(|j| bit(i * width + j) << j).sum()).collect()
    }

    proptest! {
        #[test]
        fn numbers_come_back_from_their_bits(numbers in prop::collection::vec(0u32..1 << 20, 0..500), shift in 0u32..20) {
            let numbers: Vec<u32> = numbers.iter().map(|number| number >> shift).collect();
            let n = numbers.iter().max().map_or(0, |most| most + 1);
            prop_assert_eq!(unpacked(&bit_packed(&numbers, n), numbers.len()), numbers);
        }
    }
}
