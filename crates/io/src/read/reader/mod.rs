//! The inputs into batches: one at a time as an iterator, or for any number of threads as a [`Source`].

mod schedule;
mod sequence;

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use benzer_flow::pipeline::{Position, Source, Taken};

use super::batch::{RawBatch, Rereader};
use super::input::{Input, Lookup};
use super::options::Plan;
use super::stream::Progress;
use crate::error::{Error, Result};
use schedule::{Order, Schedule, SharedPart};

/// Reads the inputs of a run, one batch of raw lines at a time. After an error it yields nothing more.
pub struct Reader {
    inputs: Vec<Arc<Input>>,
    schedule: Mutex<Schedule>,
    plan: Arc<Plan>,
    progress: Progress,
    n_excepted: u64,
    left_out: Vec<Error>,
    unread: Vec<PathBuf>,
}

type Batch = Taken<Result<RawBatch>>;

impl Reader {
    pub(super) fn new(lookup: Lookup, plan: Plan) -> Self {
        let Lookup { inputs, n_excepted, left_out, unread } = lookup;
        let progress = Progress::new(inputs.iter().map(|found| found.input.bytes).sum());
        let plan = Arc::new(plan);
        Self {
            inputs: inputs.iter().map(|found| Arc::clone(&found.input)).collect(),
            schedule: Mutex::new(Schedule::new(inputs, &plan, &progress)),
            plan,
            progress,
            n_excepted,
            left_out,
            unread,
        }
    }

    /// Reads inputs that are mapped from there.
    pub fn use_maps(&self, rereader: &Rereader) {
        self.schedule().use_maps(rereader.maps().collect());
    }

    /// The files and streams, in reading order; the index is the input number.
    pub fn inputs(&self) -> &[Arc<Input>] {
        &self.inputs
    }

    /// Passes over tables, whose rows are copied otherwise ([`rewrite::table`](crate::rewrite::table)).
    pub fn without_tables(self) -> Self {
        self.schedule().leave_out_tables();
        self
    }

    /// Files that were passed over because of [`Inputs::except`](super::Inputs::except).
    pub fn n_excepted(&self) -> u64 {
        self.n_excepted
    }

    /// What is wrong with files that were passed over because of [`Inputs::lenient`](super::Inputs::lenient).
    pub fn left_out(&self) -> &[Error] {
        &self.left_out
    }

    /// Files of folders that were passed over because of their extension.
    pub fn unread(&self) -> &[PathBuf] {
        &self.unread
    }

    /// How far the reading is; a clone can be watched from another thread.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// The inputs to be read again, open; nothing if there are many, or not all are plain files. They are mapped if that is wanted and possible.
    ///
    /// # Errors
    /// An input that cannot be opened.
    pub fn rereader(&self, maps: bool) -> Result<Option<Rereader>> {
        Rereader::new(&self.inputs, &self.plan, maps)
    }

    fn schedule(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next batch of a part that one thread at a time reads; nothing if another one has read the last.
    fn take_shared(&self, part: &SharedPart) -> Option<Batch> {
        let mut rest = part.rest.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(sequence), index) = &mut *rest else { return None };
        let at = Position { part: part.number, index: *index };
        *index += 1;
        let batch = sequence.next().transpose();
        let is_last = !matches!(batch, Some(Ok(_)));
        if is_last {
            rest.0 = None;
        }
        drop(rest);
        part.is_busy.store(false, Ordering::Relaxed);
        if is_last {
            self.schedule().close(part.number);
        }
        Some(Taken { at, is_last, batch })
    }
}

impl Source for Reader {
    type Batch = RawBatch;
    type Error = Error;

    fn next_batch(&self, at_once: usize) -> Option<Batch> {
        let all_of = |part, batch: Result<Option<RawBatch>>| Taken {
            at: Position { part, index: 0 },
            is_last: true,
            batch: batch.transpose(),
        };
        let taken = loop {
            // Not in a match: nobody shall wait while this thread reads.
            let order = self.schedule().next(at_once)?;
            break match order {
                Order::Stretch { part, file, stretch } => {
                    let batch = file.read(stretch, &self.plan);
                    let range = file.range(stretch, &self.plan);
                    self.progress.add((range.end - range.start) as usize);
                    all_of(part, batch)
                }
                Order::Together { part, mut inputs } => all_of(part, inputs.next()),
                Order::Failed { part, error } => all_of(part, Err(error)),
                Order::Shared(part) => match self.take_shared(&part) {
                    Some(taken) => taken,
                    None => continue,
                },
            };
        };
        if let Some(Err(_)) = taken.batch {
            self.end_after(taken.at.part);
        }
        Some(taken)
    }

    fn end_after(&self, part: u64) {
        self.schedule().end_after(part);
    }
}

impl Iterator for Reader {
    type Item = Result<RawBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.next_batch(1)?.batch {
                return Some(batch);
            }
        }
    }
}
