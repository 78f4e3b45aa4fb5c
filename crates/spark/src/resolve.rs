//! Who is removed, and for whom.

use std::collections::HashMap;

use arrow_array::RecordBatch;

use super::columns::Rows;
use super::graph::{Graph, OrderedGraph};
use super::tables::Evidence;
use super::{Settings, Stage};
use crate::error::Result;
use benzer_dedup::decide::{Removal, Rule, with_copies};
use benzer_join::Rank;

const LEAVING: usize = 64 << 10;

/// The evidence of whole components.
pub(super) struct Resolve {
    graph: Graph,
    evidence: Evidence,
    registers: u32,
    removed: Option<Removed>,
}

/// What was decided, and is on its way out.
struct Removed {
    graph: OrderedGraph,
    /// Equal registers of each removed document that is no copy.
    equal: HashMap<Rank, u32>,
    removals: std::vec::IntoIter<Removal>,
}

impl Resolve {
    pub(super) fn new(settings: Settings) -> Result<Self> {
        let evidence = Evidence::new(&settings)?;
        Ok(Self { graph: Graph::default(), evidence, registers: settings.spec.registers, removed: None })
    }
}

impl Removed {
    fn of(graph: Graph) -> Self {
        let mut graph = graph.ordered();
        let decisive = graph.decisive();
        graph.edges = Vec::new();
        let equal = decisive.iter().map(|one| (one.edge.later, one.equal)).collect();
        let removals =
            decisive.into_iter().map(|one| Removal { edge: one.edge, rule: Rule::Verified }).collect();
        let removals = with_copies(removals, &graph.copies).into_iter();
        Self { graph, equal, removals }
    }
}

impl Stage for Resolve {
    fn push(&mut self, batch: &RecordBatch) -> Result<Vec<RecordBatch>> {
        Rows::of(batch)?.iter().try_for_each(|(_, kind, values)| self.graph.add(kind, values))?;
        Ok(Vec::new())
    }

    fn finish(&mut self) -> Result<Vec<RecordBatch>> {
        let graph = &mut self.graph;
        let Removed { graph, equal, removals } =
            self.removed.get_or_insert_with(|| Removed::of(std::mem::take(graph)));
        for removal in removals.take(LEAVING) {
            // A copy has the sketch of its representative.
            let representative = graph.copies.binary_search_by_key(&removal.removed(), |copy| copy.later);
            let representative = representative.map_or(removal.removed(), |i| graph.copies[i].earlier);
            let equal = equal.get(&representative).copied().unwrap_or(self.registers);
            self.evidence.push(&removal, &graph.places, equal)?;
        }
        self.evidence.take()
    }
}
