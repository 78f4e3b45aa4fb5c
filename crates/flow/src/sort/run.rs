//! A sorted run on disk.
//!
//! ```text
//! block   u32 records, the records, u64 checksum
//! ```
//!
//! A checksum is `split(element hash of the bytes before it, number of the block)`, so that a block in the place of another is noticed.
//! Every block but the last is full. The number of records is kept in memory: a run does not outlive its process.

use std::fs::File;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use benzer_core::hash::{element, split};
use benzer_storage::{Error, Files, Result, Scratch};

use super::record::Record;

const START: usize = 4;
const CHECKSUM: usize = 8;

/// Where runs are written, and in which blocks.
#[derive(Debug, Clone)]
pub(super) struct Place {
    files: Files,
    dir: PathBuf,
    block_records: usize,
}

impl Place {
    /// Blocks of at most so many bytes, and of at least one record.
    pub fn new<T: Record>(files: &Files, dir: &Path, block_bytes: usize) -> Self {
        let block_records = block_bytes.saturating_sub(START + CHECKSUM) / T::BYTES.max(1);
        // The number of records of a block is written as 32 bits.
        let block_records = block_records.clamp(1, u32::MAX as usize);
        Self { files: files.clone(), dir: dir.into(), block_records }
    }

    /// The memory that a block takes, written or read.
    pub fn block_bytes<T: Record>(&self) -> usize {
        START + self.block_records * T::BYTES + CHECKSUM
    }
}

/// A run that is being written.
pub(super) struct RunWriter<T> {
    place: Place,
    file: Scratch,
    block: Vec<u8>,
    in_block: usize,
    n_blocks: u64,
    n_records: u64,
    record: PhantomData<T>,
}

impl<T: Record> RunWriter<T> {
    pub fn create(place: &Place) -> Result<Self> {
        Ok(Self {
            place: place.clone(),
            file: place.files.temporary(&place.dir.join("run"))?,
            block: Vec::with_capacity(place.block_bytes::<T>()),
            in_block: 0,
            n_blocks: 0,
            n_records: 0,
            record: PhantomData,
        })
    }

    #[inline]
    pub fn push(&mut self, record: &T) -> Result<()> {
        if self.in_block == 0 {
            self.block.extend_from_slice(&[0; START]);
        }
        let start = self.block.len();
        self.block.resize(start + T::BYTES, 0);
        record.write(&mut self.block[start..]);
        self.in_block += 1;
        if self.in_block == self.place.block_records { self.close_block() } else { Ok(()) }
    }

    pub fn finish(mut self) -> Result<RunReader<T>> {
        if self.in_block > 0 {
            self.close_block()?;
        }
        self.file.close();
        Ok(RunReader {
            place: self.place,
            n_records: self.n_records,
            run: self.file,
            file: None,
            n_blocks: 0,
            block: Vec::new(),
            next: 0,
            end: 0,
            record: PhantomData,
        })
    }

    fn close_block(&mut self) -> Result<()> {
        self.block[..START].copy_from_slice(&(self.in_block as u32).to_le_bytes());
        let checksum = split(element(&self.block), self.n_blocks);
        self.block.extend_from_slice(&checksum.to_le_bytes());
        self.file.append(&self.block)?;
        self.n_records += self.in_block as u64;
        self.n_blocks += 1;
        self.in_block = 0;
        self.block.clear();
        Ok(())
    }
}

/// A run that was written. The file is opened for the first record; from then on one block is in memory.
#[derive(Debug)]
pub(super) struct RunReader<T> {
    pub place: Place,
    run: Scratch,
    file: Option<File>,
    /// Records that are not in a block yet; all of the run, before the first is read.
    pub n_records: u64,
    n_blocks: u64,
    block: Vec<u8>,
    /// Where in the block the next record begins, and where the last one ends.
    next: usize,
    end: usize,
    record: PhantomData<T>,
}

impl<T: Record> RunReader<T> {
    /// Its size on disk.
    pub fn bytes(&self) -> u64 {
        self.run.bytes()
    }

    #[inline]
    pub fn next(&mut self) -> Result<Option<T>> {
        if self.next == self.end {
            if self.n_records == 0 {
                return Ok(None);
            }
            self.read_block()?;
        }
        let record = T::read(&self.block[self.next..][..T::BYTES]);
        self.next += T::BYTES;
        Ok(Some(record))
    }

    fn read_block(&mut self) -> Result<()> {
        let n = self.n_records.min(self.place.block_records as u64) as usize;
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(self.run.read()?),
        };
        self.block.resize(START + n * T::BYTES + CHECKSUM, 0);
        let block = format!("block {} with {n} records", self.n_blocks);
        file.read_exact(&mut self.block).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::damaged(self.run.path(), &block, "the end of the file"),
            _ => Error::disk("read", self.run.path(), error),
        })?;
        let (body, checksum) = self.block.split_at(START + n * T::BYTES);
        let holds = checksum == split(element(body), self.n_blocks).to_le_bytes();
        if !holds || body[..START] != (n as u32).to_le_bytes() {
            return Err(Error::damaged(self.run.path(), block, "other bytes"));
        }
        (self.next, self.end) = (START, body.len());
        self.n_records -= n as u64;
        self.n_blocks += 1;
        Ok(())
    }
}
