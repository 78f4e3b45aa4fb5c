//! Batches in a log, to be read and to be written.
//!
//! ```text
//! "BNZB" u32, number of the first record u32 | records u32, removed u32 | words of the block u64 | checksum of the rows u64 | checksum of the rest u64
//! removed numbers u32, words of each row u32, filled up to eight bytes | rows
//! ```
//!
//! Checksums of blocks know where the block is and which log it is in, so that nothing inside a document can be taken for a block.

use std::sync::Arc;

use benzer_core::hash;

use super::map::{Map, bytes, cells};
use super::row::{self, Row};
use crate::record::{DocNo, Record};
use crate::store::Parts;

/// Words of the header of a block.
const BLOCK: usize = 5;
const BLOCK_MAGIC: u32 = u32::from_le_bytes(*b"BNZB");

/// The rows of a log, as readers see them. Places are words from the beginning of the file.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    pub map: Arc<Map>,
    /// Different for every log.
    pub salt: u64,
    pub stride: usize,
    /// Up to here all blocks were acknowledged, as far as that is known: one that is not whole is damaged, not torn.
    pub acknowledged: usize,
}

/// A batch in the log.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'a> {
    /// Where it begins and ends.
    pub at: usize,
    pub end: usize,
    pub first: DocNo,
    pub removed: &'a [DocNo],
    /// Words of each row.
    lengths: &'a [u32],
    rows_at: usize,
    /// False if some rows are damaged. The batch was acknowledged then, because that is known or another one comes after it.
    pub is_whole: bool,
}

/// What comes next in a log.
pub(super) enum Next<'a> {
    Block(Block<'a>),
    /// Nothing that can be read until the next block.
    Lost {
        until: usize,
    },
    End,
}

impl Block<'_> {
    /// Numbers and places of its rows.
    pub fn places(&self) -> impl Iterator<Item = (DocNo, usize)> {
        let mut at = self.rows_at;
        (self.first.0..).zip(self.lengths).map(move |(number, length)| {
            let place = at;
            at += *length as usize;
            (DocNo(number), place)
        })
    }

    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// The number after its records.
    pub fn next(&self) -> DocNo {
        self.first.plus(self.lengths.len())
    }
}

impl Rows {
    /// The row at a place.
    #[inline]
    pub fn get(&self, place: usize) -> Option<Row<'_>> {
        Row::read(self.map.words().get(place..)?, self.stride)
    }

    /// The words of the record at a place.
    #[inline]
    pub fn words(&self, place: usize) -> Option<&[u64]> {
        self.map.words().get(place..)?.get(..self.stride)
    }

    /// The row at a place, if it is whole.
    pub fn whole(&self, place: usize, parts: Parts) -> Option<Row<'_>> {
        self.get(place).filter(|row| row.is_whole(parts))
    }

    /// What begins at a place.
    pub fn next(&self, at: usize) -> Next<'_> {
        match self.head(at) {
            Some(block)
                if block.is_whole || block.end <= self.acknowledged || self.head(block.end).is_some() =>
            {
                Next::Block(block)
            }
            _ => match (at + 1..self.map.words().len()).find(|at| self.head(*at).is_some()) {
                Some(until) => Next::Lost { until },
                None if at < self.acknowledged => Next::Lost { until: self.acknowledged },
                None => Next::End,
            },
        }
    }

    /// The block at a place, if its head is whole.
    fn head(&self, at: usize) -> Option<Block<'_>> {
        let words = self.map.words().get(at..)?;
        let (head, rest) = words.split_at_checked(BLOCK)?;
        if head[0] as u32 != BLOCK_MAGIC {
            return None;
        }
        let (n, n_removed) = (head[1] as u32 as usize, (head[1] >> 32) as usize);
        let tables = (n + n_removed).div_ceil(2);
        let (tables, rest) = rest.split_at_checked(tables)?;
        if head_checksum(&head[..BLOCK - 1], tables, self.salt, at) != head[BLOCK - 1] {
            return None;
        }
        let length = head[2] as usize;
        let rows = rest.get(..length.checked_sub(BLOCK + tables.len())?);
        let is_whole = rows.is_some_and(|rows| hash::element(bytes(rows)) == head[3]);
        let lengths = &cells::<u32>(tables)[n_removed..];
        Some(Block {
            at,
            end: at + length,
            first: DocNo((head[0] >> 32) as u32),
            removed: &cells(tables)[..n_removed],
            lengths: &lengths[..n],
            rows_at: at + BLOCK + tables.len(),
            is_whole,
        })
    }
}

fn head_checksum(head: &[u64], tables: &[u64], salt: u64, at: usize) -> u64 {
    let place = hash::mix(salt ^ hash::mix(at as u64));
    hash::mix(hash::element(bytes(head)) ^ hash::element(bytes(tables)).rotate_left(21) ^ place)
}

/// A block to be appended.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub removed: Vec<DocNo>,
    lengths: Vec<u32>,
    rows: Vec<u64>,
}

impl Batch {
    /// A batch that only removes.
    pub fn removing(removed: Vec<DocNo>) -> Self {
        Self { removed, ..Self::default() }
    }

    pub fn push(&mut self, record: &Record<'_>) {
        let length = row::push(record, &mut self.rows);
        self.lengths.push(length as u32);
    }

    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Words of its rows.
    pub fn words(&self) -> usize {
        self.rows.len()
    }

    /// The words of a block at a place.
    pub fn encode(&self, first: DocNo, salt: u64, at: usize) -> Vec<u64> {
        let mut tables: Vec<u32> = self.removed.iter().map(|number| number.0).collect();
        tables.extend_from_slice(&self.lengths);
        tables.resize(tables.len().next_multiple_of(2), 0);
        let tables: Vec<u64> =
            tables.chunks_exact(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect();
        let mut words = Vec::with_capacity(BLOCK + tables.len() + self.rows.len());
        words.push(u64::from(BLOCK_MAGIC) | u64::from(first.0) << 32);
        words.push(self.lengths.len() as u64 | (self.removed.len() as u64) << 32);
        words.push((BLOCK + tables.len() + self.rows.len()) as u64);
        words.push(hash::element(bytes(&self.rows)));
        words.push(head_checksum(&words, &tables, salt, at));
        words.extend_from_slice(&tables);
        words.extend_from_slice(&self.rows);
        words
    }
}
