//! Blocks that are written while the next ones are filled.
//!
//! The disk takes longer for a block than the processor does to fill one. Threads of their own wait for it, so that it always has several at hand: most disks are faster then.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::disk::Disk;
use super::handle::{Block, Handle};

/// Blocks that the disk has at a time.
const WRITTEN: usize = 2;
/// Blocks that are under way at a time: those, and one that waits for it.
const UNDER_WAY: usize = WRITTEN + 1;

/// A block, and where it goes.
type Full = (u64, Block);

/// A file that other threads write to.
#[derive(Debug)]
pub(super) struct Behind {
    /// Nothing in the end.
    full: Option<SyncSender<Full>>,
    empty: Receiver<Block>,
    /// Blocks that were handed out so far, if not all were.
    blocks: usize,
    threads: Vec<JoinHandle<()>>,
    failed: Arc<Mutex<Option<io::Error>>>,
}

/// What the threads share.
struct Writing {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    file: Arc<Handle>,
    full: Mutex<Receiver<Full>>,
    failed: Arc<Mutex<Option<io::Error>>>,
}

impl Behind {
    /// Writes to a file that is named `path`; nothing if the system has no thread for it.
    pub fn new(disk: &Arc<dyn Disk>, path: PathBuf, file: &Arc<Handle>) -> Option<Self> {
        let (send_full, full) = sync_channel(UNDER_WAY - WRITTEN);
        let (send_empty, empty) = channel();
        let failed = Arc::default();
        let writing = Arc::new(Writing {
            disk: Arc::clone(disk),
            path,
            file: Arc::clone(file),
            full: Mutex::new(full),
            failed: Arc::clone(&failed),
        });
        let begin = |_| {
            let (writing, empty) = (Arc::clone(&writing), send_empty.clone());
            thread::Builder::new().spawn(move || writing.all(&empty)).ok()
        };
        let threads: Vec<_> = (0..WRITTEN).map_while(begin).collect();
        let behind = Self { full: Some(send_full), empty, blocks: 0, threads, failed };
        (!behind.threads.is_empty()).then_some(behind)
    }

    /// Has a block written at `offset`, and gives an empty one.
    ///
    /// # Errors
    /// Why this block or one before it could not be written.
    pub fn write(&mut self, offset: u64, block: Block) -> io::Result<Block> {
        self.check()?;
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
        let empty = self.empty.recv().map_err(|_| self.failure())?;
        self.check().map(|()| empty)
    }

    /// Waits for everything that is under way.
    ///
    /// # Errors
    /// Why a block could not be written.
    pub fn end(&mut self) -> io::Result<()> {
        self.full = None;
        for thread in self.threads.drain(..) {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        self.check()
    }

    /// Fails if a block could not be written.
    fn check(&self) -> io::Result<()> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    /// Why the threads came to their end.
    fn failure(&mut self) -> io::Error {
        self.end().err().unwrap_or_else(|| io::Error::other("an earlier write failed"))
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        self.full = None;
        // Whoever drops it does not want to know how it ended.
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

impl Writing {
    /// Writes blocks until there are no more. After one that failed the others are only given back: the file is lost, and nobody shall wait.
    fn all(&self, empty: &Sender<Block>) {
        let next = || self.full.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let mut is_failed = false;
        while let Ok((offset, mut block)) = next() {
            if !is_failed && let Err(error) = self.disk.write(&self.path, &self.file, offset, block.bytes()) {
                self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                is_failed = true;
            }
            block.clear();
            // Nobody wants it after the last one.
            let _ = empty.send(block);
        }
    }
}
