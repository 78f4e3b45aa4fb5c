//! From pairs to triangles to triples.

use benzer_flow::{Workspace, sort::Sorted, workers::in_parallel};
use benzer_io::{Error, Result};
use benzer_join::exact::Measure;
use benzer_storage as files;

use super::edges::{Edge, EdgeWriter, First, Held};
use super::sketch::Sketches;
use super::{Found, Triple, Verify, Wanted};
use crate::overlap::{common, overlap};
use crate::pairs;
use crate::{Resources, SetStore};

/// Edges that pass by at a time, at most.
const PASSING: usize = 1 << 14;
/// Edges that a thread takes at a time.
const TASK: usize = 64;
/// Triangles that one slice of passing edges may have.
const MAX_TRIANGLES: usize = 1 << 20;
/// Triples that are handed out together.
const SLICE: usize = 1 << 12;

/// Three sets, the elements in all of them and in any.
type Record = ((u32, u32, u32), (u32, u64));

/// Finds all triples and hands them to `sink` in order, some at a time.
///
/// # Errors
/// Too little memory, files that cannot be written or read, sketches that cannot tell, the wish to stop, and what `sink` returns.
pub fn find<E: From<Error>>(
    store: &SetStore,
    wanted: &Wanted,
    resources: &Resources,
    sink: impl FnMut(&[Triple]) -> Result<(), E>,
) -> Result<Found, E> {
    within(resources.workspace(store.len().into())?, store, wanted, resources, sink)
}

/// [`find`] with a given workspace for edges and triples.
pub(super) fn within<E: From<Error>>(
    workspace: Workspace<'_>,
    store: &SetStore,
    wanted: &Wanted,
    resources: &Resources,
    sink: impl FnMut(&[Triple]) -> Result<(), E>,
) -> Result<Found, E> {
    let sketches = match wanted.verify {
        Verify::Exact => None,
        _ => Some(Sketches::new(store, wanted, resources)?),
    };
    let share = Workspace { bytes: workspace.bytes / 4, ..workspace };
    let mut edges = EdgeWriter::new(share);
    let similar = pairs::Wanted { measure: Measure::Jaccard, threshold: wanted.threshold, split: None };
    pairs::find(store, &similar, resources, |pairs| edges.append(pairs))?;
    let edges = edges.finish()?;
    let judge = Judge { store, wanted, sketches: sketches.as_ref() };
    let mut found = Found { n_pairs: edges.len() as u64, ..Found::default() };
    let mut records = share.sorter(1);
    let mut start = 0;
    while start < edges.len() {
        let max_held = share.bytes / (3 * size_of::<Edge>());
        let (held, next) = Held::load(&edges, start, store.len(), max_held);
        let mut at = start;
        while at < edges.len() {
            resources.check()?;
            let mut passing: Vec<Edge> = edges.from(at).iter().take(PASSING).map(Edge::of).collect();
            passing.truncate(slice(&passing, &held));
            at += passing.len();
            records
                .extend(judge.slice(&passing, &held, resources.threads(), &mut found)?)
                .map_err(Error::from)?;
        }
        start = next;
    }
    hand_out(records.finish().map_err(Error::from)?, &judge, resources, sink)?;
    Ok(found)
}

/// Measures triples where that is left, and hands them out.
fn hand_out<E: From<Error>>(
    mut records: Sorted<Record>,
    judge: &Judge<'_>,
    resources: &Resources,
    mut sink: impl FnMut(&[Triple]) -> Result<(), E>,
) -> Result<(), E> {
    loop {
        resources.check()?;
        let some =
            records.by_ref().take(SLICE).collect::<files::Result<Vec<Record>>>().map_err(Error::from)?;
        if some.is_empty() {
            return Ok(());
        }
        let runs: Vec<&[Record]> = some.chunks(TASK).collect();
        let triples = in_parallel(
            runs.len(),
            resources.threads(),
            || (),
            |run, ()| runs[run].iter().map(|record| judge.triple(*record)).collect::<Result<Vec<_>>>(),
        );
        sink(&triples.into_iter().collect::<Result<Vec<_>>>()?.concat())?;
    }
}

/// How many of the passing edges can be looked at together: at least one.
fn slice(passing: &[Edge], held: &Held) -> usize {
    let mut triangles = 0;
    let fits = |edge: &&Edge| {
        triangles += held.before(edge.a).len().min(held.before(edge.b).len());
        triangles <= MAX_TRIANGLES
    };
    passing.iter().take_while(fits).count().max(1)
}

/// A triangle of edges.
struct Triangle {
    sets: [u32; 3],
    sizes: [u32; 3],
    /// Elements in the first and second, first and third, second and third.
    shared: [u32; 3],
}

impl Triangle {
    /// Elements of the union that are not in all three: those of the sets one by one, less those of the pairs.
    fn others(&self) -> u64 {
        let sum = |numbers: [u32; 3]| numbers.map(u64::from).iter().sum::<u64>();
        sum(self.sizes) - sum(self.shared)
    }

    /// Elements that can be in all three, at most.
    fn max_common(&self) -> u64 {
        self.shared.iter().copied().min().unwrap_or(0).into()
    }

    fn pair_similarities(&self) -> f64 {
        let [a, b, c] = self.sizes.map(f64::from);
        let [ab, ac, bc] = self.shared.map(f64::from);
        ab / (a + b - ab) + ac / (a + c - ac) + bc / (b + c - bc)
    }
}

/// Decides which triangles are triples.
struct Judge<'a> {
    store: &'a SetStore,
    wanted: &'a Wanted,
    sketches: Option<&'a Sketches>,
}

/// What a thread keeps from edge to edge.
#[derive(Default)]
struct TriangleBuffers {
    /// The elements in both ends of an edge, if they are known.
    common: Vec<u64>,
    has_common: bool,
}

/// What a task found.
#[derive(Default)]
struct TaskTriples {
    records: Vec<Record>,
    counts: Found,
}

impl Judge<'_> {
    /// The triples of some passing edges with the held ones.
    fn slice(&self, passing: &[Edge], held: &Held, threads: usize, found: &mut Found) -> Result<Vec<Record>> {
        let tasks: Vec<&[Edge]> = passing.chunks(TASK).collect();
        let made =
            in_parallel(tasks.len(), threads, TriangleBuffers::default, |task, buffers| -> Result<_> {
                let mut made = TaskTriples::default();
                for edge in tasks[task] {
                    self.edge(edge, held, buffers, &mut made)?;
                }
                Ok(made)
            });
        let mut all = Vec::new();
        for made in made {
            let TaskTriples { records, counts } = made?;
            found.n_triangles += counts.n_triangles;
            found.n_sketched += counts.n_sketched;
            found.n_candidates += counts.n_candidates;
            found.n_verified += counts.n_verified;
            found.n_triples += records.len() as u64;
            all.extend(records);
        }
        Ok(all)
    }

    /// The triples of an edge with the sets that have held edges to both of its ends.
    fn edge(
        &self,
        edge: &Edge,
        held: &Held,
        buffers: &mut TriangleBuffers,
        TaskTriples { records, counts }: &mut TaskTriples,
    ) -> Result<()> {
        let (b, c) = (edge.a, edge.b);
        let mut of_c = held.before(c).iter().peekable();
        buffers.has_common = false;
        for &First { set: a, shared: ab } in held.before(b) {
            while of_c.next_if(|other| other.set < a).is_some() {}
            let Some(&First { shared: ac, .. }) = of_c.next_if(|other| other.set == a) else { continue };
            let sets = [a, b, c];
            let sizes = sets.map(|set| self.store.size(set));
            let triangle = Triangle { sets, sizes, shared: [ab, ac, edge.shared] };
            records.extend(self.triangle(&triangle, buffers, counts)?);
        }
        Ok(())
    }

    /// The triple of a triangle, if it is one.
    fn triangle(
        &self,
        triangle: &Triangle,
        buffers: &mut TriangleBuffers,
        counts: &mut Found,
    ) -> Result<Option<Record>> {
        counts.n_triangles += 1;
        let sets @ [a, b, c] = triangle.sets;
        // The sketches are asked of every triangle, so that what they can do is told apart from what the intersections do.
        let may_reach = match (self.wanted.verify, self.sketches) {
            (Verify::Filter, Some(sketches)) => sketches.may_reach(sets, triangle.pair_similarities())?,
            _ => true,
        };
        counts.n_sketched += u64::from(may_reach);
        let Some(min_common) = self.wanted.threshold.min_common(triangle.others()) else { return Ok(None) };
        if triangle.max_common() < min_common {
            return Ok(None);
        }
        counts.n_candidates += 1;
        if let (Verify::Estimate, Some(sketches)) = (self.wanted.verify, self.sketches) {
            return Ok(sketches.reaches(sets, triangle.sizes)?.then_some(((a, b, c), (0, 0))));
        }
        if !may_reach {
            return Ok(None);
        }
        counts.n_verified += 1;
        let TriangleBuffers { common: both, has_common } = buffers;
        if !std::mem::replace(has_common, true) {
            common(self.store.elements_of(b), self.store.elements_of(c), both);
        }
        let all = overlap(self.store.elements_of(a), both, u32::try_from(min_common).unwrap_or(u32::MAX));
        Ok(all.map(|all| ((a, b, c), (all, triangle.others() + u64::from(all)))))
    }

    fn triple(&self, record: Record) -> Result<Triple> {
        let ((a, b, c), exact) = record;
        let sets = [a, b, c];
        let sizes = sets.map(|set| self.store.size(set));
        let (exact, estimate) = match (self.wanted.verify, self.sketches) {
            (Verify::Estimate, Some(sketches)) => (None, sketches.estimate(sets, sizes)?),
            _ => (Some(exact), None),
        };
        Ok(Triple { sets, exact, estimate })
    }
}
