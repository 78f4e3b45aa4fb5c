//! Files of our own that are whole and do not change any more, as memory: the system has as much of them in memory as there is room for.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

#[cfg(target_os = "linux")]
use memmap2::Advice;
use memmap2::{MmapOptions, MmapRaw};

use super::checksum::{PIECE, Pieces, Stamp};
use super::error::{Error, Result};

#[cfg(target_endian = "big")]
compile_error!("mapped files are little-endian, and read as they are");

/// Bytes that are fetched from the disk at a time while a file is checked.
const AT_ONCE: usize = 16 * PIECE;

/// A file in memory. It is counted as memory of the system, which takes it back when others need it.
#[derive(Debug)]
pub struct MappedFile {
    /// Nothing of an empty file.
    map: Option<MmapRaw>,
}

impl MappedFile {
    /// Maps a file that nobody writes to.
    ///
    /// # Errors
    /// What the operating system says, with the file's name.
    pub fn open(path: &Path) -> Result<Self> {
        let map = || -> io::Result<Option<MmapRaw>> {
            let file = File::open(path)?;
            let bytes = usize::try_from(file.metadata()?.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
            if bytes == 0 {
                return Ok(None);
            }
            MmapOptions::new().len(bytes).map_raw_read_only(&file).map(Some)
        };
        map().map(|map| Self { map }).map_err(|error| Error::disk("read", path, error))
    }

    /// The same, after the whole file was read and compared with what was written.
    ///
    /// # Errors
    /// A file that cannot be read, or is another one than was stamped.
    pub fn open_checked(path: &Path, stamp: &Stamp) -> Result<Self> {
        let file = Self::open(path)?;
        let mut pieces = Pieces::default();
        for start in (0..file.bytes().len()).step_by(AT_ONCE) {
            let some = start..file.bytes().len().min(start + AT_ONCE);
            // A disk that fails is an error here; where a map is looked at it ends the process.
            file.populate(some.clone()).map_err(|error| Error::disk("read", path, error))?;
            file.bytes()[some].chunks(PIECE).for_each(|piece| pieces.add(piece));
        }
        stamp.compare(path, &pieces.stamp()).map(|()| file)
    }

    /// All of it.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        let Some(map) = &self.map else { return &[] };
        // SAFETY: these bytes are in the map, which lives as long as the reference, and nobody writes to the file: it is finished, in a folder that this process has locked, or a temporary one of this process.
        unsafe { std::slice::from_raw_parts(map.as_ptr(), map.len()) }
    }

    /// All of it as words of eight bytes, but for what is left over at the end.
    #[inline]
    pub fn words(&self) -> &[u64] {
        let bytes = self.bytes();
        // An empty slice is aligned for nothing.
        if bytes.is_empty() {
            return &[];
        }
        // SAFETY: a map begins at a page, so its words are aligned; every pattern of bits is a number.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / 8) }
    }

    /// Fetches some bytes from the disk, all at once.
    fn populate(&self, range: Range<usize>) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if let Some(map) = &self.map {
            match map.advise_range(Advice::PopulateRead, range.start, range.len()) {
                // Older systems do not know this, and need not.
                Err(error) if error.kind() != io::ErrorKind::InvalidInput => return Err(error),
                _ => {}
            }
        }
        let _ = range;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Files;

    #[test]
    fn a_mapped_file_has_what_was_written_and_a_damaged_one_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words.bin");
        let words: Vec<u64> = (0..(3 * AT_ONCE / 8) as u64 + 5).map(|i| i * i).collect();
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.push(7);
        let mut file = Files::new().create(&path).unwrap();
        file.append(&bytes).unwrap();
        let stamp = file.commit().unwrap();
        let mapped = MappedFile::open_checked(&path, &stamp).unwrap();
        assert!(mapped.bytes() == bytes && mapped.words() == words);
        bytes[AT_ONCE + 3] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let error = MappedFile::open_checked(&path, &stamp).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
        std::fs::write(&path, []).unwrap();
        let empty = MappedFile::open(&path).unwrap();
        assert!(empty.bytes().is_empty() && empty.words().is_empty());
    }
}
