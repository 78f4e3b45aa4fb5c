//! Which documents were seen when the input was read first: ids and the hashes of their texts.
//!
//! The input is read for `bands`, for `texts`, and by the engine once more for the rows that are kept. An engine computes it anew each time, and may give other ids then. So a document comes
//! with the hash of its text, which goes from `bands` to `fetch`, where it meets that of `texts`, and on to the engine (the stage `seen`), which compares it with that of the row it keeps.
//! Repeated ids are noticed on the way; what is wrong is a row of the result, not the end of a task.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{Int64Builder, StringBuilder};

use super::by_slice::Row;
use super::columns::{Document, Rows};
use super::out::{Out, batch};
use super::parts::{Parts, Records, put_bytes};
use super::{Settings, Stage, kind};
use crate::error::{Error, Result};

/// Sends id and hash of a document to the slice of its id.
pub(super) fn put(parts: &mut Parts, settings: &Settings, document: Document<'_>) {
    parts.add(settings.slice(document.id.as_bytes()), |out| {
        out.extend(document.seen.to_le_bytes());
        put_bytes(out, document.id.as_bytes());
    });
}

fn records(mut records: Records<'_>) -> impl Iterator<Item = Result<(&str, u64)>> {
    std::iter::from_fn(move || {
        (!records.is_empty()).then(|| {
            let (hash, id) = (records.word()?, records.bytes()?);
            Ok((simdutf8::basic::from_utf8(id).map_err(|_| Error::damaged())?, hash))
        })
    })
}

/// The documents of a slice, who are to come once more.
#[derive(Debug, Default)]
pub(super) struct SeenDocuments<'a> {
    documents: HashMap<&'a str, SeenDocument>,
    repeated: CountWithExample,
    others: CountWithExample,
}

/// How many there are, and the first of them.
#[derive(Debug, Default)]
struct CountWithExample {
    n: u64,
    first: Option<String>,
}

impl CountWithExample {
    fn add(&mut self, id: &str) {
        self.n += 1;
        if self.first.as_deref().is_none_or(|first| id < first) {
            self.first = Some(id.to_owned());
        }
    }

    fn send(&self, kind: i32, out: &mut Out) -> Result<()> {
        let Some(id) = &self.first else { return Ok(()) };
        out.row(0, kind, [id.as_bytes(), self.n.to_string().as_bytes(), &[]])
    }
}

#[derive(Debug, Clone, Copy)]
struct SeenDocument {
    hash: u64,
    is_repeated: bool,
    came: bool,
}

impl<'a> SeenDocuments<'a> {
    pub(super) fn new(rows: &'a [Row]) -> Result<Self> {
        let mut seen = Self::default();
        for row in rows.iter().filter(|row| row.kind == kind::SEEN) {
            for record in records(row.records()) {
                let (id, hash) = record?;
                match seen.documents.entry(id) {
                    Entry::Vacant(entry) => {
                        _ = entry.insert(SeenDocument { hash, is_repeated: false, came: false })
                    }
                    Entry::Occupied(mut entry) => {
                        entry.get_mut().is_repeated = true;
                        seen.repeated.add(id);
                    }
                }
            }
        }
        Ok(seen)
    }

    /// A document that came when the input was read again.
    pub(super) fn came(&mut self, id: &str, hash: u64) {
        match self.documents.get_mut(id) {
            Some(document) => {
                let is_other = (document.hash != hash || document.came) && !document.is_repeated;
                document.came = true;
                if is_other {
                    self.others.add(id);
                }
            }
            None => self.others.add(id),
        }
    }

    /// No more come: sends how many ids are repeated, and how many documents are others or did not come.
    pub(super) fn finish(mut self, out: &mut Out) -> Result<()> {
        let missing = self.documents.iter().filter(|(_, document)| !document.came);
        missing.for_each(|(id, _)| self.others.add(id));
        self.repeated.send(kind::REPEATED, out)?;
        self.others.send(kind::OTHER, out)
    }
}

/// `seen` rows to a table of `id` and `seen`.
pub(super) struct Seen;

impl Stage for Seen {
    fn push(&mut self, rows: &RecordBatch) -> Result<Vec<RecordBatch>> {
        let (mut ids, mut hashes) = (StringBuilder::new(), Int64Builder::new());
        for (_, _, [packed, _, _]) in Rows::of(rows)?.iter().filter(|(_, kind, _)| *kind == kind::SEEN) {
            for record in records(Records(packed)) {
                let (id, hash) = record?;
                ids.append_value(id);
                hashes.append_value(hash as i64);
            }
        }
        Ok(vec![batch([
            ("benzer_id", Arc::new(ids.finish()) as _),
            ("benzer_seen", Arc::new(hashes.finish()) as _),
        ])?])
    }
}
