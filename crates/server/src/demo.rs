//! A small sample, so that the page is not empty on the first day.

use benzer_core::field::{Content, Document};
use benzer_index::Settings;
use serde_json::Value;

use crate::error::{ApiError, Result};
use crate::shelf::Shelf;

/// The name of the sample collection.
pub const NAME: &str = "demo";

const ARTICLES: &str = include_str!("../../../examples/articles.jsonl");
const SCHEMA: &str =
    r#"{"fields": {"title": {"kind": "text", "n": 1, "weight": 0.2}, "text": {"kind": "text", "n": 3}}}"#;

/// Makes the sample collection, unless it is there.
///
/// # Errors
/// What the store says.
pub fn fill(shelf: &Shelf) -> Result<()> {
    if shelf.names()?.iter().any(|name| name == NAME) {
        return Ok(());
    }
    let schema = serde_json::from_str(SCHEMA).expect("the schema of the sample is one");
    let settings = Settings::with_target(schema, 0.7, 0.95, benzer_index::Keeps::Documents)?;
    let (index, _) = shelf.create(NAME, settings)?;
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
        let shelf = Shelf::new(benzer_index::store::open("memory:").unwrap());
        fill(&shelf).unwrap();
        fill(&shelf).unwrap();
        let index = shelf.get(NAME).unwrap();
        assert_eq!(index.stats().unwrap().documents, ARTICLES.lines().count() as u64);
        assert!(!index.clusters(None, || Ok(())).unwrap().is_empty());
    }
}
