//! Estimates of real sketches, family by family: exact where they must be, unbiased, with the stated spread and coverage.

mod statistics;

use benzer_core::estimate::{Estimate, of};
use benzer_core::hash::{split, stream};
use benzer_core::sketch::{Bits, Family, Packing, Scheme, Sketch, SketchSpec};
use benzer_core::{Error, Features};
use statistics::Sample;

fn specs() -> Vec<SketchSpec> {
    let packings = [1, 2, 3, 4, 8, 16, 32, 64].map(|b| Packing::bits(b).unwrap());
    let packings = packings.into_iter().chain([
        Packing::Xor { samples: 2 },
        Packing::Xor { samples: 4 },
        Packing::Odd { bits: 512 },
    ]);
    let spec = |family, packing| SketchSpec { family, registers: 128, packing, ..SketchSpec::default() };
    let all = packings.flat_map(|packing| Family::ALL.iter().map(move |&family| spec(family, packing)));
    let odd = SketchSpec { registers: 1024, ..spec(Family::Odd, Packing::bits(1).unwrap()) };
    all.filter(|spec| spec.family != Family::Odd && spec.validate().is_ok()).chain([odd]).collect()
}

fn sketch(spec: &SketchSpec, elements: &[u64]) -> Sketch {
    spec.sketcher().unwrap().sketch(&Features::set(elements.iter().copied())).unwrap()
}

/// Sets of `n` and `m` elements below 4096 with `common` shared ones, different for every seed.
fn pair(n: usize, m: usize, common: usize, seed: u64) -> [Vec<u64>; 2] {
    let mut universe: Vec<u64> = (0..4096).collect();
    for (i, draw) in stream(seed).take(n + m - common).enumerate() {
        universe.swap(i, i + (draw % (4096 - i as u64)) as usize);
    }
    [universe[..n].to_vec(), universe[n - common..n + m - common].to_vec()]
}

#[test]
fn a_set_is_equal_to_itself_and_an_estimate_does_not_depend_on_the_order() {
    for spec in specs() {
        let [a, b] = pair(60, 50, 30, 1).map(|set| sketch(&spec, &set));
        let own = of::jaccard(&a, &a).unwrap();
        assert_eq!(own.value(), Some(1.0), "{spec}");
        assert_eq!(own.measured().unwrap().high, 1.0, "{spec}");
        let [forward, backward] =
            [(&a, &b), (&b, &a)].map(|(x, y)| of::jaccard(x, y).unwrap().value().unwrap());
        assert!((forward - backward).abs() < 1e-12, "{spec}: {forward} and {backward}");
    }
}

#[test]
fn empty_sets_match_nothing_not_even_each_other() {
    for spec in specs() {
        let (empty, some) = (sketch(&spec, &[]), sketch(&spec, &[1, 2, 3]));
        assert_eq!(of::jaccard(&empty, &some).unwrap(), Estimate::exact(0.0), "{spec}");
        assert!(matches!(of::jaccard(&empty, &empty).unwrap(), Estimate::Undefined { .. }), "{spec}");
        assert_eq!(of::intersection(&empty, &some).unwrap(), Estimate::exact(0.0), "{spec}");
        if spec.family != Family::Odd {
            assert_eq!(of::union(&empty, &some).unwrap(), Estimate::exact(3.0), "{spec}");
            assert_eq!(of::hamming(&empty, &some).unwrap(), Estimate::exact(3.0), "{spec}");
        }
    }
}

#[test]
fn sketches_of_different_specs_are_not_compared() {
    for spec in specs() {
        let other = SketchSpec { seed: 7, ..spec.clone() };
        let (a, b) = (sketch(&spec, &[1]), sketch(&other, &[1]));
        let mismatch = |error: Error| matches!(error, Error::SpecMismatch { .. });
        assert!(
            mismatch(of::jaccard(&a, &b).unwrap_err()) && mismatch(of::containment(&a, &b).unwrap_err()),
            "{spec}"
        );
        assert!(
            of::three_way(&a, &b, &a).is_err()
                && of::n_way(&[&a, &b]).is_err()
                && of::venn(&[&a, &b]).is_err()
        );
    }
}

#[test]
fn three_sets_of_one_bit_are_refused_and_other_packings_say_what_to_do() {
    for spec in specs() {
        let one = sketch(&spec, &[1, 2, 3]);
        let result = of::three_way(&one, &one, &one);
        match (spec.family, spec.packing) {
            (Family::BottomK, _) => assert_eq!(result.unwrap().value(), Some(1.0)),
            (Family::Odd, _) | (_, Packing::Xor { .. } | Packing::Odd { .. }) => {
                assert!(matches!(result.unwrap_err(), Error::Unsupported { .. }), "{spec}");
            }
            (_, Packing::Bits(bits)) if bits.get() == 1 => {
                assert!(matches!(result.unwrap_err(), Error::Parameter { .. }), "{spec}");
            }
            _ => assert_eq!(result.unwrap().value(), Some(1.0), "{spec}"),
        }
    }
    let one = sketch(&SketchSpec::default(), &[1]);
    assert!(of::n_way(&[&one]).is_err() && of::venn(&[&one]).is_err());
    assert!(of::set_size(&one).unwrap_err().to_string().contains("only the odd family"));
}

/// Mean, spread and coverage of every family on the same kind of pairs. Too small a spread is as wrong as too large a one.
#[test]
fn estimates_are_unbiased_with_the_stated_spread_and_coverage() {
    for &family in Family::ALL {
        for (n, m, common) in [(60usize, 60usize, 30usize), (400, 400, 356), (500, 250, 180)] {
            let mut outcomes: Vec<Outcome> =
                specs().into_iter().filter(|s| s.family == family).map(Outcome::new).collect();
            // Drawing true permutations takes most of the time.
            let runs =
                if matches!(family, Family::Permutations(Scheme::Exact { .. })) { RUNS / 5 } else { RUNS };
            for run in 0..runs {
                let sets = pair(n, m, common, split(n as u64, run));
                let seed = split(3, run) & 0xffff_ffff;
                let working = if family.is_aligned() { Packing::FULL } else { outcomes[0].spec.packing };
                let sketcher =
                    SketchSpec { seed, packing: working, ..outcomes[0].spec.clone() }.sketcher().unwrap();
                let [a, b] = sets.map(|set| sketcher.sketch(&Features::set(set)).unwrap());
                outcomes
                    .iter_mut()
                    .for_each(|outcome| outcome.push(&a, &b, common as f64 / (n + m - common) as f64));
            }
            let j = common as f64 / (n + m - common) as f64;
            outcomes.iter().for_each(|outcome| outcome.check(j, n, m));
        }
    }
}

const RUNS: u64 = 1_500;

/// What the estimates of one spec did over all runs.
struct Outcome {
    spec: SketchSpec,
    values: Sample,
    stated: Sample,
    covered: u64,
}

impl Outcome {
    fn new(spec: SketchSpec) -> Self {
        Self { spec, values: Sample::default(), stated: Sample::default(), covered: 0 }
    }

    fn push(&mut self, a: &Sketch, b: &Sketch, j: f64) {
        let [a, b] = [a, b].map(|sketch| sketch.pack(self.spec.packing).unwrap());
        let Estimate::Value(measured) = of::jaccard(&a, &b).unwrap() else { return };
        self.values.push(measured.value);
        self.stated.push(measured.standard_error.powi(2));
        self.covered += u64::from((measured.low..=measured.high).contains(&j));
    }

    fn check(&self, j: f64, n: usize, m: usize) {
        let label = format!("{}, n={n}, m={m}, J={j:.3}", self.spec);
        // Xor and odd are for similar sets: below, many estimates sit at the edge of their range. Their intervals hold everywhere.
        if j > 0.6 || matches!(self.spec.packing, Packing::Bits(_)) {
            check_bias(&self.spec, &self.values, j, &label);
            check_spread(&self.spec, &self.values, self.stated.mean(), &label);
        }
        // 93 to 97% over a range of similarities is the test of coverage.rs; at a single one, discreteness and chance come on top.
        let coverage = self.covered as f64 / self.values.n();
        let tolerance = 0.015 + 3.0 * (0.95f64 * 0.05 / self.values.n()).sqrt();
        // Ones over elements come in steps of two, with a spread of few steps: at a single similarity, one step more or less shows.
        let coarse = self.spec.family == Family::Odd && (coverage - 0.95).abs() < 0.05;
        let right = (coverage - 0.95).abs() < tolerance || coarse || is_exact(&self.values);
        assert!(right, "{label}: covers {coverage}");
    }
}

/// Registers of different elements agree by chance alone, one by one: also when a set has a single element, and all its registers come from one hash.
#[test]
fn low_bits_of_different_elements_agree_independently_in_every_register() {
    for spec in specs().into_iter().filter(|s| matches!(s.packing, Packing::Bits(b) if b.get() <= 8)) {
        // In a small universe low bits follow the dense formula; bottom_k and odd have no low bits.
        let dense = matches!(spec.family, Family::Permutations(Scheme::Exact { .. }));
        let Packing::Bits(bits) = spec.packing else { continue };
        if dense || !spec.family.is_aligned() {
            continue;
        }
        let chance = 0.5f64.powi(bits.get() as i32);
        for n in [1u64, 4] {
            let mut shares = Sample::default();
            for run in 0..600u64 {
                let spec = SketchSpec { seed: split(17, run) & 0xffff_ffff, ..spec.clone() };
                let elements: Vec<u64> = stream(split(n, run)).take(2 * n as usize).collect();
                let [a, b] = [&elements[..n as usize], &elements[n as usize..]].map(|set| sketch(&spec, set));
                let equal = (0..128).filter(|&j| a.register(j) == b.register(j)).count();
                shares.push(equal as f64 / 128.0);
            }
            assert!(shares.mean_z(chance).abs() < 4.0, "{spec}, {n} elements: {} equal", shares.mean());
            let ratio = shares.variance() / (chance * (1.0 - chance) / 128.0);
            assert!(
                (0.7..1.4).contains(&ratio),
                "{spec}, {n} elements: variance {ratio:.2} times that of independent registers"
            );
        }
    }
}

/// Bottom-k sketches that hold both sets make no error.
fn is_exact(values: &Sample) -> bool {
    values.variance() < 1e-20
}

fn check_bias(spec: &SketchSpec, values: &Sample, j: f64, label: &str) {
    if is_exact(values) {
        assert!((values.mean() - j).abs() < 1e-9, "{label}");
        return;
    }
    // Clamping and curved estimators are biased by a fraction of the spread; the linear hash family is not quite minwise.
    let curved = !matches!(spec.packing, Packing::Bits(b) if b.get() > 1)
        || spec.family == Family::Permutations(Scheme::Linear);
    let allowed = if curved { 0.1 * values.variance().sqrt() } else { 0.02 * values.variance().sqrt() };
    let excess = (values.mean() - j).abs() - allowed;
    let error = (values.variance() / values.n()).sqrt();
    assert!(
        excess < 4.0 * error,
        "{label}: mean {} ({:.1} standard errors)",
        values.mean(),
        (values.mean() - j) / error
    );
}

fn check_spread(spec: &SketchSpec, values: &Sample, stated: f64, label: &str) {
    if is_exact(values) {
        return;
    }
    let ratio = values.variance() / stated;
    // Few stored bits, curved estimators: the standard error is a first-order statement.
    let curved = !matches!(spec.packing, Packing::Bits(_)) || spec.family == Family::Odd;
    let tolerance = 4.0 * (2.0 / values.n()).sqrt() + if curved { 0.15 } else { 0.03 };
    assert!(
        (ratio - 1.0).abs() < tolerance,
        "{label}: variance {ratio:.3} times what the standard error says"
    );
}

#[test]
fn weighted_sketches_estimate_minima_over_maxima() {
    for packing in [Packing::FULL, Packing::bits(8).unwrap(), Packing::bits(1).unwrap()] {
        let (mut values, mut stated, mut covered) = (Sample::default(), 0.0, 0);
        let runs = 1_500u64;
        let mut exact = 0.0;
        for run in 0..runs {
            let spec = SketchSpec { seed: run, packing, ..SketchSpec::full(Family::Weighted, 128) };
            let weights = |set: u64| {
                (0..80u64)
                    .map(move |e| (e, [0.0, 0.3, 1.0, 2.5, 17.0, 0.01][((e + set * (e / 40)) % 6) as usize]))
            };
            let [a, b] = [0, 1].map(|set| Features::weighted(weights(set)).unwrap());
            exact = a.jaccard(&b).unwrap();
            let [a, b] = [&a, &b].map(|features| spec.sketcher().unwrap().sketch(features).unwrap());
            let measured = *of::jaccard(&a, &b).unwrap().measured().unwrap();
            values.push(measured.value);
            stated += measured.standard_error.powi(2) / runs as f64;
            covered += u64::from((measured.low..=measured.high).contains(&exact));
        }
        assert!(values.mean_z(exact).abs() < 4.0, "{packing}: {} against {exact}", values.mean());
        assert!((values.variance() / stated - 1.0).abs() < 0.17, "{packing}: {}", values.variance() / stated);
        assert!(
            (0.93..=0.97).contains(&(covered as f64 / runs as f64)),
            "{packing}: covers {covered} of {runs}"
        );
    }
}

/// The variance factor of the fast family (fewer rounds, more variance) against simulation.
#[test]
fn bounding_the_rounds_costs_the_variance_that_theory_says() {
    for rounds in [1u16, 2, 4, 128] {
        for (n, common) in [(10usize, 7usize), (30, 20), (122, 108), (500, 333)] {
            let union = (2 * n - common) as f64;
            let j = common as f64 / union;
            let mut shares = Sample::default();
            for run in 0..4_000u64 {
                let spec = SketchSpec { seed: run, ..SketchSpec::full(Family::Fast { rounds }, 128) };
                let [a, b] = pair(n, n, common, split(n as u64 + 1, run)).map(|set| sketch(&spec, &set));
                let equal = a.words().iter().zip(b.words()).filter(|(x, y)| x == y).count();
                shares.push(equal as f64 / 128.0);
            }
            let theory =
                benzer_core::estimate::factor::fast(128.0, f64::from(rounds), union) * j * (1.0 - j) / 128.0;
            assert!(shares.mean_z(j).abs() < 4.0, "T={rounds}, n={n}: mean {} against {j}", shares.mean());
            let z = shares.variance_z(theory, f64::INFINITY);
            assert!(
                z.abs() < 4.0,
                "T={rounds}, n={n}: variance ratio {} (z {z})",
                shares.variance() / theory
            );
        }
    }
}

/// Intervals of three sets from real sketches: dependent registers are taken into account, by the union's size where it is known well, else by a bound
/// that only widens them.
#[test]
fn three_way_and_n_way_intervals_cover_in_dependent_families() {
    let families = [Family::Fast { rounds: 2 }, Family::OnePermutation, Family::Permutations(Scheme::Native)];
    for (family, bits) in families.into_iter().flat_map(|family| [4, 8, 64].map(|bits| (family, bits))) {
        for core in [20u64, 45] {
            // Three sets of 60: `core` elements in all, ten more in each pair, the rest in one.
            let set = |i: u64, seed: u64| {
                let shared = (0..core).map(|e| (0, e));
                let pairs = [(i + 1) % 3, (i + 2) % 3]
                    .into_iter()
                    .flat_map(|other| (0..5).map(move |e| (10 + i + other, e)));
                let own = (0..50 - core).map(|e| (20 + i, e));
                Features::set(
                    shared.chain(pairs).chain(own).map(move |(cell, e)| split(seed, cell * 1000 + e)),
                )
            };
            let truth = core as f64 / (core + 15 + 3 * (50 - core)) as f64;
            let (mut three, mut any, runs) = (0, 0, 1_200u64);
            for run in 0..runs {
                let spec = SketchSpec {
                    seed: run,
                    packing: Packing::bits(bits).unwrap(),
                    ..SketchSpec::full(family, 128)
                };
                let sketcher = spec.sketcher().unwrap();
                let [a, b, c] = [0, 1, 2].map(|i| sketcher.sketch(&set(i, split(5, run))).unwrap());
                let covers = |estimate: Estimate| {
                    estimate.measured().is_some_and(|m| (m.low..=m.high).contains(&truth))
                };
                three += u64::from(covers(of::three_way(&a, &b, &c).unwrap()));
                any += u64::from(covers(of::n_way(&[&a, &b, &c]).unwrap()));
            }
            let [three, any] = [three, any].map(|n| n as f64 / runs as f64);
            let label = format!("{family}, {bits} bits, J={truth:.3}: three-way covers {three}, n-way {any}");
            assert!((0.92..=0.98).contains(&three), "{label}");
            assert!((0.92..=0.995).contains(&any), "{label}");
        }
    }
}

#[test]
fn sizes_containment_and_hamming_follow_from_the_similarity() {
    let spec = SketchSpec::full(Family::Fast { rounds: 2 }, 1024);
    let [a, b] = pair(1000, 300, 240, 5).map(|set| sketch(&spec, &set));
    let near = |estimate: Estimate, truth: f64| {
        let m = *estimate.measured().unwrap();
        assert!(m.low <= truth && truth <= m.high && m.standard_error < 0.2 * truth, "{m:?} against {truth}");
    };
    near(of::jaccard(&a, &b).unwrap(), 240.0 / 1060.0);
    near(of::intersection(&a, &b).unwrap(), 240.0);
    near(of::union(&a, &b).unwrap(), 1060.0);
    near(of::hamming(&a, &b).unwrap(), 820.0);
    let [of_a, of_b] = of::containment(&a, &b).unwrap();
    near(of_a, 0.24);
    near(of_b, 0.8);
    let merged = spec.sketcher().unwrap().merge(&a, &a).unwrap();
    assert!(
        matches!(of::intersection(&merged, &b).unwrap(), Estimate::Undefined { .. }),
        "the size is not known"
    );
}

#[test]
fn the_odd_family_tells_set_sizes_and_symmetric_differences() {
    let spec = SketchSpec {
        family: Family::Odd,
        registers: 2048,
        packing: Packing::bits(1).unwrap(),
        ..SketchSpec::default()
    };
    let [a, b] = pair(300, 320, 250, 6).map(|set| sketch(&spec, &set));
    let near = |estimate: Estimate, truth: f64| {
        let m = *estimate.measured().unwrap();
        assert!(m.low <= truth && truth <= m.high, "{m:?} against {truth}");
    };
    near(of::set_size(&a).unwrap(), 300.0);
    near(of::hamming(&a, &b).unwrap(), 120.0);
    near(of::jaccard(&a, &b).unwrap(), 250.0 / 370.0);
}

#[test]
fn three_way_n_way_and_venn_agree_with_the_sets() {
    let sets: [Vec<u64>; 3] = [(0..700).collect(), (200..900).collect(), (300..1200).collect()];
    let truth = 400.0 / 1200.0;
    let families = [
        Family::Fast { rounds: 2 },
        Family::Permutations(Scheme::Native),
        Family::OnePermutation,
        Family::BottomK,
        Family::Permutations(Scheme::Exact { universe: 2048 }),
    ];
    for family in families {
        for bits in [Bits::new(2), Bits::new(4), Bits::new(8), Ok(Bits::FULL)].map(Result::unwrap) {
            let spec = SketchSpec { packing: Packing::Bits(bits), ..SketchSpec::full(family, 2048) };
            if spec.validate().is_err() {
                continue;
            }
            let [a, b, c] = sets.each_ref().map(|set| sketch(&spec, set));
            let inside = |estimate: Estimate| {
                let m = *estimate.measured().unwrap();
                assert!(m.low - 0.01 <= truth && truth <= m.high + 0.01, "{spec}: {m:?}");
            };
            inside(of::three_way(&a, &b, &c).unwrap());
            // The n-way form knows no small universe: it is refused there.
            let dense = matches!(family, Family::Permutations(Scheme::Exact { .. })) && bits != Bits::FULL;
            match of::n_way(&[&a, &b, &c]) {
                Ok(estimate) => inside(estimate),
                Err(error) => assert!(dense && matches!(error, Error::Unsupported { .. }), "{spec}: {error}"),
            }
        }
    }
    let spec = SketchSpec::full(Family::Fast { rounds: 2 }, 4096);
    let [a, b, c] = sets.each_ref().map(|set| sketch(&spec, set));
    let venn = of::venn(&[&a, &b, &c]).unwrap();
    let truth = |members: u32| {
        let inside = |x: u64| (0..3).filter(|&i| sets[i].contains(&x)).fold(0, |m, i| m | 1 << i);
        (0..1200).filter(|&x| inside(x) == members).count() as f64
    };
    for cell in &venn.cells {
        let size = *cell.size.unwrap().measured().unwrap();
        let expected = truth(cell.members);
        assert!(
            (size.value - expected).abs() <= 4.0 * size.standard_error + 1e-9,
            "{cell:?} against {expected}"
        );
    }
    assert!((venn.union.unwrap().value().unwrap() - 1200.0).abs() < 60.0);
    let borrowed = sketch(&SketchSpec::full(Family::OnePermutation, 4096), &sets[0]);
    assert!(matches!(of::venn(&[&borrowed, &borrowed]).unwrap_err(), Error::Unsupported { .. }));
}
