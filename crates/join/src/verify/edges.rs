//! Edges in the lists in which tasks make them.

use std::sync::atomic::{AtomicU64, Ordering};

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

    /// The edges of one of its groups.
    #[inline]
    fn list(&self, i: usize) -> &[Edge] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.edges[start..self.ends[i]]
    }
}

/// Which task has taken each group, and as which of its own. Any thread says so for the groups it took.
pub(super) struct GroupPlaces(Vec<AtomicU64>);

impl GroupPlaces {
    pub fn new(n: usize) -> Self {
        Self(std::iter::repeat_with(|| AtomicU64::new(0)).take(n).collect())
    }

    /// A task has taken these groups, in this order.
    pub fn keep(&self, task: usize, groups: &[OriginGroup]) {
        for (group, i) in groups.iter().zip(0u64..) {
            self.0[group.number as usize].store((task as u64) << 32 | i, Ordering::Relaxed);
        }
    }
}

/// Edges in order, in the lists in which they were made.
#[derive(Debug)]
pub struct EdgeLists {
    tasks: Vec<TaskEdges>,
    /// The task of each group, and which of its lists that is.
    groups: Vec<AtomicU64>,
}

impl EdgeLists {
    /// The edges of some tasks.
    pub(super) fn new(mut tasks: Vec<TaskEdges>, places: GroupPlaces) -> Self {
        tasks.iter_mut().for_each(|task| task.edges.shrink_to_fit());
        Self { tasks, groups: places.0 }
    }

    /// Edges that are in order.
    pub fn of(edges: Vec<Edge>) -> Self {
        let ends = vec![edges.len()];
        Self { tasks: vec![TaskEdges { edges, ends }], groups: vec![AtomicU64::new(0)] }
    }

    /// How many edges there are.
    pub fn n_edges(&self) -> usize {
        self.tasks.iter().map(|task| task.edges.len()).sum()
    }

    /// The bytes of memory that they take.
    pub fn bytes(&self) -> usize {
        let tasks = self.tasks.iter().map(|task| {
            task.edges.capacity() * size_of::<Edge>() + task.ends.capacity() * size_of::<usize>()
        });
        tasks.sum::<usize>() + self.groups.capacity() * size_of::<u64>()
    }

    /// The edges of each later document that has some, in order.
    pub fn lists(&self) -> impl Iterator<Item = &[Edge]> {
        let place = |group: &AtomicU64| {
            let place = group.load(Ordering::Relaxed);
            ((place >> 32) as usize, place as u32 as usize)
        };
        let lists = self.groups.iter().map(place).map(|(task, i)| self.tasks[task].list(i));
        lists.filter(|list| !list.is_empty())
    }

    /// The edges, in order.
    pub fn iter(&self) -> impl Iterator<Item = Edge> + '_ {
        self.lists().flatten().copied()
    }
}
