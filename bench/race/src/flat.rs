//! Pre-hashed sets as flat arrays: the input of the sketch race, the same file for everybody.
//!
//! `sets-N.elements.u64` holds the elements of all sets one after the other, `sets-N.offsets.u64` where each set begins and the end
//! of the last one, both as little-endian 64-bit numbers; `sets-N.pairs.tsv` names pairs of sets with their exact overlap. Sets
//! 2i and 2i + 1 are such a pair, with J uniform over [0.1, 0.9]; elements are uniform 64-bit numbers, in random order.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::overlap::Overlap;
use crate::random::Random;

/// Fewer pairs would leave the measured variance too uncertain.
const MIN_PAIRS: usize = 500;

/// Options of `benzer-bench sets`.
#[derive(Debug, Args)]
pub struct Options {
    /// Elements in each set
    #[arg(long, value_delimiter = ',', default_values_t = [10, 30, 45, 122, 500, 5_000])]
    pub sizes: Vec<usize>,
    /// Elements in each file, over all its sets; more if that is less than 500 pairs
    #[arg(long, default_value_t = 2_000_000)]
    pub elements: usize,
    /// Folder to write to
    #[arg(long)]
    pub out: PathBuf,
    /// Seed of every choice
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
}

/// Writes one group of files per set size.
pub fn run(options: &Options) -> Result<()> {
    fs::create_dir_all(&options.out).with_context(|| format!("cannot create {}", options.out.display()))?;
    for &size in &options.sizes {
        ensure!(size > 0, "`--sizes` must be positive");
        let n_pairs = (options.elements / size / 2).max(MIN_PAIRS);
        let mut random = Random::new(options.seed, size as u64);
        let pairs: Vec<Pair> = (0..n_pairs).map(|_| Pair::draw(size, &mut random)).collect();
        write(&options.out.join(format!("sets-{size}")), &pairs)?;
        eprintln!("sets-{size}: {} sets, {} elements", 2 * n_pairs, 2 * n_pairs * size);
    }
    Ok(())
}

struct Pair {
    sets: [Vec<u64>; 2],
    overlap: Overlap,
}

impl Pair {
    /// Two sets of `size` elements; J = c / (2 size - c) is met as nearly as a whole number c of common elements allows.
    fn draw(size: usize, random: &mut Random) -> Self {
        let target = random.between(0.1, 0.9);
        let common = (2.0 * size as f64 * target / (1.0 + target)).round() as usize;
        let shared: Vec<u64> = (0..common).map(|_| random.bits()).collect();
        let sets = [(); 2].map(|()| {
            let mut set = shared.clone();
            set.extend((common..size).map(|_| random.bits()));
            random.shuffle(&mut set);
            set
        });
        let overlap = Overlap { intersection: common as u32, union: (2 * size - common) as u32 };
        Self { sets, overlap }
    }
}

fn write(stem: &Path, pairs: &[Pair]) -> Result<()> {
    let create = |extension: &str| {
        let path = stem.with_extension(extension);
        File::create(&path).map(BufWriter::new).with_context(|| format!("cannot create {}", path.display()))
    };
    let (mut elements, mut offsets, mut table) =
        (create("elements.u64")?, create("offsets.u64")?, create("pairs.tsv")?);
    let mut end = 0u64;
    offsets.write_all(&end.to_le_bytes())?;
    writeln!(table, "a\tb\tintersection\tunion")?;
    for (i, Pair { sets, overlap }) in pairs.iter().enumerate() {
        for set in sets {
            set.iter().try_for_each(|element| elements.write_all(&element.to_le_bytes()))?;
            end += set.len() as u64;
            offsets.write_all(&end.to_le_bytes())?;
        }
        writeln!(table, "{}\t{}\t{}\t{}", 2 * i, 2 * i + 1, overlap.intersection, overlap.union)?;
    }
    [&mut elements, &mut offsets, &mut table].into_iter().try_for_each(|file| file.flush())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_has_the_overlap_it_names() {
        let mut random = Random::new(7, 0);
        for size in [1, 10, 122] {
            let Pair { sets: [mut a, mut b], overlap } = Pair::draw(size, &mut random);
            a.sort_unstable();
            b.sort_unstable();
            assert_eq!(Overlap::of(&a, &b), overlap);
            assert_eq!((a.len(), b.len()), (size, size));
        }
    }
}
