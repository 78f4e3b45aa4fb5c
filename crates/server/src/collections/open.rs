//! The collections that are open. Each is opened once, when it is first asked for, and stays open: the server is its one writer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use benzer_index::store::Collections;
use benzer_index::{Error, Index, Settings};

use crate::error::{ApiError, Result};

/// How long a removal waits for requests that use the collection.
const REMOVAL_WAIT: Duration = Duration::from_secs(10);

/// The collections of a store, opened as they are needed. All calls may block.
pub struct OpenCollections {
    collections: Box<dyn Collections>,
    open: RwLock<HashMap<String, Arc<Index>>>,
    /// Held while a collection is opened, made or removed.
    changing: Mutex<()>,
}

impl OpenCollections {
    pub fn new(collections: Box<dyn Collections>) -> Self {
        Self { collections, open: RwLock::default(), changing: Mutex::default() }
    }

    /// The names of all collections, in order. Errors: what the store says.
    pub fn names(&self) -> Result<Vec<String>> {
        Ok(self.collections.list()?)
    }

    pub fn get(&self, name: &str) -> Result<Arc<Index>> {
        if let Some(index) = self.opened(name) {
            return Ok(index);
        }
        let _changing = self.change();
        // Another request may have opened it meanwhile.
        match self.opened(name) {
            Some(index) => Ok(index),
            None => Ok(self.keep(name, Index::new(self.collections.open(name)?)?)),
        }
    }

    /// A collection that is open already, without any waiting.
    pub fn opened(&self, name: &str) -> Option<Arc<Index>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    pub fn all_open(&self) -> Vec<(String, Arc<Index>)> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.iter().map(|(name, index)| (name.clone(), Arc::clone(index))).collect()
    }

    /// Their names, which keep none of them open.
    pub fn open_names(&self) -> Vec<String> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// Makes a collection; the answer says whether it is new. One that is there with the same settings is fine. Errors: one that is there with others; what the store says.
    pub fn create(&self, name: &str, settings: Settings) -> Result<(Arc<Index>, bool)> {
        if self.opened(name).is_none() {
            let _changing = self.change();
            match self.collections.create(name, settings.clone()) {
                Ok(store) => return Ok((self.keep(name, Index::new(store)?), true)),
                // Another request made it meanwhile, and has it open.
                Err(Error::Locked { .. }) if self.opened(name).is_some() => {}
                Err(Error::Exists { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let index = self.get(name)?;
        match settings.require(index.settings()) {
            Ok(()) => Ok((index, false)),
            Err(_) => Err(Error::Exists { name: name.to_owned() }.into()),
        }
    }

    /// Removes a collection, after the requests that use it. Errors: no such collection; one that is in use for too long; what the store says.
    pub fn remove(&self, name: &str) -> Result<()> {
        let _changing = self.change();
        let taken = self.open.write().unwrap_or_else(PoisonError::into_inner).remove(name);
        if let Some(mut index) = taken {
            let start = Instant::now();
            while let Err(used) = Arc::try_unwrap(index).map(drop) {
                index = used;
                if start.elapsed() > REMOVAL_WAIT {
                    self.open.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), index);
                    let message = format!("`{name}` is in use; try again when its requests are done");
                    return Err(ApiError::new(StatusCode::CONFLICT, "in_use", message).after(5));
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        Ok(self.collections.remove(name)?)
    }

    fn keep(&self, name: &str, index: Index) -> Arc<Index> {
        let index = Arc::new(index);
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        open.insert(name.to_owned(), Arc::clone(&index));
        index
    }

    fn change(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_index::store;

    fn settings(n: usize) -> Settings {
        let schema = format!(r#"{{"fields": {{"body": {{"kind": "text", "n": {n}}}}}}}"#);
        Settings::new(serde_json::from_str(&schema).unwrap()).unwrap()
    }

    #[test]
    fn a_collection_can_be_made_again_as_it_is_but_not_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let collections = OpenCollections::new(store::open(folder.path().to_str().unwrap()).unwrap());
        assert!(collections.create("a", settings(2)).unwrap().1);
        assert!(!collections.create("a", settings(2)).unwrap().1);
        assert_eq!(collections.create("a", settings(3)).unwrap_err().status, StatusCode::CONFLICT);
        assert_eq!(collections.names().unwrap(), ["a"]);
        assert_eq!(collections.get("b").unwrap_err().status, StatusCode::NOT_FOUND);
    }

    #[test]
    fn a_removal_waits_for_those_who_use_the_collection() {
        let folder = tempfile::tempdir().unwrap();
        let collections = OpenCollections::new(store::open(folder.path().to_str().unwrap()).unwrap());
        let (used, _) = collections.create("a", settings(2)).unwrap();
        std::thread::scope(|scope| {
            let removal = scope.spawn(|| collections.remove("a"));
            std::thread::sleep(Duration::from_millis(20));
            assert!(!removal.is_finished());
            drop(used);
            removal.join().unwrap().unwrap();
        });
        assert!(collections.get("a").is_err() && collections.names().unwrap().is_empty());
        assert!(collections.create("a", settings(3)).unwrap().1);
    }
}
