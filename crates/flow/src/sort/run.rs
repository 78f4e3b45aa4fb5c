//! A sorted run on disk: blocks of records, each an extent of a temporary file. Every block but the last is full.

use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use benzer_storage::{Extent, Files, Result, Scratch};

use super::record::Record;

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
        let block_records = (block_bytes / T::BYTES.max(1)).max(1);
        Self { files: files.clone(), dir: dir.into(), block_records }
    }

    /// The memory that a block takes, written or read.
    pub fn block_bytes<T: Record>(&self) -> usize {
        self.block_records * T::BYTES
    }
}

/// A run that is being written.
pub(super) struct RunWriter<T> {
    place: Place,
    file: Scratch,
    block: Vec<u8>,
    in_block: usize,
    blocks: Vec<Extent>,
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
            blocks: Vec::new(),
            n_records: 0,
            record: PhantomData,
        })
    }

    #[inline]
    pub fn push(&mut self, record: &T) -> Result<()> {
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
            blocks: self.blocks.into_iter(),
            block: Vec::new(),
            next: 0,
            record: PhantomData,
        })
    }

    fn close_block(&mut self) -> Result<()> {
        self.blocks.push(self.file.append_extent(&self.block)?);
        self.n_records += std::mem::take(&mut self.in_block) as u64;
        self.block.clear();
        Ok(())
    }
}

/// A run that was written. From the first record on one block is in memory.
#[derive(Debug)]
pub(super) struct RunReader<T> {
    pub place: Place,
    run: Scratch,
    /// All of the run, before the first is read.
    pub n_records: u64,
    /// Those that were not read yet.
    blocks: std::vec::IntoIter<Extent>,
    block: Vec<u8>,
    /// Where in the block the next record begins.
    next: usize,
    record: PhantomData<T>,
}

impl<T: Record> RunReader<T> {
    /// Its size on disk.
    pub fn bytes(&self) -> u64 {
        self.run.bytes()
    }

    #[inline]
    pub fn next(&mut self) -> Result<Option<T>> {
        if self.next == self.block.len() {
            let Some(block) = self.blocks.next() else { return Ok(None) };
            self.run.read_extent(block, &mut self.block)?;
            self.next = 0;
        }
        let record = T::read(&self.block[self.next..][..T::BYTES]);
        self.next += T::BYTES;
        Ok(Some(record))
    }
}
