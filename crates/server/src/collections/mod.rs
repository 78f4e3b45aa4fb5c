//! The collections that a server has open, and the sample beside them.

pub mod demo;
mod open;

pub use open::OpenCollections;
