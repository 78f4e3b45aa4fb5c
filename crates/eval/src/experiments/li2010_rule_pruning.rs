//! 000, data mining: pruning candidates of association rules with three items, by pairs and by triples.
//!
//! A triple is kept by pairs if the 95% intervals of all three pair similarities reach R0 (a triple is never more similar than its least similar pair), and
//! by triples if the interval of the three-way similarity does. The upper end of an interval is a function of counts of equal registers, so how many pairs and
//! triples are kept has an exact expectation: sums over the binomial and the trinomial distribution.

use benzer_core::Features;
use benzer_core::estimate::three_way::{self, Agreement, ThreeWayBits};
use benzer_core::estimate::{Registers, Scheme as Filling, two_way};
use benzer_core::sketch::{Bits, Packing, count};

use crate::check::is_precise;
use crate::random::Random;
use crate::retrieval::sketched;
use crate::table::row;
use crate::{
    Axis, Chart, Checks, Claim, Context, Experiment, Moments, Outcome, Result, Series, corpus, exact,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "li2010_rule_pruning",
    source: "000, section 1: data mining",
    title: "Pruning rules of three items",
    claim: "For association rules with more than two items, pruning based on pairs may perform much less well than multi-way pruning.",
    criterion: "The mean numbers of pairs and of triples whose 95% intervals reach R0, and of those that do so rightly, over independent sketches of 256 registers of 8 bits: within 4 standard errors of the exact expectation (binomial and trinomial sums), standard error at most 2%, for R0 = 0.1, 0.2, 0.3, 0.5 where at least 10 right ones are expected. How many more triples pairs keep is then read off the means.",
    run,
};

const K: u32 = 256;
const B: u32 = 8;
const THRESHOLDS: [f64; 4] = [0.1, 0.2, 0.3, 0.5];
/// With fewer right ones there is nothing to measure to 2%.
const LEAST: f64 = 10.0;

/// Sets whose intervals are asked: two or three places, similarity, sum of pair similarities, smallest over largest size.
struct Group {
    sets: [usize; 3],
    jaccard: f64,
    pairs: f64,
    most: f64,
}

/// Kept and rightly kept, for each threshold.
type Kept<T> = [[T; 2]; THRESHOLDS.len()];

fn run(context: &Context<'_>) -> Result<Outcome> {
    let items: Vec<Features> = match context.data() {
        Some(data) => corpus::mushroom_items(data)?.into_iter().filter(|item| item.len() >= 400).collect(),
        None => synthetic_items(context),
    };
    context.step("exact similarities");
    let (pairs, triples) = groups(&items);
    let limits = Limits::new()?;
    let theory = [
        expected(&pairs, |group| limits.pair_chances(group.jaccard, group.most)),
        expected(&triples, |group| limits.triple_chances(group)),
    ];
    let counted = measure(context, &items, (&pairs, &triples), &limits, &theory)?;
    let mut checks = Checks::default();
    let columns = [
        "R0",
        "sketches",
        "pairs",
        "true_pairs",
        "pairs_kept",
        "pairs_kept_expected",
        "triples",
        "true_triples",
        "kept_by_triples",
        "kept_by_triples_se",
        "kept_by_triples_expected",
        "recall_of_triples",
        "recall_expected",
        "kept_by_pairs",
        "kept_by_pairs_se",
        "recall_of_pairs",
    ];
    let mut table = context.table("", &columns)?;
    let (mut series, mut ratios, mut above) = ([Vec::new(), Vec::new()], Vec::new(), 0);
    for (i, threshold) in THRESHOLDS.into_iter().enumerate() {
        for (kind, (counted, theory)) in
            ["pairs", "triples"].into_iter().zip(counted[..2].iter().zip(&theory))
        {
            let what = format!("R0 = {threshold}: {kind}");
            if theory[i][1] >= LEAST {
                checks.agrees(format_args!("{what} kept"), counted[i][0].mean(), theory[i][0]);
                checks.agrees(format_args!("{what} rightly kept"), counted[i][1].mean(), theory[i][1]);
            }
        }
        let (by_triples, by_pairs) = (counted[1][i][0].mean(), counted[2][i][0].mean());
        let wanted =
            |of: &[Group]| of.iter().filter(|group| group.jaccard >= threshold - 1e-9).count() as f64;
        let (true_pairs, true_triples) = (wanted(&pairs), wanted(&triples));
        let recall = |right: f64| if true_triples > 0.0 { right / true_triples } else { f64::NAN };
        let recalls =
            [counted[1][i][1].mean().value, theory[1][i][1], counted[2][i][1].mean().value].map(recall);
        table.push(row![
            threshold,
            counted[0][0][0].n(),
            pairs.len(),
            true_pairs,
            counted[0][i][0].mean().value,
            theory[0][i][0],
            triples.len(),
            true_triples,
            by_triples.value,
            by_triples.error,
            theory[1][i][0],
            recalls[0],
            recalls[1],
            by_pairs.value,
            by_pairs.error,
            recalls[2]
        ])?;
        series[0].push((threshold, by_pairs.value / true_triples.max(1.0)));
        series[1].push((threshold, by_triples.value / true_triples.max(1.0)));
        if true_triples > 0.0 {
            above += usize::from(by_pairs.value > by_triples.value);
            ratios.push(format!(
                "{:.2} times at R0 = {threshold} (recall {:.3} by pairs, {:.3} by triples)",
                by_pairs.value / by_triples.value.max(1e-9),
                recalls[2],
                recalls[0]
            ));
        }
    }
    let [by_pairs, by_triples] = series;
    let chart =
        Chart::new("Candidates for each true triple", Axis::linear("R0"), Axis::log("kept over true"))
            .with(Series::points("pruned by pairs", by_pairs))
            .with(Series::points("pruned by triples", by_triples).colour(1));
    let verdict = format!(
        "On one data set, of its frequent items: of {} triples of {} items, pruning by pair intervals of {K} bytes keeps this many times the triples that three-way intervals keep: {}. Pruning by pairs is less good at {above} of {} thresholds.",
        triples.len(),
        items.len(),
        ratios.join(", "),
        ratios.len()
    );
    let claim = Claim::of(&[above == ratios.len() && above > 0]);
    Ok(Outcome { tables: vec![table], charts: vec![chart], checks, claim, verdict })
}

/// All pairs and triples, with their exact similarities.
fn groups(items: &[Features]) -> (Vec<Group>, Vec<Group>) {
    let n = items.len();
    let (mut pairs, mut triples) = (Vec::new(), Vec::new());
    let range = |sizes: &[f64]| {
        let [low, high] = sizes.iter().fold([f64::MAX, 0.0], |[l, h], &f| [f64::min(l, f), f64::max(h, f)]);
        low / high
    };
    let common: Vec<Vec<f64>> =
        items.iter().map(|a| items.iter().map(|b| a.intersection(b)).collect()).collect();
    let of = |i: usize, j: usize| common[i][j] / (items[i].size() + items[j].size() - common[i][j]);
    for i in 0..n {
        for j in i + 1..n {
            let sizes = [items[i].size(), items[j].size()];
            pairs.push(Group { sets: [i, j, j], jaccard: of(i, j), pairs: of(i, j), most: range(&sizes) });
            let both =
                items[i].elements().iter().copied().filter(|e| items[j].elements().binary_search(e).is_ok());
            let both = Features::set(both.collect::<Vec<_>>());
            for l in j + 1..n {
                let all = both.intersection(&items[l]);
                let sizes = [sizes[0], sizes[1], items[l].size()];
                let union = sizes.iter().sum::<f64>() - common[i][j] - common[i][l] - common[j][l] + all;
                let sum = of(i, j) + of(i, l) + of(j, l);
                triples.push(Group {
                    sets: [i, j, l],
                    jaccard: all / union,
                    pairs: sum,
                    most: range(&sizes),
                });
            }
        }
    }
    (pairs, triples)
}

/// Which counts of equal registers make an interval reach each threshold.
struct Limits {
    /// At least so many equal registers of a pair.
    pair: [usize; THRESHOLDS.len()],
    /// For each number of registers that all three share: at most so many that exactly one pair shares; `None` if never.
    triple: Vec<[Option<usize>; THRESHOLDS.len()]>,
}

impl Limits {
    fn new() -> Result<Self> {
        let k = K as usize;
        let mut pair = [k + 1; THRESHOLDS.len()];
        for equal in (0..=k).rev() {
            let high = two_way::jaccard(equal, B, Registers::independent(k), None)?
                .measured()
                .map_or(0.0, |m| m.high);
            pair.iter_mut().zip(THRESHOLDS).filter(|(_, t)| high >= *t).for_each(|(least, _)| *least = equal);
        }
        let bits = ThreeWayBits::new(B)?;
        let mut triple = vec![[None; THRESHOLDS.len()]; k + 1];
        for (all, most) in triple.iter_mut().enumerate() {
            for one in 0..=k - all {
                let agreement = Agreement { all, only: [one, 0, 0], none: k - all - one };
                let estimate = three_way::jaccard(agreement, bits, Filling::Independent, None)?;
                let high = estimate.measured().map_or(0.0, |m| m.high);
                let reached = most.iter_mut().zip(THRESHOLDS).filter(|(_, t)| high >= *t);
                // The interval falls with `one`: the last one that reaches it counts, and nothing beyond does.
                let mut any = false;
                reached.for_each(|(most, _)| {
                    any = true;
                    *most = Some(one);
                });
                if !any {
                    break;
                }
            }
        }
        Ok(Self { pair, triple })
    }

    fn keeps_triple(&self, all: usize, one: usize) -> [bool; THRESHOLDS.len()] {
        self.triple[all].map(|most| most.is_some_and(|most| one <= most))
    }

    fn pair_chances(&self, jaccard: f64, most: f64) -> [f64; THRESHOLDS.len()] {
        let q = (-f64::from(B)).exp2();
        let chances = exact::binomial(K as usize, q + (1.0 - q) * jaccard);
        possible(most, self.pair.map(|least| chances[least.min(chances.len())..].iter().sum()))
    }

    fn triple_chances(&self, group: &Group) -> [f64; THRESHOLDS.len()] {
        let q = (-f64::from(B)).exp2();
        let all = three_way::probability(group.jaccard, group.pairs, B).clamp(0.0, 1.0);
        let one = (3.0 * q + (1.0 - q) * group.pairs - 3.0 * all).clamp(0.0, 1.0 - all);
        let share = if all < 1.0 { (one / (1.0 - all)).min(1.0) } else { 0.0 };
        let mut sum = [0.0; THRESHOLDS.len()];
        for (x, weight) in
            exact::binomial(K as usize, all).into_iter().enumerate().filter(|(_, w)| *w > 1e-10)
        {
            if self.triple[x].iter().all(Option::is_none) {
                continue;
            }
            let others = exact::binomial(K as usize - x, share);
            for (sum, most) in sum.iter_mut().zip(self.triple[x]) {
                *sum +=
                    most.map_or(0.0, |most| weight * others[..=most.min(K as usize - x)].iter().sum::<f64>());
            }
        }
        possible(group.most, sum)
    }
}

/// Sets cannot be more similar than the ratio of their sizes, and intervals know that.
fn possible<const N: usize>(most: f64, mut chances: [f64; N]) -> [f64; N] {
    chances.iter_mut().zip(THRESHOLDS).filter(|(_, t)| most < *t).for_each(|(chance, _)| *chance = 0.0);
    chances
}

fn expected(groups: &[Group], chances: impl Fn(&Group) -> [f64; THRESHOLDS.len()]) -> Kept<f64> {
    let mut sum = Kept::default();
    for group in groups {
        for ((sum, p), threshold) in sum.iter_mut().zip(chances(group)).zip(THRESHOLDS) {
            sum[0] += p;
            sum[1] += if group.jaccard >= threshold - 1e-9 { p } else { 0.0 };
        }
    }
    sum
}

/// Pairs kept, triples kept by their own interval, triples kept by the intervals of their pairs; until the first two are known to 2%.
fn measure(
    context: &Context<'_>,
    items: &[Features],
    (pairs, triples): (&[Group], &[Group]),
    limits: &Limits,
    theory: &[Kept<f64>; 2],
) -> Result<[Kept<Moments>; 3]> {
    let (n, bits) = (items.len(), Bits::new(B)?);
    let mut moments = [Kept::<Moments>::default(); 3];
    for sketch in 0..context.size(500, 500) {
        context.step(format_args!("sketch {}", sketch + 1));
        let words =
            sketched(items, K, Packing::bits(B)?, benzer_core::hash::split(context.seed(1), sketch as u64))?;
        let each = words.len() / n;
        let of = |i: usize| &words[i * each..(i + 1) * each];
        let mut counts = [Kept::<f64>::default(); 3];
        let mut kept = vec![vec![[false; THRESHOLDS.len()]; n]; n];
        for group in pairs {
            let [i, j, _] = group.sets;
            let equal = K as usize - count::mismatches(of(i), of(j), bits) as usize;
            kept[i][j] = within(group.most, limits.pair.map(|least| equal >= least));
            add(&mut counts[0], kept[i][j], group.jaccard);
        }
        for group in triples {
            let [i, j, l] = group.sets;
            let triple = count::triple([of(i), of(j), of(l)], bits, K);
            let one = triple.only_12 + triple.only_13 + triple.only_23;
            let by_triple = within(group.most, limits.keeps_triple(triple.all as usize, one as usize));
            let by_pairs = std::array::from_fn(|t| kept[i][j][t] && kept[i][l][t] && kept[j][l][t]);
            add(&mut counts[1], by_triple, group.jaccard);
            add(&mut counts[2], by_pairs, group.jaccard);
        }
        for (moments, counts) in moments.iter_mut().flatten().flatten().zip(counts.iter().flatten().flatten())
        {
            moments.push(*counts);
        }
        let is_known = |(moments, theory): (&[Moments; 2], &[f64; 2])| {
            theory[1] < LEAST || moments.iter().zip(theory).all(|(m, t)| is_precise(m.mean(), *t))
        };
        if sketch >= 19 && moments.iter().zip(theory).all(|(m, t)| m.iter().zip(t).all(is_known)) {
            break;
        }
    }
    Ok(moments)
}

fn within(most: f64, mut kept: [bool; THRESHOLDS.len()]) -> [bool; THRESHOLDS.len()] {
    kept.iter_mut().zip(THRESHOLDS).for_each(|(kept, t)| *kept &= most >= t);
    kept
}

fn add(counts: &mut Kept<f64>, kept: [bool; THRESHOLDS.len()], jaccard: f64) {
    for ((counts, _), threshold) in counts.iter_mut().zip(kept).zip(THRESHOLDS).filter(|((_, kept), _)| *kept)
    {
        counts[0] += 1.0;
        counts[1] += f64::from(u8::from(jaccard >= threshold - 1e-9));
    }
}

/// Items of transactions that have one of several profiles each.
fn synthetic_items(context: &Context<'_>) -> Vec<Features> {
    let mut random = Random::new(context.seed(0));
    let profiles: Vec<Vec<f64>> = (0..6).map(|_| (0..36).map(|_| random.unit().powi(2)).collect()).collect();
    let mut items = vec![Vec::new(); 36];
    for row in 0..2_000u64 {
        let profile = &profiles[random.below(6) as usize];
        for (item, chance) in items.iter_mut().zip(profile) {
            if random.unit() < *chance {
                item.push(benzer_core::hash::mix(row));
            }
        }
    }
    items.into_iter().map(Features::from_vec).filter(|item| item.len() > 50).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_core::estimate::of;
    use benzer_core::sketch::{Family, Scheme, SketchSpec};

    /// The intervals that users get reach a threshold where the limits say so.
    #[test]
    fn limits_are_those_of_the_intervals() {
        let limits = Limits::new().unwrap();
        let mut random = Random::new(5);
        let spec = SketchSpec {
            packing: Packing::bits(B).unwrap(),
            ..SketchSpec::full(Family::Permutations(Scheme::Native), K)
        };
        let sketcher = spec.sketcher().unwrap();
        let bits = Bits::new(B).unwrap();
        for _ in 0..60 {
            let share = random.unit();
            let shared: Vec<u64> = (0..300).map(|_| random.next()).collect();
            let sketches = [0; 3].map(|_| {
                let set = shared.iter().map(|&e| if random.unit() < share { e } else { random.next() });
                sketcher.sketch(&Features::set(set.collect::<Vec<_>>())).unwrap()
            });
            let [x, y, z] = [0, 1, 2].map(|i| sketches[i].words());
            let equal = K as usize - count::mismatches(x, y, bits) as usize;
            let triple = count::triple([x, y, z], bits, K);
            let one = (triple.only_12 + triple.only_13 + triple.only_23) as usize;
            let pair = of::jaccard(&sketches[0], &sketches[1]).unwrap().measured().unwrap().high;
            let three =
                of::three_way(&sketches[0], &sketches[1], &sketches[2]).unwrap().measured().unwrap().high;
            for (t, threshold) in THRESHOLDS.into_iter().enumerate() {
                assert_eq!(pair >= threshold, equal >= limits.pair[t], "{pair} {equal}");
                assert_eq!(three >= threshold, limits.keeps_triple(triple.all as usize, one)[t], "{three}");
            }
        }
    }
}
