//! The truth file.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::overlap::Overlap;

const MAGIC: &[u8; 8] = b"BZTRUTH1";

/// Two rows, a < b, and their exact overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The earlier row.
    pub a: u32,
    /// The later row.
    pub b: u32,
    /// How similar they are.
    pub overlap: Overlap,
}

/// Writes the pairs under a temporary name, then renames: a half-written file never looks whole.
pub fn write(path: &Path, pairs: &[Pair]) -> Result<()> {
    let unfinished = path.with_extension("unfinished");
    let file =
        File::create(&unfinished).with_context(|| format!("cannot create {}", unfinished.display()))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    out.write_all(MAGIC)?;
    out.write_all(&(pairs.len() as u64).to_le_bytes())?;
    for pair in pairs {
        for number in [pair.a, pair.b, pair.overlap.intersection, pair.overlap.union] {
            out.write_all(&number.to_le_bytes())?;
        }
    }
    out.flush()?;
    fs::rename(&unfinished, path).with_context(|| format!("cannot write {}", path.display()))
}

/// Reads all pairs.
pub fn read(path: &Path) -> Result<Vec<Pair>> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    ensure!(bytes.starts_with(MAGIC) && bytes.len() >= 16, "{} is not a truth file", path.display());
    let (header, body) = bytes.split_at(16);
    let n_pairs = u64::from_le_bytes(header[8..].try_into().expect("eight bytes"));
    let expected = n_pairs.checked_mul(16);
    ensure!(
        expected == Some(body.len() as u64),
        "{} is damaged: expected {n_pairs} pairs of 16 bytes, got {} bytes",
        path.display(),
        body.len()
    );
    let number =
        |pair: &[u8], i: usize| u32::from_le_bytes(pair[4 * i..][..4].try_into().expect("four bytes"));
    let pair = |bytes: &[u8]| Pair {
        a: number(bytes, 0),
        b: number(bytes, 1),
        overlap: Overlap { intersection: number(bytes, 2), union: number(bytes, 3) },
    };
    Ok(body.chunks_exact(16).map(pair).collect())
}
