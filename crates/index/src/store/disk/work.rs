//! The thread that merges segments behind the writer.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::build;
use super::part::{Limits, Merge, Part};
use super::state::State;
use super::{Shared, Sizes};
use crate::error::Result;

/// Segments in files, at most, once all is merged.
const FILES: usize = 3;

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

    /// Waits for something to do; false when there will be nothing more.
    fn next(&self) -> bool {
        let mut now = self.now();
        now.is_idle = !now.has_work;
        self.changed.notify_all();
        while !now.has_work && !now.is_over {
            now = self.changed.wait(now).unwrap_or_else(PoisonError::into_inner);
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
            shared.rebuild_damaged(|| !of_thread.now().is_over).ok();
            while of_thread.next() {
                // What fails, as on a full disk, is tried again after the next batch; nothing depends on it.
                while !of_thread.now().is_over && shared.merge_some().unwrap_or(false) {}
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

impl Shared {
    /// Merges the parts that should be one, or puts one into a file; whether there was something to do.
    pub fn merge_some(&self) -> Result<bool> {
        let _merging = self.merging.lock().unwrap_or_else(PoisonError::into_inner);
        let log = self.log()?;
        let state = self.state();
        let Some(parts) = next_job(&state, &self.folder.sizes) else { return Ok(false) };
        // From here on the writer leaves these parts alone.
        self.reserved.store(parts.end, Ordering::Release);
        drop(log);
        let merged = self.merged(&state, parts.clone());
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
    pub fn merged(&self, state: &State, parts: std::ops::Range<usize>) -> Result<Option<Part>> {
        let merge = Merge::new(&state.parts[parts.clone()]);
        let is_behind_files = state.parts[..parts.start].iter().all(|part| part.segment.path.is_some());
        if merge.numbers.is_empty() {
            return Ok(None);
        }
        let source = merge.source(&state.rows);
        let segment = match is_behind_files {
            true => self.folder.segment(&source),
            false => build::on_heap(&source, self.folder.made()),
        };
        Ok(Some(Part::new(segment?)))
    }
}

/// What should be merged next.
fn next_job(state: &State, sizes: &Sizes) -> Option<std::ops::Range<usize>> {
    let n = state.parts.len();
    let no_limits = Limits { first: 0, most: usize::MAX, tiers: sizes.tiers(FILES) };
    state.unmerged(no_limits).map(|from| from..n).or_else(|| {
        let on_heap = state.parts.iter().position(|part| part.segment.path.is_none())?;
        (state.parts[on_heap].segment.len() >= sizes.file).then_some(on_heap..on_heap + 1)
    })
}
