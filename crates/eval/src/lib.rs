//! # benzer-eval
//!
//! The claims of the papers, measured on this code: one experiment for each figure or table, one file for each experiment.
//!
//! ```text
//! Experiment --run(Context)--> tables (CSV, row by row), charts (SVG), checks, verdict --gallery--> index.html
//! ```
//!
//! - [`experiments`]: the experiments; `ALL` lists them.
//! - [`Experiment`]: what a paper claims, how it is tried, and the numeric criterion that decides.
//! - [`Context`]: seed, size and data of a run, and where its rows go.
//! - [`Checks`]: comparisons of measured with expected values. An experiment holds if all of its checks do.
//! - [`run`]: some experiments into a folder, with a gallery.
//!
//! The usual criterion: a measured mean is within 4 Monte-Carlo standard errors of theory, and that standard error is at most 2%. Where a
//! formula of a paper is an approximation, the reference is the exact expectation, and how far the formula departs is part of the table.
//!
//! Estimators, sketches and counting are those of `benzer-core`: nothing is estimated by code of its own here.

mod census;
mod chart;
mod check;
mod context;
mod corpus;
mod error;
mod exact;
mod experiment;
pub mod experiments;
mod gallery;
mod machine;
mod moments;
mod pictures;
mod plant;
mod random;
mod retrieval;
mod run;
mod table;
mod universe;

pub use chart::{Axis, Chart, Series};
pub use check::Checks;
pub use context::{Context, Options, Progress};
pub use error::{Error, Result};
pub use experiment::{Claim, Experiment, Outcome};
pub use moments::{Errors, Mean, Moments};
pub use run::{Report, run};
pub use table::Table;
