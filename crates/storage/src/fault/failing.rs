//! A disk that fails.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::disk::{Disk, Real};
use crate::handle::Handle;

/// When a disk fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Every write from the one that passes this many bytes on; what still fits of it is written. A full disk.
    AfterBytes(u64),
    /// The operation of this number, counted from 0 over all kinds; those after it succeed, so that an error which is not heeded
    /// does its harm.
    Operation(u64),
}

#[derive(Debug)]
pub(super) struct Failing {
    when: When,
    kind: io::ErrorKind,
    operations: AtomicU64,
    bytes: AtomicU64,
}

impl Failing {
    pub fn new(when: When, kind: io::ErrorKind) -> Self {
        Self { when, kind, operations: AtomicU64::new(0), bytes: AtomicU64::new(0) }
    }

    /// Counts an operation.
    fn count(&self) -> io::Result<()> {
        let number = self.operations.fetch_add(1, Ordering::Relaxed);
        if self.when == When::Operation(number) { Err(self.kind.into()) } else { Ok(()) }
    }
}

impl Disk for Failing {
    fn create(&self, path: &Path) -> io::Result<Handle> {
        self.count()?;
        Real.create(path)
    }

    fn write(&self, path: &Path, file: &Handle, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let room = match self.when {
            When::AfterBytes(room) => room.saturating_sub(self.bytes.load(Ordering::Relaxed)),
            When::Operation(_) => u64::MAX,
        };
        // Also a write that fails by its number leaves a part behind.
        let counted = self.count();
        let fits = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        let fits = if counted.is_ok() { fits } else { bytes.len() / 2 };
        Real.write(path, file, offset, &bytes[..fits])?;
        self.bytes.fetch_add(fits as u64, Ordering::Relaxed);
        counted?;
        if fits < bytes.len() { Err(self.kind.into()) } else { Ok(()) }
    }

    fn sync(&self, path: &Path, file: &Handle) -> io::Result<()> {
        self.count()?;
        Real.sync(path, file)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.count()?;
        Real.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.count()?;
        Real.remove(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.count()?;
        Real.create_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.count()?;
        Real.sync_dir(path)
    }
}
