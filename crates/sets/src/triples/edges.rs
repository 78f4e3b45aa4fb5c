//! The pairs as edges, in order: in memory, or in a temporary file.

use std::{fs::File, os::unix::fs::FileExt};

use benzer_flow::Workspace;
use benzer_io::Result;
use benzer_storage::{self as files, Scratch};

use crate::pairs::Pair;

/// Bytes of an edge on disk.
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
pub(super) struct Edges<'a> {
    workspace: Workspace<'a>,
    /// Edges that are held in memory, at most.
    max_held: usize,
    memory: Vec<Edge>,
    disk: Option<(Scratch, Option<File>)>,
    /// How many there are.
    pub n: u64,
}

impl<'a> Edges<'a> {
    /// Edges that take at most the memory of the workspace.
    pub fn new(workspace: Workspace<'a>) -> Self {
        // A vector that grows takes twice as much for a while.
        let max_held = workspace.bytes / (2 * size_of::<Edge>());
        Self { workspace, max_held, memory: Vec::new(), disk: None, n: 0 }
    }

    /// Adds the next pairs.
    pub fn append(&mut self, pairs: &[Pair]) -> Result<()> {
        self.n += pairs.len() as u64;
        self.memory.extend(pairs.iter().map(|pair| Edge { a: pair.a, b: pair.b, shared: pair.intersection }));
        if self.memory.len() > self.max_held || self.disk.is_some() {
            let Workspace { folder, files, .. } = self.workspace;
            let (written, _) = match &mut self.disk {
                Some(disk) => disk,
                none => none.insert((files.temporary(&folder.join("edges"))?, None)),
            };
            let bytes: Vec<u8> = self.memory.drain(..).flat_map(Edge::bytes).collect();
            written.append(&bytes)?;
        }
        Ok(())
    }

    /// Ends the adding.
    pub fn finish(&mut self) -> Result<()> {
        if let Some((written, read)) = &mut self.disk {
            *read = Some(written.read()?);
            self.memory = Vec::new();
        }
        Ok(())
    }

    /// Up to `n` edges from a place on.
    pub fn read(&self, start: u64, n: usize, into: &mut Vec<Edge>) -> Result<()> {
        into.clear();
        let n = (self.n.saturating_sub(start)).min(n as u64) as usize;
        match &self.disk {
            None => into.extend_from_slice(&self.memory[start as usize..][..n]),
            Some((_, None)) => {}
            Some((written, Some(file))) => {
                let mut bytes = vec![0; n * BYTES];
                let read = file.read_exact_at(&mut bytes, start * BYTES as u64);
                read.map_err(|error| files::Error::disk("read", written.path(), error))?;
                into.extend(bytes.as_chunks::<BYTES>().0.iter().map(Edge::of));
            }
        }
        Ok(())
    }
}

impl Edge {
    fn bytes(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let numbers = [self.a, self.b, self.shared];
        bytes.as_chunks_mut::<4>().0.iter_mut().zip(numbers).for_each(|(to, from)| *to = from.to_le_bytes());
        bytes
    }

    fn of(bytes: &[u8; BYTES]) -> Self {
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
    /// Takes edges from a place on: at least those of one first set, at most `max_held` or a little more, and none of a set in part. Gives where the next round begins.
    pub fn load(edges: &Edges<'_>, start: u64, n_sets: u32, max_held: usize) -> Result<(Self, u64)> {
        let mut held = Vec::new();
        let mut piece = Vec::new();
        let step = max_held.clamp(1, 1 << 16);
        loop {
            edges.read(start + held.len() as u64, step, &mut piece)?;
            held.extend_from_slice(&piece);
            let last = held.last().map_or(0, |edge: &Edge| edge.a);
            let whole = held.partition_point(|edge| edge.a < last);
            let at_end = start + held.len() as u64 == edges.n;
            if at_end || (held.len() > max_held && whole > 0) {
                if !at_end {
                    held.truncate(whole);
                }
                let next = start + held.len() as u64;
                return Ok((Self::new(&held, n_sets), next));
            }
        }
    }

    fn new(edges: &[Edge], n_sets: u32) -> Self {
        let mut starts = vec![0; n_sets as usize + 2];
        edges.iter().for_each(|edge| starts[edge.b as usize + 2] += 1);
        for i in 2..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut firsts = vec![First::default(); edges.len()];
        for edge in edges {
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
