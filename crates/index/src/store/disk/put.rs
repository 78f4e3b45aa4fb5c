//! What changes a collection.

use std::sync::atomic::Ordering;

use super::block::{Batch, Next};
use super::log::Log;
use super::part::Limits;
use super::state::State;
use super::{Access, Disk, Shared, view};
use crate::error::{Error, Result};
use crate::record::{DocNo, Records};
use crate::settings::Settings;
use crate::store::{Store, View};

/// The largest document, in bytes.
const MAX_BYTES: usize = 1 << 30;

impl Store for Disk {
    fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    fn put(&self, records: Records) -> Result<()> {
        check(&records, self.shared.folder.layout.words())?;
        self.wait_for_worker()?;
        let mut log = self.shared.log()?;
        let state = self.shared.state();
        if records.len() as u64 > u64::from(u32::MAX - state.end.next.0) {
            return Err(Error::Full);
        }
        let kept = records.last_of_each_id();
        let ids: Vec<&[u8]> = kept.iter().map(|i| records.ids.get(*i)).collect();
        let mut batch = Batch::default();
        batch.removed.extend(state.numbers(&ids).into_iter().flatten());
        for i in kept {
            batch.push(&records.get(i, self.shared.folder.layout.words()));
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
    records.check(stride)?;
    if records.max_bytes() > MAX_BYTES {
        return Err(Error::parameter("a document", "at most 1 GiB", "one that is larger"));
    }
    Ok(())
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
            0 => Limits { max: self.folder.sizes.at_once, ..limits },
            // Nobody else merges these as long as the other thread is busy.
            _ => limits,
        };
        let taken = match log.rows.next(at) {
            Next::Block(block) => state.apply(&[block], self.folder.format(), limits),
            _ => Err(Error::damaged(&log.path, "what was written cannot be read")),
        };
        if taken.is_err() {
            log.refuse();
        }
        taken.map(|()| self.set_state(state))
    }
}
