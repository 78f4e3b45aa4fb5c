//! An open file being written.
//!
//! Linux can write large aligned blocks past the page cache: the processor copies nothing, the sync at the end has nothing left to do, and the pages of other programs
//! stay where they are. Where that does not work (another system, a file system without it), and for everything small, it is written the ordinary way.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs::File, io, path::Path};

use super::checksum::{PIECE, Pieces, hashes};

/// The alignment of blocks in memory and in the file.
pub(super) const ALIGNMENT: usize = 4096;
/// What is not longer needs no large block: of small files there are many, and memory costs time when it is touched.
const SMALL: [usize; 3] = [32 << 10, 512 << 10, (1 << 20) - (64 << 10)];
/// Fewer bytes are not worth a second handle.
const MIN_PAST_CACHE: usize = Block::BYTES / 8;

/// The file, and a second handle past the page cache. Any thread may write to a place of its own.
#[derive(Debug)]
pub(super) struct Handle {
    file: File,
    /// Opened by the first that is large; nothing if that cannot be.
    past: OnceLock<Option<File>>,
    /// Whether the file system has turned out to have other rules.
    is_refused: AtomicBool,
}

impl Handle {
    /// A new file; one that exists is an error.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = File::options().write(true).create_new(true).open(path)?;
        Ok(Self { file, past: OnceLock::new(), is_refused: AtomicBool::new(false) })
    }

    /// Writes at `offset`. The file is still named `path`.
    pub fn write(&self, path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let n = self.write_past(path, offset, bytes)?;
        write_at(&self.file, offset + n as u64, &bytes[n..])
    }

    /// Returns when the bytes are on the disk.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Writes as much as can go past the page cache; how much that is.
    fn write_past(&self, path: &Path, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let n = bytes.len() / ALIGNMENT * ALIGNMENT;
        let is_aligned =
            bytes.as_ptr().align_offset(ALIGNMENT) == 0 && offset.is_multiple_of(ALIGNMENT as u64);
        if n < MIN_PAST_CACHE || !is_aligned || self.is_refused.load(Ordering::Relaxed) {
            return Ok(0);
        }
        let Some(file) = self.past.get_or_init(|| open_past(path).ok()) else { return Ok(0) };
        match write_at(file, offset, &bytes[..n]) {
            // The file system has other rules.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                self.is_refused.store(true, Ordering::Relaxed);
                Ok(0)
            }
            written => written.map(|()| n),
        }
    }
}

#[cfg(target_os = "linux")]
fn open_past(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().write(true).custom_flags(libc::O_DIRECT).open(path)
}

#[cfg(not(target_os = "linux"))]
fn open_past(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
fn write_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

/// One after the other: they share a position.
#[cfg(not(unix))]
fn write_at(mut file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    use std::sync::{Mutex, PoisonError};
    static POSITION: Mutex<()> = Mutex::new(());
    let _position = POSITION.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

/// Bytes on their way to a file, aligned in memory.
#[derive(Debug, Default)]
pub struct Block {
    buffer: Vec<u8>,
    start: usize,
}

impl Block {
    /// Bytes of a full block: it fits a huge page, which is one piece for the disk instead of hundreds. Tests have small ones, so that small files have several.
    pub const BYTES: usize = if cfg!(test) { 64 << 10 } else { (2 << 20) - (64 << 10) };

    /// The bytes that are in it.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Takes as many bytes as there is room for; how many that is.
    pub fn take(&mut self, bytes: &[u8]) -> usize {
        let n = bytes.len().min(Self::BYTES - self.bytes().len());
        if self.buffer.len() + n > self.buffer.capacity() {
            let needed = self.bytes().len() + n;
            let room = SMALL.into_iter().filter(|room| *room < Self::BYTES).find(|room| needed <= *room);
            self.move_to(room.unwrap_or(Self::BYTES));
        }
        self.buffer.extend_from_slice(&bytes[..n]);
        n
    }

    /// Moves to a buffer with room for so many bytes.
    fn move_to(&mut self, room: usize) {
        let mut buffer: Vec<u8> = Vec::with_capacity(room + ALIGNMENT);
        let start = buffer.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        buffer.resize(start, 0);
        buffer.extend_from_slice(self.bytes());
        (self.buffer, self.start) = (buffer, start);
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.buffer.truncate(self.start);
    }

    /// Looks at its bytes for the checksum of the file, which is most of what there is to do for it: on any thread.
    pub fn stamped(self) -> StampedBlock {
        let hashes = if self.bytes().len() == Self::BYTES { hashes(self.bytes()) } else { Vec::new() };
        StampedBlock { block: self, hashes }
    }
}

/// A block that [`FileWriter::append_block`](super::FileWriter::append_block) takes without looking at its bytes.
#[derive(Debug)]
pub struct StampedBlock {
    pub(super) block: Block,
    /// Of its pieces, if it is full.
    hashes: Vec<u64>,
}

impl StampedBlock {
    /// Adds a full block to a checksum; false if it is none.
    pub(super) fn add_to(&self, pieces: &mut Pieces) -> bool {
        self.hashes.iter().for_each(|hash| pieces.add_hash(*hash, PIECE));
        !self.hashes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_in_blocks_of_any_size_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let bytes: Vec<u8> = (0..3 * Block::BYTES + 12_345).map(|i| (i % 251) as u8).collect();
        let handle = Handle::create(&path).unwrap();
        let mut block = Block::default();
        let (mut offset, mut at) = (0, 0usize);
        for piece in [10, Block::BYTES, 4096, 77, usize::MAX].into_iter().cycle() {
            at += block.take(&bytes[at..bytes.len().min(at.saturating_add(piece))]);
            if block.bytes().len() == Block::BYTES || at == bytes.len() {
                assert_eq!(block.bytes().as_ptr().align_offset(ALIGNMENT), 0);
                handle.write(&path, offset, block.bytes()).unwrap();
                offset += block.bytes().len() as u64;
                block.clear();
            }
            if at == bytes.len() {
                break;
            }
        }
        handle.sync().unwrap();
        assert!(std::fs::read(&path).unwrap() == bytes);
    }
}
