//! A deduplication run, from inputs to results.
//!
//! ```text
//! read -> group -> against -> candidates -> verify -> resolve -> audit -> write
//! ```

mod against;
mod audit;
mod checks;
mod find;
mod fingerprint;
mod memory;
mod old;
mod output;
mod overlaps;
mod publish;
mod read;
mod report;
mod save;
mod stages;
mod write;

use crate::error::Result;
use crate::progress::Observer;
use crate::request::Request;
use crate::summary::Summary;
use benzer_io::store::Address;
use benzer_storage::Files;

/// Deduplicates a corpus.
///
/// # Errors
/// Inputs that cannot be read, results that cannot be written, parameters that do not fit. What was there before stays; a run that left checkpoints can be resumed.
pub fn run(request: &Request, observer: &dyn Observer) -> Result<Summary> {
    run_with(&Files::new(), request, observer)
}

/// [`run`] through a given layer of files, which tests make fail.
///
/// # Errors
/// As [`run`].
#[doc(hidden)]
pub fn run_with(files: &Files, request: &Request, observer: &dyn Observer) -> Result<Summary> {
    match Address::parse(&request.results.folder)? {
        None => Ok(stages::Run::new(files, request, observer)?.run()?.0),
        Some(address) => publish::run(files, request, address, observer),
    }
}

/// The most memory this process ever had, mapped files included, as Linux tells it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(peak.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}
