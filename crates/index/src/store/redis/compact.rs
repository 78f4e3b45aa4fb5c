//! Removing postings that mean nothing any more: of records that are gone, and repeated ones.
//!
//! First the fence is raised in every slice, then all living numbers are listed, then block after block is read, and those with dead postings are replaced by a function that does so only if the
//! block begins with what was read. Others may write and compact at the same time.

use super::blocks::Replaced;
use super::functions::Function;
use super::home::Home;
use super::net::How;
use super::row::POSTING;
use super::{Redis, Requests, Trouble, add_function, bytes, int, list, refused, row};
use crate::record::DocNo;

/// Id buckets of one call of the function, and calls of one round trip.
const BUCKETS: usize = 64;
const CALLS: usize = 64;
/// Blocks that are read at once.
const BLOCKS: usize = 4096;

/// Slice, number and contents of a block.
pub(super) type Block = (u32, u32, Vec<u8>);
/// What is done with some blocks.
pub(super) type VisitBlocks<'a> = &'a mut dyn FnMut(&Home, Vec<Block>) -> Result<(), Trouble>;

/// Which numbers are alive, slice by slice.
#[derive(Debug)]
pub(super) struct LiveNumbers {
    bits: Vec<Vec<u64>>,
    /// Numbers of a slice from here on are not known.
    ends: Vec<u32>,
}

impl LiveNumbers {
    pub fn new(ends: Vec<u32>) -> Self {
        let bits = ends.iter().map(|end| vec![0; *end as usize / 64 + 1]).collect();
        Self { bits, ends }
    }

    pub fn add(&mut self, home: &Home, number: DocNo) {
        let (slice, count) = home.parts(number);
        if let Some(word) = self.bits[slice as usize].get_mut(count as usize / 64) {
            *word |= 1 << (count % 64);
        }
    }

    pub fn has(&self, home: &Home, number: DocNo) -> bool {
        let (slice, count) = home.parts(number);
        self.bits[slice as usize].get(count as usize / 64).is_some_and(|word| word >> (count % 64) & 1 == 1)
    }

    /// True for a number that was given out before the fence was raised, and has no record.
    pub fn is_dead(&self, home: &Home, number: DocNo) -> bool {
        let (slice, count) = home.parts(number);
        count <= self.ends[slice as usize] && !self.has(home, number)
    }
}

impl Redis {
    pub(super) fn compact_all(&self, home: &Home) -> Result<(), Trouble> {
        let (ends, dead) = self.raise_fences(home)?;
        let living = self.living(home, ends)?;
        let mut kept = vec![0u64; home.slices.len()];
        self.each_block(home, &mut |home, blocks| {
            let replaced = blocks.into_iter().filter_map(|(slice, block, old)| {
                let new = without_dead(home, &living, &old);
                kept[slice as usize] += new.len() as u64;
                (new.len() < old.len()).then_some(Replaced { slice, block, old, new })
            });
            let replaced: Vec<Replaced> = replaced.collect();
            if replaced.is_empty() { Ok(()) } else { self.replace(home, &replaced).map(drop) }
        })?;
        let mut requests = Requests::default();
        for ((at, dead), kept) in home.slices.iter().zip(dead).zip(kept) {
            let args = [dead.to_string(), kept.to_string()];
            let args = [args[0].as_bytes(), args[1].as_bytes()];
            add_function(&mut requests, at.slot, Function::Settle, &[at.open(), at.meta()], &args);
        }
        self.change(&requests)?.iter().try_for_each(refused)
    }

    /// Raises the fence of every slice: the last number that was given out, and how many records were removed so far.
    pub(super) fn raise_fences(&self, home: &Home) -> Result<(Vec<u32>, Vec<u64>), Trouble> {
        let mut requests = Requests::default();
        for at in &home.slices {
            add_function(&mut requests, at.slot, Function::Fence, &[at.open(), at.meta()], &[]);
        }
        let answers = self.change(&requests)?;
        answers.iter().try_for_each(refused)?;
        let pair = |answer| match list(answer) {
            [end, dead] => (int(end).max(0) as u32, int(dead).max(0) as u64),
            _ => (0, 0),
        };
        Ok(answers.iter().map(pair).unzip())
    }

    /// All living numbers, of those that were given out so far.
    fn living(&self, home: &Home, ends: Vec<u32>) -> Result<LiveNumbers, Trouble> {
        let mut living = LiveNumbers::new(ends);
        let all: Vec<u32> = (0..home.entry.id_buckets).collect();
        let calls: Vec<(u32, &[u32])> = (0..home.entry.slices)
            .flat_map(|slice| all.chunks(BUCKETS).map(move |buckets| (slice, buckets)))
            .collect();
        for calls in calls.chunks(CALLS) {
            let mut requests = Requests::default();
            for (slice, buckets) in calls {
                let at = home.slice(*slice);
                let mut keys = vec![at.open()];
                keys.extend(buckets.iter().map(|bucket| at.ids(*bucket)));
                add_function(&mut requests, at.slot, Function::Numbers, &keys, &[]);
            }
            let answers = self.client.call(&requests, How::default())?;
            for ((slice, _), answer) in calls.iter().zip(&answers) {
                refused(answer)?;
                for count in bytes(answer).unwrap_or_default().as_chunks::<4>().0 {
                    living.add(home, home.number(*slice, u32::from_be_bytes(*count)));
                }
            }
        }
        Ok(living)
    }

    /// Hands all blocks that are there to `visit`: slice, block, contents; some at a time, in order.
    pub(super) fn each_block(&self, home: &Home, visit: VisitBlocks<'_>) -> Result<(), Trouble> {
        let all =
            (0..home.entry.slices).flat_map(|slice| home.blocks_of(slice).map(move |block| (slice, block)));
        let mut all = all.peekable();
        while all.peek().is_some() {
            let wanted: Vec<(u32, u32)> = all.by_ref().take(BLOCKS).collect();
            let mut found = self.blocks(home, &wanted)?;
            let blocks =
                wanted.into_iter().filter_map(|(slice, block)| Some((slice, block, found.remove(&block)?)));
            visit(home, blocks.collect())?;
        }
        Ok(())
    }
}

/// The postings of a block that may mean something, each once.
fn without_dead(home: &Home, living: &LiveNumbers, block: &[u8]) -> Vec<u8> {
    let kept = row::postings(block).filter(|(_, number)| !living.is_dead(home, *number));
    let mut kept: Vec<[u8; POSTING]> = kept.map(|(rest, number)| row::posting(rest, number)).collect();
    kept.sort_unstable();
    kept.dedup();
    kept.concat()
}
