//! Which documents a cluster has.

use crate::Rank;
use crate::bands::Candidates;

/// All documents of some groups.
#[derive(Debug, Default)]
pub(super) struct Documents {
    /// Each once, in order.
    pub ranks: Vec<Rank>,
    /// Where each rank is among them, counted from the first rank; empty if that would be a long list for few pairs. Ranks that are not there have any place.
    places: Vec<u32>,
}

impl Documents {
    /// Takes those of some groups.
    pub fn list(&mut self, groups: &[Candidates<'_>]) {
        list_earlier(groups, &mut self.ranks);
        self.ranks.extend(groups.iter().map(|group| group.later));
        self.ranks.sort_unstable();
        self.ranks.dedup();
        let (first, last) = (self.ranks[0], self.ranks[self.ranks.len() - 1]);
        let n = (last.0 - first.0) as usize + 1;
        match n <= 2 * n_pairs(groups) {
            true => self.places.resize(n, 0),
            false => self.places.clear(),
        }
        if !self.places.is_empty() {
            for (&rank, place) in self.ranks.iter().zip(0..) {
                self.places[(rank.0 - first.0) as usize] = place;
            }
        }
    }

    /// Where a document is in the list.
    #[inline]
    pub fn place(&self, rank: Rank) -> u32 {
        match self.places.get((rank.0 - self.ranks[0].0) as usize) {
            Some(place) => *place,
            None => self.ranks.binary_search(&rank).expect("every document is listed") as u32,
        }
    }
}

/// How many pairs some groups have.
pub(super) fn n_pairs(groups: &[Candidates<'_>]) -> usize {
    groups.iter().map(|group| group.earlier.len()).sum()
}

/// The earlier documents of all groups, each once, in order.
pub(super) fn list_earlier(groups: &[Candidates<'_>], earlier: &mut Vec<Rank>) {
    earlier.clear();
    if let [group] = groups {
        earlier.extend_from_slice(group.earlier);
        return;
    }
    let all = || groups.iter().flat_map(|group| group.earlier).copied();
    // Each group is in order.
    let first = groups.iter().map(|group| group.earlier[0].0).min().unwrap_or_default();
    let last = groups.iter().map(|group| group.earlier[group.earlier.len() - 1].0).max().unwrap_or_default();
    let words = (last.saturating_sub(first) / 64 + 1) as usize;
    // A bit for each, if they are not too far apart.
    if words <= n_pairs(groups) {
        let mut bits = vec![0u64; words];
        all().for_each(|rank| bits[((rank.0 - first) / 64) as usize] |= 1 << ((rank.0 - first) % 64));
        for (mut word, start) in bits.into_iter().zip((first..).step_by(64)) {
            while word != 0 {
                earlier.push(Rank(start + word.trailing_zeros()));
                word &= word - 1;
            }
        }
    } else {
        earlier.extend(all());
        earlier.sort_unstable();
        earlier.dedup();
    }
}
