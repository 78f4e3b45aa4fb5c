//! Inputs as memory: a text is found again without a call to the system, and a line is written without being read first.
//!
//! The file belongs to somebody else, who may write to it. So a map is only ever looked at as bytes, which are copied or decoded before anything is made of them; and a file that is cut ends the process with
//! SIGBUS where it is looked at. Only programs that say so ([`Reader::rereader`](crate::read::Reader::rereader)) map their inputs.

use std::fs::File;
use std::io;
use std::ops::Range;

#[cfg(target_os = "linux")]
use memmap2::Advice;
use memmap2::{MmapOptions, MmapRaw, UncheckedAdvice};

/// A file as it was when it was opened.
#[derive(Debug)]
pub(in crate::read) struct Map(MmapRaw);

impl Map {
    /// Maps so many bytes, which the file has; an error if that are none.
    pub fn new(file: &File, bytes: u64) -> io::Result<Self> {
        let bytes = usize::try_from(bytes).map_err(|_| io::ErrorKind::FileTooLarge)?;
        if bytes == 0 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(Self(MmapOptions::new().len(bytes).map_raw_read_only(file)?))
    }

    /// Some bytes will be wanted: the system notes where their pages are, all at once. Otherwise some of them at a time cost a fault when they are looked at.
    pub fn populate(&self, range: Range<u64>) {
        let (start, end) = (range.start.min(self.0.len() as u64), range.end.min(self.0.len() as u64));
        // Older systems do not know this, and need not.
        #[cfg(target_os = "linux")]
        self.0.advise_range(Advice::PopulateRead, start as usize, (end - start) as usize).ok();
        #[cfg(not(target_os = "linux"))]
        let _ = (start, end);
    }

    /// Copies bytes from an offset on, as far as the file went; how many that are.
    pub fn copy(&self, offset: u64, into: &mut [u8]) -> usize {
        let left = (self.0.len() as u64).saturating_sub(offset);
        let n = left.min(into.len() as u64);
        into[..n as usize].copy_from_slice(self.get(offset..offset + n).unwrap_or_default());
        n as usize
    }

    /// It will hardly be looked at again: the system may forget where its pages are, which takes a while at the end of a process otherwise.
    pub fn release(&self) {
        // SAFETY: a map of a file that nobody writes to through it. What is looked at again comes from the file again.
        unsafe { self.0.unchecked_advise(UncheckedAdvice::DontNeed) }.ok();
    }

    /// Some bytes; nothing if the file had fewer.
    pub fn get(&self, range: Range<u64>) -> Option<&[u8]> {
        let (start, end) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
        if start > end || end > self.0.len() {
            return None;
        }
        // SAFETY: the range lies in the map, which lives as long as the reference. Another process may write to the file meanwhile: any bytes are bytes, and whoever asks copies or decodes them before anything relies on them.
        Some(unsafe { std::slice::from_raw_parts(self.0.as_ptr().add(start), end - start) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_has_the_bytes_of_its_file_and_no_others() {
        const MANY: usize = 4 << 20;
        let content: Vec<u8> = (0..2 * MANY + 777).map(|i| (i % 251) as u8).collect();
        let path = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&path, &content).unwrap();
        let map = Map::new(path.as_file(), content.len() as u64).unwrap();
        assert!(Map::new(path.as_file(), 0).is_err());
        assert_eq!(map.get(5..9), Some(&content[5..9]));
        let mut copied = [0; 9];
        assert_eq!(
            (map.copy(content.len() as u64 - 4, &mut copied), &copied[..4]),
            (4, &content[content.len() - 4..])
        );
        assert_eq!(map.copy(content.len() as u64 + 1, &mut copied), 0);
        map.populate(4095..70_000);
        map.populate(content.len() as u64 - 1..u64::MAX);
        map.release();
        assert_eq!(map.get(7..19), Some(&content[7..19]));
        assert_eq!(map.get(0..content.len() as u64 + 1), None);
    }
}
