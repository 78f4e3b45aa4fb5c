//! Time at equal error: how long each family takes for the accuracy of 128 independent registers.
//!
//! A family with variance factor a needs a x 128 registers for the same standard error (`estimate::factor`), so `fast` gets fewer registers on small
//! sets and `one_permutation` more. This is the table by which the default family was chosen.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use benzer_core::estimate::factor;
use benzer_core::hash::stream;
use benzer_core::sketch::{Family, Scheme, SketchSpec};
use clap::Args;

/// Options of `benzer-bench families`.
#[derive(Debug, Args)]
pub struct Options {
    /// Elements in each set
    #[arg(long, value_delimiter = ',', default_values_t = [10, 45, 122, 500, 5_000])]
    pub sizes: Vec<usize>,
    /// Independent registers whose accuracy everybody must reach
    #[arg(long, default_value_t = 128)]
    pub registers: u32,
    /// Timed runs; the median counts
    #[arg(long, default_value_t = 9)]
    pub runs: usize,
}

const FAMILIES: [Family; 6] = [
    Family::Fast { rounds: 1 },
    Family::Fast { rounds: 2 },
    Family::Fast { rounds: 4 },
    Family::OnePermutation,
    Family::Permutations(Scheme::Affine32),
    Family::Permutations(Scheme::Native),
];

/// Prints a Markdown table: nanoseconds per set, and the registers needed.
pub fn run(options: &Options) -> Result<()> {
    let header: Vec<String> = options.sizes.iter().map(|n| format!("n = {n}")).collect();
    println!(
        "| ns per set (registers) at the error of {} independent registers, J = 0.8 | {} |",
        options.registers,
        header.join(" | ")
    );
    println!("|---|{}", "---:|".repeat(options.sizes.len()));
    for family in FAMILIES {
        let mut cells = Vec::new();
        for &n in &options.sizes {
            let registers = registers_needed(family, n, options.registers);
            let ns = time(family, registers, n, options.runs)?;
            cells.push(format!("{ns:.0} ({registers})"));
        }
        println!("| {family} | {} |", cells.join(" | "));
    }
    Ok(())
}

/// The fewest registers (a multiple of 16 above 16) with the variance of `independent` independent ones, for sets of n elements at J = 0.8.
fn registers_needed(family: Family, n: usize, independent: u32) -> u32 {
    let union = 2.0 * n as f64 / 1.8;
    let factor = |k: u32| match family {
        Family::Fast { rounds } => factor::fast(f64::from(k), f64::from(rounds), union),
        Family::OnePermutation => factor::one_permutation(f64::from(k), union),
        _ => 1.0,
    };
    let enough = |k: &u32| factor(*k) / f64::from(*k) <= 1.0 / f64::from(independent);
    (1..=64).map(|i| 16 * i).find(enough).unwrap_or(1024)
}

fn time(family: Family, registers: u32, n: usize, runs: usize) -> Result<f64> {
    let n_sets = (400_000 / n).max(40);
    let elements: Vec<u64> = stream(1).take(n * n_sets).collect();
    let offsets: Vec<usize> = (0..=n_sets).map(|i| i * n).collect();
    let spec = SketchSpec { family, registers, ..SketchSpec::default() };
    let sketcher = spec.sketcher()?;
    let mut words = vec![0; n_sets * spec.words()];
    let mut seconds = Vec::with_capacity(runs);
    for _ in 0..=runs {
        let start = Instant::now();
        sketcher.sketch_many(&elements, &offsets, black_box(&mut words))?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.remove(0);
    seconds.sort_by(f64::total_cmp);
    Ok(seconds[seconds.len() / 2] / n_sets as f64 * 1e9)
}
