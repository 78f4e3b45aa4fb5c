//! One writer at a time.

use std::fs::{self, File, TryLockError};
use std::io::{Seek, Write};
use std::path::Path;

use super::trouble;
use crate::error::{Error, Result};

/// The file that is locked. It stays when the lock is gone: removing it could give two writers a lock each.
pub(super) const NAME: &str = "lock";

/// The right to write, until it is dropped or the process ends, however it ends: the kernel keeps it, not the file.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file is not enough: a process that is being started may still have it.
        self.file.unlock().ok();
    }
}

impl Lock {
    pub fn acquire(folder: &Path) -> Result<Self> {
        let path = folder.join(NAME);
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&path).map_err(trouble("lock", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let pid = fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
                return Err(Error::Locked { folder: folder.into(), pid });
            }
            Err(TryLockError::Error(error)) => return Err(trouble("lock", &path)(error)),
        }
        file.set_len(0).and_then(|()| file.rewind()).map_err(trouble("lock", &path))?;
        writeln!(file, "{}", std::process::id()).map_err(trouble("lock", &path))?;
        Ok(Self { file })
    }
}
