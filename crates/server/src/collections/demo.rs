//! A small sample, so that the page is not empty on the first day. It is in memory, whatever the collections beside it are in, and ends with the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use benzer_core::field::{Content, Document};
use benzer_index::store::{Collections, Report, Store};
use benzer_index::{Result as IndexResult, Settings};
use serde_json::Value;

use super::OpenCollections;
use crate::error::{ApiError, Result};

pub const NAME: &str = "demo";

const ARTICLES: &str = include_str!("../../../../examples/articles.jsonl");
const SCHEMA: &str =
    r#"{"fields": {"title": {"kind": "text", "n": 1, "weight": 0.2}, "text": {"kind": "text", "n": 3}}}"#;

/// Collections with the sample beside them. The sample is the first collection of its name that is made; when it was removed, the name is free like any other.
#[derive(Debug)]
struct WithSample {
    others: Box<dyn Collections>,
    sample: Box<dyn Collections>,
    is_made: AtomicBool,
}

/// Collections with room for the sample beside them. Where a collection has its name, that stays what it is, and there is no sample. Errors: what the store says.
pub fn beside(others: Box<dyn Collections>) -> IndexResult<Box<dyn Collections>> {
    if others.list()?.iter().any(|name| name == NAME) {
        tracing::warn!(
            "there is a collection `{NAME}` already: it is served as it is, and the sample is not"
        );
        return Ok(others);
    }
    let sample = benzer_index::store::open("memory:")?;
    Ok(Box::new(WithSample { others, sample, is_made: AtomicBool::new(false) }))
}

impl WithSample {
    fn of(&self, name: &str) -> IndexResult<&dyn Collections> {
        let is_sample = name == NAME && !self.sample.list()?.is_empty();
        Ok(if is_sample { &*self.sample } else { &*self.others })
    }
}

impl Collections for WithSample {
    fn list(&self) -> IndexResult<Vec<String>> {
        let mut names = self.others.list()?;
        names.extend(self.sample.list()?);
        names.sort();
        Ok(names)
    }

    fn create(&self, name: &str, settings: Settings) -> IndexResult<Arc<dyn Store>> {
        if name == NAME && !self.is_made.swap(true, Ordering::Relaxed) {
            return self.sample.create(name, settings);
        }
        self.of(name)?.create(name, settings)
    }

    fn open(&self, name: &str) -> IndexResult<Arc<dyn Store>> {
        self.of(name)?.open(name)
    }

    fn read(&self, name: &str) -> IndexResult<Arc<dyn Store>> {
        self.of(name)?.read(name)
    }

    fn remove(&self, name: &str) -> IndexResult<()> {
        self.of(name)?.remove(name)
    }

    fn verify(&self, name: &str) -> IndexResult<Report> {
        self.of(name)?.verify(name)
    }

    fn repair(&self, name: &str) -> IndexResult<Report> {
        self.of(name)?.repair(name)
    }
}

/// Makes the sample collection, unless there is one of its name. Errors: what the store says.
pub fn fill(collections: &OpenCollections) -> Result<()> {
    if collections.names()?.iter().any(|name| name == NAME) {
        return Ok(());
    }
    let schema = serde_json::from_str(SCHEMA).expect("the schema of the sample is one");
    let settings = Settings::with_target(schema, 0.7, 0.95, benzer_index::Keeps::Documents)?;
    let (index, _) = collections.create(NAME, settings)?;
    let inserted = index.insert(&documents())?;
    let failed = inserted.outcomes.into_iter().find_map(Result::err);
    failed.map_or(Ok(()), |error| Err(ApiError::from(error)))
}

fn documents() -> Vec<Document> {
    let document = |line: &str| {
        let article: Value = serde_json::from_str(line).ok()?;
        let field = |name: &str| article[name].as_str().map(|text| (name.to_owned(), Content::from(text)));
        Some(Document::new(article["id"].as_str()?, ["title", "text"].into_iter().filter_map(field)))
    };
    ARTICLES.lines().filter_map(document).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_has_all_articles_and_is_made_once() {
        let collections = OpenCollections::new(benzer_index::store::open("memory:").unwrap());
        fill(&collections).unwrap();
        fill(&collections).unwrap();
        let index = collections.get(NAME).unwrap();
        assert_eq!(index.stats().unwrap().documents, ARTICLES.lines().count() as u64);
        assert!(!index.clusters(None, || Ok(())).unwrap().is_empty());
    }

    #[test]
    fn the_sample_leaves_nothing_behind_and_touches_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("data");
        let open = || beside(benzer_index::store::open(place.to_str().unwrap()).unwrap()).unwrap();
        let collections = OpenCollections::new(open());
        fill(&collections).unwrap();
        assert_eq!(collections.names().unwrap(), [NAME]);
        assert!(!place.exists(), "the sample is on the disk");
        // Once it is gone, its name is anybody's.
        let settings = collections.get(NAME).unwrap().settings().clone();
        collections.remove(NAME).unwrap();
        collections.create(NAME, settings).unwrap();
        assert!(place.join(NAME).exists());
        drop(collections);
        let collections = OpenCollections::new(open());
        fill(&collections).unwrap();
        assert_eq!(collections.get(NAME).unwrap().stats().unwrap().documents, 0, "the user's own is filled");
    }
}
