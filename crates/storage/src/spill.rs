//! Data that can be made again and does not fit: written behind a buffer, then looked at as memory.

use std::ops::Deref;

use super::checksum::{self, Pieces};
use super::error::Result;
use super::mapped::MappedFile;
use super::scratch::Scratch;

/// Bytes that are written at a time: whole pieces of the checksum.
const AT_ONCE: usize = 16 * checksum::PIECE;

/// A temporary file that is being written. Dropped, it leaves nothing behind.
#[derive(Debug)]
pub struct Spill {
    scratch: Scratch,
    /// What is not written yet, less than is written at a time.
    buffer: Vec<u8>,
    pieces: Pieces,
}

/// What was spilled, as memory. The file is deleted when this is dropped.
#[derive(Debug)]
pub struct MappedSpill {
    map: MappedFile,
    _scratch: Scratch,
}

impl Spill {
    pub(super) fn new(scratch: Scratch) -> Self {
        Self { scratch, buffer: Vec::with_capacity(AT_ONCE), pieces: Pieces::default() }
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// What the operating system says, with the file's name.
    pub fn append(&mut self, mut bytes: &[u8]) -> Result<()> {
        while self.buffer.len() + bytes.len() >= AT_ONCE {
            let (some, rest) = bytes.split_at(AT_ONCE - self.buffer.len());
            self.buffer.extend_from_slice(some);
            self.write()?;
            bytes = rest;
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Appends words of eight bytes.
    ///
    /// # Errors
    /// What the operating system says, with the file's name.
    pub fn append_words(&mut self, words: &[u64]) -> Result<()> {
        let mut bytes = [0; 4096];
        for some in words.chunks(bytes.len() / 8) {
            let (places, _) = bytes.as_chunks_mut();
            places.iter_mut().zip(some).for_each(|(place, word)| *place = word.to_le_bytes());
            self.append(&bytes[..8 * some.len()])?;
        }
        Ok(())
    }

    /// Ends the writing, reads all of it once and compares it with what was written.
    ///
    /// # Errors
    /// What the operating system says, with the file's name; a disk that gives back something else.
    pub fn finish(mut self) -> Result<MappedSpill> {
        self.write()?;
        self.scratch.close();
        let map = MappedFile::open_checked(self.scratch.path(), &self.pieces.stamp())?;
        Ok(MappedSpill { map, _scratch: self.scratch })
    }

    fn write(&mut self) -> Result<()> {
        self.scratch.append(&self.buffer)?;
        self.buffer.chunks(checksum::PIECE).for_each(|piece| self.pieces.add(piece));
        self.buffer.clear();
        Ok(())
    }
}

impl Deref for MappedSpill {
    type Target = MappedFile;

    #[inline]
    fn deref(&self) -> &MappedFile {
        &self.map
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::fault::When;
    use crate::tests::names;
    use crate::{Error, Files};

    fn words() -> Vec<u8> {
        (0..3 * AT_ONCE as u64 / 8 + 5).flat_map(|word| (word * word).to_le_bytes()).collect()
    }

    #[test]
    fn what_was_spilled_is_there_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = words();
        for (n, step) in
            [(0, 1), (100, 7), (AT_ONCE, AT_ONCE), (bytes.len(), 1000), (bytes.len(), bytes.len())]
        {
            let mut spill = Files::new().spill(&folder.path().join("words")).unwrap();
            bytes[..n].chunks(step).for_each(|some| spill.append(some).unwrap());
            let spilled = spill.finish().unwrap();
            assert!(spilled.bytes() == &bytes[..n], "{n} by {step}");
            assert_eq!(names(folder.path()).len(), 1);
            let mut again = Files::new().spill(&folder.path().join("again")).unwrap();
            again.append_words(spilled.words()).unwrap();
            assert!(again.finish().unwrap().bytes() == &bytes[..n / 8 * 8], "{n} by {step}");
            drop(spilled);
            assert!(names(folder.path()).is_empty());
        }
        drop(Files::new().spill(&folder.path().join("given up")).unwrap());
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_disk_that_gives_back_something_else_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut spill = Files::new().spill(&folder.path().join("words")).unwrap();
        let mut bytes = words();
        spill.append(&bytes).unwrap();
        spill.write().unwrap();
        bytes[AT_ONCE + 3] ^= 1;
        std::fs::write(spill.scratch.path(), &bytes).unwrap();
        let error = spill.finish().unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_full_disk_is_told_wherever_it_strikes_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = words();
        for room in [0, 1, AT_ONCE, 3 * AT_ONCE, bytes.len() - 1, bytes.len()] {
            let files = Files::failing(When::AfterBytes(room as u64), io::ErrorKind::StorageFull);
            let mut spill = files.spill(&folder.path().join("words")).unwrap();
            // A caller that does not heed the errors is told at the end.
            bytes.chunks(50_000).for_each(|some| drop(spill.append(some)));
            let spilled = spill.finish().map_err(|error| error.to_string());
            match room == bytes.len() {
                true => assert!(spilled.unwrap().bytes() == bytes),
                false => assert!(spilled.unwrap_err().contains("cannot write"), "{room}"),
            }
            assert!(names(folder.path()).is_empty(), "{room}");
        }
    }
}
