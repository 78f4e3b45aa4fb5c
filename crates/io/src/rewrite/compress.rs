//! The documents of line-based inputs, compressed as the input was.

use std::io::Write;

use benzer_storage::{FileWriter, Stamp};

use crate::error::{Error, Result};
use crate::read::Compression;

/// The level of `gzip` and `zstd` by default.
const GZIP_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

/// An output file that compresses what it is given. Errors name the file.
pub enum LineWriter {
    /// As it is.
    Plain(FileWriter),
    /// In gzip.
    Gzip(flate2::write::GzEncoder<FileWriter>),
    /// In Zstandard.
    Zstd(zstd::Encoder<'static, FileWriter>),
}

impl Write for LineWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Gzip(out) => out.write(bytes),
            Self::Zstd(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        // Everything is flushed at the commit.
        Ok(())
    }
}

impl LineWriter {
    /// Compresses what goes to a file.
    ///
    /// # Errors
    /// No memory for the compression.
    pub fn new(out: FileWriter, compression: Compression) -> Result<Self> {
        Ok(match compression {
            Compression::Gzip => {
                Self::Gzip(flate2::write::GzEncoder::new(out, flate2::Compression::new(GZIP_LEVEL)))
            }
            Compression::Zstd => Self::Zstd(zstd::Encoder::new(out, ZSTD_LEVEL).map_err(Error::Write)?),
            _ => Self::Plain(out),
        })
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Plain(out) => Ok(out.append(bytes)?),
            Self::Gzip(out) => out.write_all(bytes).map_err(Error::Write),
            Self::Zstd(out) => out.write_all(bytes).map_err(Error::Write),
        }
    }

    /// Ends the compression; the file still waits for its commit.
    pub fn finish(self) -> Result<FileWriter> {
        match self {
            Self::Plain(out) => Ok(out),
            Self::Gzip(out) => out.finish().map_err(Error::Write),
            Self::Zstd(out) => out.finish().map_err(Error::Write),
        }
    }

    /// Ends the compression and puts the file in its place.
    pub fn commit(self) -> Result<Stamp> {
        Ok(self.finish()?.commit()?)
    }
}
