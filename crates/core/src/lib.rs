//! # benzer-core
//!
//! Sketches of sets and the estimators that read them.
//!
//! ```text
//! Document --Schema--> Features --Sketcher--> Sketch --Banding--> BandKey...
//!                                               |
//!                                               +--estimate--> Estimate
//! ```
//!
//! The crate is pure: no I/O, no threads, no clock. The same features give the same sketch on any CPU; every
//! vector kernel has a scalar twin with identical bits.
//!
//! - [`hash`]: the 64-bit element hash and the rule that derives independent seeds.
//! - [`field`]: documents, schemas, and how values and text become features.
//! - [`Features`]: a set (or weighted set) of 64-bit elements.
//! - [`sketch`]: the families that turn features into a few registers, and what is kept of those.
//! - [`estimate`]: similarities, sizes and containment from sketches, each with its error bar.
//! - [`lsh`]: which pairs to compare at all.
//! - [`plan`]: from a threshold, a recall and a budget to the sketch that meets them.
//!
//! ```
//! use benzer_core::{Features, estimate, sketch::SketchSpec};
//!
//! let sketcher = SketchSpec::default().sketcher()?;
//! let a = sketcher.sketch(&Features::set(0..900))?;
//! let b = sketcher.sketch(&Features::set(100..1000))?;
//! let jaccard = estimate::of::jaccard(&a, &b)?;
//! let measured = jaccard.measured().expect("two sets that are not empty");
//! assert!(measured.low <= 0.8 && 0.8 <= measured.high);
//! # Ok::<(), benzer_core::Error>(())
//! ```

mod error;
pub mod estimate;
mod features;
pub mod field;
pub mod hash;
pub mod hint;
mod level;
mod lines;
pub mod lsh;
pub mod plan;
pub mod sketch;
mod threshold;

pub use error::{Error, Result};
pub use features::Features;
pub use level::Level;
pub use threshold::Threshold;

/// The example of the guide runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/rust.md")]
struct Readme;
