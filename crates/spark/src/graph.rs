//! Edges and copies of a graph, and the same in keep order.

use std::sync::Arc;

use super::kind;
use super::nodes::{EdgeWithRegisters, Nodes, counted};
use super::out::Out;
use crate::error::Result;
use benzer_join::resolve::Leaders;
use benzer_join::{Edge, Rank};

#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Nodes,
    pub edges: Vec<EdgeWithRegisters>,
    copies: Vec<Edge>,
}

/// A graph in keep order; an edge that came several times is there once.
#[derive(Debug)]
pub(super) struct OrderedGraph {
    pub places: Vec<Arc<[u8]>>,
    pub edges: Vec<EdgeWithRegisters>,
    pub copies: Vec<Edge>,
}

impl Graph {
    pub(super) fn add(&mut self, kind: i32, [later, earlier, counts]: [&[u8]; 3]) -> Result<()> {
        let [intersection, union, equal] = counted(counts)?;
        let (later, earlier) = (self.nodes.number(later), self.nodes.number(earlier));
        let edge = Edge { later, earlier, intersection, union };
        match kind {
            kind::COPY => self.copies.push(edge),
            _ => self.edges.push(EdgeWithRegisters { edge, equal }),
        }
        Ok(())
    }

    pub(super) fn ordered(self) -> OrderedGraph {
        let (places, ranks) = self.nodes.ordered();
        let ranked = |edge: Edge| Edge {
            later: ranks[edge.later.index()],
            earlier: ranks[edge.earlier.index()],
            ..edge
        };
        let mut edges: Vec<EdgeWithRegisters> =
            self.edges.into_iter().map(|one| EdgeWithRegisters { edge: ranked(one.edge), ..one }).collect();
        let mut copies: Vec<Edge> = self.copies.into_iter().map(ranked).collect();
        edges.sort_unstable();
        edges.dedup();
        copies.sort_unstable();
        OrderedGraph { places, edges, copies }
    }
}

impl OrderedGraph {
    /// The edges that decide, with their equal registers.
    pub(super) fn decisive(&self) -> Vec<EdgeWithRegisters> {
        let mut leaders = Leaders::default();
        self.edges.iter().for_each(|one| leaders.push(one.edge));
        let decisive = leaders.finish().into_iter();
        let equal = |edge: &Edge| {
            let i = self.edges.partition_point(|other| other.edge < *edge);
            self.edges.get(i).map_or(0, |found| found.equal)
        };
        decisive.map(|edge| EdgeWithRegisters { edge, equal: equal(&edge) }).collect()
    }

    /// The later and the earlier document of an edge.
    pub(super) fn ends(&self, edge: &Edge) -> [&[u8]; 2] {
        [edge.later, edge.earlier].map(|rank| &*self.places[rank.index()])
    }

    pub(super) fn row(
        &self,
        EdgeWithRegisters { edge, equal }: &EdgeWithRegisters,
        out: &mut Out,
    ) -> Result<()> {
        let counts = [edge.intersection, edge.union, *equal].map(u32::to_le_bytes).concat();
        let [later, earlier] = self.ends(edge);
        out.row(0, kind::EDGE, [later, earlier, &counts])
    }

    /// The graph again, to which more can be added, without documents that have no edge.
    pub(super) fn reopened(self) -> Graph {
        let mut is_used = vec![false; self.places.len()];
        let ends = self.edges.iter().map(|one| &one.edge).chain(&self.copies);
        ends.for_each(|edge| {
            [edge.later, edge.earlier].iter().for_each(|&rank| is_used[rank.index()] = true)
        });
        let mut nodes = Nodes::default();
        let places = self.places.into_iter().zip(is_used);
        // Nobody asks for the number of a document that has no edge.
        let numbers: Vec<Rank> =
            places.map(|(place, is_used)| if is_used { nodes.push(place) } else { Rank(u32::MAX) }).collect();
        let numbered = |edge: Edge| Edge {
            later: numbers[edge.later.index()],
            earlier: numbers[edge.earlier.index()],
            ..edge
        };
        let edges =
            self.edges.into_iter().map(|one| EdgeWithRegisters { edge: numbered(one.edge), ..one }).collect();
        Graph { nodes, edges, copies: self.copies.into_iter().map(numbered).collect() }
    }
}
