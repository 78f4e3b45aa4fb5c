//! What changes a collection.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use super::block::{Batch, Next};
use super::log::Log;
use super::part::Limits;
use super::state::State;
use super::{Access, Disk, Shared, view};
use crate::error::{Error, Result};
use crate::record::Records;
use crate::settings::Settings;
use crate::store::{DocNo, Record, Store, View};

impl Store for Disk {
    fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    fn put(&self, records: Records) -> Result<()> {
        check(&records, self.shared.folder.layout.words())?;
        self.wait_for_worker()?;
        let mut log = self.shared.log()?;
        let state = self.shared.state();
        if records.len() as u64 > u64::from(u32::MAX) - u64::from(state.end.next) {
            return Err(Error::Full);
        }
        let kept = last_of_each(&records);
        let ids: Vec<&[u8]> = kept.iter().map(|i| records.ids.get(*i)).collect();
        let mut batch = Batch::default();
        batch.removed.extend(state.numbers(&ids).into_iter().flatten());
        for i in kept {
            batch.push(&record(&records, i, self.shared.folder.layout.words()));
        }
        self.shared.commit(&mut log, &batch)?;
        drop(log);
        if let Some(worker) = &self.worker {
            worker.wake();
        }
        Ok(())
    }

    fn remove(&self, ids: &[&[u8]]) -> Result<u64> {
        let mut log = self.shared.log()?;
        let state = self.shared.state();
        let mut removed: Vec<DocNo> = state.numbers(ids).into_iter().flatten().collect();
        removed.sort_unstable();
        removed.dedup();
        let n = removed.len() as u64;
        self.shared.commit(&mut log, &Batch::removing(removed))?;
        Ok(n)
    }

    fn expire(&self, now: u64) -> Result<u64> {
        let mut log = self.shared.log()?;
        let state = self.shared.state();
        let removed = state.gone(now);
        let n = removed.len() as u64;
        self.shared.commit(&mut log, &Batch::removing(removed))?;
        Ok(n)
    }

    fn view(&self) -> Result<Box<dyn View + '_>> {
        self.shared.refresh()?;
        Ok(Box::new(view::Snapshot { shared: &self.shared, state: self.shared.state() }))
    }

    fn compact(&self) -> Result<()> {
        self.shared.compact()
    }

    fn settle(&self) -> Result<()> {
        match self.shared.folder.access {
            Access::Read => Ok(()),
            Access::Write => self.shared.settle(),
        }
    }

    fn trouble(&self) -> Option<String> {
        self.shared.trouble()
    }

    fn damage(&self) -> Option<String> {
        self.shared.state().has_lost.then(|| {
            "a part of the records cannot be read: documents may be missing, or be there that were replaced or removed; run `benzer verify`".to_owned()
        })
    }
}

fn check(records: &Records, stride: usize) -> Result<()> {
    if records.len() * stride != records.words.len() {
        return Err(Error::parameter(
            "words",
            format!("{stride} for each record"),
            format!("{} for {} records", records.words.len(), records.len()),
        ));
    }
    let longest = records.ids.iter().chain(records.documents.iter()).map(<[u8]>::len).max();
    if longest.is_some_and(|longest| longest > 1 << 30) {
        return Err(Error::parameter("a document", "at most 1 GiB", "one that is larger"));
    }
    Ok(())
}

fn record(records: &Records, i: usize, stride: usize) -> Record<'_> {
    Record {
        id: records.ids.get(i),
        words: &records.words[i * stride..(i + 1) * stride],
        document: records.documents.get(i),
        expires: records.expires(i),
    }
}

/// The places of records whose id does not come again after them, in order.
fn last_of_each(records: &Records) -> Vec<usize> {
    let last: HashMap<&[u8], usize> = records.ids.iter().zip(0..).collect();
    if last.len() == records.len() {
        return (0..records.len()).collect();
    }
    let mut kept: Vec<usize> = last.into_values().collect();
    kept.sort_unstable();
    kept
}

impl Shared {
    /// Appends a batch to the log, and takes it in.
    fn commit(&self, log: &mut Log, batch: &Batch) -> Result<()> {
        if batch.len() == 0 && batch.removed.is_empty() {
            return Ok(());
        }
        let mut state = State::clone(&self.state());
        let at = log.append(state.end.next, batch)?;
        state.rows = log.rows.clone();
        let reserved = self.reserved.load(Ordering::Acquire);
        let limits = self.folder.heap_limits(reserved);
        let limits = match reserved {
            0 => Limits { most: self.folder.sizes.at_once, ..limits },
            // Nobody else merges these as long as the other thread is busy.
            _ => limits,
        };
        let taken = match log.rows.next(at) {
            Next::Block(block) => state.apply(&[block], self.folder.made(), limits),
            _ => Err(Error::Damaged {
                path: log.path.clone(),
                what: "what was written cannot be read".to_owned(),
            }),
        };
        if taken.is_err() {
            log.refuse();
        }
        taken.map(|()| self.set_state(state))
    }
}
