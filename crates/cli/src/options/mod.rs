//! Options that several commands share.

pub mod amount;
pub(crate) mod collection;
pub(crate) mod db;
pub(crate) mod input;
pub mod memory;
pub(crate) mod search;
pub(crate) mod sets;
pub mod sketches;
pub(crate) mod text;
