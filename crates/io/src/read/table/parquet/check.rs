//! What is looked at before the decoder is let at a file: it passes over what it does not know, and a few bytes can have it count to billions.

use std::io::{self, Read, Seek, SeekFrom};

use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use super::header::{HeaderFault, PageHeader, is_struct};

/// The bytes after the index: its length, and what a file ends with.
const TAIL: u64 = 8;
/// What is read of a header at first.
const HEADER: u64 = 256;

/// Refuses an index that is none. One that is not where it should be is left to the decoder, who says so.
pub fn check_parquet_index(file: &mut (impl Read + Seek)) -> Result<(), ParquetError> {
    let n = file.seek(SeekFrom::End(0))?;
    let Some(tail) = n.checked_sub(TAIL) else { return Ok(()) };
    let [a, b, c, d, ..] = read(file, tail, TAIL)?[..] else { return Ok(()) };
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    let Some(start) = tail.checked_sub(length) else { return Ok(()) };
    if length > 0 && !is_struct(&read(file, start, length)?) {
        return Err(ParquetError::General("its index cannot be read".into()));
    }
    Ok(())
}

/// Refuses headers of pages that are none.
pub(crate) fn check_parquet_column(
    file: &mut (impl Read + Seek),
    column: &ColumnChunkMetaData,
) -> Result<(), ParquetError> {
    let no_place = || ParquetError::General("a column has no place in the file".into());
    let (mut at, end) = place(column).ok_or_else(no_place)?;
    while at < end {
        let (mut wanted, left) = (HEADER, end - at);
        let page = loop {
            let bytes = read(file, at, wanted.min(left))?;
            match PageHeader::read(&bytes) {
                Ok((header, n)) => break (n as u64).saturating_add(header.compressed as u64),
                Err(HeaderFault::Short) if bytes.len() as u64 == wanted => wanted *= 2,
                Err(_) => return Err(ParquetError::General("the header of a page cannot be read".into())),
            }
        };
        at = at.saturating_add(page);
    }
    Ok(())
}

/// Refuses headers of pages that are none, in any column.
pub fn check_parquet_pages(
    file: &mut (impl Read + Seek),
    metadata: &ParquetMetaData,
) -> Result<(), ParquetError> {
    let columns = metadata.row_groups().iter().flat_map(|group| group.columns());
    columns.into_iter().try_for_each(|column| check_parquet_column(file, column))
}

/// Where the pages of a column begin and end, if that can be.
pub(super) fn place(column: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let data = column.data_page_offset();
    let start = column.dictionary_page_offset().filter(|&at| at > 0).map_or(data, |at| at.min(data));
    let start = u64::try_from(start).ok()?;
    Some((start, start.checked_add(u64::try_from(column.compressed_size()).ok()?)?))
}

/// Up to `n` bytes from a place on.
fn read(file: &mut (impl Read + Seek), at: u64, n: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.take(n).read_to_end(&mut bytes)?;
    Ok(bytes)
}
