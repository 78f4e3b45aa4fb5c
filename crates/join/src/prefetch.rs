//! What is brought into the cache before it is looked at.

/// How many documents before they are looked at their places are asked for, and they themselves.
pub(crate) const DISTANCES: [(usize, Prefetch); 2] = [(5, Prefetch::Place), (2, Prefetch::Text)];

/// What is brought into the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefetch {
    /// What says where a text is.
    Place,
    /// The text, as far as its place is known by now.
    Text,
}
