//! Who is removed, and for whom.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::RecordBatch;

use super::columns::Rows;
use super::nodes::{Nodes, edge};
use super::out::Out;
use super::tables::Evidence;
use super::{Settings, Stage, kind};
use crate::error::{Error, Result};
use crate::job::decide::{Removal, Rule, with_copies};
use crate::resolve::Leaders;
use crate::verify::Edge;

/// Edges and copies of whole components.
#[derive(Default)]
struct Graph {
    nodes: Nodes,
    edges: Vec<(Edge, u32)>,
    copies: Vec<Edge>,
}

/// A graph in keep order.
struct Ranked {
    places: Vec<Arc<[u8]>>,
    edges: Vec<(Edge, u32)>,
    copies: Vec<Edge>,
}

impl Graph {
    fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        for (_, kind, values) in Rows::of(batch)?.iter() {
            let edge = edge(&mut self.nodes, values)?;
            if kind == kind::COPY { self.copies.push(edge.0) } else { self.edges.push(edge) }
        }
        Ok(())
    }

    fn ranked(self) -> Ranked {
        let (places, ranks) = self.nodes.ranked();
        let ranked = |edge: Edge| Edge {
            later: ranks[edge.later as usize],
            earlier: ranks[edge.earlier as usize],
            ..edge
        };
        let mut edges: Vec<(Edge, u32)> =
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
    fn decisive(&self) -> Vec<(Edge, u32)> {
        let mut leaders = Leaders::default();
        self.edges.iter().for_each(|(edge, _)| leaders.push(*edge));
        let decisive = leaders.finish().into_iter();
        let equal = |edge: &Edge| {
            let i = self.edges.partition_point(|(other, _)| other < edge);
            self.edges.get(i).map_or(0, |(_, equal)| *equal)
        };
        decisive.map(|edge| (edge, equal(&edge))).collect()
    }
}

/// The evidence of whole components.
pub(super) struct Resolve {
    settings: Settings,
    graph: Graph,
    evidence: Evidence,
}

impl Resolve {
    pub(super) fn new(settings: Settings) -> Result<Self> {
        let evidence = Evidence::new(&settings)?;
        Ok(Self { settings, graph: Graph::default(), evidence })
    }
}

impl Stage for Resolve {
    fn push(&mut self, batch: &RecordBatch) -> Result<Vec<RecordBatch>> {
        self.graph.take(batch)?;
        Ok(Vec::new())
    }

    fn finish(&mut self) -> Result<Vec<RecordBatch>> {
        let graph = std::mem::take(&mut self.graph).ranked();
        let decisive = graph.decisive();
        let equal: HashMap<u32, u32> = decisive.iter().map(|(edge, equal)| (edge.later, *equal)).collect();
        let removals = decisive.into_iter().map(|(edge, _)| Removal { edge, rule: Rule::Verified }).collect();
        for removal in with_copies(removals, &graph.copies) {
            // A copy has the sketch of its representative.
            let representative = graph.copies.binary_search_by_key(&removal.removed(), |copy| copy.later);
            let representative = representative.map_or(removal.removed(), |i| graph.copies[i].earlier);
            let registers = self.settings.spec.registers;
            let equal = equal.get(&representative).copied().unwrap_or(registers);
            self.evidence.push(&removal, &graph.places, equal)?;
        }
        self.evidence.take()
    }
}

/// The edges that decide, of the first edges in keep order of a graph that is too large for one task, and the last document that is decided.
pub(super) struct Block {
    settings: Settings,
    graph: Graph,
    out: Out,
}

impl Block {
    pub(super) fn new(settings: Settings) -> Self {
        Self { settings, graph: Graph::default(), out: Out::default() }
    }
}

impl Stage for Block {
    fn push(&mut self, batch: &RecordBatch) -> Result<Vec<RecordBatch>> {
        self.graph.take(batch)?;
        Ok(Vec::new())
    }

    fn finish(&mut self) -> Result<Vec<RecordBatch>> {
        let is_full = self.graph.edges.len() as u64 >= self.settings.most;
        let mut graph = std::mem::take(&mut self.graph).ranked();
        if is_full && let Some(&(last, _)) = graph.edges.last() {
            // More edges of the last document may follow.
            let whole = graph.edges.partition_point(|(edge, _)| edge.later < last.later);
            if whole == 0 {
                return Err(Error::parameter("task_edges", "more than one document has", self.settings.most));
            }
            graph.edges.truncate(whole);
        }
        for (edge, equal) in graph.decisive() {
            let counts = [edge.intersection, edge.union, equal].map(u32::to_le_bytes).concat();
            let places = [edge.later, edge.earlier].map(|rank| &*graph.places[rank as usize]);
            self.out.row(0, kind::EDGE, [places[0], places[1], &counts])?;
        }
        if let Some((last, _)) = graph.edges.last() {
            self.out.row(0, kind::LAST, [&graph.places[last.later as usize], &[], &[]])?;
        }
        self.out.take()
    }
}
