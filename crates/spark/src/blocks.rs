//! The beginning of a graph that is too large for one task.
//!
//! Every task keeps the first edges in keep order of those that it has, as many as a block may have (`First`); one task takes what they kept, and decides over the
//! first edges of all (`Block`). No edge that a task left behind comes before those: a task that leaves some behind hands on as many as a block has, all of them
//! earlier. Then the block is full, and its last document, of which more edges may have been left behind, waits for the next block.

use arrow_array::RecordBatch;

use super::columns::Rows;
use super::graph::{Counted, Graph, Ranked};
use super::out::Out;
use super::{Settings, Stage, kind};
use crate::error::{Error, Result};

/// Edges that leave a stage at a time.
const LEAVING: usize = 64 << 10;

/// The first edges of those that come, in keep order. A quarter more are held at most.
#[derive(Debug)]
struct Firsts {
    most: usize,
    /// How many edges are cut back to the first ones.
    much: usize,
    graph: Graph,
    /// The last of the first edges so far: there is no need to hold what comes after it.
    bar: Option<[Vec<u8>; 2]>,
}

impl Firsts {
    fn new(settings: &Settings) -> Self {
        let most = usize::try_from(settings.most).unwrap_or(usize::MAX);
        let much = most.saturating_add(most.div_ceil(4));
        Self { most, much, graph: Graph::default(), bar: None }
    }

    fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        for (_, kind, values) in Rows::of(batch)?.iter() {
            let [later, earlier, _] = values;
            if self.bar.as_ref().is_some_and(|bar| [later, earlier] > bar.each_ref().map(Vec::as_slice)) {
                continue;
            }
            self.graph.add(kind, values)?;
            if self.graph.n_edges() >= self.much {
                let first = self.cut();
                let last = first.edges.last().filter(|_| first.edges.len() == self.most);
                self.bar = last.map(|(edge, _)| first.ends(edge).map(<[u8]>::to_vec));
                self.graph = first.reopened();
            }
        }
        Ok(())
    }

    /// The first edges.
    fn cut(&mut self) -> Ranked {
        let mut first = std::mem::take(&mut self.graph).ranked();
        first.edges.truncate(self.most);
        first
    }
}

/// Edges on their way out, a bounded number at a time.
#[derive(Debug)]
struct Leaving {
    graph: Ranked,
    edges: std::vec::IntoIter<Counted>,
    out: Out,
}

impl Leaving {
    fn new(graph: Ranked, edges: Vec<Counted>, out: Out) -> Self {
        Self { graph, edges: edges.into_iter(), out }
    }

    fn some(&mut self) -> Result<Vec<RecordBatch>> {
        let mut some = self.edges.by_ref().take(LEAVING);
        some.try_for_each(|edge| self.graph.row(&edge, &mut self.out))?;
        self.out.take()
    }
}

/// The first edges of a task.
pub(super) struct First {
    firsts: Firsts,
    leaving: Option<Leaving>,
}

impl First {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { firsts: Firsts::new(settings), leaving: None }
    }
}

impl Stage for First {
    fn push(&mut self, batch: &RecordBatch) -> Result<Vec<RecordBatch>> {
        self.firsts.take(batch)?;
        Ok(Vec::new())
    }

    fn finish(&mut self) -> Result<Vec<RecordBatch>> {
        let firsts = &mut self.firsts;
        let leaving = self.leaving.get_or_insert_with(|| {
            let mut graph = firsts.cut();
            let edges = std::mem::take(&mut graph.edges);
            Leaving::new(graph, edges, Out::default())
        });
        leaving.some()
    }
}

/// The edges that decide, of the first edges of all tasks; and the last document that is decided, if more may follow.
pub(super) struct Block {
    firsts: Firsts,
    leaving: Option<Leaving>,
}

impl Block {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { firsts: Firsts::new(settings), leaving: None }
    }

    fn decided(&mut self) -> Result<Leaving> {
        let mut graph = self.firsts.cut();
        let mut out = Out::default();
        if graph.edges.len() == self.firsts.most
            && let Some(&(last, _)) = graph.edges.last()
        {
            // More edges of the last document may follow.
            let whole = graph.edges.partition_point(|(edge, _)| edge.later < last.later);
            let Some((decided, _)) = graph.edges[..whole].last() else {
                return Err(Error::parameter("task_edges", "more than one document has", self.firsts.most));
            };
            out.row(0, kind::LAST, [graph.ends(decided)[0], &[], &[]])?;
            graph.edges.truncate(whole);
        }
        let decisive = graph.decisive();
        graph.edges = Vec::new();
        Ok(Leaving::new(graph, decisive, out))
    }
}

impl Stage for Block {
    fn push(&mut self, batch: &RecordBatch) -> Result<Vec<RecordBatch>> {
        self.firsts.take(batch)?;
        Ok(Vec::new())
    }

    fn finish(&mut self) -> Result<Vec<RecordBatch>> {
        if self.leaving.is_none() {
            self.leaving = Some(self.decided()?);
        }
        self.leaving.as_mut().map_or(Ok(Vec::new()), Leaving::some)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::blocks::{batches, edge, most_edges};
    use super::*;

    #[test]
    fn no_more_than_a_quarter_beyond_the_first_edges_are_held() {
        // From the last to the first, so that every edge is one of the first so far.
        for (most, much) in [(1, 2), (40, 50), (1000, 1250)] {
            let mut firsts = Firsts::new(&most_edges(most));
            let mut held = 0;
            for n in (1..3000).rev() {
                firsts.take(&batches(&[edge(n, n - 1)])[0]).unwrap();
                held = held.max(firsts.graph.n_edges());
            }
            assert_eq!((held, firsts.cut().edges.len()), (much - 1, most as usize));
        }
    }
}
