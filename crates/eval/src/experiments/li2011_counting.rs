//! 004, section 6: counting equal b-bit samples, with the paper's lookup table and with today's instructions.

use std::hint::black_box;
use std::time::Instant;

use benzer_core::sketch::{Bits, count};
use benzer_core::{Level, hash};

use crate::table::row;
use crate::{Axis, Chart, Checks, Claim, Context, Experiment, Outcome, Result, Series};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "li2011_counting",
    source: "004, section 6",
    title: "Counting equal samples",
    claim: "With a lookup table of 2^16 entries, one-bit samples take 1.67 times as long for the same memory as 32-bit samples (1.73 for 64-bit), the same for 2, 4 and 8 bits; with 21.3 times less memory that is 12.8 times faster.",
    criterion: "Every method counts the same equal samples as a loop over single samples, for 1, 2, 4, 8, 16, 32 and 64 bits. Times are reported and decide nothing.",
    run,
};

/// Words of each of the two arrays: 1 MiB together, so that the cache holds them.
const WORDS: usize = 1 << 16;

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let a: Vec<u64> = hash::stream(context.seed(0)).take(WORDS).collect();
    // Half of the bytes agree, so that every width has equal samples.
    let b: Vec<u64> =
        a.iter().zip(hash::stream(context.seed(1))).map(|(x, noise)| x ^ (noise & mask(noise))).collect();
    let mut table = context.table("", &["method", "b", "ns_per_KiB", "over_32_bit"])?;
    let repeats = context.size(20, 200);
    let plain = |bits: Bits| k_of(bits) - count::mismatches_at(Level::Scalar, &a, &b, bits) as usize;
    let whole = time(repeats, || equal_halves(&a, &b));
    let mut points = [Vec::new(), Vec::new(), Vec::new()];
    let mut record = |method: &str, b: u32, seconds: f64| -> Result<f64> {
        let ratio = seconds / whole;
        table.push(row![method, b, seconds * 1e9 / (WORDS as f64 * 16.0 / 1024.0), ratio])?;
        Ok(ratio)
    };
    record("compare 32 bits", 32, whole)?;
    checks.holds(
        "32 bits",
        equal_halves(&a, &b) == slow(&a, &b, 32) && plain(Bits::new(32)?) == slow(&a, &b, 32),
    );
    let words =
        record("compare 64 bits", 64, time(repeats, || a.iter().zip(&b).filter(|(x, y)| x == y).count()))?;
    let mut ratios = Vec::new();
    for width in [1, 2, 4, 8] {
        context.step(format_args!("{width} bits"));
        let bits = Bits::new(width)?;
        let lookup = lookup(width);
        let by_table = || -> usize {
            let parts = |x: u64| [x as u16, (x >> 16) as u16, (x >> 32) as u16, (x >> 48) as u16];
            a.iter()
                .zip(&b)
                .map(|(x, y)| {
                    parts(x ^ y).iter().map(|&part| usize::from(lookup[usize::from(part)])).sum::<usize>()
                })
                .sum()
        };
        let expected = slow(&a, &b, width);
        checks.holds(format_args!("lookup, {width} bits"), by_table() == expected);
        ratios.push(record("lookup table of 2^16", width, time(repeats, by_table))?);
        points[0].push((f64::from(width), ratios[ratios.len() - 1]));
        let levels = [(Level::Scalar, "words and popcount", 1), (Level::best(), "vectors", 2)];
        for (level, name, place) in levels {
            let of = || k_of(bits) - count::mismatches_at(level, &a, &b, bits) as usize;
            checks.holds(format_args!("{name}, {width} bits"), of() == expected);
            let ratio = record(name, width, time(repeats, of))?;
            points[place].push((f64::from(width), ratio));
        }
    }
    for width in [16, 64] {
        checks.holds(format_args!("{width} bits"), plain(Bits::new(width)?) == slow(&a, &b, width));
    }
    let (old, plain, new) = (ratios[0], points[1][0].1, points[2][0].1);
    let [lookups, folded, vectors] = points;
    let chart = Chart::new(
        "Time for equal memory, 32-bit comparison = 1",
        Axis::log("bits b"),
        Axis::log("time ratio"),
    )
    .with(Series::points("lookup table (the paper's)", lookups))
    .with(Series::points("xor, fold, popcount", folded).colour(1))
    .with(Series::points("the same in vectors", vectors).colour(2));
    let verdict = format!(
        "On this machine and for the same memory the lookup table takes {old:.1} times the time of vectorized 32-bit comparison for one bit (1.67 in the paper) and {:.1} times that of 64-bit comparison (1.73), \
         words with popcount {plain:.2} times and vectors {new:.2} times that of 32 bits: with 21.3 times less memory than 64-bit samples, one bit takes {:.0} times less time than they do at the precision of R = 0.5 (12.8 in the paper, by its table; {:.1} by it here).",
        old / words,
        21.3 / (new / words),
        21.3 / (old / words)
    );
    let table_times = [1, 2, 3].map(|i| ratios[i] / old);
    let claim = Claim::of(&[
        old < 1.1 * 1.67,
        old / words < 1.1 * 1.73,
        table_times.iter().all(|times| (0.9..1.1).contains(times)),
        21.3 / (new / words) > 12.8,
    ]);
    Ok(Outcome { tables: vec![table], charts: vec![chart], checks, claim, verdict })
}

fn k_of(bits: Bits) -> usize {
    WORDS * bits.lanes()
}

/// Ones where a byte of the noise is odd: those bytes differ.
fn mask(noise: u64) -> u64 {
    (noise.rotate_left(7) & 0x0101_0101_0101_0101) * 0xff
}

/// The least time of some, which is the one that nothing disturbed.
fn time(repeats: usize, mut f: impl FnMut() -> usize) -> f64 {
    let one = |f: &mut dyn FnMut() -> usize| {
        let started = Instant::now();
        black_box(f());
        started.elapsed().as_secs_f64()
    };
    (0..repeats).map(|_| one(&mut f)).fold(f64::MAX, f64::min)
}

/// Equal 32-bit samples, two in a word.
fn equal_halves(a: &[u64], b: &[u64]) -> usize {
    a.iter().zip(b).map(|(x, y)| usize::from(*x as u32 == *y as u32) + usize::from(x >> 32 == y >> 32)).sum()
}

/// One sample after the other.
fn slow(a: &[u64], b: &[u64], width: u32) -> usize {
    let mask = u64::MAX >> (64 - width);
    let equal = |x: u64, y: u64| (0..64 / width).filter(|lane| (x ^ y) >> (lane * width) & mask == 0).count();
    a.iter().zip(b).map(|(x, y)| equal(*x, *y)).sum()
}

/// How many samples of `width` bits are zero in each 16-bit value.
fn lookup(width: u32) -> Vec<u8> {
    let mask = (1u32 << width) - 1;
    let zero = |value: u32| (0..16 / width).filter(|lane| value >> (lane * width) & mask == 0).count() as u8;
    (0..1u32 << 16).map(zero).collect()
}
