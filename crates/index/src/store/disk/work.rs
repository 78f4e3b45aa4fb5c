//! The thread that merges segments behind the writer.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::build;
use super::part::{Limits, Merge, Part};
use super::policy::{self, Tier};
use super::state::State;
use super::{Shared, Sizes};
use crate::error::Result;

/// Segments in files, at most, once all is merged.
const FILES: usize = 3;
/// What has failed is tried again after twice this, then after longer and longer.
const SOON: Duration = Duration::from_millis(50);
const LATER: Duration = Duration::from_secs(30);

/// The thread, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct Worker {
    signals: Arc<Signals>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Signals {
    now: Mutex<Now>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Now {
    has_work: bool,
    is_idle: bool,
    is_over: bool,
}

impl Signals {
    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for something to do, or until it is time to try again; false when there will be nothing more.
    fn next(&self, try_again: Option<Duration>) -> bool {
        let mut now = self.now();
        now.is_idle = !now.has_work;
        self.changed.notify_all();
        while !now.has_work && !now.is_over {
            let timeout = try_again.unwrap_or(Duration::MAX);
            let (after, waited) =
                self.changed.wait_timeout(now, timeout).unwrap_or_else(PoisonError::into_inner);
            now = after;
            if waited.timed_out() {
                break;
            }
        }
        (now.has_work, now.is_idle) = (false, false);
        !now.is_over
    }
}

impl Worker {
    pub fn start(shared: Arc<Shared>) -> Self {
        let signals = Arc::new(Signals {
            now: Mutex::new(Now { has_work: true, ..Now::default() }),
            ..Signals::default()
        });
        let of_thread = Arc::clone(&signals);
        let work = move || {
            let go_on = || !of_thread.now().is_over;
            let (mut is_checked, mut try_again) = (false, None);
            while of_thread.next(try_again) {
                let mut work = || -> Result<()> {
                    if !is_checked {
                        shared.rebuild_damaged(go_on)?;
                        is_checked = true;
                    }
                    while go_on() && shared.merge_some()? {}
                    Ok(())
                };
                // Nothing depends on it, so what fails, as on a full disk, is told and tried again.
                let trouble = work().err().map(|error| error.to_string());
                try_again = trouble.as_ref().map(|_| (try_again.unwrap_or(SOON) * 2).min(LATER));
                shared.set_trouble(trouble);
            }
        };
        let thread = std::thread::Builder::new().name("benzer-merge".to_owned()).spawn(work).ok();
        Self { signals, thread }
    }

    /// There may be something to do.
    pub fn wake(&self) {
        self.signals.now().has_work = true;
        self.signals.changed.notify_all();
    }

    /// Waits while the thread has something to do and `is_too_much`.
    pub fn wait_while(&self, is_too_much: impl Fn() -> bool) {
        while is_too_much() {
            let now = self.signals.now();
            if self.thread.is_none() || (now.is_idle && !now.has_work) {
                return;
            }
            let waited = self.signals.changed.wait_timeout(now, Duration::from_millis(20));
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.signals.now().is_over = true;
        self.signals.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has lost nothing: segments are derived.
            thread.join().ok();
        }
    }
}

/// Parts that are to be one, from some number of records on in a file.
#[derive(Debug)]
pub(super) struct Job {
    pub parts: Range<usize>,
    pub file: usize,
}

impl Shared {
    /// Merges the parts that should be one, or puts one into a file; whether there was something to do.
    pub fn merge_some(&self) -> Result<bool> {
        self.merge(|state| next_job(state, &self.folder.sizes))
    }

    /// Puts what is on the heap into a file, if there is so much that opening would take a while without it. There are at most so many files then.
    pub fn flush(&self, files: usize) -> Result<()> {
        let sizes = &self.folder.sizes;
        let job = |state: &State| {
            let on_heap = state.parts.iter().position(|part| part.segment.path.is_none())?;
            let before: Vec<usize> = state.parts[..on_heap].iter().map(|part| part.segment.len()).collect();
            let first = match before.len() < files {
                true => on_heap,
                false => policy::staying(&before, state.n_on_heap(), Tier { unit: sizes.file, max: files }),
            };
            let is_worth_it = state.n_on_heap() >= sizes.at_once;
            is_worth_it.then_some(Job { parts: first..state.parts.len(), file: sizes.at_once })
        };
        self.merge(job).map(drop)
    }

    /// Does everything that is left to do.
    pub fn settle(&self) -> Result<()> {
        while self.merge_some()? {}
        self.flush(FILES)?;
        self.set_trouble(None);
        Ok(())
    }

    fn merge(&self, job: impl Fn(&State) -> Option<Job>) -> Result<bool> {
        let _merging = self.merging.lock().unwrap_or_else(PoisonError::into_inner);
        self.merge_alone(job)
    }

    /// Merges while nobody else may; whether there was something to do.
    pub fn merge_alone(&self, job: impl Fn(&State) -> Option<Job>) -> Result<bool> {
        let log = self.log()?;
        let state = self.state();
        let Some(job) = job(&state) else { return Ok(false) };
        let parts = job.parts.clone();
        // From here on the writer leaves these parts alone.
        self.reserved.store(parts.end, Ordering::Release);
        drop(log);
        let merged = self.merged(&state, job);
        let log = self.log()?;
        self.reserved.store(0, Ordering::Release);
        let mut part = merged?;
        let old = self.state();
        let mut new = State::clone(&old);
        if let Some(part) = &mut part {
            // Removed while we merged.
            old.parts[parts.clone()]
                .iter()
                .flat_map(Part::removed)
                .for_each(|number| part.remove_number(number));
        }
        let is_file = part.as_ref().is_some_and(|part| part.segment.path.is_some());
        new.parts.splice(parts.clone(), part);
        let was_file = old.parts[parts].iter().any(|part| part.segment.path.is_some());
        if is_file || was_file {
            self.folder.publish(&log, &new)?;
        }
        self.set_state(new.clone());
        if is_file || was_file {
            self.folder.remove_others(&log, &new)?;
        }
        Ok(true)
    }

    /// One part of several, without what is removed.
    fn merged(&self, state: &State, Job { parts, file }: Job) -> Result<Option<Part>> {
        let merge = Merge::new(&state.parts[parts.clone()]);
        let is_behind_files = state.parts[..parts.start].iter().all(|part| part.segment.path.is_some());
        if merge.numbers.is_empty() {
            return Ok(None);
        }
        let source = merge.source(&state.rows);
        let segment = match is_behind_files {
            true => self.folder.segment(&source, file),
            false => build::on_heap(&source, self.folder.format()),
        };
        Ok(Some(Part::new(segment?)))
    }
}

/// What should be merged next.
fn next_job(state: &State, sizes: &Sizes) -> Option<Job> {
    let (n, file) = (state.parts.len(), sizes.file);
    let no_limits = Limits { first: 0, max: usize::MAX, tiers: sizes.tiers(FILES) };
    let parts = state.unmerged(no_limits).map(|from| from..n).or_else(|| {
        let on_heap = state.parts.iter().position(|part| part.segment.path.is_none())?;
        (state.parts[on_heap].segment.len() >= file).then_some(on_heap..on_heap + 1)
    });
    parts.map(|parts| Job { parts, file })
}
