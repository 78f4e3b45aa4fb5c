//! Objects: which there are, and what is known of them.

use std::sync::Arc;

use futures_util::TryStreamExt;
use object_store::path::Path as Key;
use object_store::{GetOptions, ObjectMeta, ObjectStoreExt};

use super::address::{Address, Scheme};
use super::connect::{self, Store};
use super::{error, runtime};
use crate::error::Result;

/// One object of a store, or one file of a server.
#[derive(Debug)]
pub struct Object {
    /// Where it is.
    pub address: Address,
    /// Its address as text.
    pub url: String,
    /// Its size.
    pub bytes: u64,
    /// Whether the server gives parts of it.
    pub(super) has_ranges: bool,
    pub(super) key: Key,
    pub(super) store: Arc<Store>,
    e_tag: Option<String>,
    modified: String,
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address && self.version() == other.version()
    }
}

impl Eq for Object {}

impl Object {
    pub(super) fn new(address: Address, store: &Arc<Store>, meta: ObjectMeta, has_ranges: bool) -> Self {
        let ObjectMeta { location: key, last_modified, size: bytes, e_tag, .. } = meta;
        let modified = last_modified.to_rfc3339();
        Self {
            url: address.url(),
            address,
            bytes,
            has_ranges,
            key,
            store: Arc::clone(store),
            e_tag,
            modified,
        }
    }

    /// What changes when its content does.
    pub fn version(&self) -> (u64, &str) {
        (self.bytes, self.e_tag.as_deref().unwrap_or(&self.modified))
    }

    /// The last part of its key.
    pub fn name(&self) -> String {
        self.key.filename().unwrap_or_default().to_owned()
    }

    /// A request for this very version of it.
    pub(super) fn request(&self) -> GetOptions {
        // A weak tag never matches.
        let strong = self.e_tag.clone().filter(|tag| !tag.starts_with("W/"));
        GetOptions { if_match: strong, ..GetOptions::default() }
    }
}

/// The object at an address, or nothing if there is none.
pub fn stat(address: &Address) -> Result<Option<Object>> {
    let store = connect::connect(address)?;
    let fail = |error: &object_store::Error| error::of("open", address, error);
    let key = match address.scheme {
        Scheme::Http => Key::from_url_path(&address.key),
        _ => Key::parse(&address.key),
    };
    let key = key.map_err(|error| fail(&error.into()))?;
    let (asked, is_http) = (Arc::clone(&store), address.scheme == Scheme::Http);
    let answer = runtime::wait(async move {
        if !is_http {
            return asked.hasty.head(&key).await.map(|meta| (meta, true));
        }
        // Signed addresses are often signed for GET only, so this is no HEAD.
        let first = GetOptions { range: Some((0..1).into()), ..GetOptions::default() };
        match asked.hasty.get_opts(&key, first).await {
            Ok(got) => Ok((got.meta, true)),
            Err(error) if error::is_missing(&error) => Err(error),
            // No ranges, or an empty file, which has none.
            Err(_) => asked.hasty.get(&key).await.map(|got| (got.meta, false)),
        }
    });
    match answer.map_err(|error| error::local("open", address, &error))? {
        Ok((meta, has_ranges)) => Ok(Some(Object::new(address.clone(), &store, meta, has_ranges))),
        Err(error) if error::is_missing(&error) => Ok(None),
        Err(error) => Err(fail(&error)),
    }
}

/// All objects whose keys begin with the key of the address, taken as a folder; sorted by the bytes of the key.
pub fn list(address: &Address) -> Result<Vec<Object>> {
    let store = connect::connect(address)?;
    let fail = |error: &object_store::Error| error::of("list", address, error);
    let prefix = Key::parse(address.prefix()).map_err(|error| fail(&error.into()))?;
    let asked = Arc::clone(&store);
    let found =
        runtime::wait(async move { asked.hasty.list(Some(&prefix)).try_collect::<Vec<ObjectMeta>>().await });
    let mut found =
        found.map_err(|error| error::local("list", address, &error))?.map_err(|error| fail(&error))?;
    found.sort_by(|a, b| a.location.as_ref().cmp(b.location.as_ref()));
    let object = |meta: ObjectMeta| {
        let address = address.with_key(meta.location.as_ref());
        Object::new(address, &store, meta, true)
    };
    Ok(found.into_iter().map(object).collect())
}
