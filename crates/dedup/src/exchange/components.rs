//! Connected components: every document gets a link to the first one of its component.
//!
//! A task replaces the edges that it has by links to the first document of each tree (`Forest`). If that is not all, rounds of large-star and small-star follow
//! ("Connected Components in MapReduce and Beyond"), of which a graph of n documents needs O(log n): a document links its later neighbours to the first of all its
//! neighbours (large star), then its earlier neighbours and itself to the first of those (small star). When a round changes nothing, all links lead to the
//! first document.

use arrow_array::RecordBatch;

use super::by_slice::Slice;
use super::columns::Rows;
use super::nodes::Nodes;
use super::out::Out;
use super::{Settings, Stage, kind};
use crate::error::Result;
use crate::resolve::Components;
use crate::verify::Edge;

/// Replaces edges by links of trees of depth one, in both directions.
pub(super) struct Forest {
    settings: Settings,
    nodes: Nodes,
    edges: Vec<(u32, u32)>,
    out: Out,
}

impl Forest {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { settings: settings.clone(), nodes: Nodes::default(), edges: Vec::new(), out: Out::default() }
    }
}

impl Stage for Forest {
    fn push(&mut self, batch: &RecordBatch) -> Result<Vec<RecordBatch>> {
        for (_, _, [a, b, _]) in Rows::of(batch)?.iter() {
            self.edges.push((self.nodes.number(a), self.nodes.number(b)));
        }
        Ok(Vec::new())
    }

    fn finish(&mut self) -> Result<Vec<RecordBatch>> {
        let (places, ranks) = std::mem::take(&mut self.nodes).ranked();
        let mut components = Components::new(places.len() as u32);
        for (a, b) in std::mem::take(&mut self.edges) {
            let (a, b) = (ranks[a as usize], ranks[b as usize]);
            components.push(Edge { later: a.max(b), earlier: a.min(b), intersection: 0, union: 0 });
        }
        for (member, first) in components.finish() {
            let (member, first) = (&*places[member as usize], &*places[first as usize]);
            both(&self.settings, kind::SAME, member, first, &mut self.out)?;
        }
        self.out.take()
    }
}

/// A link in both directions, each in the slice of its beginning.
fn both(settings: &Settings, kind: i32, later: &[u8], earlier: &[u8], out: &mut Out) -> Result<()> {
    out.row(settings.slice(later), kind, [later, earlier, &[]])?;
    out.row(settings.slice(earlier), kind, [earlier, later, &[]])
}

/// The links of a slice.
#[derive(Debug, Default)]
struct Links(Vec<(Vec<u8>, Vec<u8>, bool)>);

impl Links {
    fn take(&mut self, kind: i32, [from, to, _]: [&[u8]; 3]) {
        self.0.push((from.to_vec(), to.to_vec(), kind == kind::CHANGED));
    }

    /// Hands each document and its neighbours in order, each once, to `visit`.
    fn each(
        &mut self,
        mut visit: impl FnMut(&[u8], &[(Vec<u8>, Vec<u8>, bool)]) -> Result<()>,
    ) -> Result<()> {
        // Of equal links a changed one comes first.
        self.0.sort_unstable_by(|a, b| (&a.0, &a.1, b.2).cmp(&(&b.0, &b.1, a.2)));
        self.0.dedup_by(|a, b| (&a.0, &a.1) == (&b.0, &b.1));
        for links in self.0.chunk_by(|a, b| a.0 == b.0) {
            visit(&links[0].0, links)?;
        }
        self.0.clear();
        Ok(())
    }
}

/// Links the later neighbours of each document to the first of all; from later to earlier.
pub(super) struct LargeStar {
    settings: Settings,
    links: Links,
}

impl LargeStar {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { settings: settings.clone(), links: Links::default() }
    }
}

impl Slice for LargeStar {
    fn take(&mut self, kind: i32, values: [&[u8]; 3], _: &mut Out) -> Result<()> {
        self.links.take(kind, values);
        Ok(())
    }

    fn end(&mut self, _: u32, out: &mut Out) -> Result<()> {
        let settings = &self.settings;
        self.links.each(|from, links| {
            let first = from.min(&links[0].1);
            for (_, to, _) in links.iter().filter(|(_, to, _)| **to > *from) {
                let kind = if first == from { kind::SAME } else { kind::CHANGED };
                out.row(settings.slice(to), kind, [to, first, &[]])?;
            }
            Ok(())
        })
    }
}

/// Links each document and its earlier neighbours to the first of those; in both directions.
pub(super) struct SmallStar {
    settings: Settings,
    links: Links,
}

impl SmallStar {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { settings: settings.clone(), links: Links::default() }
    }
}

impl Slice for SmallStar {
    fn take(&mut self, kind: i32, values: [&[u8]; 3], _: &mut Out) -> Result<()> {
        self.links.take(kind, values);
        Ok(())
    }

    fn end(&mut self, _: u32, out: &mut Out) -> Result<()> {
        let settings = &self.settings;
        self.links.each(|from, links| {
            let first = &links[0].1;
            let is_changed = links.len() > 1 || links.iter().any(|link| link.2);
            let kind = if is_changed { kind::CHANGED } else { kind::SAME };
            let others = links[1..].iter().map(|link| &*link.1);
            others.chain([from]).try_for_each(|later| both(settings, kind, later, first, out))
        })
    }
}
