//! An input that is read at any place: a file of this machine, or an object of a store.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use crate::store::ObjectFile;

/// An open input. Clones share the file, and each has a position of its own, so that any thread reads with one.
#[derive(Debug)]
pub(crate) enum Seekable {
    File(PlacedFile),
    Object(ObjectFile),
}

impl Seekable {
    pub(crate) fn of_file(file: File) -> Self {
        Self::File(PlacedFile { file: Arc::new(file), at: 0 })
    }

    /// The same input once more, at the same position; what was fetched of an object is shared.
    // Without object stores there is no object that could be cloned.
    #[cfg_attr(not(feature = "object-store"), allow(unreachable_code))]
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::File(file) => Self::File(file.clone()),
            Self::Object(object) => Self::Object(object.clone()),
        }
    }

    /// Appends up to `n` bytes from a place on.
    pub(crate) fn append_at(&self, at: u64, n: u64, into: &mut Vec<u8>) -> io::Result<()> {
        let mut again = self.again();
        again.seek(SeekFrom::Start(at))?;
        again.take(n).read_to_end(into).map(|_| ())
    }
}

/// A file from a place on.
#[derive(Debug, Clone)]
pub(crate) struct PlacedFile {
    file: Arc<File>,
    at: u64,
}

impl Read for PlacedFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read_at(into, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl Seek for PlacedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.file.metadata()?.len().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
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
            Self::File(placed) => placed.file.len(),
            Self::Object(object) => object.n_bytes(),
        }
    }
}

impl ChunkReader for Seekable {
    type T = BufReader<Self>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        let mut again = self.again();
        again.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(again))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_position_of_its_own() {
        let path = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&path, "0123456789").unwrap();
        let mut one = Seekable::of_file(File::open(&path).unwrap());
        let mut two = one.again();
        let read = |from: &mut Seekable, n: u64| {
            let mut text = String::new();
            from.take(n).read_to_string(&mut text).unwrap();
            text
        };
        assert_eq!(
            (read(&mut one, 3), read(&mut two, 2), read(&mut one, 2)),
            ("012".into(), "01".into(), "34".into())
        );
        assert_eq!((two.seek(SeekFrom::End(-1)).unwrap(), read(&mut two, 9)), (9, "9".into()));
        assert_eq!((one.seek(SeekFrom::Current(2)).unwrap(), read(&mut one, 1)), (7, "7".into()));
        assert!(one.seek(SeekFrom::Current(-9)).is_err() && one.seek(SeekFrom::End(-11)).is_err());
        let mut bytes = Vec::new();
        one.append_at(4, 3, &mut bytes).unwrap();
        assert_eq!((bytes, read(&mut one, 1)), (b"456".to_vec(), "8".into()));
    }
}
