//! Files for data that can be made again.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

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
