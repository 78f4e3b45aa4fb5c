//! Looking at a collection, also from another process.

use std::fs;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::SystemTime;

use benzer_core::lsh::BandKey;

use super::current::CURRENT;
use super::log::Access;
use super::open::Found;
use super::state::{FETCHED, State};
use super::{Shared, trouble};
use crate::error::Result;
use crate::record::DocNo;
use crate::settings::{BandRange, Keeps, Layout};
use crate::store::{Cursor, Parts, Postings, Stats, View, Visit, VisitNumbered};

/// The state at one moment.
pub(super) struct Snapshot<'a> {
    pub shared: &'a Shared,
    pub state: Arc<State>,
}

impl View for Snapshot<'_> {
    fn postings(&self, keys: &[BandKey], postings: &mut Postings) -> Result<()> {
        self.state.postings(keys, postings);
        Ok(())
    }

    fn ranges(&self, _: &Layout, ranges: &[BandRange], postings: &mut Postings) -> Result<()> {
        for range in ranges {
            for part in &self.state.parts {
                let place = part.segment.shape.directories[range.band as usize];
                place.each_between(part.segment.words(), &range.keys, |local| {
                    if part.has(local as usize) {
                        postings.push(part.segment.number(local as usize));
                    }
                });
            }
            postings.end_key();
        }
        Ok(())
    }

    fn records(&self, numbers: &[DocNo], parts: Parts, visit: Visit<'_>) -> Result<()> {
        let mut place = 0;
        for numbers in numbers.chunks(FETCHED) {
            self.state.prefetch(numbers);
            for &number in numbers {
                match self.state.row(number, parts) {
                    Some(Ok(row)) => visit(place, row.record)?,
                    Some(Err(number)) => return Err(self.shared.damaged(number)),
                    None => {}
                }
                place += 1;
            }
        }
        Ok(())
    }

    fn numbers(&self, ids: &[&[u8]]) -> Result<Vec<Option<DocNo>>> {
        Ok(self.state.numbers(ids))
    }

    fn scan(
        &self,
        from: Cursor,
        max: usize,
        parts: Parts,
        visit: VisitNumbered<'_>,
    ) -> Result<Option<Cursor>> {
        let mut next = None;
        for (number, row) in self.state.scan(DocNo(from.0), parts).take(max) {
            visit(number, row.map_err(|number| self.shared.damaged(number))?.record)?;
            next = number.0.checked_add(1).map(Cursor);
        }
        Ok(next)
    }

    fn stats(&self) -> Result<Stats> {
        let stats = self.state.stats();
        Ok(match self.shared.settings.keeps {
            Keeps::Documents => stats,
            Keeps::Sketches => Stats { id_bytes: stats.document_bytes, document_bytes: 0, ..stats },
        })
    }
}

/// Tells one `current.json` from the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    changed: SystemTime,
    #[cfg(unix)]
    file: u64,
}

impl Stamp {
    pub fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Self {
            changed: metadata.modified().ok()?,
            #[cfg(unix)]
            file: std::os::unix::fs::MetadataExt::ino(&metadata),
        })
    }
}

impl Shared {
    /// For readers: takes in what the writer has published since the last look.
    pub fn refresh(&self) -> Result<()> {
        if self.folder.access == Access::Write {
            return Ok(());
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.folder.path.join(CURRENT);
        let stamp = Stamp::of(&path);
        if stamp.is_none() && !self.folder.path.join(super::COLLECTION).exists() {
            let gone = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(trouble("read", &path)(gone));
        }
        if stamp != *seen {
            let Found { log: new, state, .. } = self.folder.load()?;
            (*log, *seen) = (new, stamp);
            self.set_state(state);
        } else if log.refresh()? {
            let mut state = State::clone(&self.state());
            state.rows = log.rows.clone();
            self.folder.replay(&mut state, self.folder.heap_limits(0))?;
            log.end = state.end.place;
            self.set_state(state);
        }
        Ok(())
    }
}
