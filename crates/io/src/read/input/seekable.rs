//! An input that is read at any place: a file of this machine, or an object of a store.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use crate::store::ObjectFile;

/// An open input.
#[derive(Debug)]
pub(crate) enum Seekable {
    File(File),
    Object(ObjectFile),
}

impl Seekable {
    /// The same input once more; what was fetched of an object is shared.
    // Without object stores there is no object that could be cloned.
    #[cfg_attr(not(feature = "object-store"), allow(unreachable_code))]
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::File(file) => Self::File(file.try_clone()?),
            Self::Object(object) => Self::Object(object.clone()),
        })
    }
}

impl Seekable {
    /// Appends up to `n` bytes from a place on. Others may read at other places meanwhile.
    pub(crate) fn append_at(&self, at: u64, n: u64, into: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::File(file) => PlacedFile { file, at }.take(n).read_to_end(into),
            Self::Object(object) => {
                let mut object = object.clone();
                object.seek(SeekFrom::Start(at))?;
                object.take(n).read_to_end(into)
            }
        }
        .map(|_| ())
    }
}

/// A file from a place on, whose own position stays.
struct PlacedFile<'a> {
    file: &'a File,
    at: u64,
}

impl Read for PlacedFile<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read_at(into, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl Read for Seekable {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(into),
            Self::Object(object) => object.read(into),
        }
    }
}

impl Seek for Seekable {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Object(object) => object.seek(to),
        }
    }
}

impl Length for Seekable {
    fn len(&self) -> u64 {
        match self {
            Self::File(file) => file.len(),
            Self::Object(object) => object.n_bytes(),
        }
    }
}

impl ChunkReader for Seekable {
    type T = BufReader<Self>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        let mut clone = self.try_clone()?;
        clone.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(clone))
    }

    fn get_bytes(&self, start: u64, n: usize) -> parquet::errors::Result<Bytes> {
        let mut bytes = Vec::with_capacity(n.min(1 << 24));
        let read = self.get_read(start)?.take(n as u64).read_to_end(&mut bytes)?;
        if read < n {
            return Err(ParquetError::EOF(format!("expected to read {n} bytes, read only {read}")));
        }
        Ok(bytes.into())
    }
}
