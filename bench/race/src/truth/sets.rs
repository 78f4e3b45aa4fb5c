//! All documents as sets of small numbers, rarest shingle first: what a prefix-filter join wants.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::words::Words;

/// The sets of a corpus. A shingle that occurs in one document only can be in no intersection: it is counted, not kept.
/// The others are numbered by increasing frequency, and each document has its numbers in increasing order.
#[derive(Debug)]
pub struct Sets {
    elements: Vec<u32>,
    offsets: Vec<usize>,
    /// Size of each set, including the shingles that are not kept.
    sizes: Vec<u32>,
    n_numbers: usize,
}

impl Sets {
    /// Number of documents.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Documents with no shingle.
    pub fn n_empty(&self) -> usize {
        self.sizes.iter().filter(|&&size| size == 0).count()
    }

    /// Shingles of all documents together.
    pub fn n_elements(&self) -> u64 {
        self.sizes.iter().map(|&size| u64::from(size)).sum()
    }

    /// The size of a document's set.
    pub fn size(&self, row: usize) -> u32 {
        self.sizes[row]
    }

    /// The shared shingles of a document, rarest first.
    pub fn shared(&self, row: usize) -> &[u32] {
        &self.elements[self.offsets[row]..self.offsets[row + 1]]
    }

    /// Shared shingles are numbered from 0 to this.
    pub fn n_numbers(&self) -> usize {
        self.n_numbers
    }

    /// Numbers the shingles of hashed sets, given one after the other with their sizes.
    pub fn number(hashes: &[u64], sizes: Vec<u32>) -> Self {
        let numbers = Numbers::new(hashes.to_vec());
        let mut offsets = Vec::with_capacity(sizes.len() + 1);
        let (mut elements, mut start) = (Vec::new(), 0);
        offsets.push(0);
        for &size in &sizes {
            let from = elements.len();
            elements.extend(hashes[start..start + size as usize].iter().filter_map(|&hash| numbers.of(hash)));
            elements[from..].sort_unstable();
            offsets.push(elements.len());
            start += size as usize;
        }
        Self { elements, offsets, sizes, n_numbers: numbers.number.len() }
    }
}

/// Shared hashes in increasing order, the number of each, and where each 2^-20th of the hash range begins.
struct Numbers {
    hashes: Vec<u64>,
    number: Vec<u32>,
    directory: Vec<u32>,
}

impl Numbers {
    const BITS: u32 = 20;

    fn new(mut all: Vec<u64>) -> Self {
        all.sort_unstable();
        let (mut hashes, mut counts) = (Vec::new(), Vec::<u32>::new());
        for run in all.chunk_by(|a, b| a == b).filter(|run| run.len() > 1) {
            hashes.push(run[0]);
            counts.push(run.len() as u32);
        }
        drop(all);
        let mut order: Vec<u32> = (0..hashes.len() as u32).collect();
        order.sort_unstable_by_key(|&i| (counts[i as usize], i));
        let mut number = vec![0; hashes.len()];
        order.iter().enumerate().for_each(|(rank, &i)| number[i as usize] = rank as u32);
        let bucket = |i: u64| hashes.partition_point(|&hash| hash >> (64 - Self::BITS) < i) as u32;
        let directory = (0..=1u64 << Self::BITS).map(bucket).collect();
        Self { hashes, number, directory }
    }

    fn of(&self, hash: u64) -> Option<u32> {
        let bucket = (hash >> (64 - Self::BITS)) as usize;
        let (start, end) = (self.directory[bucket] as usize, self.directory[bucket + 1] as usize);
        let found = self.hashes[start..end].binary_search(&hash).ok()?;
        Some(self.number[start + found])
    }
}

/// The sets of a corpus file.
pub fn read(path: &Path, words: Words) -> Result<Sets> {
    let (mut hashes, mut sizes) = (Vec::new(), Vec::new());
    for text in texts(path)? {
        let shingles = words.shingles(&text?);
        sizes.push(shingles.len() as u32);
        hashes.extend(shingles);
    }
    Ok(Sets::number(&hashes, sizes))
}

/// The texts of a JSONL file, row by row.
pub fn texts(path: &Path) -> Result<impl Iterator<Item = Result<String>> + '_> {
    #[derive(Deserialize)]
    struct Line {
        text: String,
    }
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines = BufReader::with_capacity(1 << 20, file).lines();
    Ok(lines.enumerate().map(move |(row, line)| {
        let line: Line =
            serde_json::from_str(&line?).with_context(|| format!("{}:{}", path.display(), row + 1))?;
        Ok(line.text)
    }))
}
