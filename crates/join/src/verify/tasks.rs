//! What is measured together: large clusters by all threads, and tasks of other groups by one thread each.

use benzer_flow::{Result, workers::in_parallel};

use super::{Texts, origins::OriginGroup};
use crate::bands::Candidates;

/// Bytes of the later texts of a task, at most, and those of the last ones, which threads share out at the end.
const TASK_BYTES: u64 = 4 << 20;
const LAST_BYTES: u64 = 256 << 10;
/// Groups whose sizes are looked up together.
const SIZES: usize = 1 << 14;

/// Groups that follow each other in the order of origins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch<'a> {
    pub groups: &'a [OriginGroup],
    /// Bytes of the later texts.
    bytes: u64,
}

/// All groups.
#[derive(Debug, Default)]
pub(super) struct Stretches<'a> {
    /// Those of each large cluster.
    pub large: Vec<Vec<Stretch<'a>>>,
    pub others: Vec<Stretch<'a>>,
}

impl<'a> Stretches<'a> {
    /// Of groups in parts, those of one origin together.
    pub fn new(order: &'a [Vec<OriginGroup>], sizes: &LaterSizes, threads: usize) -> Self {
        let of_parts = in_parallel(order.len(), threads, || (), |part, ()| stretches(&order[part], sizes));
        let mut all = Self::default();
        // A cluster may begin in one part and end in another.
        for alike in of_parts.concat().chunk_by(|a, b| a.last().origin == b.groups[0].origin) {
            let is_cluster = alike[0].groups[0].origin == alike[alike.len() - 1].last().origin;
            if is_cluster && alike.iter().map(|stretch| stretch.bytes).sum::<u64>() > TASK_BYTES {
                all.large.push(alike.to_vec());
            } else {
                all.others.extend_from_slice(alike);
            }
        }
        all
    }
}

impl Stretch<'_> {
    fn last(&self) -> OriginGroup {
        self.groups[self.groups.len() - 1]
    }
}

/// Splits a part into clusters that are large, or may be larger than they are here because they begin or end it, and what is between them.
fn stretches<'a>(part: &'a [OriginGroup], sizes: &LaterSizes) -> Vec<Stretch<'a>> {
    let mut stretches = Vec::new();
    let (mut start, mut end, mut between) = (0, 0, 0);
    let mut push = |start: usize, end: usize, bytes: u64| {
        let groups = &part[start..end];
        stretches.extend((!groups.is_empty()).then_some(Stretch { groups, bytes }));
    };
    for cluster in part.chunk_by(|a, b| a.origin == b.origin) {
        let bytes = cluster.iter().map(|group| sizes.of(group)).sum();
        let begins = end;
        end += cluster.len();
        if bytes > TASK_BYTES || begins == 0 || end == part.len() {
            push(start, begins, std::mem::take(&mut between));
            push(begins, end, bytes);
            start = end;
        } else {
            between += bytes;
        }
    }
    stretches
}

/// Groups that one thread measures in one go: few enough texts to be held together, and fewer towards the end, so that all threads end at the same time.
pub(super) fn tasks<'a>(
    stretches: &[Stretch<'a>],
    sizes: &LaterSizes,
    threads: usize,
) -> Vec<&'a [OriginGroup]> {
    let longest = |left: u64| match threads {
        0 | 1 => TASK_BYTES,
        _ => (left / (2 * threads as u64)).clamp(LAST_BYTES, TASK_BYTES),
    };
    let cut = |i: usize, _: &mut ()| {
        let groups = stretches[i].groups;
        let mut left: u64 = stretches[i..].iter().map(|stretch| stretch.bytes).sum();
        let (mut tasks, mut start, mut bytes) = (Vec::new(), 0, 0);
        for (i, group) in groups.iter().enumerate() {
            bytes += sizes.of(group);
            if bytes > longest(left) {
                tasks.push(&groups[start..=i]);
                left = left.saturating_sub(bytes);
                (start, bytes) = (i + 1, 0);
            }
        }
        tasks.extend((start < groups.len()).then(|| &groups[start..]));
        tasks
    };
    in_parallel(stretches.len(), threads, || (), cut).concat()
}

/// The lengths of the later texts of all groups, [`SIZES`] in each part: looked up in the order in which they lie.
pub(super) struct LaterSizes(Vec<Vec<u64>>);

impl LaterSizes {
    pub fn new(groups: &[Candidates<'_>], texts: &dyn Texts, threads: usize) -> Result<Self> {
        let parts: Vec<&[Candidates<'_>]> = groups.chunks(SIZES).collect();
        let of_part = |part: usize, _: &mut ()| -> Result<Vec<u64>> {
            parts[part].iter().map(|group| texts.bytes(group.later)).collect()
        };
        in_parallel(parts.len(), threads, || (), of_part).into_iter().collect::<Result<_>>().map(Self)
    }

    #[inline]
    fn of(&self, group: &OriginGroup) -> u64 {
        let number = group.number as usize;
        self.0[number / SIZES][number % SIZES]
    }
}

#[cfg(test)]
mod tests {
    use super::super::{origins::by_origin, tests::Few};
    use super::*;
    use crate::Rank;

    #[test]
    fn tasks_become_smaller_towards_the_end_where_several_threads_share_them() {
        let texts = Few(vec!["x".repeat(10_000); 40_000]);
        let groups: Vec<Candidates<'_>> =
            (1..40_000).map(|later| Candidates { later: Rank(later), earlier: &[Rank(0)] }).collect();
        for threads in 1..5 {
            let order = by_origin(&groups, threads);
            let sizes = LaterSizes::new(&groups, &texts, threads).unwrap();
            let stretches = Stretches::new(&order, &sizes, threads);
            assert!(stretches.others.is_empty() && stretches.large.len() == 1);
            let tasks = tasks(&stretches.large[0], &sizes, threads);
            assert_eq!(tasks.concat(), order.concat());
            let lengths: Vec<usize> = tasks.iter().map(|task| task.len()).collect();
            let (longest, shortest) = (TASK_BYTES as usize / 10_000 + 1, LAST_BYTES as usize / 10_000 + 1);
            assert!(lengths.iter().all(|length| *length <= longest), "{lengths:?}");
            let last = lengths[lengths.len() - 2];
            assert!(if threads == 1 { last == longest } else { last <= 2 * shortest }, "{lengths:?}");
        }
    }

    #[test]
    fn clusters_of_many_texts_are_large_wherever_parts_begin() {
        let texts = Few(vec!["x".repeat(1000); 90_000]);
        let earlier: Vec<Rank> = Rank::all(90_000).collect();
        // Of each hundred documents three are of large clusters, and the others of chains that are not.
        let groups: Vec<Candidates<'_>> = (100..90_000)
            .map(|later| {
                let first = if later % 30 < 9 { later % 3 } else { later - later % 30 };
                Candidates { later: Rank(later), earlier: &earlier[first as usize..][..1] }
            })
            .filter(|group| group.earlier[0] < group.later)
            .collect();
        for threads in 1..5 {
            let order = by_origin(&groups, threads);
            let sizes = LaterSizes::new(&groups, &texts, threads).unwrap();
            let Stretches { large, others } = Stretches::new(&order, &sizes, threads);
            let mut all: Vec<OriginGroup> = Vec::new();
            for cluster in &large {
                let groups: Vec<OriginGroup> =
                    cluster.iter().flat_map(|stretch| stretch.groups).copied().collect();
                assert!(groups.iter().all(|group| group.origin == groups[0].origin));
                assert!(groups.len() as u64 * 1000 > TASK_BYTES);
                all.extend(groups);
            }
            all.extend(others.iter().flat_map(|stretch| stretch.groups));
            all.sort_unstable();
            assert_eq!((all, large.len()), (order.concat(), 3));
        }
    }
}
