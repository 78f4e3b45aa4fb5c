//! Deduplication: a job as JSON, run on a thread of its own while the caller's looks after signals and progress.

mod progress;
mod request;
mod results;

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use benzer_dedup::summary::Summary;

use crate::error;
use progress::RunProgress;
pub(crate) use request::Job;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(dedup, module)?)?;
    module.add_function(wrap_pyfunction!(results::evidence, module)?)?;
    module.add_function(wrap_pyfunction!(results::pairs, module)?)?;
    module.add_function(wrap_pyfunction!(results::last_numbers, module)?)?;
    module.add_function(wrap_pyfunction!(rethreshold, module)?)
}

/// Runs a job and gives its summary, both as JSON. `progress` is called with stage, done and total now and then.
#[pyfunction]
#[pyo3(signature = (request, progress = None))]
fn dedup(py: Python<'_>, request: &str, progress: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
    let job: Job = serde_json::from_str(request).map_err(|e| error::parameter(e.to_string()))?;
    let request = job.request()?;
    let reached = RunProgress::default();
    let summary = thread::scope(|scope| -> PyResult<Summary> {
        let run = scope.spawn(|| benzer_dedup::run(&request, &reached));
        let mut nap = Duration::from_millis(1);
        let mut interrupted = Ok(());
        while !run.is_finished() {
            py.detach(|| thread::sleep(nap));
            nap = (nap * 2).min(Duration::from_millis(50));
            let reported = progress.map_or(Ok(()), |progress| reached.report(progress));
            if let Err(error) = py.check_signals().and(reported) {
                reached.cancel();
                interrupted = interrupted.and(Err(error));
            }
        }
        let summary =
            run.join().map_err(|_| error::exception("DedupError", "the run ended unexpectedly".to_owned()));
        interrupted?;
        if let Some(progress) = progress {
            reached.report(progress)?;
        }
        summary?.map_err(error::dedup)
    })?;
    serde_json::to_string(&summary).map_err(|e| error::parameter(e.to_string()))
}

/// Resolves a finished run again at a higher threshold; what it changes, as JSON.
#[pyfunction]
fn rethreshold(py: Python<'_>, folder: PathBuf, threshold: &str, out: PathBuf) -> PyResult<String> {
    let threshold = threshold.parse().map_err(error::dedup)?;
    let outcome = py.detach(|| benzer_dedup::results::rethreshold(&folder, threshold, &out));
    serde_json::to_string(&outcome.map_err(error::dedup)?).map_err(|e| error::parameter(e.to_string()))
}
