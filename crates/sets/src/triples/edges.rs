//! The pairs as edges, in order: in memory, or in a temporary file.

use benzer_flow::Workspace;
use benzer_io::Result;

use crate::kept::{Keeper, Kept};
use crate::pairs::Pair;

/// Bytes of an edge.
const BYTES: usize = 12;

/// Two sets, the first before the second, and how many elements they share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub a: u32,
    pub b: u32,
    pub shared: u32,
}

/// All edges, by their first set, then by their second.
#[derive(Debug)]
pub(super) struct Edges(Kept<u8>);

/// Edges while they are added.
#[derive(Debug)]
pub(super) struct EdgeWriter<'a> {
    /// They may take its memory.
    workspace: Workspace<'a>,
    edges: Keeper<u8>,
}

impl<'a> EdgeWriter<'a> {
    /// No edges yet.
    pub fn new(workspace: Workspace<'a>) -> Self {
        Self { workspace, edges: Keeper::default() }
    }

    /// Adds the next pairs.
    pub fn append(&mut self, pairs: &[Pair]) -> Result<()> {
        for pair in pairs {
            self.edges.append(&Edge { a: pair.a, b: pair.b, shared: pair.intersection }.bytes())?;
        }
        let Workspace { bytes, folder, files } = self.workspace;
        if self.edges.memory_bytes() > bytes {
            self.edges.move_to_disk(files, &folder.join("edges"))?;
        }
        Ok(())
    }

    /// Ends the adding.
    pub fn finish(self) -> Result<Edges> {
        Ok(Edges(self.edges.finish()?))
    }
}

impl Edges {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len() / BYTES
    }

    /// Those from a place on, each to be made by [`Edge::of`].
    pub fn from(&self, start: usize) -> &[[u8; BYTES]] {
        &self.0.as_chunks().0[start..]
    }
}

impl Edge {
    fn bytes(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let numbers = [self.a, self.b, self.shared];
        bytes.as_chunks_mut::<4>().0.iter_mut().zip(numbers).for_each(|(to, from)| *to = from.to_le_bytes());
        bytes
    }

    pub fn of(bytes: &[u8; BYTES]) -> Self {
        let mut numbers = bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        let mut next = || numbers.next().unwrap_or(0);
        Self { a: next(), b: next(), shared: next() }
    }
}

/// An edge of a second set that is known.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct First {
    /// The first set.
    pub set: u32,
    /// How many elements both share.
    pub shared: u32,
}

/// Edges that are held for a round, by their second set.
#[derive(Debug)]
pub(super) struct Held {
    /// Those of one second set together and in order.
    firsts: Vec<First>,
    /// Where the edges to each second set begin.
    starts: Vec<usize>,
}

impl Held {
    /// Takes edges from a place on: at least those of one first set, else at most `max_held`, and none of a set in part. Gives where the next round begins.
    pub fn load(edges: &Edges, start: usize, n_sets: u32, max_held: usize) -> (Self, usize) {
        let edges = edges.from(start);
        let n = edges.get(max_held).map_or(edges.len(), |next| {
            let next = Edge::of(next).a;
            let n_before = edges.partition_point(|edge| Edge::of(edge).a < next);
            if n_before > 0 { n_before } else { edges.partition_point(|edge| Edge::of(edge).a == next) }
        });
        (Self::new(&edges[..n], n_sets), start + n)
    }

    fn new(edges: &[[u8; BYTES]], n_sets: u32) -> Self {
        let edges = || edges.iter().map(Edge::of);
        let mut starts = vec![0; n_sets as usize + 2];
        edges().for_each(|edge| starts[edge.b as usize + 2] += 1);
        for i in 2..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut firsts = vec![First::default(); edges().len()];
        for edge in edges() {
            let place = &mut starts[edge.b as usize + 1];
            firsts[*place] = First { set: edge.a, shared: edge.shared };
            *place += 1;
        }
        Self { firsts, starts }
    }

    /// The sets before `b` that have an edge to it in this round, in order.
    pub fn before(&self, b: u32) -> &[First] {
        &self.firsts[self.starts[b as usize]..self.starts[b as usize + 1]]
    }
}
