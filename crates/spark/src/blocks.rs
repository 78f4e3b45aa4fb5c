//! The beginning of a graph that is too large for one task.
//!
//! Every task keeps the first edges in keep order of those that it has, as many as a block may have (`First`); one task takes what they kept, and decides over the
//! first edges of all (`Block`). No edge that a task left behind comes before those: a task that leaves some behind hands on as many as a block has, all of them
//! earlier. Then the block is full, and its last document, of which more edges may have been left behind, waits for the next block.

use arrow_array::RecordBatch;

use super::columns::Rows;
use super::graph::{Graph, OrderedGraph};
use super::nodes::EdgeWithRegisters;
use super::out::Out;
use super::{Settings, Stage, kind};
use crate::error::{Error, Result};

const LEAVING: usize = 64 << 10;

/// The first edges of those that come, in keep order. A quarter more are held at most.
#[derive(Debug)]
struct Firsts {
    max_edges: usize,
    /// How many edges are cut back to the first ones.
    limit: usize,
    graph: Graph,
    /// The last of the first edges so far: there is no need to hold what comes after it.
    last: Option<[Vec<u8>; 2]>,
}

impl Firsts {
    fn new(settings: &Settings) -> Self {
        let max_edges = usize::try_from(settings.max_edges).unwrap_or(usize::MAX);
        let limit = max_edges.saturating_add(max_edges.div_ceil(4));
        Self { max_edges, limit, graph: Graph::default(), last: None }
    }

    fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        for (_, kind, values) in Rows::of(batch)?.iter() {
            let [later, earlier, _] = values;
            if self.last.as_ref().is_some_and(|last| [later, earlier] > last.each_ref().map(Vec::as_slice)) {
                continue;
            }
            self.graph.add(kind, values)?;
            if self.graph.edges.len() >= self.limit {
                let first = self.cut();
                let last = first.edges.last().filter(|_| first.edges.len() == self.max_edges);
                self.last = last.map(|last| first.ends(&last.edge).map(<[u8]>::to_vec));
                self.graph = first.reopened();
            }
        }
        Ok(())
    }

    fn cut(&mut self) -> OrderedGraph {
        let mut first = std::mem::take(&mut self.graph).ordered();
        first.edges.truncate(self.max_edges);
        first
    }

    fn all(&mut self) -> Leaving {
        let mut graph = self.cut();
        let edges = std::mem::take(&mut graph.edges);
        Leaving::new(graph, edges, Out::default())
    }

    fn decided(&mut self) -> Result<Leaving> {
        let mut graph = self.cut();
        let mut out = Out::default();
        if graph.edges.len() == self.max_edges
            && let Some(&EdgeWithRegisters { edge: last, .. }) = graph.edges.last()
        {
            // More edges of the last document may follow.
            let whole = graph.edges.partition_point(|one| one.edge.later < last.later);
            let Some(decided) = graph.edges[..whole].last() else {
                return Err(Error::parameter("task_edges", "more than one document has", self.max_edges));
            };
            out.row(0, kind::LAST, [graph.ends(&decided.edge)[0], &[], &[]])?;
            graph.edges.truncate(whole);
        }
        let decisive = graph.decisive();
        graph.edges = Vec::new();
        Ok(Leaving::new(graph, decisive, out))
    }
}

/// Edges on their way out, a bounded number at a time.
#[derive(Debug)]
struct Leaving {
    graph: OrderedGraph,
    edges: std::vec::IntoIter<EdgeWithRegisters>,
    out: Out,
}

impl Leaving {
    fn new(graph: OrderedGraph, edges: Vec<EdgeWithRegisters>, out: Out) -> Self {
        Self { graph, edges: edges.into_iter(), out }
    }

    fn some(&mut self) -> Result<Vec<RecordBatch>> {
        let mut some = self.edges.by_ref().take(LEAVING);
        some.try_for_each(|edge| self.graph.row(&edge, &mut self.out))?;
        self.out.take()
    }
}

/// Holds the first edges of those that come, and then lets go what `leave` makes of them.
pub(super) struct Blocks {
    firsts: Firsts,
    leave: fn(&mut Firsts) -> Result<Leaving>,
    leaving: Option<Leaving>,
}

impl Blocks {
    /// The first edges of a task.
    pub(super) fn first(settings: &Settings) -> Self {
        Self { firsts: Firsts::new(settings), leave: |firsts| Ok(firsts.all()), leaving: None }
    }

    /// The edges that decide, of the first edges of all tasks; and the last document that is decided, if more may follow.
    pub(super) fn block(settings: &Settings) -> Self {
        Self { firsts: Firsts::new(settings), leave: Firsts::decided, leaving: None }
    }
}

impl Stage for Blocks {
    fn push(&mut self, batch: &RecordBatch) -> Result<Vec<RecordBatch>> {
        self.firsts.take(batch)?;
        Ok(Vec::new())
    }

    fn finish(&mut self) -> Result<Vec<RecordBatch>> {
        let mut leaving = match self.leaving.take() {
            Some(leaving) => leaving,
            None => (self.leave)(&mut self.firsts)?,
        };
        let some = leaving.some();
        self.leaving = Some(leaving);
        some
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::blocks::{batches, edge, max_edges};
    use super::*;

    #[test]
    fn no_more_than_a_quarter_beyond_the_first_edges_are_held() {
        // From the last to the first, so that every edge is one of the first so far.
        for (max, limit) in [(1, 2), (40, 50), (1000, 1250)] {
            let mut firsts = Firsts::new(&max_edges(max));
            let mut held = 0;
            for n in (1..3000).rev() {
                firsts.take(&batches(&[edge(n, n - 1)])[0]).unwrap();
                held = held.max(firsts.graph.edges.len());
            }
            assert_eq!((held, firsts.cut().edges.len()), (limit - 1, max as usize));
        }
    }
}
