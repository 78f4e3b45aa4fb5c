//! 004, section 7.2: which matrices of pairwise similarities are positive definite, so that linear machines may use them.

use benzer_core::Features;
use benzer_core::estimate::collision::Collision;
use benzer_core::sketch::{Bits, Packing, count};

use crate::data::corpus;
use crate::measure::sketches::Words;
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "li2011_kernels",
    source: "004, section 7.2",
    title: "Positive definite matrices",
    claim: "The resemblance matrix, the minwise matrix and the b-bit matrix are positive definite.",
    criterion: "The smallest eigenvalue is above -1e-9, which is 0 to rounding, for the resemblance matrix, for match matrices of 1, 2, 4 and 64 bits, and for the sparse-corrected matrix; for max(R, 0) of five given 4-bit sketches it is -0.0679 to 1e-4, so clamping destroys the property.",
    run,
};

const MATRICES: [&str; 3] = ["matches", "corrected", "clamped"];

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let mut table = context.table("")?;
    let (name, sets) = match context.data() {
        Some(data) => ("documents of KOS", corpus::kos(data)?.sets.into_iter().step_by(25).collect()),
        None => ("synthetic documents", corpus::synthetic(context.seed(0), context.size(12, 30), 5).sets),
    };
    let n = sets.len();
    let mut record = |matrix: &str, b: u32, k: u32, n: usize, value: f64| {
        table.push(row!["matrix": matrix, "b": b, "k": k, "n": n, "smallest_eigenvalue": value])
    };
    let exact = smallest_eigenvalue(square(n, |i, j| sets[i].jaccard(&sets[j]).unwrap_or_default()));
    record("resemblance", 64, 0, n, exact)?;
    checks.holds(format_args!("resemblance: {exact} > -1e-9"), exact > -1e-9);
    for b in [1, 2, 4, 64] {
        for k in [8, 32, 128, 512] {
            context.step(format_args!("{b} bits, k = {k}"));
            let values = measure(&sets, b, k, context.seed(u64::from(b * 1000 + k)))?;
            for (matrix, value) in MATRICES.into_iter().zip(values) {
                record(matrix, b, k, n, value)?;
                // Clamping destroys the property.
                if matrix != "clamped" {
                    checks.holds(format_args!("{matrix}, b = {b}, k = {k}: {value} > -1e-9"), value > -1e-9);
                }
            }
        }
    }
    let rows = table.all();
    let least =
        MATRICES.map(|of| rows.only("matrix", of).column("smallest_eigenvalue").fold(f64::MAX, f64::min));
    let charts = vec![chart(&rows.only("b", 1))];
    let clamped = counterexample();
    table.push(row![
        "matrix": "clamped, five sketches 0011 0010 1011 1010 0001", "b": 1, "k": 4, "n": 5,
        "smallest_eigenvalue": clamped,
    ])?;
    checks.close("the clamped counterexample", clamped, -0.0679, 1e-4);
    let verdict = format!(
        "On {n} {name}, of one collection: the smallest eigenvalues are {exact:.1e} (resemblance), {:.1e} (matches) and {:.1e} (corrected estimates) over b = 1, 2, 4, 64 and k = 8 to 512, all 0 or more to rounding, which is what the paper calls positive definite. \
         Not so once estimates are clamped at 0: {:.3} there, and {clamped:.4} for five sketches of four bits. Train on raw matches.",
        least[0], least[1], least[2]
    );
    Ok(Outcome { tables: vec![table], charts, claim: Claim::of(&[checks.all_hold()]), checks, verdict })
}

fn measure(sets: &[Features], b: u32, k: u32, seed: u64) -> Result<[f64; 3]> {
    let (bits, line) = (Bits::new(b)?, Collision::sparse(b));
    let words = Words::new(sets, k, Packing::bits(b)?, seed)?;
    let rate = |i, j| 1.0 - f64::from(count::mismatches(words.of(i), words.of(j), bits)) / f64::from(k);
    let matrix = |of: &dyn Fn(f64) -> f64| smallest_eigenvalue(square(sets.len(), |i, j| of(rate(i, j))));
    Ok([
        matrix(&|rate| rate),
        matrix(&|rate| line.jaccard(rate)),
        matrix(&|rate| line.jaccard(rate).max(0.0)),
    ])
}

fn chart(rows: &Rows<'_>) -> Chart {
    let [[corrected], [clamped]] =
        ["corrected", "clamped"].map(|of| rows.only("matrix", of).curves("k", ["smallest_eigenvalue"]));
    let axis = Axis::linear("smallest eigenvalue");
    Chart::new("Smallest eigenvalue, one bit", Axis::log("sample size k"), axis)
        .with(Series::points("corrected matrix", corrected))
        .with(Series::points("clamped at 0", clamped).colour(1))
}

/// The smallest eigenvalue of the clamped one-bit estimates of five sketches.
fn counterexample() -> f64 {
    let sketches = [0b0011u32, 0b0010, 0b1011, 0b1010, 0b0001];
    let line = Collision::sparse(1);
    smallest_eigenvalue(square(5, |i, j| {
        let equal = 4 - (sketches[i] ^ sketches[j]).count_ones();
        line.jaccard(f64::from(equal) / 4.0).max(0.0)
    }))
}

fn square(n: usize, f: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
    (0..n).map(|i| (0..n).map(|j| f(i, j)).collect()).collect()
}

/// By Jacobi's rotations, which keep small eigenvalues accurate.
fn smallest_eigenvalue(mut a: Vec<Vec<f64>>) -> f64 {
    let n = a.len();
    for _ in 0..60 {
        let rest: f64 =
            (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
        if rest < 1e-22 {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, p, q);
            }
        }
    }
    (0..n).map(|i| a[i][i]).fold(f64::MAX, f64::min)
}

fn rotate(a: &mut [Vec<f64>], p: usize, q: usize) {
    if a[p][q].abs() < 1e-300 {
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for row in a.iter_mut() {
        let (x, y) = (row[p], row[q]);
        (row[p], row[q]) = (c * x - s * y, s * x + c * y);
    }
    let [first, second] = a.get_disjoint_mut([p, q]).expect("two rows of the matrix");
    for (x, y) in first.iter_mut().zip(second) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvalues_of_a_known_matrix() {
        let least = smallest_eigenvalue(vec![vec![2.0, 1.0, 0.0], vec![1.0, 2.0, 1.0], vec![0.0, 1.0, 2.0]]);
        assert!((least - (2.0 - 2f64.sqrt())).abs() < 1e-12, "{least}");
    }
}
