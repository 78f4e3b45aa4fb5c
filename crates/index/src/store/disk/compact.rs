//! Compacting: the living records in a new log, and one segment for all of them.
//!
//! Writers go on meanwhile. What they append to the old log is taken over in rounds, each shorter than the one before, and only the last of these keeps them waiting.

use std::path::PathBuf;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use super::Shared;
use super::block::{Batch, Block, Next, Rows};
use super::build::Source;
use super::log::{HEADER, Log};
use super::part::Part;
use super::segment::End;
use super::state::State;
use super::work::Job;
use crate::error::{Error, Result};
use crate::record::{DocNo, Record};
use crate::store::Parts;

/// Words of rows in a block.
const BLOCK: usize = 1 << 20;
/// How often what has come meanwhile is taken over before writers wait.
const ROUNDS: usize = 8;

/// What to do with a damaged record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnDamage {
    Fail,
    LeaveOut,
}

impl Shared {
    pub fn compact(&self) -> Result<()> {
        let _merging = self.merging.lock().unwrap_or_else(PoisonError::into_inner);
        // Refused at once where we only read.
        drop(self.log()?);
        let state = self.state();
        if state.end.n_rows > state.n_documents() {
            return self.rewrite(OnDamage::Fail).map(drop);
        }
        let file = self.folder.sizes.at_once;
        let all =
            |state: &State| (state.parts.len() > 1).then_some(Job { parts: 0..state.parts.len(), file });
        self.merge_alone(all).map(drop)
    }

    /// Makes a state the current one, and removes the files of the last one.
    pub fn replace(&self, log: &Log, state: State) -> Result<()> {
        self.folder.publish(log, &state)?;
        self.set_state(state.clone());
        self.folder.remove_others(log, &state)
    }

    /// Writes the living records into a new log; the numbers of damaged ones, which are left out. Nobody else may merge.
    pub fn rewrite(&self, on_damage: OnDamage) -> Result<Vec<DocNo>> {
        let log = self.log()?;
        let old = self.state();
        // From here on the writer merges what it appends by itself, since nobody else does.
        self.reserved.store(old.parts.len().max(1), Ordering::Release);
        drop(log);
        let copied = self.copied(&old, on_damage);
        let mut log = self.log()?;
        self.reserved.store(0, Ordering::Release);
        let followed = copied.and_then(|mut copy| copy.follow(self, on_damage).map(|()| copy));
        let mut copy = match followed {
            Ok(copy) => copy,
            Err(error) => {
                // Nobody knows of the copy yet. Its room may be needed at once.
                self.folder.remove_others(&log, &self.state()).ok();
                return Err(error);
            }
        };
        let named = copy.log.rename(&copy.path).and_then(|()| self.folder.publish(&copy.log, &copy.state));
        if let Err(error) = named {
            // It is not known which log would be found now, so the old one is named again, and the other one removed, before it is written to.
            let old = self.state();
            let undone = self.folder.publish(&log, &old).and_then(|()| self.folder.remove_others(&log, &old));
            if undone.is_err() {
                log.refuse();
            }
            return Err(error);
        }
        *log = copy.log;
        self.set_state(copy.state.clone());
        self.folder.remove_others(&log, &copy.state)?;
        Ok(copy.damaged)
    }

    /// A copy of the collection that is nearly up to date.
    fn copied(&self, old: &State, on_damage: OnDamage) -> Result<Copy> {
        let mut copy = self.copy(old, on_damage)?;
        for _ in 0..ROUNDS {
            // So few are taken over at once.
            if self.state().end.n_rows - copy.read.n_rows < self.folder.sizes.at_once as u64 {
                break;
            }
            copy.follow(self, on_damage)?;
        }
        Ok(copy)
    }

    fn copy(&self, old: &State, on_damage: OnDamage) -> Result<Copy> {
        // It has this name until it is whole: the newest log is the one that is read where `current.json` is damaged.
        let path = self.folder.new_file("records", "log");
        let log = Log::create(&self.folder.files, &path.with_extension("tmp"), &self.folder.known(None))?;
        let state = State::new(log.rows.clone(), End::START);
        let read = old.end;
        let mut copy = Copy {
            log,
            state,
            path,
            read,
            batch: Batch::default(),
            first: DocNo::default(),
            damaged: Vec::new(),
        };
        for (number, row) in old.scan(DocNo::default(), Parts::All) {
            match (row, on_damage) {
                (Ok(row), _) => copy.push(number, &row.record)?,
                (Err(number), OnDamage::Fail) => return Err(self.damaged(number)),
                (Err(number), OnDamage::LeaveOut) => copy.damaged.push(number),
            }
        }
        copy.flush()?;
        // An empty block keeps the numbers of removed records from being used again.
        copy.log.write(old.end.next, &Batch::default())?;
        copy.log.sync()?;
        copy.state = self.state_of(&copy.log, old.end.next)?;
        Ok(copy)
    }

    /// One segment for a whole log, in which nothing is removed.
    fn state_of(&self, log: &Log, next: DocNo) -> Result<State> {
        let (mut numbers, mut places, mut at) = (Vec::new(), Vec::new(), HEADER);
        while let Next::Block(block) = log.rows.next(at) {
            numbers.extend(block.places().map(|(number, _)| number));
            places.extend(block.places().map(|(_, place)| place as u64));
            at = block.end;
        }
        if at != log.end {
            return Err(Error::damaged(&log.path, "it cannot be read again"));
        }
        let end = End { place: log.end, n_rows: numbers.len() as u64, next };
        let source = Source { rows: &log.rows, numbers: &numbers, places: &places, from: HEADER, to: end };
        let parts = match numbers.is_empty() {
            true => Vec::new(),
            false => vec![Part::new(self.folder.segment(&source, self.folder.sizes.at_once)?)],
        };
        Ok(State { rows: log.rows.clone(), parts, end, has_lost: false })
    }
}

/// Living records in a new log.
struct Copy {
    log: Log,
    state: State,
    /// Its name when it is whole.
    path: PathBuf,
    /// How far the old log is part of it.
    read: End,
    /// What is written next, and the number of the first of it.
    batch: Batch,
    first: DocNo,
    damaged: Vec<DocNo>,
}

impl Copy {
    /// Takes over what the old log has by now.
    fn follow(&mut self, shared: &Shared, on_damage: OnDamage) -> Result<()> {
        let old = shared.state();
        while self.read.place < old.end.place {
            match (old.rows.next(self.read.place), on_damage) {
                (Next::Block(block), _) => {
                    self.block(&old.rows, &block, shared, on_damage)?;
                    self.read = self.read.after(&block);
                }
                (Next::Lost { until }, OnDamage::LeaveOut) => self.read.place = until,
                _ => return Err(Error::damaged(&shared.folder.path, "a batch cannot be read")),
            }
        }
        self.log.sync()?;
        self.state.rows = self.log.rows.clone();
        let in_files = self.state.parts.iter().take_while(|part| part.segment.path.is_some()).count();
        shared.folder.replay(&mut self.state, shared.folder.heap_limits(in_files))?;
        if self.state.end.place != self.log.end {
            return Err(Error::damaged(&self.log.path, "it cannot be read again"));
        }
        Ok(())
    }

    /// Takes over a batch, with what it removed.
    fn block(&mut self, rows: &Rows, block: &Block<'_>, shared: &Shared, on_damage: OnDamage) -> Result<()> {
        (self.batch, self.first) = (Batch::removing(block.removed.to_vec()), block.first);
        let mut next = block.first;
        for (number, place) in block.places() {
            match (rows.whole(place, Parts::All), on_damage) {
                (Some(row), _) => {
                    self.push(number, &row.record)?;
                    next = number.plus(1);
                }
                (None, OnDamage::Fail) => return Err(shared.damaged(number)),
                (None, OnDamage::LeaveOut) => self.damaged.push(number),
            }
        }
        self.flush()?;
        if next != block.next() {
            // The numbers of damaged records are not used again, as above.
            self.log.write(block.next(), &Batch::default())?;
        }
        Ok(())
    }

    fn push(&mut self, number: DocNo, record: &Record<'_>) -> Result<()> {
        if number != self.first.plus(self.batch.len()) || self.batch.words() >= BLOCK {
            self.flush()?;
            self.first = number;
        }
        self.batch.push(record);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let batch = std::mem::take(&mut self.batch);
        if batch.len() > 0 || !batch.removed.is_empty() {
            self.log.write(self.first, &batch)?;
        }
        Ok(())
    }
}
