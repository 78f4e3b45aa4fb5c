//! What many experiments measure: sketches of sets, registers that agree, and which pairs or groups are retrieved by them.

pub(crate) mod census;
pub(crate) mod groups;
pub(crate) mod registers;
pub(crate) mod retrieval;
pub(crate) mod sketches;
