//! The operations that change a disk, in one place, so that tests can record them and make them fail.

use std::{fmt::Debug, fs, io, path::Path};

use super::handle::Handle;

/// The operations, done. Other disks do something around them.
pub(super) trait Disk: Debug + Send + Sync {
    /// A new file; one that exists is an error.
    fn create(&self, path: &Path) -> io::Result<Handle> {
        Handle::create(path)
    }

    /// Writes to a place of a file that [`Disk::create`] made; others may write to other places of it meanwhile.
    fn write(&self, path: &Path, file: &Handle, offset: u64, bytes: &[u8]) -> io::Result<()> {
        file.write(path, offset, bytes)
    }

    /// Returns when the bytes of a file are on the disk.
    fn sync(&self, _path: &Path, file: &Handle) -> io::Result<()> {
        file.sync()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    /// Returns when the names in a folder are on the disk.
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        sync_folder(path)
    }
}

/// The disk of this machine.
#[derive(Debug)]
pub(super) struct Real;

impl Disk for Real {}

/// Refuses addresses, which as paths would make a folder `s3:`.
pub(super) fn check_local(path: &Path) -> io::Result<()> {
    match path.to_string_lossy().contains("://") {
        true => Err(io::Error::other(
            "only `benzer dedup -o` writes to object stores; write to this machine, and copy it",
        )),
        false => Ok(()),
    }
}

/// The folder in which `path` is a name.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

/// Elsewhere a folder cannot be opened, and renaming is durable by itself.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
