//! A graph in blocks, against the same graph in one task.

use super::*;

/// Kind and values of a row.
pub(crate) type Owned = (i32, [Vec<u8>; 3]);

fn owned(batches: &[RecordBatch]) -> Vec<Owned> {
    let rows: Vec<Rows> = batches.iter().map(|batch| Rows::of(batch).unwrap()).collect();
    rows.iter()
        .flat_map(|rows| rows.iter().map(|(_, kind, values)| (kind, values.map(<[u8]>::to_vec))))
        .collect()
}

pub(crate) fn batches<'a>(rows: impl IntoIterator<Item = &'a Owned>) -> Vec<RecordBatch> {
    let mut out = Out::default();
    for (kind, values) in rows {
        out.row(0, *kind, values.each_ref().map(Vec::as_slice)).unwrap();
    }
    out.take().unwrap()
}

pub(crate) fn max_edges(max: u64) -> Settings {
    let folder = tempfile::tempdir().unwrap();
    Settings::new(&request(folder.path(), "first", "0.8"), 3, max).unwrap()
}

/// An edge between documents of these numbers.
pub(crate) fn edge(later: u32, earlier: u32) -> Owned {
    let place = |n: u32| format!("{n:04}").into_bytes();
    (kind::EDGE, [place(later), place(earlier), [9, 10, 64].map(u32::to_le_bytes).concat()])
}

/// Edges in tasks, as an engine may have them.
type Spread = fn(Vec<Owned>) -> Vec<Vec<Owned>>;

fn by_hash(pending: Vec<Owned>, weights: &[u64]) -> Vec<Vec<Owned>> {
    let mut tasks = vec![Vec::new(); weights.len()];
    for row in pending {
        let mut at = hash::element(&row.1.concat()) % weights.iter().sum::<u64>();
        let task = weights.iter().position(|&weight| {
            let is_here = at < weight;
            at = at.saturating_sub(weight);
            is_here
        });
        tasks[task.unwrap()].push(row);
    }
    tasks
}

/// Ways to spread edges: all in one task; evenly; most in one and few in others, from the last to the first; all edges of a document in one task; the first
/// edges in one task, the last in another; every edge twice.
const SPREADS: [Spread; 6] = [
    |pending| vec![pending],
    |pending| by_hash(pending, &[1, 1, 1]),
    |mut pending| {
        pending.sort_by(|a, b| b.cmp(a));
        by_hash(pending, &[1, 40, 3, 0, 9])
    },
    |pending| {
        let mut tasks = vec![Vec::new(); 4];
        pending.into_iter().for_each(|row| tasks[hash::element(&row.1[0]) as usize % 4].push(row));
        tasks
    },
    |mut pending| {
        pending.sort();
        let rest = pending.split_off(pending.len() / 3);
        vec![rest, pending]
    },
    |pending| vec![pending.clone(), pending],
];

/// Decides over a graph in blocks, as the driver does. Gives the edges that decide, and by how many blocks.
fn in_blocks(mut pending: Vec<Owned>, settings: &Settings, spread: Spread) -> (Vec<Owned>, usize, bool) {
    let (mut decided, mut blocks, mut is_cut) = (Vec::new(), 0, false);
    loop {
        let (mut kept, held) = (Vec::new(), pending.len());
        for rows in spread(pending.clone()) {
            kept.extend(task("first", settings, &batches(&rows)).unwrap());
        }
        is_cut |= owned(&kept).len() < held;
        let made = owned(&task("block", settings, &kept).unwrap());
        blocks += 1;
        let (last, removed): (Vec<_>, Vec<_>) = made.into_iter().partition(|(kind, _)| *kind == kind::LAST);
        decided.extend(removed.clone());
        let Some((_, [last, ..])) = last.first() else { return (decided, blocks, is_cut) };
        pending.retain(|(_, [later, earlier, _])| {
            later > last && removed.iter().all(|(_, [gone, ..])| gone != earlier)
        });
    }
}

#[test]
fn blocks_of_a_graph_decide_what_the_whole_graph_does_however_edges_are_spread() {
    let rows = corpus();
    let settings = max_edges(300);
    let all = edges(&rows, &settings, 2).unwrap();
    let whole = evidence(&task("resolve", &settings, &all).unwrap());
    let (copies, pending): (Vec<_>, Vec<_>) =
        owned(&all).into_iter().partition(|(kind, _)| *kind == kind::COPY);
    for (way, spread) in SPREADS.into_iter().enumerate() {
        let (decided, blocks, is_cut) = in_blocks(pending.clone(), &settings, spread);
        assert!(blocks > 3 && is_cut, "{way}: {blocks}");
        let together = batches(copies.iter().chain(&decided));
        assert_eq!(evidence(&task("resolve", &settings, &together).unwrap()), whole, "{way}");
    }
}

#[test]
fn blocks_of_chains_and_stars_of_any_size_decide_what_the_whole_graph_does() {
    // A chain of which every other document is removed, whose decisions hang on those before; stars, of which all rays are.
    let chain = (1..200).map(|n| edge(n, n - 1));
    let stars = (200..300).flat_map(|n| (190..200).map(move |center| edge(n, center)));
    let graph: Vec<Owned> = chain.chain(stars).collect();
    let whole = task("block", &max_edges(10_000), &batches(&graph)).unwrap();
    let mut whole = owned(&whole);
    whole.sort();
    assert_eq!(whole.len(), 200);
    for max in [11, 12, 64, 199, 1198, 1199, 1200] {
        for (way, spread) in SPREADS.into_iter().enumerate() {
            let (mut decided, blocks, _) = in_blocks(graph.clone(), &max_edges(max), spread);
            decided.sort();
            assert_eq!(decided, whole, "{max} {way}");
            assert_eq!(blocks == 1, max > 1199, "{max} {way}: {blocks}");
        }
    }
}

#[test]
fn a_task_hands_on_its_first_edges_each_once_in_batches() {
    let settings = max_edges(70_000);
    let names = (0..450u32).flat_map(|later| (0..later).map(move |earlier| edge(later, earlier)));
    let mut all: Vec<Owned> = names.collect();
    let first = all[..70_000].to_vec();
    assert!(all.len() > 100_000);
    all.extend_from_within(..50_000);
    for turn in [false, true] {
        if turn {
            all.reverse();
        }
        let made = task("first", &settings, &batches(&all)).unwrap();
        assert!(made.iter().all(|batch| batch.num_rows() <= 16 << 10));
        assert_eq!(owned(&made), first);
    }
    let mut stage = stage("first", settings).unwrap();
    for batch in batches(&all) {
        assert!(stage.push(&batch).unwrap().is_empty());
    }
    let at_once: usize = stage.finish().unwrap().iter().map(RecordBatch::num_rows).sum();
    assert_eq!(at_once, 64 << 10);
}

#[test]
fn a_document_with_more_edges_than_a_block_is_an_error_that_names_the_option() {
    let star: Vec<Owned> = (0..20).map(|n| edge(20, n)).collect();
    let error = task("block", &max_edges(20), &batches(&star)).unwrap_err().to_string();
    assert!(error.contains("task_edges"), "{error}");
    assert_eq!(task("block", &max_edges(21), &batches(&star)).unwrap().len(), 1);
}
