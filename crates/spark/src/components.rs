//! Connected components: every document gets a link to the first one of its component.
//!
//! A task replaces the edges that it has by links to the first document of each tree (`Forest`). If that is not all, rounds of large-star and small-star follow
//! ("Connected Components in MapReduce and Beyond"), of which a graph of n documents needs O(log n): a document links its later neighbours to the first of all its
//! neighbours (large star), then its earlier neighbours and itself to the first of those (small star). When a round changes nothing, all links lead to the
//! first document.

use arrow_array::RecordBatch;

use super::by_slice::{Row, Slice};
use super::columns::Rows;
use super::nodes::Nodes;
use super::out::Out;
use super::{Settings, Stage, kind};
use crate::error::Result;
use benzer_join::resolve::Components;
use benzer_join::{Edge, Rank};

/// Replaces edges by links of trees of depth one, in both directions.
pub(super) struct Forest {
    settings: Settings,
    nodes: Nodes,
    edges: Vec<(Rank, Rank)>,
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
        let (places, ranks) = std::mem::take(&mut self.nodes).ordered();
        let mut components = Components::new(places.len() as u32);
        for (a, b) in std::mem::take(&mut self.edges) {
            let (a, b) = (ranks[a.index()], ranks[b.index()]);
            components.push(Edge { later: a.max(b), earlier: a.min(b), intersection: 0, union: 0 });
        }
        for (member, first) in components.finish() {
            let (member, first) = (&*places[member.index()], &*places[first.index()]);
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

/// A link of a slice: from, to, whether it is new.
type Link<'a> = (&'a [u8], &'a [u8], bool);

/// What becomes of a document and its neighbours in order, each once.
type Relink = fn(&Settings, &[Link<'_>], &mut Out) -> Result<()>;

pub(super) struct Star {
    pub settings: Settings,
    pub relink: Relink,
}

impl Slice for Star {
    fn slice(&mut self, _: u32, rows: &[Row], out: &mut Out) -> Result<()> {
        let mut links: Vec<Link<'_>> =
            rows.iter().map(|row| (&*row.values[0], &*row.values[1], row.kind == kind::CHANGED)).collect();
        // Of equal links a changed one comes first.
        links.sort_unstable_by_key(|&(from, to, is_changed)| (from, to, !is_changed));
        links.dedup_by_key(|&mut (from, to, _)| (from, to));
        links.chunk_by(|a, b| a.0 == b.0).try_for_each(|links| (self.relink)(&self.settings, links, out))
    }
}

/// Links the later neighbours of a document to the first of all; from later to earlier.
pub(super) fn large(settings: &Settings, links: &[Link<'_>], out: &mut Out) -> Result<()> {
    let from = links[0].0;
    let first = from.min(links[0].1);
    let kind = if first == from { kind::SAME } else { kind::CHANGED };
    let mut later = links.iter().map(|link| link.1).filter(|&to| to > from);
    later.try_for_each(|to| out.row(settings.slice(to), kind, [to, first, &[]]))
}

/// Links a document and its earlier neighbours to the first of those; in both directions.
pub(super) fn small(settings: &Settings, links: &[Link<'_>], out: &mut Out) -> Result<()> {
    let (from, first, _) = links[0];
    let is_changed = links.len() > 1 || links[0].2;
    let kind = if is_changed { kind::CHANGED } else { kind::SAME };
    let others = links[1..].iter().map(|link| link.1);
    others.chain([from]).try_for_each(|later| both(settings, kind, later, first, out))
}
