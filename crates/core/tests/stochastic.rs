//! Every table of `testdata/estimators/stochastic.json`, simulated again with the families of this crate: within four standard errors from
//! both sides (too good is also wrong), each standard error at most 2%, seeds fixed.

mod statistics;

use benzer_core::Features;
use benzer_core::estimate::bottom_k::{Smallest, sample, union_sample};
use benzer_core::estimate::{bottom_k, odd, two_way};
use benzer_core::hash::{mix, split, stream};
use benzer_core::sketch::{Family, Scheme, SketchSpec};
use serde_json::Value;
use statistics::Sample;

fn table(name: &str) -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/estimators/stochastic.json");
    // Not a number is not JSON; the column that has it is not used.
    let text = std::fs::read_to_string(path).unwrap().replace("NaN", "null");
    serde_json::from_str::<Value>(&text).unwrap()[name].as_array().unwrap().clone()
}

fn number(row: &Value, column: &str) -> f64 {
    row[column].as_f64().unwrap_or_else(|| panic!("{column} of {row}"))
}

/// Two sets of `n` random elements each with `common` of them shared.
fn pair(n: usize, common: usize, seed: u64) -> (Vec<u64>, Vec<u64>) {
    let elements: Vec<u64> = stream(seed).take(2 * n - common).collect();
    (elements[..n].to_vec(), elements[n - common..].to_vec())
}

fn equal_share(a: &[u64], b: &[u64]) -> f64 {
    a.iter().zip(b).filter(|(x, y)| x == y).count() as f64 / a.len() as f64
}

/// Checks bias and variance ratio of one row of `onepass` on 5,000 new pairs.
fn check_one_pass(row: &Value, registers: impl Fn(&[u64], u64) -> Vec<u64>) -> Vec<Vec<u64>> {
    let (n, union, k) = (number(row, "n") as usize, number(row, "U") as usize, number(row, "k"));
    let (j, reps) = (number(row, "J"), number(row, "reps"));
    let mut estimates = Sample::default();
    let mut first = Vec::new();
    for run in 0..5_000u64 {
        let seed = split(union as u64 * 31 + n as u64, run);
        let (a, b) = pair(n, 2 * n - union, seed);
        let (a, b) = (registers(&a, mix(seed)), registers(&b, mix(seed)));
        estimates.push(equal_share(&a, &b));
        first.push(a);
    }
    let alg = &row["alg"];
    assert!(estimates.mean_z(j).abs() < 4.0, "{alg} n={n} J={j}: biased by {} z", estimates.mean_z(j));
    assert!(estimates.rms_error(estimates.mean()) <= 0.02, "{alg} n={n} J={j}: too few runs");
    let unit = j * (1.0 - j) / k;
    let z = estimates.variance_z(number(row, "var_ratio") * unit, reps);
    assert!(
        z.abs() < 4.0,
        "{alg} n={n} J={j}: variance ratio {} against {}, z {z}",
        estimates.variance() / unit,
        row["var_ratio"]
    );
    first
}

fn full(family: Family, elements: &[u64], seed: u64) -> Vec<u64> {
    let spec = SketchSpec { seed, ..SketchSpec::full(family, 128) };
    spec.sketcher().unwrap().sketch(&Features::set(elements.iter().copied())).unwrap().words().to_vec()
}

#[test]
fn one_permutation_has_the_recorded_bias_and_variance() {
    for row in table("onepass").iter().filter(|row| row["alg"] == "OPH+optdens") {
        let sketches = check_one_pass(row, |elements, seed| {
            full(Family::OnePermutation, elements, seed)[..128].to_vec()
        });
        assert_eq!(sketches.len(), 5_000);
        let mut filled = Sample::default();
        for run in 0..500 {
            let (a, _) = pair(number(row, "n") as usize, 0, split(run, 5));
            let words = full(Family::OnePermutation, &a, run);
            filled.push(words[128..].iter().map(|w| f64::from(w.count_ones())).sum());
        }
        assert!(filled.mean_z(number(row, "extra")).abs() < 4.0, "{row}: {} bins filled", filled.mean());
    }
}

#[test]
fn unbounded_fast_similarity_sketching_has_the_recorded_bias_and_variance() {
    for row in table("onepass").iter().filter(|row| row["alg"] == "FastSimSketch") {
        let sketches =
            check_one_pass(row, |elements, seed| full(Family::Fast { rounds: 128 }, elements, seed));
        let mut evaluations = Sample::default();
        for registers in sketches {
            let rounds = 1 + (registers.iter().max().unwrap() >> 48);
            evaluations.push(rounds as f64 * number(row, "n"));
        }
        let z = evaluations.mean_difference_z(number(row, "extra"), number(row, "reps"));
        assert!(z.abs() < 4.0, "{row}: {} hash evaluations", evaluations.mean());
    }
}

/// SuperMinHash (Ertl, 2017) is not a family of ours; it is here because the table has it, and to check its variance formula.
#[test]
fn super_min_hash_has_the_recorded_bias_and_variance() {
    for row in table("onepass").iter().filter(|row| row["alg"] == "SuperMinHash") {
        check_one_pass(row, |elements, seed| super_min_hash(elements, seed, 128));
    }
}

fn super_min_hash(elements: &[u64], seed: u64, k: usize) -> Vec<u64> {
    let mut values = vec![f64::INFINITY; k];
    let mut at_level = vec![0usize; k];
    at_level[k - 1] = k;
    let (mut highest, mut order, mut owner) = (k - 1, vec![0usize; k], vec![usize::MAX; k]);
    for (i, &element) in elements.iter().enumerate() {
        let mut random = stream(mix(element ^ seed));
        let mut j = 0;
        while j <= highest {
            let r = (random.next().unwrap() >> 11) as f64 / (1u64 << 53) as f64;
            let swap = j + ((u128::from(random.next().unwrap()) * (k - j) as u128) >> 64) as usize;
            for place in [j, swap] {
                if owner[place] != i {
                    (owner[place], order[place]) = (i, place);
                }
            }
            order.swap(j, swap);
            let value = &mut values[order[j]];
            if r + (j as f64) < *value {
                let level = (*value).min((k - 1) as f64) as usize;
                *value = r + j as f64;
                if j < level {
                    at_level[level] -= 1;
                    at_level[j] += 1;
                    while at_level[highest] == 0 {
                        highest -= 1;
                    }
                }
            }
            j += 1;
        }
    }
    values.into_iter().map(f64::to_bits).collect()
}

/// The report's experiment (002, section 4), with its own reference and with the right one.
#[test]
fn the_report_s_root_mean_square_errors_come_out_as_recorded() {
    let rows = table("benzer_rms");
    // Runs enough for a standard error of 2% in every column; the errors of whole sets are rare and need most.
    for (n, runs) in [(200usize, 12_000u64), (1_000, 2_000), (10_000, 1_600)] {
        let rows: Vec<&Value> = rows.iter().filter(|row| number(row, "n") as usize == n).collect();
        let largest = rows.iter().map(|row| number(row, "n_h") as u32).max().unwrap();
        let mut columns: Vec<Report> =
            rows.iter().map(|row| Report::new(number(row, "n_h") as usize)).collect();
        for run in 0..runs {
            let (a, b) = pair(n, n / 2, split(n as u64, run));
            let sketches = |family| [&a, &b].map(|set| sketch(family, largest, set, run));
            let multi = sketches(Family::Permutations(Scheme::Native));
            let single = sketches(Family::BottomK);
            columns.iter_mut().for_each(|column| column.push(&multi, &single, n));
        }
        rows.iter().zip(&columns).for_each(|(row, column)| column.check(row));
    }
}

fn sketch(family: Family, registers: u32, set: &[u64], seed: u64) -> Vec<u64> {
    let spec = SketchSpec { seed, ..SketchSpec::full(family, registers) };
    spec.sketcher().unwrap().sketch(&Features::set(set.iter().copied())).unwrap().words().to_vec()
}

struct Report {
    n_h: usize,
    multi: Sample,
    naive: Sample,
    union_k: Sample,
    tau_inclusive: Sample,
    tau_strict: Sample,
    tau_size: Sample,
}

impl Report {
    fn new(n_h: usize) -> Self {
        let [multi, naive, union_k, tau_inclusive, tau_strict, tau_size] =
            std::array::from_fn(|_| Sample::default());
        Self { n_h, multi, naive, union_k, tau_inclusive, tau_strict, tau_size }
    }

    fn push(&mut self, multi: &[Vec<u64>; 2], single: &[Vec<u64>; 2], n: usize) {
        let k = self.n_h;
        self.multi.push(equal_share(&multi[0][..k], &multi[1][..k]));
        let [a, b] = single.each_ref().map(|hashes| &hashes[..k.min(hashes.len())]);
        let common = a.iter().filter(|h| b.binary_search(h).is_ok());
        self.naive.push(common.clone().count() as f64 / k as f64);
        // The table's rules do not know that a sketch may hold its whole set; ours do, and are exact then.
        assert!(
            k < n
                || sample(&[a, b].map(|hashes| Smallest { hashes, complete: true, size: None }))
                    .is_ok_and(|s| 3 * s.common == s.kept)
        );
        let [a, b] = [a, b].map(|hashes| Smallest { hashes, complete: false, size: None });
        let share = |sample: bottom_k::Sample| sample.common as f64 / sample.kept as f64;
        self.union_k.push(share(union_sample(&[a, b], k).unwrap()));
        self.tau_strict.push(share(sample(&[a, b]).unwrap()));
        // The inclusive rule, for the record: what the table calls tau has neither strictness nor the flag of a whole set.
        let tau = *a.hashes.last().min(b.hashes.last()).unwrap();
        let kept = |hashes: &[u64]| hashes.iter().filter(|h| **h <= tau).count();
        let common = common.filter(|h| **h <= tau).count();
        let kept = kept(a.hashes) + kept(b.hashes) - common;
        self.tau_inclusive.push(common as f64 / kept as f64);
        self.tau_size.push(kept as f64);
    }

    fn check(&self, row: &Value) {
        let (s, j) = (number(row, "s_r"), number(row, "true_J"));
        let columns: [(&str, &Sample, f64); 6] = [
            ("rms_report_multi", &self.multi, s),
            ("rms_report_single", &self.naive, s),
            ("rms_true_multi", &self.multi, j),
            ("rms_true_single_naive", &self.naive, j),
            ("rms_true_union_k", &self.union_k, j),
            ("rms_true_tau_inclusive", &self.tau_inclusive, j),
        ];
        for (column, sample, reference) in columns {
            let exact = sample.rms(reference) < 1e-12 || sample.variance() < 1e-12;
            assert!(exact || sample.rms_error(reference) <= 0.02, "{column} of {row}: too few runs");
            let z = sample.rms_z(reference, number(row, column), 20_000.0);
            assert!(z.abs() < 4.0, "{column} {} against {row}, z {z}", sample.rms(reference));
        }
        let means = [
            ("mean_single_naive", &self.naive),
            ("mean_union_k", &self.union_k),
            ("mean_tau_inclusive", &self.tau_inclusive),
            ("mean_tau_strict", &self.tau_strict),
            ("mean_tau_sample_size", &self.tau_size),
        ];
        for (column, sample) in means {
            let z = sample.mean_difference_z(number(row, column), 20_000.0);
            assert!(z.abs() < 4.0, "{column} {} against {row}, z {z}", sample.mean());
        }
        assert!(
            self.tau_strict.mean_z(j).abs() < 4.0,
            "tau-strict is unbiased: {} at {row}",
            self.tau_strict.mean()
        );
    }
}

/// 512-bit Odd Sketches of signatures with a known share of equal registers, against b-bit signatures of the same size.
#[test]
fn odd_sketches_have_the_recorded_errors() {
    for (i, row) in table("odd_vs_bbit_512").iter().enumerate() {
        let j = number(row, "J");
        for (column, k) in [("mse_odd", number(row, "k_odd") as u32), ("mse_odd_k_eq_n", 512)] {
            let mut estimates = Sample::default();
            for run in 0..5_000u64 {
                estimates.push(odd_estimate(j, k, split(i as u64 * 2 + u64::from(k == 512), run)));
            }
            assert!(estimates.rms_error(j) <= 0.02, "{column}, J={j}: too few runs");
            let z = estimates.square_z(j, number(row, column), 20_000.0);
            assert!(
                z.abs() < 4.0,
                "{column}, J={j}: {} against {}, z {z}",
                estimates.mean_square(j),
                row[column]
            );
        }
        let b_bit = |b: u32| two_way::variance(j, b, f64::from(512 / b));
        for (column, b) in [("var_b1", 1), ("var_b2", 2), ("var_b4", 4)] {
            assert!((b_bit(b) / number(row, column) - 1.0).abs() < 1e-9, "{column} at J={j}");
        }
    }
}

/// The estimate from two 512-bit sketches of k registers, each equal with probability j; saturation counts as zero, as in the table.
fn odd_estimate(j: f64, k: u32, seed: u64) -> f64 {
    let bar = (j * u64::MAX as f64) as u64;
    let mut random = stream(seed);
    let values: Vec<(u64, u64)> =
        (0..k).map(|_| (random.next().unwrap(), mix(random.next().unwrap()))).collect();
    let other = |&(a, u): &(u64, u64)| if u < bar { a } else { mix(a ^ u) };
    let [mut a, mut b] = [[0u64; 8]; 2];
    benzer_core::sketch::odd::of_registers(values.iter().map(|v| v.0), 512, seed, &mut a);
    benzer_core::sketch::odd::of_registers(values.iter().map(other), 512, seed, &mut b);
    let z: u32 = a.iter().zip(&b).map(|(x, y)| (x ^ y).count_ones()).sum();
    odd::elements(f64::from(z), 512.0).map_or(0.0, |m| odd::jaccard_of_elements(m, f64::from(k)))
}
