//! All 452 reference vectors of `testdata/estimators/vectors.json`, each at its own tolerance, through the public functions.
//!
//! A vector whose (group, function) has no handler fails. The enumeration of a small universe is too slow for a product: its
//! reference algorithm is at the end of this file, and the estimators are checked against it.

use benzer_core::estimate::{
    Estimate, Registers,
    bottom_k::{self, Smallest},
    collision::{Collision, accident},
    factor, hamming, mle, n_way, odd, size, storage, three_way,
    three_way::{Rates, ThreeWayBits},
    three_way_dense::Theorem,
    two_way, xor,
};
use benzer_core::{lsh::curve, sketch};
use serde_json::{Map, Value, json};

fn read(name: &str) -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/estimators/").to_string() + name;
    let text = std::fs::read_to_string(&path).expect("the vectors are in the repository");
    serde_json::from_str(&text).expect("the vectors are JSON")
}

#[test]
fn every_reference_vector_is_met() {
    let vectors = read("vectors.json");
    let vectors = vectors.as_array().unwrap();
    assert_eq!(vectors.len(), 452);
    let mut failures = Vec::new();
    for vector in vectors {
        let (group, name) = (vector["group"].as_str().unwrap(), vector["fn"].as_str().unwrap());
        let input = Input(&vector["inputs"]);
        let got = answer(group, name, &input, &vector["expected"])
            .unwrap_or_else(|| panic!("no handler for ({group}, {name})"));
        let tolerance = vector["rel_tol"].as_f64().unwrap();
        let mut compared = 0;
        if let Err(problem) = compare(&got, &vector["expected"], tolerance, &mut compared) {
            failures.push(format!("{}: {problem}", vector["id"]));
        }
        assert!(compared > 0, "{} compares nothing", vector["id"]);
    }
    assert!(failures.is_empty(), "{} of 452 fail:\n{}", failures.len(), failures.join("\n"));
}

/// Everything in `expected` must be in `got`, numbers within the tolerance.
fn compare(got: &Value, expected: &Value, tolerance: f64, compared: &mut usize) -> Result<(), String> {
    match (got, expected) {
        (Value::Number(_), Value::Number(_)) => {
            *compared += 1;
            let (g, e) = (got.as_f64().unwrap(), expected.as_f64().unwrap());
            let close = (g - e).abs() <= tolerance * e.abs().max(if e == 0.0 { 1.0 } else { 0.0 });
            if close { Ok(()) } else { Err(format!("got {g}, expected {e}")) }
        }
        (Value::Array(g), Value::Array(e)) if g.len() == e.len() => {
            g.iter().zip(e).try_for_each(|(g, e)| compare(g, e, tolerance, compared))
        }
        (Value::Object(g), Value::Object(e)) => e.iter().try_for_each(|(key, e)| {
            let g = g.get(key).ok_or_else(|| format!("`{key}` is missing"))?;
            compare(g, e, tolerance, compared).map_err(|problem| format!("{key}: {problem}"))
        }),
        (Value::String(g), Value::String(e)) if g == e => {
            *compared += 1;
            Ok(())
        }
        _ => Err(format!("got {got}, expected {expected}")),
    }
}

struct Input<'a>(&'a Value);

impl Input<'_> {
    fn f(&self, key: &str) -> f64 {
        self.0[key].as_f64().unwrap_or_else(|| panic!("`{key}` is a number"))
    }
    fn n(&self, key: &str) -> usize {
        self.0[key].as_u64().unwrap_or_else(|| panic!("`{key}` is a whole number")) as usize
    }
    fn b(&self) -> u32 {
        self.n("b") as u32
    }
    fn list(&self, key: &str) -> Vec<f64> {
        self.0[key].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    }
    fn three(&self, key: &str) -> [f64; 3] {
        self.list(key).try_into().unwrap()
    }
    fn densities(&self) -> [f64; 2] {
        [self.f("r1"), self.f("r2")]
    }
    /// The sparse line when the densities are given as zero.
    fn line(&self, b: u32) -> Collision {
        match self.densities() {
            [0.0, 0.0] => Collision::sparse(b),
            densities => Collision::dense(b, densities).unwrap(),
        }
    }
}

fn answer(group: &str, name: &str, input: &Input, expected: &Value) -> Option<Value> {
    Some(match (group, name) {
        ("A", "A") => json!(accident(input.f("r"), input.b())),
        ("two_way", "b_bit_two_way") => two_way_line(input),
        ("table1", "storage_ratio_64_vs_1") => {
            json!(storage::ratio_64_to_1(input.f("R"), input.densities()).unwrap())
        }
        ("sparse_var", "var_Rb_sparse") => json!(two_way::variance(input.f("R"), input.b(), input.f("k"))),
        ("two_way_est", "R_hat_b") => json!(input.line(input.b()).jaccard(input.f("P_hat"))),
        ("crossover", "better_b_sparse") => {
            (1..8u32).map(|b| (b.to_string(), json!(storage::crossover(b)))).collect::<Map<_, _>>().into()
        }
        ("lemma1", "B_ratio_equal_r") => {
            let bits = [input.n("b1") as u32, input.n("b2") as u32];
            json!(storage::ratio_equal_density(bits, input.f("r"), input.f("R")))
        }
        ("exact_finite_D_2way", "exact_P2") => exact_two_way(input),
        ("exact_finite_D_3way", "exact_P3") => {
            let cells = input.list("cells_1_2_3_12_13_23_123");
            let masks = [1, 2, 4, 3, 5, 6, 7];
            let mut counts = [0usize; 8];
            masks.iter().zip(cells).for_each(|(&mask, n): (&usize, f64)| counts[mask] = n as usize);
            json!(enumerated::agreement(input.n("D"), counts, 3, input.b()))
        }
        ("hamming", "H_and_var") => hamming_pair(input),
        ("G_limit", "Gs_limit") => json!(hamming::sampling_ratio_sparse(input.f("R"), input.b())),
        ("rp_mod2", _) => projection(name, input)?,
        ("combined_bits", "R_half") => half_bits(input),
        ("combined_bits", "k_var_xor_m_sparse") => json!(xor::variance(input.f("R"), input.n("m") as u32)),
        ("rho", "rho") => rho(input),
        ("mle_full", _) | ("mle_b", _) => likelihood(name, input)?,
        ("three_way", "P3_theorem1") => theorem_of_sizes(input),
        ("three_way", "P3_cells") => theorem_of_cells(input),
        ("three_way_sparse", _) => three_way_sparse(name, input)?,
        ("storage3", "B64_over_Bb") => {
            let (alpha, jaccard) = (input.f("alpha"), input.f("R"));
            json!(storage::three_way_ratio(jaccard, alpha * jaccard, ThreeWayBits::new(input.b()).unwrap()))
        }
        ("intersections", "a3_from_R") => {
            let pairs = [input.f("a12"), input.f("a13"), input.f("a23")];
            json!(size::three_way_intersection_at(input.f("R"), input.three("f"), pairs))
        }
        ("nway", "g_weights") => json!(n_way::weights(input.n("n"), input.b()).unwrap()),
        ("odd", _) => odd_sketch(name, input)?,
        ("lsh", _) => banding(name, input, expected)?,
        ("benzer", "generator") => generator(input),
        ("bottom_k", "estimates") => bottom_k_estimates(input),
        ("worked", _) => worked::answer(name, input.0)?,
        ("packed", "count_equal") => json!(packed::count_equal(input.0)),
        ("one_hot", "indices") => {
            let values = input.list("values");
            let bits = benzer_core::sketch::Bits::new(input.b()).unwrap();
            let mut words = vec![0; bits.words(values.len())];
            sketch::packed::pack_labels(values.iter().map(|v| *v as u64), bits, &mut words);
            json!(sketch::packed::one_hot(&words, bits, values.len()).collect::<Vec<_>>())
        }
        _ => return None,
    })
}

fn two_way_line(input: &Input) -> Value {
    let (line, j, b) = (input.line(input.b()), input.f("R"), input.b());
    json!({
        "C1": line.c1, "C2": line.c2, "P": line.probability(j),
        "var": line.variance(1.0).at(j) / input.f("k"), "B": storage::factor(j, b, line),
    })
}

fn exact_two_way(input: &Input) -> Value {
    let (d, f1, f2, a) = (input.n("D"), input.n("f1"), input.n("f2"), input.n("a"));
    let mut counts = [0usize; 8];
    (counts[1], counts[2], counts[3]) = (f1 - a, f2 - a, a);
    let densities = [f1 as f64 / d as f64, f2 as f64 / d as f64];
    let line = Collision::dense(input.b(), densities).unwrap();
    let jaccard = size::jaccard_of_intersection(a as f64, [f1 as f64, f2 as f64]);
    json!({ "exact": enumerated::agreement(d, counts, 2, input.b()), "theorem1": line.probability(jaccard) })
}

fn hamming_pair(input: &Input) -> Value {
    let sizes = [input.f("f1"), input.f("f2")];
    let pair = hamming::Pair { jaccard: input.f("R"), sizes, universe: input.f("D") };
    json!({
        "H": pair.distance(), "var_H": pair.variance(input.b()).unwrap() / input.f("k"),
        "var_srs": pair.sampling_variance() / input.f("k"), "G_sb": pair.sampling_ratio(input.b()).unwrap(),
    })
}

fn projection(name: &str, input: &Input) -> Option<Value> {
    Some(match name {
        "optimum" => {
            let beta = hamming::best_beta(7.0);
            json!({
                "y": hamming::BEST_EXPONENT, "E": hamming::projection_probability(7.0, beta),
                "var_over_H2": hamming::projection_variance(7.0, beta) / 49.0,
            })
        }
        "beta_star" => {
            let beta = hamming::best_beta(input.f("H"));
            json!({ "beta": beta, "k_var": hamming::projection_variance(input.f("H"), beta) })
        }
        "E_beta" => {
            let (distance, beta) = (input.f("H"), input.f("beta"));
            json!({
                "E": hamming::projection_probability(distance, beta),
                "var_k1": hamming::projection_variance(distance, beta),
            })
        }
        _ => return None,
    })
}

fn half_bits(input: &Input) -> Value {
    let (line, j) = (input.line(1), input.f("R"));
    let one = line.probability(j);
    let t = xor::agreement(one, 2);
    json!({
        "P1": one, "T": t, "k_var_half": xor::variance_half(j, line),
        "k_var_1": line.variance(1.0).at(j), "R_back": xor::raw_half(t, line),
    })
}

fn rho(input: &Input) -> Value {
    let (near, ratio) = (input.f("d0"), input.f("c"));
    let mut all = Map::new();
    all.insert("M".into(), json!(curve::rho(near, ratio)));
    for b in 1..=4u32 {
        all.insert(format!("b{b}"), json!(curve::rho_b_bit(near, ratio, Collision::sparse(b))));
    }
    all.into()
}

fn likelihood(name: &str, input: &Input) -> Option<Value> {
    let sizes = || [input.f("f1"), input.f("f2")];
    Some(match name {
        "R_mle" => {
            let order =
                mle::Order { equal: input.n("n_eq"), less: input.n("n_lt"), greater: input.n("n_gt") };
            json!(mle::raw(order, sizes()))
        }
        "k_var" => {
            let j = input.f("R");
            json!({
                "k_var_mle": 1.0 / mle::information(j, sizes()), "k_var_naive": two_way::variance(j, 64, 1.0),
                "gain": mle::gain(j, sizes()),
            })
        }
        "cells" => {
            // Densities of zero mean the sparse limit, and the tables are stable all the way down.
            let densities = input.densities().map(|r| r.max(1e-300));
            let cells = mle::Dense::new(input.b(), densities).unwrap().cells(input.f("R"));
            json!(cells.chunks(1 << input.b()).collect::<Vec<_>>())
        }
        "R_mle_b" => {
            let pairs = expanded(&input.0["counts"]);
            let equal = pairs.iter().filter(|(i, j)| i == j).count() as f64;
            let model = mle::Dense::new(input.b(), input.densities()).unwrap();
            json!({
                "mle": model.raw(&pairs).unwrap(),
                "est9": input.line(input.b()).jaccard(equal / pairs.len() as f64),
            })
        }
        _ => return None,
    })
}

fn expanded(counts: &Value) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for (i, row) in counts.as_array().unwrap().iter().enumerate() {
        for (j, n) in row.as_array().unwrap().iter().enumerate() {
            pairs.extend((0..n.as_u64().unwrap()).map(|_| (i as u32, j as u32)));
        }
    }
    pairs
}

fn theorem_of_sizes(input: &Input) -> Value {
    let universe = input.f("log2D").exp2();
    let r = input.three("f").map(|f| f / universe);
    let pairs = [input.f("a12"), input.f("a13"), input.f("a23")].map(|a| a / universe);
    let (theorem, s) = (Theorem::new(r, pairs, input.b()), input.f("a") / universe);
    let all = theorem.probability(s);
    let counts: [usize; 8] = {
        let [f1, f2, f3] = input.three("f");
        let (a12, a13, a23, a) = (input.f("a12"), input.f("a13"), input.f("a23"), input.f("a"));
        [0.0, f1 - a12 - a13 + a, f2 - a12 - a23 + a, a12 - a, f3 - a13 - a23 + a, a13 - a, a23 - a, a]
            .map(|n| n as usize)
    };
    let mut got = json!({
        "Z": theorem.z(s), "u": theorem.union(s), "P": all, "Z0": theorem.z0, "Z1": theorem.z1,
        "R": s / theorem.union(s), "fixed_point_slope": theorem.iteration_slope(all),
    });
    if universe == 65536.0 {
        got["P_exact_finite_D"] = json!(enumerated::agreement(65536, counts, 3, input.b()));
    }
    got
}

fn theorem_of_cells(input: &Input) -> Value {
    let pairs = [input.f("s12"), input.f("s13"), input.f("s23")];
    let (theorem, s) = (Theorem::new(input.three("r"), pairs, input.b()), input.f("s"));
    let all = theorem.probability(s);
    json!({
        "Z": theorem.z(s), "u": theorem.union(s), "P": all, "R": s / theorem.union(s),
        "R_closed": theorem.jaccard(all), "s_closed": theorem.intersection(all),
        "slope": theorem.iteration_slope(all),
    })
}

fn three_way_sparse(name: &str, input: &Input) -> Option<Value> {
    Some(match name {
        "P3_sparse_var9" => {
            let (j, pairs) = (input.f("R"), input.f("T"));
            let mut got = json!({ "P": three_way::probability(j, pairs, input.b()) });
            if let Ok(bits) = ThreeWayBits::new(input.b()) {
                got["k_var"] = json!(three_way::variance(j, pairs, bits));
            }
            got
        }
        "R3_hat" => {
            let rates = Rates { all: input.f("P"), pairs: [input.f("P12"), input.f("P13"), input.f("P23")] };
            json!(three_way::raw(rates, ThreeWayBits::new(input.b()).unwrap()))
        }
        _ => return None,
    })
}

fn odd_sketch(name: &str, input: &Input) -> Option<Value> {
    let n = input.f("n");
    Some(match name {
        "moments" => {
            let m = input.f("m");
            json!({
                "p_markov": odd::probability(m, n), "p_poisson": odd::probability_poisson(m, n),
                "EZ_markov": n * odd::probability(m, n), "varZ_markov": odd::variance_of_ones(m, n),
                "varZ_poisson": odd::variance_of_ones_poisson(m, n),
            })
        }
        "estimate" => {
            let (ones, k) = (input.f("Z"), input.f("k"));
            // The Poisson model has more bias.
            let (markov, poisson) = (odd::elements(ones, n)?, -0.5 * n * libm::log1p(-2.0 * ones / n));
            json!({
                "m_markov": markov, "m_poisson": poisson, "J_markov": odd::jaccard_of_elements(markov, k),
                "J_poisson": odd::jaccard_of_elements(poisson, k),
            })
        }
        "estimate_saturated" => {
            let registers = Registers::independent(input.n("k"));
            match odd::jaccard(input.n("Z"), input.n("n"), registers, None).unwrap() {
                Estimate::Saturated { .. } => json!({ "status": "saturated" }),
                other => json!({ "status": format!("{other:?}") }),
            }
        }
        "theory_var" => {
            let (j, k) = (input.f("J"), input.f("k"));
            let c = 2.0 * k * (1.0 - j) / n;
            json!({
                "var": odd::variance(j, n, k),
                "var_slide_poisson": odd::variance(j, n, k) + n / (4.0 * k * k) * c,
                "var_b1": two_way::variance(j, 1, n), "var_b2": two_way::variance(j, 2, n / 2.0),
            })
        }
        _ => return None,
    })
}

fn banding(name: &str, input: &Input, expected: &Value) -> Option<Value> {
    Some(match name {
        "s_curve" => {
            let (bands, rows) = (input.n("bands"), input.n("rows"));
            let mut got = json!({
                "threshold": curve::threshold(bands, rows), "half": curve::half(bands, rows),
                "inflection": curve::steepest(bands, rows),
            });
            for key in expected.as_object()?.keys().filter(|key| key.starts_with("S(")) {
                let p: f64 = key[2..key.len() - 1].parse().unwrap();
                got[key] = json!(curve::probability(p, bands, rows));
            }
            got
        }
        "s_curve_bbit_sparse" => {
            let (bands, rows) = (input.n("bands"), input.n("rows"));
            let at = |key: &String| {
                let jaccard: f64 = key[2..].parse().unwrap();
                let line = Collision::sparse(input.b());
                (key.clone(), json!(curve::probability_b_bit(jaccard, line, bands, rows)))
            };
            expected.as_object()?.keys().map(at).collect::<Map<_, _>>().into()
        }
        "optimal_params" => {
            json!(
                curve::optimal(input.n("k"), input.f("threshold"), input.f("w_fp"), input.f("w_fn")).unwrap()
            )
        }
        _ => return None,
    })
}

fn generator(input: &Input) -> Value {
    let (s, n) = (input.f("s_r"), input.f("n"));
    let (report, correct) = ((s * n).round(), size::intersection_at(s, [n, n]).round());
    json!({
        "report_n_i": report, "report_actual_J": size::jaccard_of_intersection(report, [n, n]),
        "correct_n_i": correct, "correct_actual_J": size::jaccard_of_intersection(correct, [n, n]),
    })
}

fn bottom_k_estimates(input: &Input) -> Value {
    let k = input.n("k");
    let sorted = |key: &str| {
        let mut hashes: Vec<u64> = input.list(key).iter().map(|&h| h as u64).collect();
        hashes.sort_unstable();
        hashes
    };
    let (a, b) = (sorted("A_hashes"), sorted("B_hashes"));
    let whole = |hashes| Smallest { hashes, complete: true, size: None };
    fn cut(all: &[u64], k: usize) -> Smallest<'_> {
        let size = Some(all.len() as f64);
        Smallest { hashes: &all[..k.min(all.len())], complete: all.len() <= k, size }
    }
    let sketches = [cut(&a, k), cut(&b, k)];
    json!({
        "naive": bottom_k::naive(sketches, k).unwrap(),
        "union_k": bottom_k::union_k(&sketches, k).unwrap().value().unwrap(),
        "tau_strict": bottom_k::tau_strict(&sketches).unwrap().value().unwrap(),
        "true_J": bottom_k::tau_strict(&[whole(&a), whole(&b)]).unwrap().value().unwrap(),
    })
}

#[test]
fn the_variance_factors_are_those_of_the_simulations() {
    let simulated = read("stochastic.json");
    for run in simulated["onepass"].as_array().unwrap() {
        let (k, union) = (run["k"].as_f64().unwrap(), run["U"].as_f64().unwrap());
        let got = match run["alg"].as_str().unwrap() {
            "OPH+optdens" => factor::one_permutation(k, union),
            "FastSimSketch" => factor::fast(k, k, union),
            "SuperMinHash" => factor::super_minhash(k as usize, union),
            other => panic!("no factor for {other}"),
        };
        let spread = (2.0 / run["reps"].as_f64().unwrap()).sqrt();
        let ratio = got / run["var_ratio"].as_f64().unwrap();
        assert!((ratio - 1.0).abs() < 5.0 * spread, "{run}: {got}");
    }
}

#[test]
fn the_odd_sketch_is_as_good_as_simulated() {
    let simulated = read("stochastic.json");
    for run in simulated["odd_vs_bbit_512"].as_array().unwrap() {
        let (j, k) = (run["J"].as_f64().unwrap(), run["k_odd"].as_f64().unwrap());
        let theory = odd::variance(j, 512.0, k);
        assert!((theory / run["theory_odd"].as_f64().unwrap() - 1.0).abs() < 1e-9);
        let ratio = run["mse_odd"].as_f64().unwrap() / theory;
        assert!((0.97..1.10).contains(&ratio), "{run}: {ratio}");
    }
}

/// Exact agreement probability in a small universe: the permutation is walked position by position.
mod enumerated {
    use std::collections::HashMap;

    /// `counts[mask]` elements lie in exactly the sets of `mask`; the rest of the `universe` lies in none.
    pub fn agreement(universe: usize, counts: [usize; 8], sets: u32, b: u32) -> f64 {
        let mut counts = counts;
        counts[0] = universe - counts.iter().sum::<usize>();
        Walk { counts, all: (1 << sets) - 1, n: 1 << b }.probability()
    }

    struct Walk {
        counts: [usize; 8],
        all: usize,
        n: usize,
    }

    impl Walk {
        /// A state is the set of sets already hit, all at the same residue, and the current residue relative to it.
        /// While nothing is hit, no element of the union has been seen; after that, `seen` elements outside the
        /// missing sets have been passed, all exchangeable.
        fn probability(&self) -> f64 {
            let universe: usize = self.counts.iter().sum();
            let mut states: HashMap<(usize, usize), f64> = HashMap::from([((0, 0), 1.0)]);
            let mut agreed = 0.0;
            for position in 0..universe {
                let mut next = HashMap::new();
                for ((hit, residue), chance) in states {
                    self.step((hit, residue, position, chance), &mut |state: (usize, usize), p: f64| {
                        if state.0 == self.all { agreed += p } else { *next.entry(state).or_insert(0.0) += p }
                    });
                }
                if next.is_empty() {
                    break;
                }
                states = next;
            }
            agreed
        }

        /// Given the sets still missing, no element of them was seen among the `position` before, so the next element
        /// is uniform among the rest: those of missing sets, all unseen, and the others, of which `position` are
        /// gone.
        fn step(
            &self,
            (hit, residue, position, chance): (usize, usize, usize, f64),
            reach: &mut impl FnMut((usize, usize), f64),
        ) {
            let universe: usize = self.counts.iter().sum();
            let left = (universe - position) as f64;
            let missing = self.all & !hit;
            let mut neutral = left;
            for mask in 1..8 {
                if mask & missing != 0 && self.counts[mask] > 0 {
                    neutral -= self.counts[mask] as f64;
                    // New sets are hit here: they agree only at the residue of the first hit.
                    if hit == 0 || residue == 0 {
                        let after = hit | (mask & self.all);
                        reach((after, 1 % self.n), chance * self.counts[mask] as f64 / left);
                    }
                }
            }
            if neutral > 0.0 {
                let residue = if hit == 0 { 0 } else { (residue + 1) % self.n };
                reach((hit, residue), chance * neutral / left);
            }
        }
    }
}

/// Counting equal b-bit values in packed words by the kernels, and in bit planes by a reference.
mod packed {
    use benzer_core::sketch::{Bits, count};
    use serde_json::Value;

    pub fn count_equal(input: &Value) -> usize {
        let (b, k) = (input["b"].as_u64().unwrap() as u32, input["k"].as_u64().unwrap() as usize);
        let (x, y) = (words(&input["a_words"]), words(&input["b_words"]));
        let equal = k - count::mismatches(&x, &y, Bits::new(b).unwrap()) as usize;
        assert_eq!(planes(input, k), equal, "planes and lanes agree");
        equal
    }

    pub fn words(list: &Value) -> Vec<u64> {
        let parse =
            |w: &Value| u64::from_str_radix(w.as_str().unwrap().trim_start_matches("0x"), 16).unwrap();
        list.as_array().unwrap().iter().map(parse).collect()
    }

    fn planes(input: &Value, k: usize) -> usize {
        let of = |key: &str| -> Vec<Vec<u64>> { input[key].as_array().unwrap().iter().map(words).collect() };
        let (a, b) = (of("a_planes"), of("b_planes"));
        let mismatches: u32 = (0..k.div_ceil(64))
            .map(|w| a.iter().zip(&b).fold(0u64, |m, (x, y)| m | (x[w] ^ y[w])).count_ones())
            .sum();
        k - mismatches as usize
    }
}

/// The worked examples of the slides.
mod worked {
    use benzer_core::sketch::permutations::{Linear, signature};
    use serde_json::{Value, json};

    pub fn answer(name: &str, input: &Value) -> Option<Value> {
        let numbers =
            |v: &Value| -> Vec<u64> { v.as_array().unwrap().iter().map(|x| x.as_u64().unwrap()).collect() };
        Some(match name {
            "minhash_mmds_3_8" => {
                let sets = input["sets"].as_object()?;
                let functions = [(1, 1), (3, 1)].map(|(a, b)| Linear::new(a, b, 5).unwrap());
                let functions = functions.map(|h| move |x| h.apply(x));
                let signature = |set: &Value| json!(signature(&numbers(set), &functions));
                sets.iter()
                    .map(|(name, set)| (name.clone(), signature(set)))
                    .collect::<serde_json::Map<_, _>>()
                    .into()
            }
            "jaccard_S1_S4" => {
                let features = |key: &str| benzer_core::Features::set(numbers(&input["sets"][key]));
                json!(features("S1").jaccard(&features("S4")))
            }
            "mmds_signature_matrix" => {
                json!(signatures(&rows(&input["matrix"]), &rows(&input["perms_as_row_ranks"])))
            }
            "mmds_pairs" => pairs(&rows(&input["pairs"])),
            _ => return None,
        })
    }

    fn rows(list: &Value) -> Vec<Vec<u64>> {
        list.as_array()
            .unwrap()
            .iter()
            .map(|row| row.as_array().unwrap().iter().map(|x| x.as_u64().unwrap()).collect())
            .collect()
    }

    fn signatures(matrix: &[Vec<u64>], ranks: &[Vec<u64>]) -> Vec<Vec<u64>> {
        let column = |c: usize| -> Vec<u64> {
            (0..matrix.len() as u64).filter(|&r| matrix[r as usize][c] == 1).collect()
        };
        let permutations: Vec<_> = ranks.iter().map(|rank| |row: u64| rank[row as usize]).collect();
        let columns: Vec<_> = (0..matrix[0].len()).map(|c| signature(&column(c), &permutations)).collect();
        (0..ranks.len()).map(|p| columns.iter().map(|s| s[p].unwrap()).collect()).collect()
    }

    /// Column and signature similarities of the example, whose matrix is the one of `mmds_signature_matrix`.
    fn pairs(pairs: &[Vec<u64>]) -> Value {
        let vectors = super::read("vectors.json");
        let example =
            vectors.as_array().unwrap().iter().find(|v| v["fn"] == "mmds_signature_matrix").unwrap();
        let (matrix, ranks) =
            (rows(&example["inputs"]["matrix"]), rows(&example["inputs"]["perms_as_row_ranks"]));
        let signatures = signatures(&matrix, &ranks);
        let share = |rows: &[Vec<u64>], pair: &[u64], counts: fn(u64, u64) -> bool| {
            let values = rows.iter().map(|row| (row[pair[0] as usize - 1], row[pair[1] as usize - 1]));
            let used: Vec<_> = values.filter(|&(x, y)| counts(x, y)).collect();
            used.iter().filter(|(x, y)| x == y).count() as f64 / used.len() as f64
        };
        json!({
            "col": pairs.iter().map(|p| share(&matrix, p, |x, y| x + y > 0)).collect::<Vec<_>>(),
            "sig": pairs.iter().map(|p| share(&signatures, p, |_, _| true)).collect::<Vec<_>>(),
        })
    }
}
