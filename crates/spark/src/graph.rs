//! Edges and copies of a graph, and the same in keep order.

use std::sync::Arc;

use super::kind;
use super::nodes::{Nodes, edge};
use super::out::Out;
use crate::error::Result;
use benzer_join::Edge;
use benzer_join::resolve::Leaders;

/// An edge and the number of equal registers.
pub(super) type Counted = (Edge, u32);

/// Edges and copies as they come.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Nodes,
    edges: Vec<Counted>,
    copies: Vec<Edge>,
}

/// A graph in keep order; an edge that came several times is there once.
#[derive(Debug)]
pub(super) struct Ranked {
    pub places: Vec<Arc<[u8]>>,
    pub edges: Vec<Counted>,
    pub copies: Vec<Edge>,
}

impl Graph {
    pub(super) fn add(&mut self, kind: i32, values: [&[u8]; 3]) -> Result<()> {
        let edge = edge(&mut self.nodes, values)?;
        if kind == kind::COPY {
            self.copies.push(edge.0)
        } else {
            self.edges.push(edge)
        }
        Ok(())
    }

    /// How many edges came.
    pub(super) fn n_edges(&self) -> usize {
        self.edges.len()
    }

    pub(super) fn ranked(self) -> Ranked {
        let (places, ranks) = self.nodes.ranked();
        let ranked = |edge: Edge| Edge {
            later: ranks[edge.later as usize],
            earlier: ranks[edge.earlier as usize],
            ..edge
        };
        let mut edges: Vec<Counted> =
            self.edges.into_iter().map(|(edge, equal)| (ranked(edge), equal)).collect();
        let mut copies: Vec<Edge> = self.copies.into_iter().map(ranked).collect();
        edges.sort_unstable();
        edges.dedup();
        copies.sort_unstable();
        Ranked { places, edges, copies }
    }
}

impl Ranked {
    /// The edges that decide, with their equal registers.
    pub(super) fn decisive(&self) -> Vec<Counted> {
        let mut leaders = Leaders::default();
        self.edges.iter().for_each(|(edge, _)| leaders.push(*edge));
        let decisive = leaders.finish().into_iter();
        let equal = |edge: &Edge| {
            let i = self.edges.partition_point(|(other, _)| other < edge);
            self.edges.get(i).map_or(0, |(_, equal)| *equal)
        };
        decisive.map(|edge| (edge, equal(&edge))).collect()
    }

    /// The later and the earlier document of an edge.
    pub(super) fn ends(&self, edge: &Edge) -> [&[u8]; 2] {
        [edge.later, edge.earlier].map(|rank| &*self.places[rank as usize])
    }

    /// An edge as a row.
    pub(super) fn row(&self, (edge, equal): &Counted, out: &mut Out) -> Result<()> {
        let counts = [edge.intersection, edge.union, *equal].map(u32::to_le_bytes).concat();
        let [later, earlier] = self.ends(edge);
        out.row(0, kind::EDGE, [later, earlier, &counts])
    }

    /// The graph again, to which more can be added, without documents that have no edge.
    pub(super) fn reopened(self) -> Graph {
        let mut is_used = vec![false; self.places.len()];
        let ends = self.edges.iter().map(|(edge, _)| edge).chain(&self.copies);
        ends.for_each(|edge| {
            [edge.later, edge.earlier].iter().for_each(|&rank| is_used[rank as usize] = true)
        });
        let mut nodes = Nodes::default();
        let places = self.places.into_iter().zip(is_used);
        // Nobody asks for the number of a document that has no edge.
        let numbers: Vec<u32> =
            places.map(|(place, is_used)| if is_used { nodes.push(place) } else { u32::MAX }).collect();
        let numbered = |edge: Edge| Edge {
            later: numbers[edge.later as usize],
            earlier: numbers[edge.earlier as usize],
            ..edge
        };
        let edges = self.edges.into_iter().map(|(edge, equal)| (numbered(edge), equal)).collect();
        Graph { nodes, edges, copies: self.copies.into_iter().map(numbered).collect() }
    }
}
