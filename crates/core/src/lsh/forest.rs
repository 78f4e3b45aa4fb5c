//! LSH Forest: the sets that share the longest prefix of a tree with this one (Bawa, Condie and Ganesan, 2005).
//!
//! Each of `l` trees looks at `k` registers of its own. Instead of a prefix tree there is the list of all entries sorted by those registers, in which a
//! prefix is found by bisection.
//!
//! ```
//! use benzer_core::lsh::Forest;
//! let mut forest = Forest::new(1, 3);
//! forest.add(&[1, 2, 3]);
//! forest.add(&[1, 2, 9]);
//! forest.index();
//! assert_eq!(forest.nearest(&[1, 2, 3], 1), [0]);
//! assert_eq!(forest.nearest(&[1, 2, 3], 2), [0, 1]);
//! ```

use std::collections::HashSet;

/// Entries of `l * k` registers, searched by prefixes.
#[derive(Debug, Clone)]
pub struct Forest {
    l: usize,
    k: usize,
    registers: Vec<u64>,
    /// For each tree the entries in the order of its registers.
    sorted: Vec<Vec<u32>>,
}

impl Forest {
    /// An empty forest of `l` trees that look at `k` registers each.
    pub fn new(l: usize, k: usize) -> Self {
        Self { l, k, registers: Vec::new(), sorted: vec![Vec::new(); l] }
    }

    /// Entries, searchable or not.
    pub fn len(&self) -> usize {
        self.registers.len() / (self.l * self.k).max(1)
    }

    /// True if there is no entry.
    pub fn is_empty(&self) -> bool {
        self.registers.is_empty()
    }

    /// True if [`Forest::index`] has made an entry searchable.
    pub fn is_searchable(&self) -> bool {
        self.sorted.iter().all(|tree| !tree.is_empty())
    }

    /// Adds an entry by its first `l * k` registers and gives its number; it can be found after [`Forest::index`].
    ///
    /// # Panics
    /// Fewer registers than that.
    pub fn add(&mut self, registers: &[u64]) -> u32 {
        let number = self.len() as u32;
        self.registers.extend(&registers[..self.l * self.k]);
        number
    }

    /// The registers of an entry.
    pub fn registers(&self, entry: u32) -> &[u64] {
        &self.registers[entry as usize * self.l * self.k..][..self.l * self.k]
    }

    /// Makes all entries searchable.
    pub fn index(&mut self) {
        let Self { l, k, registers, .. } = &*self;
        let entries: Vec<u32> = (0..self.len() as u32).collect();
        let of = |entry: u32, tree: usize| &registers[entry as usize * l * k + tree * k..][..*k];
        let sort = |tree: usize| {
            let mut entries = entries.clone();
            entries.sort_by(|&a, &b| of(a, tree).cmp(of(b, tree)));
            entries
        };
        self.sorted = (0..*l).map(sort).collect();
    }

    /// At most `n` entries: those that share all registers of a tree first, then those that share one less, and so on.
    ///
    /// # Panics
    /// Fewer registers than `l * k`.
    pub fn nearest(&self, registers: &[u64], n: usize) -> Vec<u32> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        for depth in (1..=self.k).rev() {
            for (tree, sorted) in self.sorted.iter().enumerate() {
                let prefix = &registers[tree * self.k..][..depth];
                let of = |entry: u32| &self.registers(entry)[tree * self.k..][..depth];
                let start = sorted.partition_point(|&entry| of(entry) < prefix);
                for &entry in sorted[start..].iter().take_while(|&&entry| of(entry) == prefix) {
                    if found.len() >= n {
                        return found;
                    }
                    if seen.insert(entry) {
                        found.push(entry);
                    }
                }
            }
        }
        found.truncate(n);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_prefixes_come_first_and_nothing_is_found_before_indexing() {
        let mut forest = Forest::new(2, 2);
        forest.add(&[1, 2, 3, 4]);
        forest.add(&[1, 9, 9, 9]);
        forest.add(&[7, 7, 3, 4]);
        assert!(forest.nearest(&[1, 2, 3, 4], 3).is_empty() && !forest.is_searchable());
        forest.index();
        assert!(forest.is_searchable() && forest.len() == 3);
        assert_eq!(forest.nearest(&[1, 2, 3, 4], 3), [0, 2, 1]);
        assert_eq!(forest.nearest(&[1, 2, 3, 4], 2), [0, 2]);
        assert_eq!(forest.registers(2), [7, 7, 3, 4]);
        assert!(forest.nearest(&[5, 5, 5, 5], 3).is_empty());
    }
}
