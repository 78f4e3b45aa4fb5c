//! A file that appears whole or not at all: written under a temporary name, fsynced, renamed, and its folder fsynced.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::{Error, Result};

/// A file being written. Dropped before [`AtomicFile::commit`], it leaves nothing behind.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    temporary: PathBuf,
    /// Nothing once committed.
    file: Option<BufWriter<File>>,
}

impl AtomicFile {
    /// Begins a file that will be at `path`, where it replaces what is there.
    ///
    /// # Errors
    /// A folder at `path`, a missing folder above it, no permission.
    pub fn create(path: &Path) -> Result<Self> {
        let Some(name) = path.file_name().filter(|_| !path.is_dir()) else {
            return Err(Error::write(path, io::ErrorKind::IsADirectory.into()));
        };
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(hidden);
        let file = File::create(&temporary).map_err(|error| Error::write(path, error))?;
        Ok(Self { path: path.into(), temporary, file: Some(BufWriter::new(file)) })
    }

    /// Where the file will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// What the operating system says, with the file's name.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let file = self.file.as_mut().expect("only commit takes the file, and it takes self");
        file.write_all(bytes).map_err(|error| Error::write(&self.path, error))
    }

    /// Puts the file in its place, on disk.
    ///
    /// # Errors
    /// What the operating system says, with the file's name; then there is no file.
    pub fn commit(mut self) -> Result<()> {
        let fail = |error| Error::write(&self.path, error);
        let file = self.file.take().expect("only commit takes the file, and it takes self");
        let file = file.into_inner().map_err(|error| fail(error.into_error()))?;
        file.sync_all().map_err(fail)?;
        fs::rename(&self.temporary, &self.path).map_err(fail)?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        sync_folder(folder.unwrap_or(Path::new("."))).map_err(fail)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // After a commit the name is gone, and a failure to remove has nobody to tell.
        let _ = fs::remove_file(&self.temporary);
    }
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Elsewhere a folder cannot be opened, and renaming is durable by itself.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<OsString> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn an_abandoned_file_leaves_nothing_and_a_committed_one_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        fs::write(&path, "old").unwrap();
        let mut abandoned = AtomicFile::create(&path).unwrap();
        abandoned.write(b"half").unwrap();
        drop(abandoned);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let mut whole = AtomicFile::create(&path).unwrap();
        whole.write(b"new").unwrap();
        whole.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["out"]);
    }

    #[test]
    fn a_folder_and_a_missing_folder_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = AtomicFile::create(folder.path()).unwrap_err().to_string();
        assert!(error.contains("is a directory"), "{error}");
        let error = AtomicFile::create(&folder.path().join("no/out")).unwrap_err().to_string();
        assert!(error.contains("make its folder first"), "{error}");
    }
}
