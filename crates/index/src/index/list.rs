//! The documents of a collection, a few at a time.

use std::collections::BTreeMap;

use benzer_core::field::Content;

use super::Index;
use crate::error::Result;
use crate::record::now;
use crate::store::{Cursor, Parts};

/// A document of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedDocument {
    /// Its id.
    pub id: String,
    /// Its contents, where they are kept.
    pub fields: Option<BTreeMap<String, Content>>,
}

impl Index {
    /// Documents in the order in which they came, from a place on and at most so many; and the place to go on from, if there may be more.
    pub fn list(&self, from: Cursor, max: usize) -> Result<(Vec<ListedDocument>, Option<Cursor>)> {
        let (view, now) = (self.store().view()?, now());
        let mut listed = Vec::new();
        let next = view.scan(from, max, Parts::All, &mut |_, record| {
            if !record.is_gone(now) {
                let id = String::from_utf8_lossy(record.id).into_owned();
                let document = record.kept_document()?;
                listed.push(ListedDocument { id, fields: document.map(|document| document.fields) });
            }
            Ok(())
        })?;
        Ok((listed, next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Keeps, Settings};
    use crate::store;
    use benzer_core::field::Document;

    #[test]
    fn all_documents_come_once_page_by_page() {
        for keeps in [Keeps::Documents, Keeps::Sketches] {
            let schema = serde_json::from_str(r#"{"fields": {"body": {"kind": "text"}}}"#).unwrap();
            let settings = Settings::with_target(schema, 0.8, 0.95, keeps).unwrap();
            let index = Index::new(store::memory(settings).unwrap()).unwrap();
            let document =
                |i: usize| Document::new(i.to_string(), [("body", Content::from(format!("text {i}")))]);
            index.insert(&(0..25).map(document).collect::<Vec<_>>()).unwrap();
            index.insert_until(&[document(99)], |_| Some(1)).unwrap();
            index.remove(&["7"]).unwrap();
            let (mut ids, mut from) = (Vec::new(), Some(Cursor::START));
            while let Some(start) = from {
                let (page, next) = index.list(start, 10).unwrap();
                assert!(page.iter().all(|listed| listed.fields.is_some() == (keeps == Keeps::Documents)));
                ids.extend(page.into_iter().map(|listed| listed.id));
                from = next;
            }
            let expected: Vec<String> = (0..25).filter(|i| *i != 7).map(|i| i.to_string()).collect();
            assert_eq!(ids, expected);
        }
    }
}
