//! Going through all documents: id bucket after id bucket, each document as it is at that moment, and once.

use std::ops::Range;
use std::sync::Arc;

use ::redis::Value;

use super::functions::Function;
use super::home::Home;
use super::net::{How, Requests};
use super::trouble::Trouble;
use super::view::Live;
use super::{add_function, bytes, list, refused};
use crate::error::Result;
use crate::record::DocNo;
use crate::settings::Keeps;
use crate::store::{Cursor, Parts};

/// Id buckets of one call of the function, if documents are wanted and if not.
const BUCKETS: (usize, usize) = (8, 32);
/// Documents that are wanted at a time where all are.
const ALL: usize = 4096;
/// Id buckets that a scan asks for at first, and at most.
pub(super) const WINDOW: (u32, u32) = (64, 8192);

/// What is done with each document: id, number, record, document, as they are stored.
pub(super) type VisitRaw<'a> = &'a mut dyn FnMut(&Home, &[u8], DocNo, &[u8], &[u8]) -> Result<()>;

impl Live<'_> {
    fn scan_some(
        &self,
        home: &Home,
        buckets: Range<u32>,
        parts: Parts,
    ) -> Result<Vec<(u32, Value)>, Trouble> {
        let wants_documents = parts == Parts::All && home.entry.settings.keeps == Keeps::Documents;
        let at_once = if wants_documents { BUCKETS.0 } else { BUCKETS.1 };
        let buckets: Vec<(u32, u32)> =
            buckets.map(|i| (i / home.entry.id_buckets, i % home.entry.id_buckets)).collect();
        let (mut requests, mut slices) = (Requests::default(), Vec::new());
        for of_slice in buckets.chunk_by(|a, b| a.0 == b.0) {
            let at = home.slice(of_slice[0].0);
            for some in of_slice.chunks(at_once) {
                let mut keys = vec![at.open(), at.records(), at.documents()];
                keys.extend(some.iter().map(|(_, bucket)| at.ids(*bucket)));
                let wanted: &[u8] = if wants_documents { b"1" } else { b"0" };
                add_function(&mut requests, at.slot, Function::Scan, &keys, &[wanted]);
                slices.push(of_slice[0].0);
            }
        }
        let answers = self.store.client.call(&requests, How::default())?;
        answers.iter().try_for_each(refused)?;
        Ok(slices.into_iter().zip(answers).collect())
    }

    /// Goes through all documents.
    pub fn scan_all(&self, parts: Parts, visit: VisitRaw<'_>) -> Result<()> {
        let mut next = Some(Cursor::START);
        while let Some(from) = next {
            next = self.scan_raw(from, ALL, parts, visit)?;
        }
        Ok(())
    }

    /// Goes through all id buckets from one on, until there was something; where to go on. The place of a cursor is that of an id bucket.
    pub fn scan_raw(
        &self,
        from: Cursor,
        max: usize,
        parts: Parts,
        visit: VisitRaw<'_>,
    ) -> Result<Option<Cursor>> {
        let (mut at, mut n) = (from.0, 0);
        loop {
            let (home, answers, end) = self.at_home(|home| {
                let end = at.saturating_add(self.window.get()).min(home.entry.slices * home.entry.id_buckets);
                let answers = self.scan_some(home, at..end, parts)?;
                Ok((Arc::clone(&self.home.borrow()), answers, end))
            })?;
            let before = n;
            for (slice, answer) in &answers {
                n += visit_scanned(&home, *slice, answer, visit)?;
            }
            // About as many buckets the next time as give what is wanted at once.
            let window = u64::from(self.window.get()) * max.min(ALL) as u64 / (n - before).max(1) as u64;
            self.window.set((window as u32).clamp(1, 2 * self.window.get()).min(WINDOW.1));
            at = end;
            if at >= home.entry.slices * home.entry.id_buckets {
                return Ok(None);
            }
            if n >= max || n > 0 && max < usize::MAX {
                return Ok(Some(Cursor(at)));
            }
        }
    }
}

/// Hands what a scan has brought of a slice to `visit`; how many there were.
fn visit_scanned(home: &Home, slice: u32, answer: &Value, visit: VisitRaw<'_>) -> Result<usize> {
    let values = list(answer);
    for one in values.chunks_exact(4) {
        let parts: Vec<&[u8]> = one.iter().filter_map(bytes).collect();
        let [id, count, record, document] = parts[..] else { continue };
        let count = <[u8; 4]>::try_from(count).map_or(0, u32::from_be_bytes);
        visit(home, id, home.number(slice, count), record, document)?;
    }
    Ok(values.len() / 4)
}
