//! A file that appears whole or not at all: written under a temporary name, fsynced, renamed, and its folder fsynced.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::behind::Behind;
use super::checksum::{PIECE, Pieces, Stamp};
use super::disk::{check_local, folder_of};
use super::error::{Error, Result};
use super::handle::{Block, Handle, StampedBlock};
use super::{Files, temporary};

/// A file being written. Dropped before [`FileWriter::commit`], it leaves nothing behind. Its errors as [`Write`] carry the same
/// message as the others: file and remedy.
#[derive(Debug)]
pub struct FileWriter {
    files: Files,
    path: PathBuf,
    temporary: PathBuf,
    /// Closed by the commit or the drop.
    file: Option<Arc<Handle>>,
    /// Where blocks are written once the file is long.
    behind: Option<Behind>,
    /// What is not written yet.
    block: Block,
    /// The checksum of its whole pieces and of all that was written.
    pieces: Pieces,
    written: u64,
    state: WriterState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WriterState {
    Open,
    /// Some bytes are missing: nothing can make this file whole any more.
    Failed,
    /// The temporary name is gone.
    Renamed,
}

const _: () = assert!(Block::BYTES.is_multiple_of(PIECE), "a full block is whole pieces");
/// From here on blocks are written while the next ones are filled. What is shorter is not worth a thread.
const LONG: u64 = 2 * Block::BYTES as u64;

impl FileWriter {
    pub(super) fn create(files: &Files, path: &Path) -> Result<Self> {
        let fail = |error| Error::disk("write", path, error);
        check_local(path).map_err(fail)?;
        let there = fs::metadata(path).map(|there| there.file_type());
        if there.as_ref().is_ok_and(|kind| kind.is_dir()) {
            return Err(fail(io::ErrorKind::IsADirectory.into()));
        }
        // A rename would put an ordinary file in the place of a device or a pipe.
        if there.is_ok_and(|kind| !kind.is_file()) {
            return Err(fail(io::Error::new(io::ErrorKind::AlreadyExists, "not an ordinary file")));
        }
        let (temporary, file) = temporary::create(&*files.disk, path).map_err(fail)?;
        Ok(Self {
            files: files.clone(),
            path: path.into(),
            temporary,
            file: Some(Arc::new(file)),
            behind: None,
            block: Block::default(),
            written: 0,
            pieces: Pieces::default(),
            state: WriterState::Open,
        })
    }

    /// Where the file will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes appended so far.
    pub fn bytes(&self) -> u64 {
        self.written + self.block.bytes().len() as u64
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// What the operating system says, with the file's name.
    pub fn append(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            bytes = &bytes[self.take(bytes)?..];
        }
        Ok(())
    }

    /// Appends a block; gives an empty one, which may have been another's. Fastest if only full blocks were appended before it.
    ///
    /// # Errors
    /// What the operating system says, with the file's name.
    pub fn append_block(&mut self, block: StampedBlock) -> Result<Block> {
        self.check()?;
        let is_whole = self.block.bytes().is_empty() && block.add_to(&mut self.pieces);
        let mut block = block.block;
        if !is_whole {
            self.append(block.bytes())?;
            block.clear();
            return Ok(block);
        }
        self.send(block)
    }

    /// Puts the file in its place, on disk.
    ///
    /// # Errors
    /// What the operating system says, with the file's name. Then the old file is still there, unless it is the folder that could
    /// not be synced: the new file is in its place by then, whole, and a power cut may bring back the old one.
    pub fn commit(mut self) -> Result<Stamp> {
        self.settle()?;
        self.files.sync_dir(folder_of(&self.path))?;
        Ok(self.pieces.stamp())
    }

    /// [`FileWriter::commit`] of several files, after which the disk is waited for once in each folder; what there is to tell of each.
    ///
    /// # Errors
    /// As [`FileWriter::commit`]; files before the one that failed may be in their places.
    pub fn commit_all(mut writers: Vec<Self>) -> Result<Vec<Stamp>> {
        writers.iter_mut().try_for_each(Self::settle)?;
        let mut folders: Vec<&Path> = writers.iter().map(|writer| folder_of(&writer.path)).collect();
        folders.sort_unstable();
        folders.dedup();
        if let Some(writer) = writers.first() {
            folders.into_iter().try_for_each(|folder| writer.files.sync_dir(folder))?;
        }
        Ok(writers.iter().map(|writer| writer.pieces.stamp()).collect())
    }

    /// The first half of [`FileWriter::commit_all`], for files that are whole while others are yet to be made: writes what is left, and puts the file in its place; its folder is yet to be synced.
    ///
    /// # Errors
    /// As [`FileWriter::commit`].
    pub fn settle(&mut self) -> Result<()> {
        if self.state == WriterState::Renamed {
            return Ok(());
        }
        self.check()?;
        self.add_pieces(true);
        if !self.block.bytes().is_empty() {
            self.write_block()?;
        }
        // Of many files at a time this is all that takes memory.
        self.block = Block::default();
        let fail = |error| Error::disk("write", &self.path, error);
        if let Some(mut behind) = self.behind.take() {
            behind.end().map_err(fail)?;
        }
        let file = self.file.take().expect("only commit and drop take the file");
        let disk = &*self.files.disk;
        disk.sync(&self.temporary, &file).map_err(fail)?;
        drop(file);
        disk.rename(&self.temporary, &self.path).map_err(fail)?;
        self.state = WriterState::Renamed;
        Ok(())
    }

    /// Takes some of the bytes, at least one.
    fn take(&mut self, bytes: &[u8]) -> Result<usize> {
        self.check()?;
        let n = self.block.take(bytes);
        let is_full = self.block.bytes().len() == Block::BYTES;
        self.add_pieces(is_full);
        if is_full {
            self.write_block()?;
        }
        Ok(n)
    }

    /// Fails if a write did: some bytes are gone.
    fn check(&self) -> Result<()> {
        match self.state {
            WriterState::Failed => {
                Err(Error::disk("write", &self.path, io::Error::other("an earlier write failed")))
            }
            _ => Ok(()),
        }
    }

    /// Adds to the checksum what came, while it is in the cache: several whole pieces, or all of it.
    fn add_pieces(&mut self, all: bool) {
        let stamped = (self.pieces.stamp().bytes - self.written) as usize;
        let mut rest = &self.block.bytes()[stamped..];
        while let Some((pieces, after)) = rest.split_first_chunk() {
            self.pieces.add_together(pieces);
            rest = after;
        }
        while all && !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(PIECE));
            self.pieces.add(piece);
            rest = after;
        }
    }

    fn write_block(&mut self) -> Result<()> {
        let block = std::mem::take(&mut self.block);
        self.block = self.send(block)?;
        Ok(())
    }

    /// Writes a block or has it written; gives an empty one.
    fn send(&mut self, mut block: Block) -> Result<Block> {
        let (offset, bytes) = (self.written, block.bytes().len() as u64);
        let file = self.file.as_ref().expect("only commit and drop take the file");
        let disk = &self.files.disk;
        if self.behind.is_none() && offset >= LONG {
            self.behind = Behind::new(disk, self.temporary.clone(), file);
        }
        let sent = match &mut self.behind {
            Some(behind) => behind.write(offset, block),
            None => disk.write(&self.temporary, file, offset, block.bytes()).map(|()| {
                block.clear();
                block
            }),
        };
        self.written += bytes;
        sent.map_err(|error| {
            self.state = WriterState::Failed;
            Error::disk("write", &self.path, error)
        })
    }
}

impl Write for FileWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() { Ok(0) } else { self.take(bytes).map_err(Error::into_io) }
    }

    /// Does nothing: nobody sees the file before the commit.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for FileWriter {
    fn drop(&mut self) {
        if self.state != WriterState::Renamed {
            (self.behind, self.file) = (None, None);
            // A failure to remove has nobody to tell; a later run removes what is left.
            let _ = self.files.disk.remove(&self.temporary);
        }
    }
}
