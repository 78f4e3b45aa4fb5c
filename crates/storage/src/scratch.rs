//! Files for data that can be made again.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use benzer_core::hash::{element, split};

use super::error::{Error, Result};
use super::handle::Handle;
use super::{Files, temporary};

/// A temporary file: written first, then read any number of times, deleted when dropped. Not buffered, never synced.
#[derive(Debug)]
pub struct Scratch {
    files: Files,
    path: PathBuf,
    /// Nothing once it was read.
    file: Option<Handle>,
    bytes: u64,
}

/// Bytes of a temporary file that are read together.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    start: u64,
    bytes: usize,
    checksum: u64,
}

impl Extent {
    /// Its size.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Of bytes that begin at `start`; those of another place have another one.
    fn checksum(start: u64, bytes: &[u8]) -> u64 {
        split(element(bytes), start)
    }
}

impl Scratch {
    pub(super) fn create(files: &Files, path: &Path) -> Result<Self> {
        let (path, file) =
            temporary::create(&*files.disk, path).map_err(|error| Error::disk("write", path, error))?;
        Ok(Self { files: files.clone(), path, file: Some(file), bytes: 0 })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// What the operating system says, with the file's name; a file that was already read.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let written = match &mut self.file {
            Some(file) => self.files.disk.write(&self.path, file, self.bytes, bytes),
            None => Err(io::Error::other("it is closed for writing")),
        };
        written.map_err(|error| {
            self.file = None;
            Error::disk("write", &self.path, error)
        })?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Appends bytes that are read together.
    ///
    /// # Errors
    /// As [`Scratch::append`].
    pub fn append_extent(&mut self, bytes: &[u8]) -> Result<Extent> {
        let start = self.bytes;
        self.append(bytes)?;
        Ok(Extent { start, bytes: bytes.len(), checksum: Extent::checksum(start, bytes) })
    }

    /// Reads what was appended in the place of other bytes, also while more is written.
    ///
    /// # Errors
    /// What the operating system says, with the file's name; bytes that are not those that were written.
    pub fn read_extent(&self, extent: Extent, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.resize(extent.bytes, 0);
        let mut read = || {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(extent.start))?;
            file.read_exact(bytes)
        };
        let what = || format!("{} bytes at {}", extent.bytes, extent.start);
        read().map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::damaged(&self.path, what(), "the end of the file"),
            _ => Error::disk("read", &self.path, error),
        })?;
        if Extent::checksum(extent.start, bytes) != extent.checksum {
            return Err(Error::damaged(&self.path, what(), "other bytes"));
        }
        Ok(())
    }

    /// Ends the writing and opens the file at its beginning.
    ///
    /// # Errors
    /// What the operating system says, with the file's name.
    pub fn read(&mut self) -> Result<File> {
        self.close();
        File::open(&self.path).map_err(|error| Error::disk("read", &self.path, error))
    }

    /// Ends the writing. A closed file takes no descriptor of the process.
    pub fn close(&mut self) {
        self.file = None;
    }
}

impl Write for Scratch {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.append(bytes).map_err(Error::into_io)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.close();
        // A failure to remove has nobody to tell; a later run removes what is left.
        let _ = self.files.disk.remove(&self.path);
    }
}
