//! How far a run is, for a thread that looks now and then.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

use benzer_dedup::progress::{Observer, Stage};
use benzer_flow::Listener;
use pyo3::prelude::*;

/// Nothing is known of the total.
const UNKNOWN: u64 = u64::MAX;

#[derive(Debug, Default)]
pub(super) struct RunProgress {
    /// One more than the number of the stage in [`Stage::ALL`].
    stage: AtomicUsize,
    done: AtomicU64,
    total: AtomicU64,
    cancelled: AtomicBool,
}

impl RunProgress {
    pub(super) fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    /// Calls `progress(stage, done, total)`.
    pub(super) fn report(&self, progress: &Bound<'_, PyAny>) -> PyResult<()> {
        let stage = self.stage.load(Relaxed);
        let Some(stage) = stage.checked_sub(1).and_then(|stage| Stage::ALL.get(stage)) else { return Ok(()) };
        let total = Some(self.total.load(Relaxed)).filter(|&total| total != UNKNOWN);
        progress.call1((stage.name(), self.done.load(Relaxed), total)).map(drop)
    }
}

impl Observer for RunProgress {
    fn begin(&self, stage: Stage, total: Option<u64>) {
        let place = Stage::ALL.iter().position(|&other| other == stage).map_or(0, |place| place + 1);
        self.done.store(0, Relaxed);
        self.total.store(total.unwrap_or(UNKNOWN), Relaxed);
        self.stage.store(place, Relaxed);
    }
}

impl Listener for RunProgress {
    fn reached(&self, done: u64) {
        self.done.store(done, Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed)
    }
}
