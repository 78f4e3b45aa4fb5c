//! A nominal 95% interval covers the truth in 93% to 97% of all cases, over the whole range of every similarity.
//!
//! Registers are drawn from their known distribution, without hashing (the schemes whose registers depend on each other, and
//! bottom-k, are simulated element by element). The truth runs over bins of a tenth; inside a bin it takes several
//! values, so that the steps of small counts average out.

use benzer_core::estimate::{
    Estimate, Registers, Scheme,
    bottom_k::{self, Smallest},
    collision::Collision,
    hamming, mle, n_way, odd, size, three_way,
    three_way::{Agreement, ThreeWayBits},
    three_way_dense::{self, Theorem},
    two_way, venn, xor,
};
use benzer_core::hash;

const VALUES_PER_BIN: usize = 20;
const RUNS_PER_VALUE: usize = 200;

/// SplitMix64 from the engine's own mixer.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        hash::mix(self.0)
    }

    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    fn binomial(&mut self, k: usize, p: f64) -> usize {
        (0..k).filter(|_| self.uniform() < p).count()
    }

    /// How often each outcome happens in `k` draws.
    fn multinomial<const N: usize>(&mut self, k: usize, chances: [f64; N]) -> [usize; N] {
        let mut counts = [0; N];
        for _ in 0..k {
            let mut u = self.uniform();
            let outcome = chances.iter().position(|p| {
                u -= p;
                u < 0.0
            });
            counts[outcome.unwrap_or(N - 1)] += 1;
        }
        counts
    }
}

/// Checks the coverage in every tenth of `range`. `run` simulates once at a truth, and returns the estimate of that truth.
fn covers(name: &str, range: [f64; 2], run: impl Fn(&mut Rng, f64) -> Estimate) {
    let bins = ((range[1] - range[0]) * 10.0).round() as usize;
    let mut wrong = Vec::new();
    let mut line = String::new();
    for bin in 0..bins {
        let mut rng = Rng(hash::split(hash::element(name.as_bytes()), bin as u64));
        let mut covered = 0;
        for value in 0..VALUES_PER_BIN {
            let truth = range[0] + (bin as f64 + (value as f64 + 0.5) / VALUES_PER_BIN as f64) / 10.0;
            covered += (0..RUNS_PER_VALUE).filter(|_| holds(&run(&mut rng, truth), truth)).count();
        }
        let share = covered as f64 / (VALUES_PER_BIN * RUNS_PER_VALUE) as f64;
        line += &format!(" {share:.4}");
        if !(0.93..=0.97).contains(&share) {
            wrong.push(format!("bin {bin}: {share}"));
        }
    }
    println!("{name:40}{line}");
    assert!(wrong.is_empty(), "{name}: {wrong:?}");
}

fn holds(estimate: &Estimate, truth: f64) -> bool {
    match estimate {
        Estimate::Value(m) => m.low <= truth && truth <= m.high,
        Estimate::Saturated { at_most } => truth <= *at_most,
        Estimate::Undefined { why } => panic!("undefined: {why}"),
    }
}

#[test]
fn equal_registers_full_and_b_bit() {
    for b in [1, 2, 4, 8, 64] {
        for k in [64, 256] {
            let registers = Registers::independent(k);
            covers(&format!("two-way b={b} k={k}"), [0.0, 1.0], |rng, j| {
                let equal = rng.binomial(k, Collision::sparse(b).probability(j));
                two_way::jaccard(equal, b, registers, None).unwrap()
            });
        }
    }
}

#[test]
fn equal_registers_of_dense_sets() {
    for (b, densities) in [(1, [0.5, 0.45]), (2, [0.3, 0.28]), (4, [0.1, 0.09])] {
        let line = Collision::dense(b, densities).unwrap();
        covers(&format!("two-way dense b={b}"), [0.1, 0.9], |rng, j| {
            let equal = rng.binomial(128, line.probability(j));
            two_way::jaccard_dense(equal, 128, b, densities).unwrap()
        });
    }
}

/// The union element that each register of fast similarity sketching holds.
fn fast_choice(rng: &mut Rng, k: usize, rounds: usize, union: usize) -> Vec<usize> {
    let mut chosen = vec![(u64::MAX, 0); k];
    let mut done = vec![false; k];
    for _ in 0..rounds {
        for element in 0..union {
            let (bin, value) = (rng.below(k), rng.next());
            if !done[bin] && value < chosen[bin].0 {
                chosen[bin] = (value, element);
            }
        }
        chosen.iter().zip(&mut done).for_each(|(c, done)| *done |= c.0 != u64::MAX);
    }
    chosen
        .iter()
        .map(|&(value, element)| if value == u64::MAX { rng.below(union) } else { element })
        .collect()
}

/// The same for one permutation with optimal densification.
fn one_permutation_choice(rng: &mut Rng, k: usize, union: usize) -> Vec<usize> {
    let mut bins = vec![None; k];
    for element in 0..union {
        let (bin, value) = (rng.below(k), rng.next());
        if bins[bin].is_none_or(|(least, _)| value < least) {
            bins[bin] = Some((value, element));
        }
    }
    let filled: Vec<usize> = bins.iter().flatten().map(|&(_, element)| element).collect();
    bins.iter()
        .map(|bin| bin.map_or_else(|| filled[rng.below(filled.len())], |(_, element)| element))
        .collect()
}

#[test]
fn dependent_registers_of_small_sets() {
    const UNION: usize = 200;
    for (name, scheme) in [
        ("fast T=128", Scheme::Fast { rounds: 128 }),
        ("fast T=2", Scheme::Fast { rounds: 2 }),
        ("one permutation", Scheme::OnePermutation),
    ] {
        for (union, b) in [(UNION, 64), (UNION, 2), (40, 64)] {
            covers(&format!("{name} U={union} b={b}"), [0.0, 1.0], |rng, j| {
                let common = (j * union as f64).floor() as usize;
                let chosen = match scheme {
                    // A register is empty after 20 rounds of 40 elements with probability 2e-3.
                    Scheme::Fast { rounds } => fast_choice(rng, 128, rounds.min(20) as usize, union),
                    _ => one_permutation_choice(rng, 128, union),
                };
                let accident = Collision::sparse(b).c1;
                let equal = chosen.iter().filter(|&&x| x < common || rng.uniform() < accident).count();
                let first = common + (union - common) / 2;
                let sizes = [first as f64, (union + common - first) as f64];
                let registers = Registers { k: 128, scheme };
                let estimate = two_way::jaccard(equal, b, registers, Some(sizes)).unwrap();
                // The truth is a fraction of the union; report the interval as if moved onto `j`.
                let offset = j - common as f64 / union as f64;
                estimate.map_monotone(|x| x + offset, |_| 1.0)
            });
        }
    }
}

fn order(rng: &mut Rng, k: usize, j: f64, sizes: [f64; 2]) -> mle::Order {
    let [w1, w2] = sizes.map(|f| f / (sizes[0] + sizes[1]));
    let [equal, less, greater] = rng.multinomial(k, [j, w1 - w2 * j, w2 - w1 * j]);
    mle::Order { equal, less, greater }
}

#[test]
fn likelihood_with_unequal_sizes() {
    for k in [64, 256] {
        for sizes in [[1000.0, 1000.0], [1000.0, 800.0], [500.0, 1000.0], [1000.0, 200.0]] {
            let top = size::jaccard_range(Some(sizes)).unwrap()[1];
            covers(&format!("likelihood k={k} {sizes:?}"), [0.0, top], |rng, j| {
                mle::jaccard(order(rng, k, j, sizes), Scheme::Independent, sizes).unwrap()
            });
        }
    }
}

#[test]
fn containment_both_ways() {
    for (k, sizes) in [(128, [1000.0, 800.0]), (128, [1000.0, 500.0]), (512, [1000.0, 200.0])] {
        covers(&format!("containment k={k} {sizes:?}"), [0.0, 1.0], |rng, share| {
            let j = size::jaccard_of_intersection(share * sizes[1], sizes);
            let jaccard = mle::jaccard(order(rng, k, j, sizes), Scheme::Independent, sizes).unwrap();
            size::containment(&jaccard, sizes).unwrap()[1]
        });
    }
}

#[test]
fn likelihood_of_dense_value_pairs() {
    for (b, densities) in [(1, [0.5, 0.45]), (2, [0.3, 0.27])] {
        let model = mle::Dense::new(b, densities).unwrap();
        covers(&format!("dense pairs b={b}"), [0.0, 0.9], |rng, j| {
            let n = 1u32 << b;
            let cells = model.cells(j);
            let pairs: Vec<(u32, u32)> = (0..128)
                .map(|_| {
                    let mut u = rng.uniform();
                    let cell = cells.iter().position(|p| {
                        u -= p;
                        u < 0.0
                    });
                    let cell = cell.unwrap_or(0) as u32;
                    (cell / n, cell % n)
                })
                .collect();
            model.jaccard(&pairs).unwrap()
        });
    }
}

/// Chances of the patterns all, 12, 13, 23, none when pairs add `t` beyond the common elements, evenly.
fn sparse_patterns(j: f64, only_pairs: f64, b: u32) -> [f64; 5] {
    let q = (-f64::from(b)).exp2();
    let pairs = only_pairs * (1.0 - j);
    let singles = 1.0 - j - pairs;
    let all = j + q * pairs + q * q * singles;
    let each = ((1.0 - q) * pairs + 3.0 * q * (1.0 - q) * singles) / 3.0;
    [all, each, each, each, 1.0 - all - 3.0 * each]
}

fn agreement([all, n12, n13, n23, none]: [usize; 5]) -> Agreement {
    Agreement { all, only: [n12, n13, n23], none }
}

#[test]
fn three_way_of_sparse_sets() {
    for b in [2, 4, 64] {
        for only_pairs in [0.1, 0.5, 0.9] {
            let bits = ThreeWayBits::new(b).unwrap();
            covers(&format!("three-way b={b} pairs={only_pairs}"), [0.0, 1.0], |rng, j| {
                let counts = rng.multinomial(128, sparse_patterns(j, only_pairs, b));
                three_way::jaccard(agreement(counts), bits, Scheme::Independent, None).unwrap()
            });
        }
    }
}

/// Densities and pattern chances of three sets of equal size whose union is the share `union` of the universe.
fn dense_patterns(j: f64, union: f64, b: u32) -> ([f64; 3], [f64; 5]) {
    let (s, pair, single) = (j * union, 0.15 * (1.0 - j) * union, (1.0 - j) * union * 0.55 / 3.0);
    let densities = [s + 2.0 * pair + single; 3];
    let s_pair = s + pair;
    let all = Theorem::new(densities, [s_pair; 3], b).probability(s);
    let line = Collision::dense(b, [densities[0]; 2]).unwrap();
    let each = line.probability(size::jaccard_of_intersection(s_pair, [densities[0]; 2])) - all;
    (densities, [all, each, each, each, 1.0 - all - 3.0 * each])
}

#[test]
fn three_way_of_dense_sets() {
    for (b, union) in [(2, 0.6), (2, 0.2), (4, 0.6)] {
        let bits = ThreeWayBits::new(b).unwrap();
        covers(&format!("three-way dense b={b} u={union}"), [0.0, 1.0], |rng, j| {
            let (densities, patterns) = dense_patterns(j, union, b);
            let counts = rng.multinomial(256, patterns);
            three_way_dense::jaccard(agreement(counts), bits, densities).unwrap()
        });
    }
}

#[test]
fn many_sets_full_and_b_bit() {
    covers("n-way full", [0.0, 1.0], |rng, j| {
        n_way::full(rng.binomial(128, j), Registers::independent(128), None).unwrap()
    });
    for (n, b) in [(4usize, 3), (5, 4)] {
        covers(&format!("n-way n={n} b={b}"), [0.0, 1.0], |rng, j| {
            let mut distinct = vec![0; n];
            for _ in 0..128 {
                // Outside of the intersection an element lies in n/2 sets or one; each foreign minimum has a label of
                // its own.
                let own = if rng.uniform() < j {
                    n
                } else if rng.uniform() < 0.5 {
                    n / 2
                } else {
                    1
                };
                let mut labels = vec![rng.below(1 << b)];
                (own..n).for_each(|_| labels.push(rng.below(1 << b)));
                labels.sort_unstable();
                labels.dedup();
                distinct[labels.len() - 1] += 1;
            }
            n_way::b_bit(&distinct, b, Scheme::Independent, None).unwrap()
        });
    }
}

#[test]
fn venn_cells_as_shares_and_as_sizes() {
    for sized in ["share", "size"] {
        covers(&format!("venn {sized}"), [0.0, 1.0], |rng, share| {
            // The cell of sets 1 and 2 has the share, the others divide the rest.
            let rest = |part: f64| (1.0 - share) * part;
            let shares = [0.0, rest(0.3), rest(0.2), share, rest(0.2), rest(0.1), rest(0.1), rest(0.1)];
            let counts = rng.multinomial(128, shares);
            let inside =
                |set: usize| -> f64 { (1..8).filter(|m| m >> set & 1 == 1).map(|m| shares[m]).sum() };
            let sizes: [f64; 3] = std::array::from_fn(|set| inside(set) * 1000.0);
            let diagram = venn::cells(&counts, Scheme::Independent, &sizes).unwrap();
            let cell = diagram.cells[2];
            let size = cell.size.unwrap().map_monotone(|n| n / 1000.0, |_| 0.001);
            if sized == "share" { cell.share } else { size }
        });
    }
    covers("venn union", [0.0, 0.9], |rng, share| {
        let shares = [0.0, (1.0 - share) / 2.0, (1.0 - share) / 2.0, share];
        let counts = rng.multinomial(128, shares);
        let sizes = [(1.0 + share) * 500.0; 2];
        let union = venn::cells(&counts, Scheme::Independent, &sizes).unwrap().union.unwrap();
        union.map_monotone(|u| u - 1000.0 + share, |_| 1.0)
    });
}

#[test]
fn exclusive_or_of_one_bit_samples() {
    for m in [1, 2, 8] {
        covers(&format!("xor m={m}"), [0.0, 1.0], |rng, j| {
            let equal = rng.binomial(512, xor::agreement(0.5 + 0.5 * j, m));
            xor::jaccard(equal, m, Registers::independent(512 * m as usize), None).unwrap()
        });
    }
}

/// The number of ones after that many random flips of `n` bits.
fn flips(rng: &mut Rng, n: usize, elements: usize) -> usize {
    let mut words = vec![0u64; n.div_ceil(64)];
    for _ in 0..elements {
        let bit = rng.below(n);
        words[bit / 64] ^= 1 << (bit % 64);
    }
    words.iter().map(|w| w.count_ones() as usize).sum()
}

#[test]
fn odd_sketches_of_registers() {
    for (n, target) in [(512, 0.5), (512, 0.75), (512, 0.9), (2048, 0.9)] {
        let k = odd::best_registers(n, target).unwrap();
        covers(&format!("odd n={n} k={k}"), [0.0, 1.0], |rng, j| {
            let mismatches = rng.binomial(k, 1.0 - j);
            odd::jaccard(flips(rng, n, 2 * mismatches), n, Registers::independent(k), None).unwrap()
        });
    }
}

#[test]
fn odd_sketches_of_elements() {
    for n in [512, 2048] {
        covers(&format!("odd elements n={n}"), [0.0, 1.0], |rng, share| {
            let elements = (share * n as f64).round();
            let estimate = odd::set_size(flips(rng, n, elements as usize), n).unwrap();
            estimate.map_monotone(|m| m - elements + share, |_| 1.0)
        });
    }
}

#[test]
fn smallest_hashes_of_sets() {
    const UNION: usize = 300;
    for sized in ["known", "unknown"] {
        for (rule, k) in [("tau", 32), ("tau", 100), ("union", 64)] {
            covers(&format!("bottom-k {rule} k={k} sizes {sized}"), [0.0, 1.0], |rng, j| {
                let common = (j * UNION as f64).round() as usize;
                let first = common + (UNION - common) / 2;
                let all: Vec<u64> = (0..UNION).map(|_| rng.next()).collect();
                let sorted = |mut hashes: Vec<u64>| {
                    hashes.sort_unstable();
                    let size = hashes.len();
                    hashes.truncate(k);
                    (hashes, size)
                };
                let (a, a_size) = sorted(all[..first].to_vec());
                let (b, b_size) = sorted([&all[..common], &all[first..]].concat());
                let sketch = |hashes, size: usize| Smallest {
                    hashes,
                    complete: size <= k,
                    size: (sized == "known").then_some(size as f64),
                };
                let sketches = [sketch(&a, a_size), sketch(&b, b_size)];
                let estimate = match rule {
                    "tau" => bottom_k::tau_strict(&sketches),
                    _ => bottom_k::union_k(&sketches, k),
                };
                let offset = j - common as f64 / UNION as f64;
                estimate.unwrap().map_monotone(|x| x + offset, |_| 1.0)
            });
        }
    }
}

#[test]
fn smallest_hashes_of_three_sets() {
    covers("bottom-k three-way", [0.0, 1.0], |rng, j| {
        const UNION: usize = 300;
        let common = (j * UNION as f64).round() as usize;
        let mut lists = [vec![], vec![], vec![]];
        for element in 0..UNION {
            let hash = rng.next();
            for (set, list) in lists.iter_mut().enumerate() {
                // Outside of the intersection, half of the elements lie in two sets and half in one.
                let inside =
                    element < common || element % 3 == set || (element % 2 == 0 && (element + 1) % 3 == set);
                if inside {
                    list.push(hash);
                }
            }
        }
        lists.iter_mut().for_each(|list| {
            list.sort_unstable();
            list.truncate(48);
        });
        let sketches = lists.each_ref().map(|hashes| Smallest { hashes, complete: false, size: None });
        let offset = j - common as f64 / UNION as f64;
        bottom_k::tau_strict(&sketches).unwrap().map_monotone(|x| x + offset, |_| 1.0)
    });
}

#[test]
fn one_bit_competitors() {
    covers("sampled coordinates", [0.0, 1.0], |rng, share| {
        hamming::sampled(rng.binomial(256, share), 256, 1.0).unwrap()
    });
    // Distances in units of the distance that the projection is made for. Beyond 2.5 times it the projections
    // saturate; then only an upper bound is given, which the truth never exceeds.
    let beta = hamming::best_beta(1000.0);
    covers("random projection", [0.0, 2.5], |rng, share| {
        let differing = rng.binomial(256, hamming::projection_probability(share * 1000.0, beta));
        let estimate = hamming::projected(differing, 256, beta, 1e9).unwrap();
        estimate.map_monotone(|h| h / 1000.0, |_| 0.001)
    });
}
