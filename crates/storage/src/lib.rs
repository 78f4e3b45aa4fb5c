//! # benzer-storage
//!
//! Files that survive a crash: whole or not at all, and known to be whole. The one way to the disk for everything that writes.
//!
//! **What it must not know**: what the files mean, and where their content comes from. It knows bytes, names and checksums, and reads no inputs.
//!
//! **The way through**:
//!
//! ```text
//! Files::create --> FileWriter --commit--> Stamp (bytes, checksum) --> Manifest of the stage --> stage-NAME.json
//!   temporary name      fsync, rename, fsync of the folder                       trusted by --resume, nothing else is
//! ```
//!
//! - [`Files`] is the one way to the disk. What a method has done when it returns survives a power cut; the exception is
//!   [`Files::temporary`], for data that can be made again: a [`Scratch`], of which each [`Extent`] has a checksum.
//! - [`MappedFile`] is a whole file as memory. A [`Spill`] becomes one: data that can be made again, written because it does not fit.
//! - [`Block`] is a part of a long file that any thread makes and [`FileWriter::append_block`] takes; a [`Settler`] waits for files that are whole.
//! - [`Stamp`] is the size and the checksum of a file; [`checksum_of`] reads it back.
//! - [`Manifest`] says that a stage of a run is finished and what it left.
//! - [`Lock`] keeps a second writer out of the same folder.
//! - [`fault`] serves the tests of this and other crates: a recorder that replays power cuts, and disks that fail. It is always compiled, so that no crate is
//!   built twice for it; a binary that does not call it does not contain it.
//!
//! ```
//! use benzer_storage::{Check, Files, Manifest, State, checksum_of};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("numbers.bin");
//! let files = Files::new();
//!
//! let mut file = files.create(&path)?;
//! file.append(&[1, 2, 3])?;
//! let stamp = file.commit()?;
//! assert_eq!(checksum_of(&path)?, stamp);
//!
//! let mut manifest = Manifest::new("numbers", "seed=42");
//! manifest.add_file("numbers.bin", stamp);
//! manifest.save(&files, folder.path())?;
//! let found = Manifest::load(folder.path(), "numbers", "seed=42", Check::Checksums);
//! assert_eq!(found, State::Finished(manifest));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod behind;
mod checksum;
mod disk;
mod error;
pub mod fault;
mod handle;
mod lock;
pub mod manifest;
mod mapped;
mod scratch;
mod settler;
mod spill;
mod temporary;
mod writer;

use std::{fs, io, path::Path, sync::Arc};

pub use checksum::{Stamp, checksum_of};
pub use error::{Error, Result};
pub use handle::{Block, StampedBlock};
pub use lock::Lock;
pub use manifest::{Check, FORMAT_VERSION, FileEntry, Manifest, State};
pub use mapped::MappedFile;
pub use scratch::{Extent, Scratch};
pub use settler::Settler;
pub use spill::{MappedSpill, Spill};
pub use writer::FileWriter;

use disk::{Disk, Real, folder_of};

/// The way to the disk; cheap to clone.
#[derive(Debug, Clone)]
pub struct Files {
    disk: Arc<dyn Disk>,
}

impl Default for Files {
    fn default() -> Self {
        Self::new()
    }
}

impl Files {
    /// The disk of this machine.
    pub fn new() -> Self {
        Self { disk: Arc::new(Real) }
    }

    /// Begins a file that will be at `path`, where it replaces what is there.
    ///
    /// # Errors
    /// Something at `path` that is not an ordinary file, a missing folder above it, no permission.
    pub fn create(&self, path: &Path) -> Result<FileWriter> {
        FileWriter::create(self, path)
    }

    /// A file for data that can be made again: never synced, under a hidden name beside `path`, deleted when dropped.
    ///
    /// # Errors
    /// A missing folder, no permission.
    pub fn temporary(&self, path: &Path) -> Result<Scratch> {
        Scratch::create(self, path)
    }

    /// The same behind a buffer, and as memory once it is whole.
    ///
    /// # Errors
    /// A missing folder, no permission.
    pub fn spill(&self, path: &Path) -> Result<Spill> {
        self.temporary(path).map(Spill::new)
    }

    /// Makes a folder and those above it.
    ///
    /// # Errors
    /// A file of that name, no permission.
    pub fn create_dir_all(&self, path: &Path) -> Result<()> {
        disk::check_local(path).map_err(|error| Error::disk("make", path, error))?;
        let missing: Vec<&Path> = path.ancestors().take_while(|folder| !is_folder(folder)).collect();
        self.settle(path.ancestors().nth(missing.len()).unwrap_or(path))?;
        for folder in missing.into_iter().rev() {
            match self.disk.create_dir(folder) {
                // Another thread or process made it in the meantime.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_folder(folder) => {}
                made => made.map_err(|error| Error::disk("make", folder, error))?,
            }
            self.sync_dir(folder_of(folder))?;
        }
        Ok(())
    }

    /// Removes a file. One that is not there is no error.
    ///
    /// # Errors
    /// A folder of that name, no permission.
    pub fn remove(&self, path: &Path) -> Result<()> {
        match self.disk.remove(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_folder(folder_of(path)) => {
                return Ok(());
            }
            // An earlier run may have died between removing it and syncing its folder.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed.map_err(|error| Error::disk("remove", path, error))?,
        }
        self.sync_dir(folder_of(path))
    }

    /// Gives a file or folder another name, where it replaces a file that is there.
    ///
    /// # Errors
    /// A missing file or folder, another file system, no permission.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.disk.rename(from, to).map_err(|error| Error::disk("rename", from, error))?;
        self.sync_dir(folder_of(to))?;
        if folder_of(from) == folder_of(to) { Ok(()) } else { self.sync_dir(folder_of(from)) }
    }

    /// Makes the names in a folder durable. A file system that cannot sync a folder at all is taken as it is.
    ///
    /// # Errors
    /// What the operating system says.
    pub(crate) fn sync_dir(&self, path: &Path) -> Result<()> {
        match self.disk.sync_dir(path) {
            Err(error)
                if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) =>
            {
                Ok(())
            }
            synced => synced.map_err(|error| Error::disk("sync", path, error)),
        }
    }

    /// Removes the temporary files that a killed run left in a folder, and says how many. Only for the holder of its [`Lock`]: the
    /// files of a living run look the same.
    ///
    /// # Errors
    /// A folder that cannot be read, a file that cannot be removed.
    pub fn remove_leftovers(&self, folder: &Path) -> Result<u64> {
        let mut removed = 0;
        for entry in fs::read_dir(folder).map_err(|error| Error::disk("read", folder, error))? {
            let entry = entry.map_err(|error| Error::disk("read", folder, error))?;
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_file && temporary::is_name(&entry.file_name()) {
                let path = entry.path();
                self.disk.remove(&path).map_err(|error| Error::disk("remove", &path, error))?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// An earlier run may have died between making a folder and syncing its name, so the name of a folder that is there is synced too.
    /// A folder above that we may not read is not one that we made.
    fn settle(&self, folder: &Path) -> Result<()> {
        match self.sync_dir(folder_of(folder)) {
            Err(Error::Disk { source, .. }) if source.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            synced => synced,
        }
    }
}

fn is_folder(path: &Path) -> bool {
    path.as_os_str().is_empty() || path.is_dir()
}

#[cfg(test)]
mod tests;
