//! The pages of one column in one row group, read from the file one after the other.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bytes::{Bytes, BytesMut};
use parquet::basic::Compression;
use parquet::file::metadata::ColumnChunkMetaData;

use super::check::place;
use super::header::{HeaderFault, PageHeader, PageKind};
use super::pages::{LeafPages, Page};
use crate::read::input::Seekable;
use crate::read::options::MAX_BYTES;
use crate::read::stream::Progress;

/// What is read at a time, unless a page is longer.
const READ: usize = 256 << 10;

/// A file that is read at any place, by any thread, with its progress.
pub(super) struct Bytewise {
    file: Seekable,
    progress: Progress,
    /// Bytes that were counted.
    n_read: AtomicU64,
    /// Those who read it and have not come to their end.
    n_readers: AtomicUsize,
}

impl Bytewise {
    pub(super) fn new(file: Seekable, progress: Progress, n_readers: usize) -> Self {
        Self { file, progress, n_read: AtomicU64::new(0), n_readers: AtomicUsize::new(n_readers) }
    }

    /// Appends up to `n` bytes from a place on.
    fn read(&self, at: u64, n: u64, into: &mut BytesMut) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.file.append_at(at, n, &mut bytes)?;
        self.progress.add(bytes.len());
        self.n_read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        into.extend_from_slice(&bytes);
        Ok(())
    }

    /// One of those who read it is at its end. The last one counts what nobody read, so that the progress comes to its end.
    pub(super) fn finish(&self, n_bytes: u64) {
        if self.n_readers.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.progress.add(n_bytes.saturating_sub(self.n_read.load(Ordering::Relaxed)) as usize);
        }
    }
}

/// The column being read.
pub(super) struct Chunk {
    pub(super) compression: Compression,
    pub(super) dictionary: Option<Bytes>,
    /// The mean length of a value of the dictionary.
    mean_value: f64,
    /// The pages that are still needed.
    pub(super) pages: VecDeque<Page>,
    /// Rows that are in pages read so far.
    pub(super) loaded: u64,
    /// Why there are no further pages.
    pub(super) failed: Option<String>,
    /// What is read of the file: bytes from `at` on.
    ahead: BytesMut,
    at: u64,
    end: u64,
}

impl Chunk {
    pub(super) fn new(metadata: &ColumnChunkMetaData) -> Self {
        let place = place(metadata);
        let is_here = metadata.file_path().is_none();
        let failed = match place {
            Some(_) if is_here => None,
            Some(_) => Some("a column is in another file".to_owned()),
            None => Some("a column has no place in the file".to_owned()),
        };
        let (at, end) = place.unwrap_or_default();
        Self {
            compression: metadata.compression(),
            dictionary: None,
            mean_value: 0.0,
            pages: VecDeque::new(),
            loaded: 0,
            failed,
            ahead: BytesMut::new(),
            at,
            end,
        }
    }

    /// Reads the next page, of which at most `max_rows` are expected.
    pub(super) fn load(&mut self, file: &Bytewise, max_rows: u64) -> io::Result<()> {
        let (header, n) = match self.header(file)? {
            Ok(header) => header,
            Err(fault) => {
                self.failed = Some(fault);
                return Ok(());
            }
        };
        let page = (n as u64).saturating_add(header.compressed as u64);
        let n_rows = header.n_values as u64;
        self.failed = match header.kind {
            _ if page > self.end - self.at => Some("a page is longer than its column".to_owned()),
            _ if header.uncompressed as usize > MAX_BYTES => {
                Some(format!("a page is over {MAX_BYTES} bytes"))
            }
            PageKind::Data if n_rows > max_rows => Some("a page has too many rows".to_owned()),
            _ => None,
        };
        if self.failed.is_some() {
            return Ok(());
        }
        self.fill(file, page)?;
        if (self.ahead.len() as u64) < page {
            self.failed = Some("the file ends inside of a page".to_owned());
            return Ok(());
        }
        let bytes = self.ahead.split_to(page as usize).freeze();
        self.at += page;
        match header.kind {
            PageKind::Dictionary => {
                self.mean_value = header.uncompressed as f64 / header.n_values.max(1) as f64;
                self.dictionary = Some(bytes);
            }
            PageKind::Data if n_rows > 0 => self.push(&header, bytes),
            PageKind::Data | PageKind::Other => {}
        }
        Ok(())
    }

    /// The page that has a row, if it is read.
    pub(super) fn page(&self, row: u64) -> Option<&Page> {
        self.pages.iter().find(|page| page.rows.contains(&row))
    }

    /// The pages that have some of the rows. Those before the last of these rows are not needed any more.
    pub(super) fn take(&mut self, rows: &Range<u64>) -> LeafPages {
        let pages = self.pages.iter().take_while(|page| page.rows.start < rows.end).cloned().collect();
        self.pages.retain(|page| page.rows.end > rows.end);
        LeafPages { compression: self.compression, dictionary: self.dictionary.clone(), pages }
    }

    fn push(&mut self, header: &PageHeader, bytes: Bytes) {
        let rows = self.loaded..self.loaded + header.n_values as u64;
        let is_dictionary_coded = header.is_dictionary_coded();
        let decoded = match is_dictionary_coded {
            true => (self.mean_value * header.n_values as f64) as u64,
            false => header.uncompressed as u64,
        };
        self.loaded = rows.end;
        self.pages.push_back(Page { rows, bytes, decoded, is_dictionary_coded });
    }

    /// The header of the next page and its length, or why there is none.
    fn header(&mut self, file: &Bytewise) -> io::Result<Result<(PageHeader, usize), String>> {
        let mut wanted = 64;
        loop {
            if self.at >= self.end {
                return Ok(Err("its pages end before its rows do".to_owned()));
            }
            self.fill(file, wanted)?;
            match PageHeader::read(&self.ahead) {
                Ok(read) => return Ok(Ok(read)),
                Err(HeaderFault::Short) if self.ahead.len() as u64 >= wanted => {
                    wanted = 2 * self.ahead.len() as u64;
                }
                Err(HeaderFault::Short) => return Ok(Err("the header of a page is cut off".to_owned())),
                Err(HeaderFault::Bad) => return Ok(Err("the header of a page cannot be read".to_owned())),
            }
        }
    }

    /// Reads until `n` bytes are there, or all that the column has.
    fn fill(&mut self, file: &Bytewise, n: u64) -> io::Result<()> {
        let n = n.min(self.end - self.at);
        let have = self.ahead.len() as u64;
        if have >= n {
            return Ok(());
        }
        let rest = self.end - self.at - have;
        file.read(self.at + have, (n - have).max(READ as u64).min(rest), &mut self.ahead)
    }
}
