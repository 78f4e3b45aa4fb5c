//! Up to where nothing is missing.

use std::collections::BTreeMap;

use super::{Position, Taken};

/// What came early, and the position of the first that is missing.
pub(super) struct Front<T> {
    at: Position,
    early: BTreeMap<Position, Taken<T>>,
}

impl<T> Default for Front<T> {
    fn default() -> Self {
        Self { at: Position::default(), early: BTreeMap::new() }
    }
}

impl<T> Front<T> {
    pub fn add(&mut self, taken: Taken<T>) {
        self.early.insert(taken.at, taken);
    }

    /// The next in order, if it is there.
    pub fn next(&mut self) -> Option<Taken<T>> {
        let taken = self.early.remove(&self.at)?;
        self.at = match taken.is_last {
            true => Position { part: self.at.part + 1, index: 0 },
            false => Position { part: self.at.part, index: self.at.index + 1 },
        };
        Some(taken)
    }

    /// The first position that is missing.
    pub fn at(&self) -> Position {
        self.at
    }
}
