//! The candidate graph within a budget: the same pairs as in memory, by sorting on disk.
//!
//! ```text
//! (band, key, rank) --sorted--> buckets --pairs of rows, sorted by block--> two blocks of sketches at a time --sorted--> (later, earlier)
//! ```

use benzer_core::lsh::Banding;

use crate::documents::{DiskRowTable, Row};
use crate::error::Result;
use crate::ranking::Ranking;
use benzer_flow::Workspace;
use benzer_flow::sort::Sorted;
use benzer_flow::{Progress, ThreadProgress};
use benzer_join::Rank;
use benzer_join::bands::{BandRules, BucketCounts};

/// Rows whose sketches are looked at together.
struct Blocks<'a> {
    table: &'a DiskRowTable,
    rows: u32,
    loaded: [(Option<u32>, Vec<u64>); 2],
    n_words: usize,
}

/// Documents whose candidates are looked for, and what sorting may use.
pub(crate) struct CandidatesOnDisk<'a> {
    pub table: &'a DiskRowTable,
    pub ranking: &'a Ranking,
    /// Their ranks, in order.
    pub members: &'a [Rank],
    pub workspace: Workspace<'a>,
    pub progress: &'a Progress<'a>,
}

type BlockPair = (u32, u32, Row, Row);

impl CandidatesOnDisk<'_> {
    /// The candidate pairs, in order. Each member counts twice on the way, and each row of the table once.
    pub fn candidates(
        &self,
        BandRules { banding, prefilter, cap }: BandRules,
        n_words: usize,
    ) -> Result<(Sorted<(Rank, Rank)>, BucketCounts)> {
        let Self { table, ranking, workspace, .. } = *self;
        let keys = self.keys(&banding, n_words)?;
        let mut blocks = Blocks {
            table,
            rows: (workspace.bytes / 8 / (8 * n_words)).max(1) as u32,
            loaded: Default::default(),
            n_words,
        };
        let records = ThreadProgress::new(self.progress, banding.bands() as u64, 1);
        let (pairs, counts) = self.block_pairs(keys, cap, blocks.rows, records)?;
        let mut candidates = workspace.sorter::<(Rank, Rank)>(4);
        let mut steps = ThreadProgress::new(self.progress, pairs.len(), self.members.len() as u64);
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
        Ok((candidates.finish()?, counts))
    }

    fn keys(&self, banding: &Banding, n_words: usize) -> Result<Sorted<(u16, u64, Rank)>> {
        let Self { table, ranking, members, workspace, .. } = *self;
        let mut sorter = workspace.sorter::<(u16, u64, Rank)>(2);
        let mut words = Vec::new();
        const ROWS: u32 = 4096;
        for start in (0..table.n).step_by(ROWS as usize) {
            let rows = start..(start + ROWS).min(table.n);
            table.words(Row(rows.start)..Row(rows.end), &mut words)?;
            for (row, words) in rows.zip(words.chunks_exact(n_words)) {
                let rank = ranking.rank(Row(row));
                if members.binary_search(&rank).is_err() {
                    continue;
                }
                for band in 0..banding.bands() {
                    sorter.push((band as u16, banding.key(words, band), rank))?;
                }
            }
            self.progress.add(u64::from(ROWS.min(table.n - start)))?;
        }
        Ok(sorter.finish()?)
    }

    /// The pairs of all buckets, as rows, sorted by the blocks they lie in.
    fn block_pairs(
        &self,
        keys: Sorted<(u16, u64, Rank)>,
        cap: usize,
        block_rows: u32,
        mut steps: ThreadProgress<'_>,
    ) -> Result<(Sorted<BlockPair>, BucketCounts)> {
        let mut sorter = self.workspace.sorter::<BlockPair>(4).dedup();
        let mut counts = BucketCounts::default();
        let (mut bucket, mut size): (Vec<Row>, u64) = (Vec::new(), 0);
        let mut last = None;
        for record in keys {
            steps.step()?;
            let (band, key, rank) = record?;
            if last != Some((band, key)) {
                counts.add(size, cap);
                bucket.clear();
                size = 0;
            }
            last = Some((band, key));
            size += 1;
            let row = self.ranking.row(rank);
            for &other in &bucket {
                let (a, b) = (row.min(other), row.max(other));
                sorter.push((a.0 / block_rows, b.0 / block_rows, a, b))?;
            }
            if bucket.len() < cap {
                bucket.push(row);
            }
        }
        counts.add(size, cap);
        Ok((sorter.finish()?, counts))
    }
}

impl Blocks<'_> {
    fn load(&mut self, side: usize, block: u32) -> Result<()> {
        let (loaded, words) = &mut self.loaded[side];
        if *loaded != Some(block) {
            let start = block * self.rows;
            let end = start.saturating_add(self.rows).min(self.table.n);
            self.table.words(Row(start)..Row(end), words)?;
            *loaded = Some(block);
        }
        Ok(())
    }

    fn words(&self, side: usize, row: Row) -> &[u64] {
        let at = (row.0 % self.rows) as usize * self.n_words;
        &self.loaded[side].1[at..at + self.n_words]
    }
}
