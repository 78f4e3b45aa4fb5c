//! Options that several commands share.

pub mod sketches;
pub mod text;
