//! From edges and copies to one decision for each removed document.

use benzer_join::{Edge, Rank};

/// Why a document was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// It has the same text as the kept one.
    ExactCopy,
    /// Its exact similarity to the kept one reaches the threshold.
    Verified,
    /// Its estimated similarity does.
    Estimate,
    /// A chain of edges leads to the kept one.
    Component,
    /// It contains the kept one, by the share of that one's elements.
    Contained,
}

impl Rule {
    /// The name for people and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::ExactCopy => "exact-copy",
            Self::Verified => "verified",
            Self::Estimate => "estimate",
            Self::Component => "component",
            Self::Contained => "contained",
        }
    }
}

/// A removed document and the one that is kept in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Removal {
    /// What they have in common: elements in both and in either; of an estimate, equal registers and all registers.
    pub edge: Edge,
    /// Why it was removed.
    pub rule: Rule,
}

impl Removal {
    /// The rank of the removed document.
    pub fn removed(&self) -> Rank {
        self.edge.later
    }

    /// The rank of the kept one.
    pub fn kept(&self) -> Rank {
        self.edge.earlier
    }
}

/// Adds the copies to the removals of their representatives. A copy of a removed document names that one's keeper: it has the same features. `copies` are edges from copy to
/// representative. Gives all removals in keep order.
pub fn with_copies(removals: Vec<Removal>, copies: &[Edge]) -> Vec<Removal> {
    let mut all = removals.clone();
    all.extend(copies.iter().map(|copy| {
        match removals.binary_search_by_key(&copy.earlier, |removal| removal.removed()) {
            Ok(i) => Removal { edge: Edge { later: copy.later, ..removals[i].edge }, ..removals[i] },
            Err(_) => Removal { edge: *copy, rule: Rule::ExactCopy },
        }
    }));
    all.sort_unstable_by_key(Removal::removed);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_a_removed_document_follow_it_to_its_keeper() {
        let edge = |later, earlier, intersection, union| Edge {
            later: Rank(later),
            earlier: Rank(earlier),
            intersection,
            union,
        };
        let removals = vec![Removal { edge: edge(3, 1, 8, 10), rule: Rule::Verified }];
        let all = with_copies(removals, &[edge(2, 1, 9, 9), edge(5, 3, 9, 9)]);
        let expected = [
            (edge(2, 1, 9, 9), Rule::ExactCopy),
            (edge(3, 1, 8, 10), Rule::Verified),
            (edge(5, 1, 8, 10), Rule::Verified),
        ];
        assert_eq!(all, expected.map(|(edge, rule)| Removal { edge, rule }));
    }
}
