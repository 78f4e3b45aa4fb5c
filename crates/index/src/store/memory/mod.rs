//! A collection in memory.
//!
//! ```text
//! State = runs (do not change; each with a directory per band) + the newest records + which of all these are removed
//! ```
//!
//! A reader takes the state as it is, which is one pointer, and keeps it. A writer makes the next state aside and swaps the pointer: readers never wait for it, and see a batch whole or not at
//! all. Runs are merged by four, when so many have grown alike: there are at most three
//! for every factor of four.

mod columns;
mod directory;
mod line;
mod lookup;
mod newest;
mod run;
mod state;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use benzer_core::lsh::BandKey;

use crate::error::{Error, Result};
use crate::record::{DocNo, Records};
use crate::settings::{BandRange, Layout, Settings};
use crate::store::{Cursor, Parts, Postings, Stats, Store, View, Visit, VisitNumbered};
use newest::PLACES;
use state::State;

/// The store.
#[derive(Debug)]
pub(super) struct Memory {
    settings: Settings,
    layout: Layout,
    state: RwLock<Arc<State>>,
    /// Held by the one writer.
    writing: Mutex<()>,
}

impl Memory {
    pub fn new(settings: Settings) -> Result<Self> {
        settings.check()?;
        let layout = settings.layout()?;
        let state = RwLock::new(Arc::new(State::new(&layout)));
        Ok(Self { settings, layout, state, writing: Mutex::new(()) })
    }

    fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write(&self) -> (MutexGuard<'_, ()>, State) {
        // A writer that panicked has published nothing.
        let guard = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let state = State::clone(&self.state());
        (guard, state)
    }

    fn publish(&self, state: State) {
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(state);
    }
}

impl Store for Memory {
    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn put(&self, records: Records) -> Result<()> {
        let (_guard, mut state) = self.write();
        // The highest numbers mean something else in lines.
        let max = u64::from(u32::MAX - 1).saturating_sub(state.next().0.into());
        if records.len() as u64 > max {
            return Err(Error::Full);
        }
        records.check(self.layout.words())?;
        if records.len() <= PLACES / 4 {
            for i in 0..records.len() {
                state.add(&records, i, &self.layout);
            }
        } else {
            state.add_run(records, &self.layout);
        }
        self.publish(state);
        Ok(())
    }

    fn remove(&self, ids: &[&[u8]]) -> Result<u64> {
        let (_guard, mut state) = self.write();
        let removed = ids.iter().filter(|id| state.remove(id)).count();
        self.publish(state);
        Ok(removed as u64)
    }

    fn expire(&self, now: u64) -> Result<u64> {
        let (_guard, mut state) = self.write();
        let gone: Vec<DocNo> = state
            .scan(DocNo::default())
            .filter(|(_, record)| record.is_gone(now))
            .map(|(number, _)| number)
            .collect();
        gone.iter().for_each(|number| state.remove_number(*number));
        self.publish(state);
        Ok(gone.len() as u64)
    }

    fn view(&self) -> Result<Box<dyn View + '_>> {
        Ok(Box::new(Snapshot(self.state())))
    }

    fn compact(&self) -> Result<()> {
        let (_guard, mut state) = self.write();
        state.compact(&self.layout);
        self.publish(state);
        Ok(())
    }
}

/// The state at one moment.
struct Snapshot(Arc<State>);

impl View for Snapshot {
    fn postings(&self, keys: &[BandKey], postings: &mut Postings) -> Result<()> {
        self.0.postings(keys, postings);
        Ok(())
    }

    fn ranges(&self, layout: &Layout, ranges: &[BandRange], postings: &mut Postings) -> Result<()> {
        self.0.ranges(layout, ranges, postings);
        Ok(())
    }

    fn records(&self, numbers: &[DocNo], _: Parts, visit: Visit<'_>) -> Result<()> {
        self.0.records(numbers, visit)
    }

    fn numbers(&self, ids: &[&[u8]]) -> Result<Vec<Option<DocNo>>> {
        Ok(ids.iter().map(|id| self.0.number(id)).collect())
    }

    fn scan(&self, from: Cursor, max: usize, _: Parts, visit: VisitNumbered<'_>) -> Result<Option<Cursor>> {
        let mut next = None;
        for (number, record) in self.0.scan(DocNo(from.0)).take(max) {
            visit(number, record)?;
            next = number.0.checked_add(1).map(Cursor);
        }
        Ok(next)
    }

    fn stats(&self) -> Result<Stats> {
        Ok(self.0.stats())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::conformance;

    #[test]
    fn memory_conforms() {
        conformance::run(&mut |settings| Ok(Arc::new(Memory::new(settings)?) as Arc<dyn Store>));
    }
}
