//! How near one sketch against millions comes to reading their memory.
//!
//! Reading and scanning take turns on the same memory, because its speed is not steady: other machines share it. The counts of a block stay in the
//! cache, as whoever searches has them.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Result, ensure};
use benzer_core::Level;
use benzer_core::hash::mix;
use benzer_core::sketch::Bits;
use benzer_core::sketch::count::mismatches_many_at;
use clap::Args;

/// Sketches counted at a time.
const BLOCK: usize = 4096;
/// Width and registers of the sketches.
const SHAPES: [(u32, usize); 4] = [(1, 512), (2, 256), (4, 128), (8, 128)];

/// Options of `benzer-bench scan`.
#[derive(Debug, Args)]
pub struct Options {
    /// How many sketches to scan
    #[arg(long, default_value_t = 10_000_000)]
    pub sketches: usize,
    /// Turns of reading and scanning
    #[arg(long, default_value_t = 15)]
    pub turns: usize,
}

/// Prints a Markdown table.
pub fn run(options: &Options) -> Result<()> {
    ensure!(options.turns > 0 && options.sketches > 0, "`--turns` and `--sketches` must be positive");
    println!("| sketches | path | scan, GB/s | plain read, GB/s | scan / read |");
    println!("|---|---|---:|---:|---:|");
    for (b, k) in SHAPES {
        let bits = Bits::new(b)?;
        let n_words = bits.words(k);
        let rows: Vec<u64> = (0..(options.sketches * n_words) as u64).map(mix).collect();
        for level in Level::available() {
            let (mut read, mut scan) = (Vec::new(), Vec::new());
            for _ in 0..options.turns {
                read.push(seconds(|| black_box(widest_xor(black_box(&rows)))));
                scan.push(seconds(|| nearest(level, &rows, n_words, bits)));
            }
            let (read, scan) = (median(read), median(scan));
            let gigabytes = rows.len() as f64 * 8e-9;
            println!(
                "| {k} x {b} bit | {level:?} | {:.1} | {:.1} | {:.0}% |",
                gigabytes / scan,
                gigabytes / read,
                100.0 * read / scan
            );
        }
    }
    Ok(())
}

/// Counts the first sketch's mismatches with all others.
fn nearest(level: Level, rows: &[u64], n_words: usize, bits: Bits) -> u64 {
    let query = rows[..n_words].to_vec();
    let mut counts = [0; BLOCK];
    for block in rows.chunks(BLOCK * n_words) {
        let counts = &mut counts[..block.len() / n_words];
        mismatches_many_at(level, &query, block, bits, black_box(counts));
    }
    u64::from(counts[0])
}

fn seconds(work: impl FnOnce() -> u64) -> f64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_secs_f64()
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// Reads everything with the widest loads the CPU has.
fn widest_xor(words: &[u64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if Level::Avx512.is_available() {
        // SAFETY: the CPU was just checked for this level, which includes the feature.
        return unsafe { xor_avx512(words) };
    }
    xor(words)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn xor_avx512(words: &[u64]) -> u64 {
    xor(words)
}

#[inline(always)]
fn xor(words: &[u64]) -> u64 {
    words.iter().fold(0, |a, b| a ^ b)
}
