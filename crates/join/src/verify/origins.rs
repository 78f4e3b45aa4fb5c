//! Which groups belong to one cluster.

use crate::Rank;
use crate::bands::Candidates;

/// Ranks that have a place each in a table, at most.
const MAX_TABLE: usize = 4 << 20;

/// A group by its number, and its origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OriginGroup {
    /// A document that most groups of a cluster have in common.
    pub origin: Rank,
    /// The number of the group.
    pub number: u32,
}

/// The groups with their origins, those of one origin together.
pub(super) fn by_origin(groups: &[Candidates<'_>]) -> Vec<OriginGroup> {
    let numbered = origins(groups).into_iter().zip(0..);
    let mut order: Vec<_> = numbered.map(|(origin, number)| OriginGroup { origin, number }).collect();
    order.sort_unstable();
    order
}

/// Of each group the document that one comes to from earlier to earlier first document: the same for most of a cluster, whose members are compared with each other.
fn origins(groups: &[Candidates<'_>]) -> Vec<Rank> {
    let [first, .., last] = groups else { return groups.iter().map(|group| group.earlier[0]).collect() };
    // Groups are sorted by their later document, so that of an earlier one is done.
    debug_assert!(groups.is_sorted_by(|a, b| a.later < b.later));
    let n_ranks = (last.later.0 - first.later.0) as usize + 1;
    if n_ranks > MAX_TABLE.min(16 * groups.len()) {
        return origins_far_apart(groups);
    }
    const NONE: Rank = Rank(u32::MAX);
    // Of each rank its origin, or what no document has. A document that is later in no group is its own.
    let mut table = vec![NONE; n_ranks];
    let origin = |group: &Candidates<'_>| {
        let earliest = group.earlier[0];
        let before = table.get(earliest.0.wrapping_sub(first.later.0) as usize).copied();
        let origin = before.filter(|origin| *origin != NONE).unwrap_or(earliest);
        table[(group.later.0 - first.later.0) as usize] = origin;
        origin
    };
    groups.iter().map(origin).collect()
}

/// [`origins`] of few groups among many ranks.
fn origins_far_apart(groups: &[Candidates<'_>]) -> Vec<Rank> {
    let mut origins: Vec<Rank> = Vec::with_capacity(groups.len());
    for group in groups {
        let earliest = group.earlier[0];
        let before = groups[..origins.len()].binary_search_by_key(&earliest, |group| group.later);
        origins.push(before.map_or(earliest, |i| origins[i]));
    }
    origins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_the_same_by_table_and_by_search() {
        let mut random = benzer_core::hash::stream(1);
        let mut next = |n: u64| (random.next().unwrap() % n) as u32;
        for (spread, first) in [(1, 1), (3, 40), (12, 7)] {
            let mut later = first;
            let lists: Vec<(Rank, Vec<Rank>)> = (0..500)
                .map(|_| {
                    later += 1 + next(spread);
                    (Rank(later), vec![Rank(next(later.into()))])
                })
                .collect();
            let groups: Vec<Candidates<'_>> =
                lists.iter().map(|(later, earlier)| Candidates { later: *later, earlier }).collect();
            assert_eq!(origins(&groups), origins_far_apart(&groups));
            assert_eq!(origins(&groups[..1]), origins_far_apart(&groups[..1]));
        }
        assert!(origins(&[]).is_empty());
    }
}
