//! 004, Fig. 1: Theorem 1 assumes a large universe; how wrong is it in a small one?
//!
//! The exact probability comes from the distribution of the two minima. The first element of the union stands at position `i` with probability
//! `C(D-i-1, u-1) / C(D, u)`, and is common with probability `a/u`. If it lies in one set only, the other set is a random subset of what
//! follows, and its first element stands at `j` with probability `C(D-j-1, f-1) / C(D-i-1, f)`. A walk over all permutations of a tiny
//! universe confirms that.

use std::collections::BTreeMap;

use benzer_core::estimate::collision::Collision;

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "li2011_exactness",
    source: "004, Fig. 1",
    title: "Theorem 1 in small universes",
    claim: "The collision probability of b-bit samples assumes a large universe, yet its error is below 0.01 for D = 20 and below 0.0004 for D = 500.",
    criterion: "The exact probability equals the count over all permutations of 7 elements, and nine fractions from rational arithmetic for D = 7 to 500, to 1e-12; Theorem 1 equals their reference values to 1e-12. How far the two are apart is then a matter of fact: the largest error over all sizes for D = 20, and over a grid of sizes (all up to 40, every 25th beyond) for D = 500.",
    run,
};

/// A universe of the figure: the sizes of the larger sets, and the largest error that is printed.
struct Panel {
    d: usize,
    sizes: [usize; 3],
    printed: f64,
}

const PANELS: [Panel; 2] = [
    Panel { d: 20, sizes: [4, 10, 16], printed: 0.01 },
    Panel { d: 500, sizes: [10, 100, 250], printed: 0.0004 },
];

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    against_all_permutations(&mut checks);
    against_fractions(&mut checks)?;
    let (mut table, mut largest) = (context.table("")?, context.table("largest")?);
    let (mut charts, mut sentences, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for Panel { d, sizes, printed } in PANELS {
        context.step(format_args!("D = {d}"));
        let mut errors = Vec::new();
        for b in [1, 2, 4] {
            let mut small = Small::new(d, b);
            let Worst { sets: [f1, f2, a], error } = worst(&mut small)?;
            largest.push(row![
                "D": d, "b": b, "f1": f1, "f2": f2, "a": a, "largest_error": error, "printed_bound": printed,
            ])?;
            let is_below = error.abs() < printed;
            let size = significant((error.abs() * 1e6).round() / 1e6);
            errors.push(format!("{size} at b = {b} ({})", if is_below { "below" } else { "not below" }));
            parts.push(is_below);
            charts.push(chart(&mut small, sizes, &mut table)?);
        }
        sentences.push(format!("for D = {d} the bound {printed} meets {}", errors.join(", ")));
    }
    let verdict = format!(
        "The errors are of the printed order, but the bounds do not hold for every size and number of bits: the largest errors are, {}.",
        sentences.join("; ")
    );
    Ok(Outcome { tables: vec![largest, table], charts, checks, claim: Claim::of(&parts), verdict })
}

/// Errors by the share of common elements.
fn chart(small: &mut Small, sizes: [usize; 3], table: &mut Table) -> Result<Chart> {
    let Small { d, b, .. } = *small;
    let title = format!("D = {d}, b = {b}: Theorem 1 minus exact");
    let mut chart = Chart::new(title, Axis::linear("a / f2"), Axis::linear("error"));
    for (colour, f1) in sizes.into_iter().enumerate() {
        let mut points = Vec::new();
        for f2 in [f1 / 2, f1] {
            for a in (f1 + f2).saturating_sub(d)..=f2 {
                let (exact, theorem) = (small.agreement([f1, f2], a), theorem(d, [f1, f2], a, b)?);
                let error = theorem - exact;
                points.push((a as f64 / f2 as f64, error));
                if a % (f2 / 4).max(1) == 0 {
                    table.push(row![
                        "D": d, "b": b, "f1": f1, "f2": f2, "a": a,
                        "exact": exact, "theorem": theorem, "error": error,
                    ])?;
                }
            }
        }
        chart.push(Series::points(format!("f1 = {f1}, f2 = {} and {f1}", f1 / 2), points).colour(colour));
    }
    Ok(chart)
}

/// Theorem 1 for sets of `sizes` with `common` elements in a universe of `d`.
fn theorem(d: usize, sizes: [usize; 2], common: usize, b: u32) -> Result<f64> {
    let line = Collision::dense(b, sizes.map(|f| f as f64 / d as f64))?;
    Ok(line.probability(common as f64 / (sizes[0] + sizes[1] - common) as f64))
}

struct Worst {
    sets: [usize; 3],
    error: f64,
}

/// The largest error over all sizes and intersections that fit the universe.
fn worst(small: &mut Small) -> Result<Worst> {
    let Small { d, b, .. } = *small;
    let mut worst = Worst { sets: [0; 3], error: 0.0 };
    // In the larger universe the small sets are the worst ones; a grid covers the others.
    let sizes: Vec<usize> = (2..=d).filter(|f| d <= 50 || *f <= 40 || f % 25 == 0).collect();
    for &f1 in &sizes {
        for &f2 in sizes.iter().filter(|&&f2| f2 <= f1) {
            let step = if d <= 50 { 1 } else { (f2 / 8).max(1) };
            for a in ((f1 + f2).saturating_sub(d)..=f2).step_by(step) {
                let error = theorem(d, [f1, f2], a, b)? - small.agreement([f1, f2], a);
                if error.abs() > worst.error.abs() {
                    worst = Worst { sets: [f1, f2, a], error };
                }
            }
        }
    }
    Ok(worst)
}

struct Small {
    d: usize,
    b: u32,
    /// By size of a set: [`follows`] for each number of positions that are left.
    gaps: BTreeMap<usize, Vec<f64>>,
}

impl Small {
    fn new(d: usize, b: u32) -> Self {
        Self { d, b, gaps: BTreeMap::new() }
    }

    /// The probability that the lowest bits of both minima agree.
    fn agreement(&mut self, sizes: [usize; 2], common: usize) -> f64 {
        let union = sizes[0] + sizes[1] - common;
        let only = sizes.map(|f| (f - common) as f64 / union as f64);
        let both = common as f64 / union as f64;
        for f in sizes {
            self.gaps.entry(f).or_insert_with(|| (0..self.d).map(|rest| follows(rest, f, self.b)).collect());
        }
        let [one, other] = sizes.map(|f| &self.gaps[&f]);
        let first = firsts(self.d, union);
        let agree = |i: usize| {
            let rest = self.d - i - 1;
            both + only[0] * other[rest] + only[1] * one[rest]
        };
        first.iter().enumerate().map(|(i, p)| p * agree(i)).sum()
    }
}

/// The probability that a set of `f`, all of it among `rest` positions, begins a multiple of 2^b behind the position before them.
fn follows(rest: usize, f: usize, b: u32) -> f64 {
    if f > rest {
        return 0.0;
    }
    // Gaps of N, 2N, ... are positions N-1, 2N-1, ... of the rest.
    firsts(rest, f).iter().skip((1 << b) - 1).step_by(1 << b).sum()
}

/// The probability that the first of `f` elements among `d` positions is at each position.
fn firsts(d: usize, f: usize) -> Vec<f64> {
    let mut none_before = 1.0;
    (0..=d - f)
        .map(|i| {
            let here = f as f64 / (d - i) as f64;
            let p = none_before * here;
            none_before *= 1.0 - here;
            p
        })
        .collect()
}

/// Exact probabilities and Theorem 1 for (D, f1, f2, a, b), computed elsewhere with fractions.
const FRACTIONS: [([usize; 4], u32, f64, f64); 9] = [
    ([7, 3, 2, 1], 1, 11.0 / 21.0, 0.549_242_424_242_424_3),
    ([7, 3, 3, 1], 2, 8.0 / 35.0, 0.271_608_391_608_391_6),
    ([7, 4, 2, 0], 1, 37.0 / 105.0, 0.377_777_777_777_777_8),
    ([8, 3, 3, 2], 1, 47.0 / 70.0, 0.692_307_692_307_692_3),
    ([8, 4, 3, 1], 2, 71.0 / 336.0, 0.242_907_903_582_060_9),
    ([20, 10, 10, 0], 2, 230.0 / 4199.0, 0.066_666_666_666_666_7),
    ([20, 16, 15, 11], 1, 16_101.0 / 25_840.0, 0.633_333_333_333_333_3),
    ([100, 40, 30, 20], 1, 0.638_512_930_010_278_9, 0.639_705_882_352_941_2),
    ([500, 250, 227, 0], 2, 0.073_797_942_266_224_84, 0.074_234_642_526_696_98),
];

fn against_fractions(checks: &mut Checks) -> Result<()> {
    for ([d, f1, f2, a], b, exact, of_theorem) in FRACTIONS {
        let what = format!("D = {d}, f = ({f1}, {f2}), a = {a}, b = {b}");
        checks.close(format_args!("{what}: exact"), Small::new(d, b).agreement([f1, f2], a), exact, 1e-12);
        checks.close(format_args!("{what}: Theorem 1"), theorem(d, [f1, f2], a, b)?, of_theorem, 1e-12);
    }
    Ok(())
}

fn against_all_permutations(checks: &mut Checks) {
    let mut permutations = Vec::new();
    permute(&mut [0, 1, 2, 3, 4, 5, 6], 0, &mut permutations);
    for (f1, f2, a) in [(3, 2, 1), (4, 4, 2), (2, 2, 0), (5, 3, 3)] {
        for b in [1, 2] {
            let agree = |ranks: &[usize; 7]| {
                let min = |from: usize, to: usize| ranks[from..to].iter().min().copied().unwrap_or_default();
                (min(0, f1) ^ min(f1 - a, f1 - a + f2)) & ((1 << b) - 1) == 0
            };
            let share =
                permutations.iter().filter(|ranks| agree(ranks)).count() as f64 / permutations.len() as f64;
            let exact = Small::new(7, b).agreement([f1, f2], a);
            let what = format_args!("all permutations, f = ({f1}, {f2}), a = {a}, b = {b}");
            checks.close(what, exact, share, 1e-12);
        }
    }
}

fn permute(ranks: &mut [usize; 7], from: usize, all: &mut Vec<[usize; 7]>) {
    if from == ranks.len() {
        all.push(*ranks);
        return;
    }
    for i in from..ranks.len() {
        ranks.swap(from, i);
        permute(ranks, from + 1, all);
        ranks.swap(from, i);
    }
}
