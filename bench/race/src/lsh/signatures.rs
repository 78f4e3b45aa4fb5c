//! The input of the race of indexes: signatures that every contestant takes as they are.
//!
//! Registers are random 32-bit numbers; one document in ten is a copy of an earlier one with up to a fifth of its registers changed. With `--skewed` one in a hundred belongs to one of twenty
//! large clusters, whose members differ from the first in about twelve registers: their buckets hold hundreds of documents.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use benzer_core::hash::mix;
use clap::Args;

/// Registers of a signature.
pub const REGISTERS: usize = 128;
const CLUSTERS: u64 = 20;

/// Options of `benzer-bench signatures`.
#[derive(Debug, Args)]
pub struct Options {
    /// Stem of the output: STEM.registers.u32 and STEM.pairs.tsv
    pub stem: PathBuf,
    /// How many signatures to write
    #[arg(long, default_value_t = 1_000_000)]
    pub documents: u64,
    /// Let one in a hundred belong to one of twenty large clusters
    #[arg(long)]
    pub skewed: bool,
}

/// Writes registers, one signature after the other, and the planted pairs: the copy, its original, and how many registers are equal.
pub fn run(options: &Options) -> Result<()> {
    let path = |extension| file(&options.stem, extension);
    let create = |extension| {
        let path = path(extension);
        File::create(&path).map(BufWriter::new).with_context(|| format!("cannot make {}", path.display()))
    };
    let (mut out, mut pairs) = (create("registers.u32")?, create("pairs.tsv")?);
    writeln!(pairs, "copy\toriginal\tequal")?;
    let mut all: Vec<u32> = Vec::with_capacity(options.documents as usize * REGISTERS);
    for i in 0..options.documents {
        let start = all.len();
        match mix(i ^ 0xabc) % 100 {
            0 if options.skewed => {
                all.extend((0..REGISTERS as u64).map(|j| mix(mix(i) % CLUSTERS * 77_777 + j) as u32));
                change(&mut all[start..], i, 12);
            }
            1..=10 if i > 0 => {
                let original = (mix(i) % i) as usize;
                all.extend_from_within(original * REGISTERS..(original + 1) * REGISTERS);
                change(&mut all[start..], i, mix(i ^ 0xdef) % (REGISTERS as u64 / 5 + 1));
                let other = &all[original * REGISTERS..];
                let equal = all[start..].iter().zip(other).filter(|(a, b)| a == b).count();
                writeln!(pairs, "{i}\t{original}\t{equal}")?;
            }
            _ => all.extend((0..REGISTERS as u64).map(|j| mix(i * REGISTERS as u64 + j) as u32)),
        }
        all[start..].iter().try_for_each(|register| out.write_all(&register.to_le_bytes()))?;
    }
    out.flush()?;
    Ok(pairs.flush()?)
}

/// Changes some registers.
fn change(registers: &mut [u32], i: u64, n: u64) {
    for j in 0..n {
        let at = mix(i * 1000 + j);
        registers[at as usize % REGISTERS] = (mix(at) >> 32) as u32;
    }
}

/// All registers of an input.
pub fn registers(stem: &Path) -> Result<Vec<u32>> {
    let path = file(stem, "registers.u32");
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let (registers, rest) = bytes.as_chunks();
    ensure!(rest.is_empty() && registers.len().is_multiple_of(REGISTERS), "{} is cut off", path.display());
    Ok(registers.iter().map(|register| u32::from_le_bytes(*register)).collect())
}

/// The planted pairs of an input: the copy, its original, equal registers.
pub fn pairs(stem: &Path) -> Result<Vec<[usize; 3]>> {
    let path = file(stem, "pairs.tsv");
    let table = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let pair = |line: &str| -> Result<[usize; 3]> {
        let fields: Vec<usize> = line.split('\t').map(str::parse).collect::<Result<_, _>>()?;
        fields.try_into().ok().with_context(|| format!("`{line}` is not three numbers"))
    };
    table.lines().skip(1).map(pair).collect()
}

fn file(stem: &Path, extension: &str) -> PathBuf {
    let name = stem.file_name().unwrap_or_default().to_string_lossy();
    stem.with_file_name(format!("{name}.{extension}"))
}
