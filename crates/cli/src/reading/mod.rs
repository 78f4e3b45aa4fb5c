//! What is said while inputs are read: how far it is, and which lines are bad.

mod bar;
mod rejects;
mod reporter;

pub(crate) use bar::Bar;
pub(crate) use rejects::{Rejects, check_places};
pub use reporter::ReadReporter;
