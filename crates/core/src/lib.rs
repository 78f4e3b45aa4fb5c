//! # benzer-core
//!
//! Sketches of sets and the estimators that read them: from the content of a document to the similarity of two.
//!
//! ```text
//! Document --Schema--> Features --Sketcher--> Sketch --Banding--> BandKey...
//!                                               |
//!                                               +--estimate--> Estimate
//! ```
//!
//! **What it must not know**: files, networks, threads, clocks and stores; which documents there are, and what is done about similar ones. The same
//! features give the same sketch on any CPU; every vector kernel has a scalar twin with identical bits.
//!
//! **The way through**, in the order of the picture:
//!
//! - [`field`]: documents, schemas, and how values, texts and pictures become features; [`hash`] makes their 64-bit elements.
//! - [`Features`]: a set (or weighted set) of these elements.
//! - [`sketch`]: the families that turn features into a few registers, and what is kept of those.
//! - [`estimate`]: similarities, sizes and containment from sketches, each with its error bar.
//! - [`lsh`]: which pairs to compare at all.
//! - [`plan`]: from a threshold, a recall and a budget to the sketch that meets them.
//! - [`Threshold`] decides exact similarities in integers; [`slots`] and [`hint`] are what hot loops share.
//!
//! To *sketch a set*: [`sketch::SketchSpec::sketcher`], then [`sketch::Sketcher::sketch`]; many sets at once through [`sketch::Sketcher::sketch_many`], a stream through
//! [`sketch::SketchSpec::builder`]. To *find pairs*: [`lsh::choose()`] cuts registers into bands under a target of recall, [`lsh::Banding::keys`] gives keys in the order of the registers, [`lsh::Prefilter`]
//! and [`lsh::bucket`] complete the definition of the candidates. To *compare*: [`estimate::of::jaccard`] looks at the spec, counts ([`sketch::count`]) and calls the estimator with the variance of the family.
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
pub mod slots;
mod threshold;

pub use error::{Error, Parameter, Result};
pub use features::Features;
pub use level::Level;
pub use threshold::Threshold;

/// The example of the guide runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/rust.md")]
struct Readme;
