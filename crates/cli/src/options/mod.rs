//! Options that several commands share.

pub mod amount;
pub mod sets;
pub mod sketches;
pub mod text;
