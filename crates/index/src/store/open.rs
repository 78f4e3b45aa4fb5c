//! From an address to collections: in memory, in a folder that has one folder for each, or on Redis.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Store;
use super::collections::{Collections, Report, check_name};
use super::disk::{self, Access, Disk};
use super::memory::Memory;
use crate::error::{Error, Result};
use crate::settings::Settings;

/// What can be opened.
#[cfg(feature = "redis")]
const KINDS: &str = "`memory:`, the path of a folder, or an address that begins with redis://, rediss://, redis+cluster:// or rediss+cluster://";
#[cfg(not(feature = "redis"))]
const KINDS: &str = "`memory:` or the path of a folder (this build has no Redis)";

/// The collections of `memory:`, of a folder, or of a server: `redis://`, `redis+cluster://`, or with TLS `rediss://`, `rediss+cluster://`.
///
/// # Errors
/// Another kind of address; a server that cannot be used.
pub fn open(url: &str) -> Result<Box<dyn Collections>> {
    match url {
        "memory:" => Ok(Box::new(InMemory::default())),
        #[cfg(feature = "redis")]
        _ if super::redis::is_redis(url) => Ok(Box::new(super::redis::OnRedis::new(url)?)),
        _ if url.is_empty() || url.contains("://") => Err(Error::parameter(
            "db",
            KINDS,
            format!("`{}`", url.split('@').next_back().unwrap_or_default()),
        )),
        _ => Ok(Box::new(OnDisk { folder: url.into() })),
    }
}

/// A collection in memory, which ends with the process.
///
/// # Errors
/// Settings that are not compatible with this version.
pub fn memory(settings: Settings) -> Result<Arc<dyn Store>> {
    Ok(Arc::new(Memory::new(settings)?))
}

/// Collections that end with the process.
#[derive(Debug, Default)]
struct InMemory {
    collections: Mutex<BTreeMap<String, Arc<dyn Store>>>,
}

impl InMemory {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Arc<dyn Store>>> {
        self.collections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Collections for InMemory {
    fn list(&self) -> Result<Vec<String>> {
        Ok(self.all().keys().cloned().collect())
    }

    fn create(&self, name: &str, settings: Settings) -> Result<Arc<dyn Store>> {
        check_name(name)?;
        let mut all = self.all();
        if all.contains_key(name) {
            return Err(Error::Exists { name: name.to_owned() });
        }
        let store = memory(settings)?;
        all.insert(name.to_owned(), Arc::clone(&store));
        Ok(store)
    }

    fn open(&self, name: &str) -> Result<Arc<dyn Store>> {
        self.all().get(name).cloned().ok_or_else(|| Error::NoCollection { name: name.to_owned() })
    }

    fn read(&self, name: &str) -> Result<Arc<dyn Store>> {
        self.open(name)
    }

    fn remove(&self, name: &str) -> Result<()> {
        let removed = self.all().remove(name);
        removed.map(drop).ok_or_else(|| Error::NoCollection { name: name.to_owned() })
    }

    fn verify(&self, name: &str) -> Result<Report> {
        let documents = self.open(name)?.view()?.stats()?.documents;
        Ok(Report { documents, ..Report::default() })
    }

    fn repair(&self, name: &str) -> Result<Report> {
        self.verify(name)
    }
}

/// Collections in a folder.
#[derive(Debug)]
struct OnDisk {
    folder: PathBuf,
}

impl OnDisk {
    fn path(&self, name: &str) -> Result<PathBuf> {
        check_name(name)?;
        Ok(self.folder.join(name))
    }

    /// Errors name collections, not folders.
    fn named<T>(name: &str, result: Result<T>) -> Result<T> {
        result.map_err(|error| match error {
            Error::NoCollection { .. } => Error::NoCollection { name: name.to_owned() },
            Error::Exists { .. } => Error::Exists { name: name.to_owned() },
            other => other,
        })
    }

    fn disk(&self, name: &str, access: Access) -> Result<Disk> {
        Self::named(name, Disk::open(&self.path(name)?, access))
    }
}

impl Collections for OnDisk {
    fn list(&self) -> Result<Vec<String>> {
        disk::names(&self.folder)
    }

    fn create(&self, name: &str, settings: Settings) -> Result<Arc<dyn Store>> {
        let path = self.path(name)?;
        Self::named(name, Disk::create(&path, &settings))?;
        self.open(name)
    }

    fn open(&self, name: &str) -> Result<Arc<dyn Store>> {
        Ok(Arc::new(self.disk(name, Access::Write)?))
    }

    fn read(&self, name: &str) -> Result<Arc<dyn Store>> {
        Ok(Arc::new(self.disk(name, Access::Read)?))
    }

    fn remove(&self, name: &str) -> Result<()> {
        Self::named(name, disk::remove(&self.path(name)?))
    }

    fn verify(&self, name: &str) -> Result<Report> {
        self.disk(name, Access::Read)?.verify()
    }

    fn repair(&self, name: &str) -> Result<Report> {
        Self::named(name, Disk::repair(&self.path(name)?))
    }
}

/// A collection in a folder, which is made if it is not there, and must have been made with these settings if it is.
///
/// # Errors
/// Other settings; another writer; what the operating system says.
pub fn disk(path: &Path, settings: &Settings) -> Result<Arc<dyn Store>> {
    match Disk::create(path, settings) {
        Ok(()) | Err(Error::Exists { .. }) => {}
        Err(error) => return Err(error),
    }
    let disk = Disk::open(path, Access::Write)?;
    settings.require(disk.settings())?;
    Ok(Arc::new(disk))
}
