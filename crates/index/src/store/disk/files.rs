//! The operations that change a disk, in one place, so that tests can record them and make them fail.

use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

/// The operations, done. Other disks do something around them.
pub(super) trait Files: Debug + Send + Sync {
    /// A new, empty file, which replaces one that is there.
    fn create(&self, path: &Path) -> io::Result<File> {
        File::options().read(true).write(true).create(true).truncate(true).open(path)
    }

    /// Writes at a place of a file that has one writer.
    fn write(&self, _path: &Path, mut file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
        file.seek(SeekFrom::Start(at))?;
        file.write_all(bytes)
    }

    /// Cuts a file.
    fn cut(&self, _path: &Path, file: &File, bytes: u64) -> io::Result<()> {
        file.set_len(bytes)
    }

    /// Returns when the bytes of a file are on the disk.
    fn sync(&self, _path: &Path, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    /// Returns when the names in a folder are on the disk.
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        match cfg!(unix) {
            true => File::open(path)?.sync_all(),
            false => Ok(()),
        }
    }
}

/// The disk of this machine.
#[derive(Debug)]
pub(super) struct Real;

impl Files for Real {}

/// Writes a file whole or not at all: under another name, synced, renamed, and the folder synced.
pub(super) fn replace(files: &dyn Files, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("tmp");
    let file = files.create(&temporary)?;
    files.write(&temporary, &file, 0, bytes)?;
    files.sync(&temporary, &file)?;
    files.rename(&temporary, path)?;
    sync_folder_of(files, path)
}

/// Makes a folder and those it lies in, as far as they are missing, and their names durable.
pub(super) fn make_folders(files: &dyn Files, path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    path.parent().map_or(Ok(()), |parent| make_folders(files, parent))?;
    match files.make_folder(path) {
        // Somebody else made it meanwhile.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
        made => made?,
    }
    sync_folder_of(files, path)
}

/// Makes the name of a file durable.
pub(super) fn sync_folder_of(files: &dyn Files, path: &Path) -> io::Result<()> {
    files.sync_folder(path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")))
}
