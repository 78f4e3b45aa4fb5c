//! Blocks that are written while the next ones are filled.
//!
//! The disk takes longer for a block than the processor does to fill one. A thread of its own waits for it, and has the next block at hand when the disk is done.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use super::disk::Disk;
use super::handle::{Block, Handle};

/// Blocks that are under way at a time: one that the disk has, and one that waits for it.
const UNDER_WAY: usize = 2;

/// A block, and where it goes.
type Full = (u64, Block);

/// A file that another thread writes to.
#[derive(Debug)]
pub(super) struct Behind {
    /// Nothing in the end.
    full: Option<SyncSender<Full>>,
    empty: Receiver<Block>,
    /// Blocks that were handed out so far, if not all were.
    blocks: usize,
    thread: Option<JoinHandle<io::Result<Handle>>>,
}

impl Behind {
    /// Takes over a file that is named `path`; gives it back if the system has no thread for it.
    pub fn new(disk: &Arc<dyn Disk>, path: PathBuf, file: Handle) -> Result<Self, Handle> {
        let (send_full, full) = sync_channel(UNDER_WAY - 1);
        let (send_empty, empty) = channel();
        let (give, take) = channel();
        let disk = Arc::clone(disk);
        let write_all = move || match take.recv() {
            Ok(file) => write_all(&*disk, path, file, &full, &send_empty),
            Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
        };
        match thread::Builder::new().spawn(write_all) {
            Ok(thread) => {
                // The thread is there, and waits for it.
                let _ = give.send(file);
                Ok(Self { full: Some(send_full), empty, blocks: 0, thread: Some(thread) })
            }
            Err(_) => Err(file),
        }
    }

    /// Has a block written at `offset`, and gives an empty one.
    ///
    /// # Errors
    /// Why this block or one before it could not be written.
    pub fn write(&mut self, offset: u64, block: Block) -> io::Result<Block> {
        let is_taken = self.full.as_ref().is_some_and(|full| full.send((offset, block)).is_ok());
        if !is_taken {
            return Err(self.failure());
        }
        // Where all threads share a processor the disk would have nothing to do.
        thread::yield_now();
        if self.blocks < UNDER_WAY {
            self.blocks += 1;
            return Ok(Block::default());
        }
        self.empty.recv().map_err(|_| self.failure())
    }

    /// Why the thread came to its end.
    fn failure(&mut self) -> io::Error {
        self.end().err().unwrap_or_else(|| io::ErrorKind::BrokenPipe.into())
    }

    /// Waits for everything that is under way.
    ///
    /// # Errors
    /// Why a block could not be written.
    pub fn end(&mut self) -> io::Result<Handle> {
        self.full = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(ended)) => ended,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Err(io::Error::other("an earlier write failed")),
        }
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        self.full = None;
        // Whoever drops it does not want to know how it ended.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Writes blocks until there are no more, or one fails.
fn write_all(
    disk: &dyn Disk,
    path: PathBuf,
    mut file: Handle,
    full: &Receiver<Full>,
    empty: &Sender<Block>,
) -> io::Result<Handle> {
    for (offset, mut block) in full {
        disk.write(&path, &mut file, offset, block.bytes())?;
        block.clear();
        // Nobody wants it after the last one.
        let _ = empty.send(block);
    }
    Ok(file)
}
