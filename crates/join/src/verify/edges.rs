//! Edges in the lists in which tasks make them.

use super::origins::OriginGroup;
use crate::Edge;

/// The edges of a task.
#[derive(Debug, Default)]
pub(super) struct TaskEdges {
    /// Those of its groups, one after the other.
    pub edges: Vec<Edge>,
    /// Where those of each group end.
    ends: Vec<usize>,
}

impl TaskEdges {
    /// All edges of a group are there.
    #[inline]
    pub fn end_list(&mut self) {
        self.ends.push(self.edges.len());
    }
}

/// Which part of which list.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    list: u32,
    start: u32,
    end: u32,
}

/// Edges in order, in the lists in which they were made.
#[derive(Debug)]
pub struct EdgeLists {
    lists: Vec<Vec<Edge>>,
    /// Where those of each later document with edges are.
    groups: Vec<Place>,
}

impl EdgeLists {
    /// The edges of some tasks. `groups` says of each task which groups it took, in order; they become `n_groups` in the order of their numbers.
    pub(super) fn new<'a>(
        made: Vec<TaskEdges>,
        groups: impl Iterator<Item = &'a [OriginGroup]>,
        n_groups: usize,
    ) -> Self {
        let mut found = vec![Place::default(); n_groups];
        for ((task, made), list) in groups.zip(&made).zip(0..) {
            let mut start = 0;
            for (group, &end) in task.iter().zip(&made.ends) {
                found[group.number as usize] = Place { list, start, end: end as u32 };
                start = end as u32;
            }
        }
        found.retain(|place| place.start < place.end);
        Self { lists: made.into_iter().map(|made| made.edges).collect(), groups: found }
    }

    /// How many edges there are.
    pub fn n_edges(&self) -> usize {
        self.lists.iter().map(Vec::len).sum()
    }

    /// The edges of each later document that has some, in order.
    pub fn lists(&self) -> impl Iterator<Item = &[Edge]> {
        self.groups
            .iter()
            .map(|&Place { list, start, end }| &self.lists[list as usize][start as usize..end as usize])
    }

    /// The edges, in order.
    pub fn iter(&self) -> impl Iterator<Item = Edge> + '_ {
        self.lists().flatten().copied()
    }
}
