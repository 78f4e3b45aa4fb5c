//! What goes over the wire: the JSON of requests and answers, with the descriptions that become the OpenAPI document.
//!
//! The types of the engine stay free of it; each type here is made from one of theirs.

pub mod collection;
pub mod compare;
pub mod document;
pub mod duplicates;
pub mod estimate;
pub mod plan;
pub mod schema;
pub mod search;
