//! # benzer-eval
//!
//! The claims of the papers, measured on this code: one experiment for each figure or table, one file for each experiment.
//!
//! It estimates nothing with code of its own: sketches, estimators and counting are those of `benzer-core`, the only crate of ours that it knows.
//!
//! **What it must not know**: index, server and command line. Whoever calls [`run`] says where files go and is told how far it is.
//!
//! ```text
//! inputs (data) -> measured (measure) beside expected (exact) -> tables, charts, checks -> claim and verdict -> run.json, index.html (run)
//! ```
//!
//! **The way through** of an [`Experiment`]: [`experiments::ALL`] lists it; [`run`] calls its function with a `Context` (seed, size and data); it writes a `Table` row by row,
//! each on disk before the next is measured, holds what it measured against theory with `Checks`, and gives an [`Outcome`] with its `Chart`s; `run` draws them. Minima of dense sets come from a walk
//! through a true permutation (`data/universe.rs`), those of sparse sets from the sketchers.
//!
//! The usual criterion: a measured mean is within 4 Monte-Carlo standard errors of theory, and that standard error is at most 2%. Where a
//! formula of a paper is an approximation, the reference is the exact expectation, and how far the formula departs is part of the table.

mod chart;
mod check;
mod context;
mod data;
mod error;
mod exact;
mod experiment;
pub mod experiments;
mod measure;
mod moments;
mod prelude;
mod random;
mod run;
mod table;

use chart::{Chart, Curve};
use check::Checks;
use context::Context;
pub use context::Options;
pub use error::{Error, Result};
pub use experiment::{Claim, Experiment, Outcome};
use moments::{Errors, Mean, Moments};
pub use run::{Progress, Report, run};
use table::Table;
