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
mod observer;
mod old;
mod options;
pub(crate) mod outcome;
mod output;
mod overlaps;
mod publish;
mod read;
mod report;
mod save;
mod search;
mod stages;
mod summary;
mod write;

pub use crate::audit::{Audited, Bin, Share};
pub(crate) use against::NAMED;
pub use observer::{Observer, Silent, Stage};
pub use options::{
    Audit, BATCH_BYTES, CHECKPOINT_BYTES, HELD_BYTES, Measure, Options, Output, Search, Verify,
};
pub(crate) use output::{DOCUMENT_FOLDERS, Remains, remains};
pub(crate) use save::FOLDER as SAVED;
pub use search::most_recall;
pub use search::{Chosen, TooFew};
pub use summary::{Counts, Summary, Timing};

use crate::error::Result;
use benzer_io::store::Address;
use benzer_storage::Files;

/// Deduplicates a corpus.
///
/// # Errors
/// Inputs that cannot be read, results that cannot be written, parameters that do not fit. What was there before stays; a run that left checkpoints can be resumed.
pub fn run(options: &Options, observer: &dyn Observer) -> Result<Summary> {
    run_with(&Files::new(), options, observer)
}

/// [`run`] through a given layer of files, which tests make fail.
///
/// # Errors
/// As [`run`].
#[doc(hidden)]
pub fn run_with(files: &Files, options: &Options, observer: &dyn Observer) -> Result<Summary> {
    match Address::parse(&options.output)? {
        None => Ok(stages::Run::new(files, options, observer)?.run()?.0),
        Some(address) => publish::run(files, options, address, observer),
    }
}

/// The most memory this process ever had, mapped files included, as Linux tells it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(peak.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}
