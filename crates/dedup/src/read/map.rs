//! Inputs as memory: a text is found again without a call to the system, and a line is written without being read first.
//!
//! The file belongs to somebody else, who may write to it. So a map is only ever looked at as bytes, which are copied before anything is made of them; and a file that is cut ends the process with
//! SIGBUS where it is looked at. Only programs that say so ([`Options::maps`](crate::job::Options::maps)) map their inputs.

use std::fs::File;
use std::io;
use std::ops::Range;

use memmap2::{MmapOptions, MmapRaw};

/// A file as it was when it was opened.
#[derive(Debug)]
pub(super) struct Map(MmapRaw);

impl Map {
    /// Maps so many bytes, at least one.
    pub fn new(file: &File, bytes: u64) -> io::Result<Self> {
        let bytes = usize::try_from(bytes).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let map = MmapOptions::new().len(bytes.max(1)).map_raw_read_only(file)?;
        Ok(Self(map))
    }

    /// Some bytes; nothing if the file had fewer.
    pub fn get(&self, range: Range<u64>) -> Option<&[u8]> {
        let (start, end) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
        if start > end || end > self.0.len() {
            return None;
        }
        // SAFETY: the range lies in the map, which lives as long as the reference. Another process may write to the file meanwhile: any bytes are bytes, and whoever asks copies them before looking.
        Some(unsafe { std::slice::from_raw_parts(self.0.as_ptr().add(start), end - start) })
    }
}
