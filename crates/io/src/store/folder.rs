//! A folder of a store that is written to.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload, PutResult, WriteMultipart};

use super::address::{Address, Scheme};
use super::connect::{self, Store};
use super::runtime::{self, Task};
use super::{Stored, error, object};
use crate::error::{Error, Result};

/// Files up to this size are sent at once, larger ones in parts of it.
const PART: u64 = 8 << 20;
/// Stores take 10,000 parts.
const MAX_PARTS: u64 = 9_000;
/// So many parts of a file are on their way at a time.
const AT_ONCE: usize = 2;

/// All objects below a prefix.
///
/// # Errors
/// No connection, no permission, no such bucket.
#[derive(Debug)]
pub struct Folder {
    address: Address,
    store: Arc<Store>,
}

impl Folder {
    /// The folder at an address.
    ///
    /// # Errors
    /// A web server, no credentials.
    pub fn open(address: Address) -> Result<Self> {
        if address.scheme == Scheme::Http {
            let got = format!("`{}`", address.url());
            return Err(Error::parameter("output", "a folder here or in s3://, gs:// or az://", got));
        }
        let address = address.with_key(address.prefix());
        Ok(Self { store: connect::connect(&address)?, address })
    }

    /// Its address, with a slash at its end.
    pub fn url(&self) -> String {
        self.address.url()
    }

    /// What is in it, by name.
    pub fn list(&self) -> Result<BTreeMap<String, Stored>> {
        let entry = |object: &object::Object| {
            let name = object.address.key.strip_prefix(&self.address.key)?.to_owned();
            let (bytes, version) = object.version();
            Some((name, Stored { bytes, version: version.to_owned() }))
        };
        Ok(object::list(&self.address)?.iter().filter_map(entry).collect())
    }

    /// Puts a file into it, where it replaces what is there; the object appears when it is whole. `progress` gets how much was sent,
    /// and ends the upload by giving false.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn put(&self, name: &str, file: &Path, progress: &mut dyn FnMut(u64) -> bool) -> Result<String> {
        let address = self.address.with_key(format!("{}{name}", self.address.key));
        let key = Key::parse(&address.key).map_err(|e| error::of("write", &address, &e.into()))?;
        let state = Arc::new(Upload::default());
        let (store, own, path) = (Arc::clone(&self.store.patient), Arc::clone(&state), file.to_owned());
        let fail = |error: &io::Error| error::local("write", &address, error);
        let task =
            Task::spawn(async move { upload(&*store, &key, path, &own).await }).map_err(|e| fail(&e))?;
        loop {
            match task.wait_a_moment().map_err(|error| fail(&error))? {
                None => {}
                Some(Ok(put)) => {
                    progress(state.sent.load(Ordering::Relaxed));
                    return Ok(put.e_tag.unwrap_or_default());
                }
                Some(Err(Failure::Stopped)) => return Err(Error::Cancelled),
                Some(Err(Failure::Store(error))) => return Err(error::of("write", &address, &error)),
                Some(Err(Failure::File(source))) => {
                    return Err(benzer_storage::Error::disk("read", file, source).into());
                }
            }
            if !progress(state.sent.load(Ordering::Relaxed)) {
                state.is_stopped.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Removes an object; one that is not there is no error.
    pub fn remove(&self, name: &str) -> Result<()> {
        let address = self.address.with_key(format!("{}{name}", self.address.key));
        let key = Key::parse(&address.key).map_err(|e| error::of("remove", &address, &e.into()))?;
        let store = Arc::clone(&self.store.patient);
        match runtime::wait(async move { store.delete(&key).await }) {
            Ok(Err(error)) if error::is_missing(&error) => Ok(()),
            Ok(Err(error)) => Err(error::of("remove", &address, &error)),
            Ok(Ok(())) => Ok(()),
            Err(error) => Err(error::local("remove", &address, &error)),
        }
    }
}

/// An upload as both sides see it.
#[derive(Debug, Default)]
struct Upload {
    sent: AtomicU64,
    is_stopped: AtomicBool,
}

enum Failure {
    Stopped,
    File(io::Error),
    Store(object_store::Error),
}

impl From<object_store::Error> for Failure {
    fn from(error: object_store::Error) -> Self {
        Self::Store(error)
    }
}

async fn upload(
    store: &dyn ObjectStore,
    key: &Key,
    path: PathBuf,
    state: &Upload,
) -> Result<PutResult, Failure> {
    let mut file = File::open(path).map_err(Failure::File)?;
    let n = file.metadata().map_err(Failure::File)?.len();
    if n <= PART {
        let put = store.put(key, PutPayload::from(read(&mut file, n)?)).await?;
        state.sent.store(n, Ordering::Relaxed);
        return Ok(put);
    }
    let part = PART.max(n.div_ceil(MAX_PARTS));
    let mut upload = WriteMultipart::new_with_chunk_size(store.put_multipart(key).await?, part as usize);
    match parts(&mut file, &mut upload, part, state).await {
        Ok(()) => Ok(upload.finish().await?),
        Err(failure) => {
            // The store forgets the parts; if it cannot be told, its rules for unfinished uploads do.
            let _ = upload.abort().await;
            Err(failure)
        }
    }
}

async fn parts(file: &mut File, upload: &mut WriteMultipart, n: u64, state: &Upload) -> Result<(), Failure> {
    loop {
        upload.wait_for_capacity(AT_ONCE).await?;
        if state.is_stopped.load(Ordering::Relaxed) {
            return Err(Failure::Stopped);
        }
        let bytes = read(file, n)?;
        if bytes.is_empty() {
            return Ok(());
        }
        state.sent.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        upload.put(bytes.into());
    }
}

fn read(file: &mut File, n: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    file.take(n).read_to_end(&mut bytes).map_err(Failure::File)?;
    Ok(bytes)
}
