//! Options that several commands share.

pub mod amount;
pub mod sketches;
pub mod text;
