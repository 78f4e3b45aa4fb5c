//! A deduplication run, from inputs to results: [`run`] lists the stages, and each has a module here.
//!
//! ```text
//! open -> read -> group -> against -> candidates -> verify -> resolve -> audit -> write
//! ```

mod against;
mod audit;
mod budget;
mod candidates;
mod checks;
mod fingerprint;
mod folders;
mod group;
mod manifest;
mod old;
mod open;
mod overlaps;
mod publish;
mod read;
mod report;
mod resolve;
mod resume;
mod run;
mod save;
mod setup;
mod verify;
mod write;

use benzer_io::store::Address;
use benzer_storage::Files;

use crate::error::Result;
use crate::progress::Observer;
use crate::request::Request;
use crate::summary::Summary;

/// Deduplicates a corpus.
///
/// # Errors
/// Inputs that cannot be read, results that cannot be written, parameters that do not fit. What was there before stays; a run that left checkpoints can be resumed.
pub fn run(request: &Request, observer: &dyn Observer) -> Result<Summary> {
    run_through(&Files::new(), request, observer)
}

/// [`run`] through a layer of files of the caller's, which may record what is done or fail on the way.
///
/// # Errors
/// As [`run`].
pub fn run_through(files: &Files, request: &Request, observer: &dyn Observer) -> Result<Summary> {
    let target = &request.results.folder;
    match Address::parse(target)? {
        None => Ok(run::run(setup::Setup::new(files, request, target, observer)?)?.summary),
        Some(address) => publish::run(files, request, address, observer),
    }
}
