//! Options that several commands share.

pub mod amount;
pub mod collection;
pub mod db;
pub mod input;
pub mod search;
pub mod sets;
pub mod sketches;
pub mod text;
