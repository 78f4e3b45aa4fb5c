//! Texts on their way to where they are asked for.

use arrow_array::RecordBatch;

use super::columns::{Document, Documents};
use super::out::Out;
use super::parts::{Parts, put_bytes};
use super::{Settings, Stage, kind, place};
use crate::error::Result;

/// Sends each document to the slice of its id.
pub(super) struct Texts {
    settings: Settings,
    parts: Parts,
    out: Out,
}

impl Texts {
    pub(super) fn new(settings: Settings) -> Self {
        Self { parts: Parts::new(kind::TEXTS, settings.slices), settings, out: Out::default() }
    }
}

impl Stage for Texts {
    fn push(&mut self, batch: &RecordBatch) -> Result<Vec<RecordBatch>> {
        let mut place = Vec::new();
        let documents = Documents::of(batch)?;
        for Document { id, text, value, seen } in documents.iter() {
            place.clear();
            place::push(&self.settings.keep, text, value, id, &mut place);
            self.parts.add(self.settings.slice(id.as_bytes()), |out| {
                out.extend(seen.to_le_bytes());
                put_bytes(out, &place);
                put_bytes(out, text.as_bytes());
            });
            self.parts.send_if_full(&mut self.out)?;
        }
        self.out.take()
    }

    fn finish(&mut self) -> Result<Vec<RecordBatch>> {
        self.parts.send(&mut self.out)?;
        self.out.take()
    }
}
