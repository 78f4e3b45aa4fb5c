//! Compacting: the living records in a new log, and one segment for all of them.

use std::sync::PoisonError;

use super::Shared;
use super::block::{Batch, Next};
use super::build::Source;
use super::log::{HEADER, Log};
use super::part::Part;
use super::segment::End;
use super::state::State;
use crate::error::Result;
use crate::store::{DocNo, Parts};

/// Words of rows in a block.
const BLOCK: usize = 1 << 20;

/// What to do with a damaged record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnDamage {
    Fail,
    LeaveOut,
}

impl Shared {
    pub fn compact(&self) -> Result<()> {
        let _merging = self.merging.lock().unwrap_or_else(PoisonError::into_inner);
        let mut log = self.log()?;
        let state = self.state();
        let documents = state.n_documents();
        if state.end.n_rows > documents {
            return self.rewrite(&mut log, OnDamage::Fail).map(drop);
        }
        if state.parts.len() > 1 {
            let part = self.all_merged(&state)?;
            let state = State { parts: part.into_iter().collect(), ..State::clone(&state) };
            self.replace(&log, state)?;
        }
        Ok(())
    }

    /// Makes a state the current one, and removes the files of the last one.
    pub fn replace(&self, log: &Log, state: State) -> Result<()> {
        self.folder.publish(log, &state)?;
        self.set_state(state.clone());
        self.folder.remove_others(log, &state)
    }

    /// Writes the living records into a new log; the numbers of damaged ones, which are left out.
    pub fn rewrite(&self, log: &mut Log, on_damage: OnDamage) -> Result<Vec<DocNo>> {
        let old = self.state();
        let copied = self.copy(&old, on_damage).and_then(|copy| Ok((self.state_of(&copy, &old)?, copy)));
        let published = copied.and_then(|(state, copy)| {
            self.folder.publish(&copy.log, &state)?;
            Ok((state, copy))
        });
        match published {
            Ok((state, copy)) => {
                *log = copy.log;
                self.set_state(state.clone());
                self.folder.remove_others(log, &state)?;
                Ok(copy.damaged)
            }
            Err(error) => {
                // It is not known which log would be found now, so the old one is named again before it is written to.
                if self.folder.publish(log, &old).is_err() {
                    log.refuse();
                } else {
                    self.folder.remove_others(log, &old).ok();
                }
                Err(error)
            }
        }
    }

    fn copy(&self, state: &State, on_damage: OnDamage) -> Result<Copy> {
        let path = self.folder.new_file("records", "log");
        let log = Log::create(&self.folder.files, &path.with_extension("tmp"), &self.folder.known(None))?;
        let mut copy = Copy { log, numbers: Vec::new(), places: Vec::new(), damaged: Vec::new() };
        let (mut batch, mut first) = (Batch::default(), 0);
        for (number, row) in state.scan(0, Parts::All) {
            let row = match (row, on_damage) {
                (Ok(row), _) => row,
                (Err(number), OnDamage::Fail) => return Err(self.damaged(number)),
                (Err(number), OnDamage::LeaveOut) => {
                    copy.damaged.push(number);
                    continue;
                }
            };
            if number != first + batch.len() as u32 || batch.words() >= BLOCK {
                copy.append(first, &std::mem::take(&mut batch))?;
                first = number;
            }
            batch.push(&row.record);
        }
        copy.append(first, &batch)?;
        // An empty block keeps the numbers of removed records from being used again.
        copy.log.write(state.end.next, &Batch::default())?;
        copy.log.sync()?;
        copy.log.rename(&path)?;
        Ok(copy)
    }

    fn state_of(&self, copy: &Copy, old: &State) -> Result<State> {
        let Copy { log, numbers, places, .. } = copy;
        let end = End { place: log.end, n_rows: numbers.len() as u64, next: old.end.next };
        let source = Source { rows: &log.rows, numbers, places, from: HEADER, to: end };
        let parts = match numbers.is_empty() {
            true => Vec::new(),
            false => vec![Part::new(self.folder.segment(&source, self.folder.sizes.at_once)?)],
        };
        Ok(State { rows: log.rows.clone(), parts, end })
    }
}

/// Living records in a new log.
struct Copy {
    log: Log,
    numbers: Vec<DocNo>,
    places: Vec<u64>,
    damaged: Vec<DocNo>,
}

impl Copy {
    fn append(&mut self, first: DocNo, batch: &Batch) -> Result<()> {
        if batch.len() == 0 {
            return Ok(());
        }
        let at = self.log.write(first, batch)?;
        if let Next::Block(block) = self.log.rows.next(at) {
            self.numbers.extend(block.places().map(|(number, _)| number));
            self.places.extend(block.places().map(|(_, place)| place as u64));
        }
        Ok(())
    }
}
