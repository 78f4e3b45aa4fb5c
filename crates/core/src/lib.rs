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

mod error;
mod features;
pub mod field;
pub mod hash;

pub use error::{Error, Result};
pub use features::Features;
