//! The candidate graph within a budget: the same pairs as in memory, by sorting on disk.
//!
//! ```text
//! (band, key, rank) --sorted--> buckets --pairs of rows, sorted by block--> two blocks of sketches at a time --sorted--> (later, earlier)
//! ```

use benzer_core::lsh::Banding;

use crate::documents::Table;
use crate::error::Result;
use crate::ranking::Ranking;
use benzer_flow::Workspace;
use benzer_flow::sort::Sorted;
use benzer_flow::{Progress, ThreadProgress};
use benzer_join::bands::{BandRules, BucketCounts};

/// Rows whose sketches are looked at together.
struct Blocks<'a> {
    table: &'a Table,
    rows: u32,
    loaded: [(Option<u32>, Vec<u64>); 2],
    n_words: usize,
}

/// The candidate pairs among `members`, in order. Each of them counts twice on the way, and each row of the table once.
pub(crate) fn candidates(
    table: &Table,
    (ranking, members): (&Ranking, &[u32]),
    BandRules { banding, prefilter, cap }: BandRules<'_>,
    n_words: usize,
    (workspace, watch): (Workspace<'_>, &Progress<'_>),
) -> Result<(Sorted<(u32, u32)>, BucketCounts)> {
    let keys = keys(table, (ranking, members), banding, n_words, (workspace, watch))?;
    let mut blocks = Blocks {
        table,
        rows: (workspace.bytes / 8 / (8 * n_words)).max(1) as u32,
        loaded: Default::default(),
        n_words,
    };
    let records = ThreadProgress::new(watch, banding.bands() as u64, 1);
    let (pairs, meetings) = meet(keys, ranking, cap, blocks.rows, (workspace, records))?;
    let mut candidates = workspace.sorter::<(u32, u32)>(4);
    let mut steps = ThreadProgress::new(watch, pairs.len(), members.len() as u64);
    for pair in pairs {
        steps.step()?;
        let (block_a, block_b, a, b) = pair?;
        blocks.load(0, block_a)?;
        blocks.load(1, block_b)?;
        if prefilter.passes(blocks.words(0, a), blocks.words(1, b)) {
            let (x, y) = (ranking.rank(a), ranking.rank(b));
            candidates.push((x.max(y), x.min(y)))?;
        }
    }
    Ok((candidates.finish()?, meetings))
}

/// All band keys, sorted.
fn keys(
    table: &Table,
    (ranking, members): (&Ranking, &[u32]),
    banding: &Banding,
    n_words: usize,
    (workspace, watch): (Workspace<'_>, &Progress<'_>),
) -> Result<Sorted<(u16, u64, u32)>> {
    let mut sorter = workspace.sorter::<(u16, u64, u32)>(2);
    let mut words = Vec::new();
    const ROWS: u32 = 4096;
    for start in (0..table.len()).step_by(ROWS as usize) {
        let rows = start..(start + ROWS).min(table.len());
        table.words(rows.clone(), &mut words)?;
        for (row, words) in rows.zip(words.chunks_exact(n_words)) {
            let rank = ranking.rank(row);
            if members.binary_search(&rank).is_err() {
                continue;
            }
            for band in 0..banding.bands() {
                sorter.push((band as u16, banding.key(words, band), rank))?;
            }
        }
        watch.add(u64::from(ROWS.min(table.len() - start)))?;
    }
    Ok(sorter.finish()?)
}

type BlockPair = (u32, u32, u32, u32);

/// The pairs of all buckets, as rows, sorted by the blocks they lie in.
fn meet(
    keys: Sorted<(u16, u64, u32)>,
    ranking: &Ranking,
    cap: usize,
    block_rows: u32,
    (workspace, mut steps): (Workspace<'_>, ThreadProgress<'_>),
) -> Result<(Sorted<BlockPair>, BucketCounts)> {
    let mut sorter = workspace.sorter::<BlockPair>(4).dedup();
    let mut meetings = BucketCounts::default();
    let (mut bucket, mut size): (Vec<u32>, u64) = (Vec::new(), 0);
    let mut last = None;
    for record in keys {
        steps.step()?;
        let (band, key, rank) = record?;
        if last != Some((band, key)) {
            meetings.add(size, cap);
            bucket.clear();
            size = 0;
        }
        last = Some((band, key));
        size += 1;
        let row = ranking.row(rank);
        for &other in &bucket {
            let (a, b) = (row.min(other), row.max(other));
            sorter.push((a / block_rows, b / block_rows, a, b))?;
        }
        if bucket.len() < cap {
            bucket.push(row);
        }
    }
    meetings.add(size, cap);
    Ok((sorter.finish()?, meetings))
}

impl Blocks<'_> {
    fn load(&mut self, side: usize, block: u32) -> Result<()> {
        let (loaded, words) = &mut self.loaded[side];
        if *loaded != Some(block) {
            let start = block * self.rows;
            self.table.words(start..start.saturating_add(self.rows).min(self.table.len()), words)?;
            *loaded = Some(block);
        }
        Ok(())
    }

    fn words(&self, side: usize, row: u32) -> &[u64] {
        let at = (row % self.rows) as usize * self.n_words;
        &self.loaded[side].1[at..at + self.n_words]
    }
}
