//! 000, applications: word associations (sizes of two- and three-way intersections of posting lists) and join orders from them.
//!
//! For pairs the expected square error and the coverage of intervals are exact sums over the binomial distribution of equal registers. The size of a
//! three-way intersection is a function of five counts; its expectation is that of an independent simulation that draws the counts
//! from their probabilities and knows no sketches.

use benzer_core::Features;
use benzer_core::estimate::three_way::{self, Agreement, ThreeWayBits};
use benzer_core::estimate::{Measured, Registers, Scheme as Filling, size, two_way};
use benzer_core::sketch::{Bits, Family, Packing, Scheme, Sketch, SketchSpec, count, fast};

use crate::check::is_precise;
use crate::random::Random;
use crate::table::row;
use crate::{
    Axis, Chart, Checks, Claim, Context, Experiment, Mean, Moments, Outcome, Result, Series, Table, corpus,
    exact,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "li2010_word_associations",
    source: "000, section 1: word associations, query optimization",
    title: "Intersections of posting lists, and join orders",
    claim: "Sizes of two- and three-way intersections of posting lists can be estimated fast from b-bit samples, well enough to count co-occurrences and to plan the order in which four sets are intersected.",
    criterion: "Mean square errors of the sizes of two- and three-way intersections (each as a share of the smallest list), and the coverage of 95% intervals of pairs: within 4 standard errors of the exact expectation (pairs) or of an independent simulation (triples), standard error at most 2%; `fast` is not worse than independent registers by more than 4 standard errors. Join orders chosen from 512 registers of 16 bits cost at most 10% more intermediate rows than the best ones, and at every number of registers less than random orders by more than 4 standard errors.",
    run,
};

const K: u32 = 256;

fn run(context: &Context<'_>) -> Result<Outcome> {
    let lists: Vec<Features> = match context.data() {
        Some(data) => corpus::kos_postings(data)?.into_iter().filter(|list| list.len() >= 150).collect(),
        None => posting_lists(context),
    };
    let mut checks = Checks::default();
    let columns = [
        "sets",
        "family",
        "bits",
        "registers",
        "cases",
        "sketches",
        "mean_size",
        "rms_error",
        "relative_error",
        "mse_share",
        "mse_share_se",
        "mse_share_expected",
        "covered",
        "covered_expected",
    ];
    let mut table = context.table("", &columns)?;
    let mut lines = Vec::new();
    for ways in [2usize, 3] {
        let cases = cases(&lists, ways, &mut Random::new(context.seed(10 + ways as u64)));
        for bits in [4u32, 16] {
            context.step(format_args!("{ways} sets, {bits} bits"));
            let theory = expected(context, &cases, bits)?;
            for family in
                [Family::Permutations(Scheme::Native), Family::Fast { rounds: fast::DEFAULT_ROUNDS }]
            {
                let sizes = measure(context, &lists, &cases, (family, bits), &theory)?;
                sizes.record(&cases, (family, bits), &theory, (&mut table, &mut checks))?;
                if bits == 16 && family == Family::Permutations(Scheme::Native) {
                    lines.push(sizes.sentence(&cases));
                }
            }
        }
    }
    let (orders, chart, sentence) = join_orders(context, &lists, &mut checks)?;
    let verdict = format!("How fast the estimates are is not measured here. {} {sentence}", lines.join(" "));
    // How fast it is is not measured here, and how well is well enough the paper does not say in numbers.
    let claim = Claim::of(&[checks.all_hold(), false]);
    Ok(Outcome { tables: vec![table, orders], charts: vec![chart], checks, claim, verdict })
}

/// Two or three lists, and what they have in common.
struct Case {
    places: Vec<usize>,
    sizes: Vec<f64>,
    common: f64,
    union: f64,
    /// Similarities of the pairs 12, 13, 23, or of the one pair.
    pairs: Vec<f64>,
}

impl Case {
    fn smallest(&self) -> f64 {
        self.sizes.iter().copied().fold(f64::MAX, f64::min)
    }

    /// The probabilities that a register of `b` bits is equal in all, in the pairs 12, 13, 23 only, or in none.
    fn chances(&self, b: u32) -> [f64; 5] {
        let q = (-f64::from(b)).exp2();
        let equal: Vec<f64> = self.pairs.iter().map(|j| q + (1.0 - q) * j).collect();
        match equal[..] {
            [pair] => [pair, 0.0, 0.0, 0.0, 1.0 - pair],
            _ => {
                let all = three_way::probability(self.common / self.union, self.pairs.iter().sum(), b);
                let [p12, p13, p23] = [equal[0] - all, equal[1] - all, equal[2] - all];
                [all, p12, p13, p23, 1.0 - all - p12 - p13 - p23]
            }
        }
    }

    /// The estimated size of the intersection from counts of registers; for pairs, whether its interval holds the true one.
    fn estimate(&self, counts: [usize; 5], registers: Registers, b: u32) -> Result<(f64, bool)> {
        let [all, p12, p13, p23, none] = counts;
        match self.sizes[..] {
            [f1, f2] => {
                let Measured { value, low, high, .. } = pair_size(all, b, registers, [f1, f2])?;
                Ok((value, low - 1e-6 <= self.common && self.common <= high + 1e-6))
            }
            _ => {
                let agreement = Agreement { all, only: [p12, p13, p23], none };
                let sizes = [self.sizes[0], self.sizes[1], self.sizes[2]];
                Ok((triple_size(agreement, b, registers, sizes)?, true))
            }
        }
    }
}

/// The size of the intersection of two sets from the number of equal registers.
fn pair_size(equal: usize, b: u32, registers: Registers, sizes: [f64; 2]) -> Result<Measured> {
    let estimate = size::intersection(&two_way::jaccard(equal, b, registers, Some(sizes))?, sizes)?;
    Ok(*estimate.measured().expect("sets that are not empty have a similarity"))
}

/// The size of the intersection of three sets, within what the estimated intersections of pairs allow.
fn triple_size(agreement: Agreement, b: u32, registers: Registers, sizes: [f64; 3]) -> Result<f64> {
    let [f1, f2, f3] = sizes;
    let [p12, p13, p23] = agreement.only.map(|only| only + agreement.all);
    let mut pairs = [0.0; 3];
    for (pair, (equal, sizes)) in pairs.iter_mut().zip([(p12, [f1, f2]), (p13, [f1, f3]), (p23, [f2, f3])]) {
        *pair = pair_size(equal, b, registers, sizes)?.value;
    }
    let three = three_way::jaccard(agreement, ThreeWayBits::new(b)?, registers.scheme, Some(sizes))?;
    let jaccard = three.value().unwrap_or_default().min(0.999);
    let [low, high] = size::triple_range(sizes, pairs);
    Ok(size::three_way_intersection_at(jaccard, sizes, pairs).min(high).max(low.min(high)))
}

/// Different lists drawn at random, with their exact intersections.
fn cases(lists: &[Features], ways: usize, random: &mut Random) -> Vec<Case> {
    let case = |_| {
        let places: [usize; 3] = draw(lists.len(), random);
        let places = places[..ways].to_vec();
        let sets: Vec<&Features> = places.iter().map(|&i| &lists[i]).collect();
        let of = |i: usize, j: usize| sets[i].jaccard(sets[j]).unwrap_or_default();
        Case {
            sizes: sets.iter().map(|set| set.size()).collect(),
            common: intersected(&sets).size(),
            union: Features::set(sets.iter().flat_map(|set| set.elements().iter().copied())).size(),
            pairs: if ways == 2 { vec![of(0, 1)] } else { vec![of(0, 1), of(0, 2), of(1, 2)] },
            places,
        }
    };
    (0..40).map(case).collect()
}

/// Square error of the size as a share of the smallest list, and coverage, each averaged over the cases.
struct Theory {
    mse: Mean,
    covered: f64,
}

fn expected(context: &Context<'_>, cases: &[Case], b: u32) -> Result<Theory> {
    let registers = Registers::independent(K as usize);
    let share = |case: &Case, value: f64| ((value - case.common) / case.smallest()).powi(2);
    if cases[0].sizes.len() == 2 {
        let [mut mse, mut covered] = [0.0; 2];
        for case in cases {
            let weights = exact::binomial(K as usize, case.chances(b)[0]);
            for (equal, weight) in weights.into_iter().enumerate().filter(|(_, w)| *w > 1e-13) {
                let (value, holds) = case.estimate([equal, 0, 0, 0, K as usize - equal], registers, b)?;
                mse += weight * share(case, value);
                covered += weight * f64::from(u8::from(holds));
            }
        }
        let n = cases.len() as f64;
        return Ok(Theory { mse: Mean { value: mse / n, error: 0.0 }, covered: covered / n });
    }
    let mut random = Random::new(context.seed(300 + u64::from(b)));
    let mut mse = Moments::default();
    for _ in 0..1_600 {
        let mut sum = 0.0;
        for case in cases {
            let counts = random.multinomial(K as usize, case.chances(b));
            sum += share(case, case.estimate(counts, registers, b)?.0);
        }
        mse.push(sum / cases.len() as f64);
    }
    Ok(Theory { mse: mse.mean(), covered: f64::NAN })
}

/// What sketches gave.
struct Sizes {
    sketches: usize,
    /// Square error as a share of the smallest list, and coverage, averaged over the cases of each sketch.
    share: Moments,
    covered: Moments,
    /// Mean square error of each case, in documents.
    each: Vec<Moments>,
}

fn measure(
    context: &Context<'_>,
    lists: &[Features],
    cases: &[Case],
    (family, b): (Family, u32),
    theory: &Theory,
) -> Result<Sizes> {
    let ways = cases[0].sizes.len();
    let registers = Registers { k: K as usize, scheme: Filling::from(family) };
    let mut sizes = Sizes {
        sketches: 0,
        share: Moments::default(),
        covered: Moments::default(),
        each: vec![Moments::default(); cases.len()],
    };
    let mut places: Vec<usize> = cases.iter().flat_map(|case| case.places.iter().copied()).collect();
    places.sort_unstable();
    places.dedup();
    let is_fast = matches!(family, Family::Fast { .. });
    let stream = context.seed((ways * 100 + b as usize * 2 + usize::from(is_fast)) as u64);
    for sketch in 0..4_000 {
        let seed = benzer_core::hash::split(stream, sketch as u64);
        let used: Vec<Features> = places.iter().map(|&i| lists[i].clone()).collect();
        let sketches = sketches(&used, (family, K, b), seed)?;
        let of = |i: usize| sketches[places.binary_search(&i).expect("a list of a case")].words();
        let (mut share, mut covered) = (0.0, 0.0);
        for (case, each) in cases.iter().zip(&mut sizes.each) {
            let words: Vec<&[u64]> = case.places.iter().map(|&i| of(i)).collect();
            let (value, holds) = case.estimate(counts(&words, b)?, registers, b)?;
            each.push((value - case.common).powi(2));
            share += ((value - case.common) / case.smallest()).powi(2);
            covered += f64::from(u8::from(holds));
        }
        sizes.share.push(share / cases.len() as f64);
        sizes.covered.push(covered / cases.len() as f64);
        sizes.sketches += 1;
        // The difference from a simulation has the errors of both.
        let both = sizes.share.mean().error.hypot(theory.mse.error);
        if sketch >= 30 && is_precise(Mean { value: 0.0, error: both }, theory.mse.value) {
            break;
        }
    }
    Ok(sizes)
}

/// Registers that are equal in all, in the pairs 12, 13, 23 only, and in none.
fn counts(words: &[&[u64]], b: u32) -> Result<[usize; 5]> {
    let bits = Bits::new(b)?;
    Ok(match words[..] {
        [x, y] => {
            let different = count::mismatches(x, y, bits) as usize;
            [K as usize - different, 0, 0, 0, different]
        }
        [x, y, z, ..] => {
            let triple = count::triple([x, y, z], bits, K);
            [triple.all, triple.only_12, triple.only_13, triple.only_23, triple.none].map(|n| n as usize)
        }
        _ => unreachable!("a case has two or three lists"),
    })
}

impl Sizes {
    fn record(
        &self,
        cases: &[Case],
        (family, b): (Family, u32),
        theory: &Theory,
        (table, checks): (&mut Table, &mut Checks),
    ) -> Result<()> {
        let (ways, share, covered) = (cases[0].sizes.len(), self.share.mean(), self.covered.mean());
        let mean_size = cases.iter().map(|case| case.common).sum::<f64>() / cases.len() as f64;
        let is_pair = ways == 2;
        table.push(row![
            ways,
            family.to_string(),
            b,
            K,
            cases.len(),
            self.sketches,
            mean_size,
            self.rms(),
            self.relative(cases),
            share.value,
            share.error,
            theory.mse.value,
            if is_pair { covered.value } else { f64::NAN },
            theory.covered
        ])?;
        let what = format!("{ways} sets, {family}, {b} bits");
        let both = Mean { value: share.value, error: share.error.hypot(theory.mse.error) };
        if family == Family::Permutations(Scheme::Native) {
            checks.agrees(format_args!("{what}: size"), both, theory.mse.value);
            if is_pair {
                checks.agrees(format_args!("{what}: coverage"), covered, theory.covered);
            }
        } else {
            checks.holds(
                format_args!("{what}: size {} not above {}", share.value, theory.mse.value),
                share.value <= theory.mse.value + 4.0 * both.error,
            );
        }
        Ok(())
    }

    /// Root mean square error of the size, in documents.
    fn rms(&self) -> f64 {
        (self.each.iter().map(|each| each.mean().value).sum::<f64>() / self.each.len() as f64).sqrt()
    }

    /// Root mean square error as a share of the size, averaged over the cases with at least 20 documents in common.
    fn relative(&self, cases: &[Case]) -> f64 {
        let large = self.each.iter().zip(cases).filter(|(_, case)| case.common >= 20.0);
        large.map(|(each, case)| each.mean().value.sqrt() / case.common).collect::<Moments>().mean().value
    }

    fn sentence(&self, cases: &[Case]) -> String {
        let mean_size = cases.iter().map(|case| case.common).sum::<f64>() / cases.len() as f64;
        let large = cases.iter().filter(|case| case.common >= 20.0).count();
        let covered = match cases[0].sizes.len() {
            2 => format!(
                ", and {:.1}% of the 95% intervals hold the true size",
                100.0 * self.covered.mean().value
            ),
            _ => String::new(),
        };
        format!(
            "With {K} registers of 16 bits the {}-way intersections of {} cases ({mean_size:.0} documents on average) are off by {:.1} documents, \
             or {:.0}% of the size where it is at least 20 ({large} cases){covered}.",
            cases[0].sizes.len(),
            cases.len(),
            self.rms(),
            100.0 * self.relative(cases),
        )
    }
}

/// Lists of documents whose words come in topics, so that some meet often.
fn posting_lists(context: &Context<'_>) -> Vec<Features> {
    let mut random = Random::new(context.seed(0));
    let documents = 4_000u64;
    (0..60)
        .map(|list: u64| {
            let (topic, often) = (list % 6, 0.02 + 0.3 * random.unit());
            let chance = |document: u64| if document % 6 == topic { often } else { often * 0.4 };
            let chosen: Vec<u64> = (0..documents).filter(|&d| random.unit() < chance(d)).collect();
            Features::set(chosen.into_iter().map(benzer_core::hash::mix))
        })
        .collect()
}

fn sketches(
    lists: &[Features],
    (family, registers, bits): (Family, u32, u32),
    seed: u64,
) -> Result<Vec<Sketch>> {
    let spec = SketchSpec { packing: Packing::bits(bits)?, seed, ..SketchSpec::full(family, registers) };
    let sketcher = spec.sketcher()?;
    Ok(lists.iter().map(|list| sketcher.sketch(list)).collect::<benzer_core::Result<_>>()?)
}

/// Different places in the lists.
fn draw<const N: usize>(n: usize, random: &mut Random) -> [usize; N] {
    let mut places: Vec<usize> = (0..n).collect();
    for i in 0..N {
        places.swap(i, i + random.below((n - i) as u64) as usize);
    }
    std::array::from_fn(|i| places[i])
}

fn intersected(sets: &[&Features]) -> Features {
    let (first, others) = sets.split_first().expect("at least one set");
    Features::set(
        first
            .elements()
            .iter()
            .copied()
            .filter(|e| others.iter().all(|set| set.elements().binary_search(e).is_ok())),
    )
}

/// All left-deep orders of four sets: the first two, then the third.
const ORDERS: [[usize; 3]; 12] = [
    [0, 1, 2],
    [0, 1, 3],
    [0, 2, 1],
    [0, 2, 3],
    [0, 3, 1],
    [0, 3, 2],
    [1, 2, 0],
    [1, 2, 3],
    [1, 3, 0],
    [1, 3, 2],
    [2, 3, 0],
    [2, 3, 1],
];

/// Intermediate rows of the orders that are chosen by estimates, by the sizes of the lists alone (smallest first), at random; and of the best.
struct Costs {
    registers: u32,
    chosen: f64,
    smallest: f64,
    random: f64,
    best: f64,
    hits: f64,
    /// What a random order and smallest first cost more than the chosen one, for each sketch.
    saved: [Moments; 2],
}

fn join_orders(
    context: &Context<'_>,
    lists: &[Features],
    checks: &mut Checks,
) -> Result<(Table, Chart, String)> {
    let columns = [
        "registers",
        "cases",
        "cost_over_best",
        "smallest_first_over_best",
        "random_over_best",
        "best_chosen",
        "saved_against_random",
        "saved_se",
        "saved_against_smallest_first",
        "saved_smallest_se",
    ];
    let mut table = context.table("join_order", &columns)?;
    let mut series = [Vec::new(), Vec::new(), Vec::new()];
    let mut sentence = String::new();
    for registers in [64u32, 128, 512, 1024] {
        context.step(format_args!("join order, {registers} registers"));
        let (sketches, cases) = (20, context.size(15, 100));
        let costs = costs(context, lists, registers, [sketches, cases])?;
        let [chosen, smallest, random] =
            [costs.chosen, costs.smallest, costs.random].map(|cost| cost / costs.best);
        let [of_random, of_smallest] = costs.saved.map(|saved| saved.mean());
        let n = (sketches * cases) as f64;
        table.push(row![
            registers,
            n,
            chosen,
            smallest,
            random,
            costs.hits / n,
            of_random.value,
            of_random.error,
            of_smallest.value,
            of_smallest.error
        ])?;
        checks.holds(
            format_args!(
                "{registers} registers: {} rows saved against random, error {}",
                of_random.value, of_random.error
            ),
            of_random.value > 4.0 * of_random.error,
        );
        if registers == 512 {
            checks.holds(format_args!("512 registers: {chosen} <= 1.1"), chosen <= 1.1);
            sentence = costs.sentence(n);
        }
        series
            .iter_mut()
            .zip([chosen, smallest, random])
            .for_each(|(s, v)| s.push((f64::from(registers), v)));
    }
    let [chosen, smallest, random] = series;
    let axes = (Axis::log("registers of 16 bits"), Axis::linear("intermediate rows over the best"));
    let chart = Chart::new("Join orders of four lists", axes.0, axes.1)
        .with(Series::points("order by estimates", chosen))
        .with(Series::dashed("smallest lists first", smallest).colour(1))
        .with(Series::dashed("random order", random).colour(2));
    Ok((table, chart, sentence))
}

impl Costs {
    fn sentence(&self, n: f64) -> String {
        let more = |cost: f64| 100.0 * (cost / self.best - 1.0);
        let of_smallest = self.saved[1].mean();
        let against = match of_smallest.value {
            saved if saved > 4.0 * of_smallest.error => "which they beat",
            saved if saved < -4.0 * of_smallest.error => "which is better",
            _ => "from which they cannot be told apart",
        };
        format!(
            "Join orders of four lists chosen from {} registers of 16 bits cost {:.1}% more intermediate rows than the best ones and are the best in {:.0}% of {n} cases; \
             smallest lists first, {against}, costs {:.1}% more, a random order {:.1}%.",
            self.registers,
            more(self.chosen),
            100.0 * self.hits / n,
            more(self.smallest),
            more(self.random)
        )
    }
}

/// The cost of an order is the rows after its first and after its second join.
fn costs(context: &Context<'_>, lists: &[Features], registers: u32, [n, cases]: [usize; 2]) -> Result<Costs> {
    let mut costs = Costs {
        registers,
        chosen: 0.0,
        smallest: 0.0,
        random: 0.0,
        best: 0.0,
        hits: 0.0,
        saved: [Moments::default(); 2],
    };
    let family = Family::Fast { rounds: fast::DEFAULT_ROUNDS };
    let filled = Registers { k: registers as usize, scheme: Filling::from(family) };
    let mut random = Random::new(context.seed(1_000 + u64::from(registers)));
    for _ in 0..n {
        let seed = random.next();
        let mut saved = [0.0; 2];
        for _ in 0..cases {
            let places: [usize; 4] = draw(lists.len(), &mut random);
            let four = places.map(|i| lists[i].clone());
            let sketches = sketches(&four, (family, registers, 16), seed)?;
            let mut all = Vec::new();
            for order in ORDERS {
                let of = order.map(|i| &four[i]);
                let triple = count::triple(order.map(|i| sketches[i].words()), Bits::new(16)?, registers);
                let [all_equal, p12, p13, p23, none] =
                    [triple.all, triple.only_12, triple.only_13, triple.only_23, triple.none]
                        .map(|n| n as usize);
                let agreement = Agreement { all: all_equal, only: [p12, p13, p23], none };
                let sizes = of.map(|list| list.size());
                let pair = pair_size(all_equal + p12, 16, filled, [sizes[0], sizes[1]])?.value;
                let estimated = pair + triple_size(agreement, 16, filled, sizes)?;
                // Of lists that are equally long the first order counts.
                let lengths = (sizes[0].max(sizes[1]), sizes[0] + sizes[1], sizes[2]);
                all.push((estimated, of[0].intersection(of[1]) + intersected(&of).size(), lengths));
            }
            let chosen = all.iter().min_by(|x, y| x.0.total_cmp(&y.0)).map_or(0.0, |order| order.1);
            let by_length = |x: &(f64, f64, f64), y: &(f64, f64, f64)| {
                x.0.total_cmp(&y.0).then(x.1.total_cmp(&y.1)).then(x.2.total_cmp(&y.2))
            };
            let smallest = all.iter().min_by(|x, y| by_length(&x.2, &y.2)).map_or(0.0, |order| order.1);
            let best = all.iter().map(|order| order.1).fold(f64::MAX, f64::min);
            let any = all[random.below(12) as usize].1;
            costs.chosen += chosen;
            costs.smallest += smallest;
            costs.random += any;
            costs.best += best;
            costs.hits += f64::from(u8::from(chosen <= best));
            saved[0] += any - chosen;
            saved[1] += smallest - chosen;
        }
        costs.saved.iter_mut().zip(saved).for_each(|(moments, saved)| moments.push(saved / cases as f64));
    }
    Ok(costs)
}
