//! The records of a collection, in the order in which they came: a header of six words, then blocks.
//!
//! A block is a batch: appended, synced, and only then acknowledged. What a crash leaves of a block that was not acknowledged does not have its checksum, and nothing comes after it: it is cut off when the
//! collection is opened. What is known to be acknowledged (`current.json`, written when a collection is closed and whenever segments change) is never cut off: it is damaged, and told.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use benzer_core::hash;

use super::block::{Batch, Rows};
use super::files::{self, Files};
use super::map::{Map, bytes};
use super::trouble;
use crate::error::{Error, Result};
use crate::record::DocNo;

/// Words of the header of a log.
pub(super) const HEADER: usize = 6;
const LOG_MAGIC: u32 = u32::from_le_bytes(*b"BNZR");
const VERSION: u32 = 1;
/// The least that is mapped.
const MIN_MAPPED: usize = 64 << 20;

/// A log that is written.
#[derive(Debug)]
pub(super) struct Log {
    files: Arc<dyn Files>,
    pub path: PathBuf,
    file: File,
    pub rows: Rows,
    /// Where the next block begins.
    pub end: usize,
    /// Syncing has failed: what is on the disk is not known until the collection is opened again.
    is_broken: bool,
}

impl Log {
    /// A new log, which is not durable before the first [`Log::append`] or [`Log::sync`].
    pub fn create(files: &Arc<dyn Files>, path: &Path, known: &Known) -> Result<Self> {
        let Known { stride, fingerprint, .. } = *known;
        let salt = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), path);
        let mut header =
            vec![u64::from(LOG_MAGIC) | u64::from(VERSION) << 32, stride as u64, salt, fingerprint, 0];
        header.push(hash::element(bytes(&header)));
        let file = files.create(path).map_err(trouble("make", path))?;
        files.write(path, &file, 0, bytes(&header)).map_err(trouble("write", path))?;
        let map = Map::new(&file, MIN_MAPPED, 8 * HEADER).map_err(trouble("map", path))?;
        let rows = Rows { map: Arc::new(map), salt, stride, acknowledged: 0 };
        Ok(Self { files: files.clone(), path: path.into(), file, rows, end: HEADER, is_broken: false })
    }

    /// A log as it is, whose end is still to be found. Where its salt is known from elsewhere, a damaged header is no hindrance.
    pub fn open(files: &Arc<dyn Files>, path: &Path, access: Access, known: &Known) -> Result<Self> {
        let mut options = File::options();
        let options = options.read(true).write(access == Access::Write);
        let file = options.open(path).map_err(trouble("open", path))?;
        let length = file.metadata().map_err(trouble("open", path))?.len() as usize;
        let map = Map::new(&file, MIN_MAPPED.max(2 * length), length).map_err(trouble("map", path))?;
        let salt = match (check_header(map.words(), known, path), known.salt) {
            (Ok(salt), None) => salt,
            (Ok(salt), Some(known)) if salt == known => salt,
            (Err(Error::Damaged { .. }), Some(known)) => known,
            (Ok(_), Some(_)) => {
                return Err(Error::incompatible("the log of this collection", path.display()));
            }
            (Err(error), _) => return Err(error),
        };
        let stride = known.stride;
        let rows = Rows { map: Arc::new(map), salt, stride, acknowledged: 0 };
        Ok(Self { files: files.clone(), path: path.into(), file, rows, end: HEADER, is_broken: false })
    }

    /// Appends a batch, and returns when it is on the disk; where it begins. On an error it is not part of the log.
    pub fn append(&mut self, first: DocNo, batch: &Batch) -> Result<usize> {
        let at = self.write(first, batch)?;
        if let Err(error) = self.sync() {
            // What has reached the disk is not known: nothing may follow it, and it must not be found again.
            self.is_broken = true;
            self.end = at;
            self.rows.map.fill(8 * at);
            self.files.cut(&self.path, &self.file, 8 * at as u64).ok();
            return Err(error);
        }
        Ok(at)
    }

    /// Appends a batch without syncing it.
    pub fn write(&mut self, first: DocNo, batch: &Batch) -> Result<usize> {
        if self.is_broken {
            return Err(Error::damaged(&self.path, "an earlier write failed; open the collection again"));
        }
        let at = self.end;
        let block = batch.encode(first, self.rows.salt, at);
        if let Err(error) = self.files.write(&self.path, &self.file, 8 * at as u64, bytes(&block)) {
            // What was written of it is in the way of nothing; cutting it off frees the room.
            self.files.cut(&self.path, &self.file, 8 * at as u64).ok();
            return Err(trouble("write", &self.path)(error));
        }
        let end = at + block.len();
        if 8 * end > self.rows.map.capacity() {
            let map = Map::new(&self.file, 16 * end, 8 * end).map_err(trouble("map", &self.path))?;
            self.rows.map = Arc::new(map);
        }
        self.rows.map.fill(8 * end);
        self.end = end;
        Ok(at)
    }

    /// Refuses every write until the collection is opened again.
    pub fn refuse(&mut self) {
        self.is_broken = true;
    }

    /// Gives a log that is whole its name.
    pub fn rename(&mut self, path: &Path) -> Result<()> {
        self.files.rename(&self.path, path).map_err(trouble("rename", &self.path))?;
        self.path = path.into();
        files::sync_folder_of(&*self.files, path).map_err(trouble("sync", path))
    }

    /// Returns when everything is on the disk.
    pub fn sync(&self) -> Result<()> {
        self.files.sync(&self.path, &self.file).map_err(trouble("sync", &self.path))
    }

    /// Cuts off what a crash has left behind the last block.
    pub fn end_at(&mut self, end: usize) -> Result<()> {
        self.end = end;
        if self.rows.map.words().len() > end || self.length()? != 8 * end as u64 {
            self.rows.map.fill(8 * end);
            self.files.cut(&self.path, &self.file, 8 * end as u64).map_err(trouble("write", &self.path))?;
        }
        // An earlier process may have been killed before it synced what it wrote.
        self.sync()
    }

    /// For readers: shows what was appended in the meantime; whether there was something.
    pub fn refresh(&mut self) -> Result<bool> {
        let length = self.length()? as usize;
        if length / 8 <= self.end {
            return Ok(false);
        }
        if length > self.rows.map.capacity() {
            let map = Map::new(&self.file, 2 * length, length).map_err(trouble("map", &self.path))?;
            self.rows.map = Arc::new(map);
        }
        self.rows.map.fill(length);
        Ok(true)
    }

    fn length(&self) -> Result<u64> {
        Ok(self.file.metadata().map_err(trouble("read", &self.path))?.len())
    }
}

/// What a log must have in its header.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub stride: usize,
    pub fingerprint: u64,
    pub salt: Option<u64>,
}

/// Checks the header of a log; its salt.
pub(super) fn check_header(words: &[u64], known: &Known, path: &Path) -> Result<u64> {
    let damaged = |what: &str| Error::damaged(path, what);
    let header = words.get(..HEADER).ok_or_else(|| damaged("it has no header"))?;
    if hash::element(bytes(&header[..HEADER - 1])) != header[HEADER - 1] {
        return Err(damaged("its header does not have its checksum"));
    }
    if header[0] != u64::from(LOG_MAGIC) | u64::from(VERSION) << 32 {
        return Err(Error::incompatible(format!("records of version {VERSION}"), path.display()));
    }
    if header[1] != known.stride as u64 || header[3] != known.fingerprint {
        return Err(Error::incompatible("records of this collection", path.display()));
    }
    Ok(header[2])
}

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Access {
    Read,
    Write,
}
