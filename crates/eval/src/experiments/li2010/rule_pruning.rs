//! 000, data mining: pruning candidates of association rules with three items, by pairs and by triples.
//!
//! A triple is kept by pairs if the 95% intervals of all three pair similarities reach R0 (a triple is never more similar than its least similar pair), and
//! by triples if the interval of the three-way similarity does. The upper end of an interval is a function of counts of equal registers, so how many pairs and
//! triples are kept has an exact expectation: sums over the binomial and the trinomial distribution.

use std::array;

use benzer_core::Features;
use benzer_core::estimate::three_way::{self, Agreement, ThreeWayBits};
use benzer_core::estimate::{Registers, Scheme as Filling, two_way};
use benzer_core::sketch::{Bits, Packing, count};

use crate::data::corpus;
use crate::measure::groups::{self, Group};
use crate::measure::retrieval::{Retrieved, Runs};
use crate::measure::sketches::{self, Words};
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
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
const MIN_RIGHT: f64 = 10.0;

type Each<T> = [T; THRESHOLDS.len()];

fn run(context: &Context<'_>) -> Result<Outcome> {
    let items: Vec<Features> = match context.data() {
        Some(data) => corpus::mushroom_items(data)?.into_iter().filter(|item| item.len() >= 400).collect(),
        None => synthetic_items(context),
    };
    context.step("exact similarities");
    let (pairs, triples) = (groups::pairs(&items), groups::triples(&items));
    let limits = Limits::new()?;
    let theory = [
        expected(&pairs, |pair| limits.pair_chances(pair)),
        expected(&triples, |triple| limits.triple_chances(triple)),
    ];
    let compared: [_; 12] = array::from_fn(|i| theory.as_flattened().get(i).copied());
    let runs = Runs { min: 20, step: 1, max: 500 };
    let kept = runs.count(compared.map(|theory| theory.filter(is_compared)), |sketch| {
        context.step(format_args!("sketch {}", sketch + 1));
        let words = Words::new(&items, K, Packing::bits(B)?, context.seed_of(1, sketch))?;
        let found = keep(&words, &pairs, &triples, &limits)?;
        Ok(array::from_fn(|i| found.as_flattened()[i]))
    })?;
    let mut checks = Checks::default();
    let mut table = context.table("")?;
    for (i, threshold) in THRESHOLDS.into_iter().enumerate() {
        let [of_pairs, by_triples, by_pairs] = [0, 1, 2].map(|kind| kept[kind * THRESHOLDS.len() + i]);
        let [theory, theory_of_triples] = [theory[0][i], theory[1][i]];
        let kinds = [("pairs", of_pairs, theory), ("triples", by_triples, theory_of_triples)];
        for (kind, counted, theory) in kinds.into_iter().filter(|(.., theory)| is_compared(theory)) {
            counted.compare(format_args!("R0 = {threshold}: {kind} kept"), theory, &mut checks);
        }
        let true_triples = groups::relevant(&triples, threshold);
        let recall = |right: f64| if true_triples > 0.0 { right / true_triples } else { f64::NAN };
        let [by_triples_all, by_triples_right] = by_triples.means();
        let [by_pairs_all, by_pairs_right] = by_pairs.means();
        table.push(row![
            "R0": threshold, "sketches": of_pairs.n(), "pairs": pairs.len(),
            "true_pairs": groups::relevant(&pairs, threshold),
            "pairs_kept": of_pairs.mean().all, "pairs_kept_expected": theory.all,
            "triples": triples.len(), "true_triples": true_triples,
            "kept_by_triples": by_triples_all.value, "kept_by_triples_se": by_triples_all.error,
            "kept_by_triples_expected": theory_of_triples.all,
            "recall_of_triples": recall(by_triples_right.value),
            "recall_expected": recall(theory_of_triples.right),
            "kept_by_pairs": by_pairs_all.value, "kept_by_pairs_se": by_pairs_all.error,
            "recall_of_pairs": recall(by_pairs_right.value),
        ])?;
    }
    let (claim, verdict) = verdict(&table.all(), items.len());
    let charts = vec![chart(&table.all())];
    Ok(Outcome { tables: vec![table], charts, checks, claim, verdict })
}

fn chart(rows: &Rows<'_>) -> Chart {
    let [by_pairs, by_triples] = ["kept_by_pairs", "kept_by_triples"]
        .map(|kept| rows.iter().map(|row| (row["R0"], row[kept] / row["true_triples"].max(1.0))).collect());
    Chart::new("Candidates for each true triple", Axis::linear("R0"), Axis::log("kept over true"))
        .with(Series::points("pruned by pairs", by_pairs))
        .with(Series::points("pruned by triples", by_triples).colour(1))
}

fn verdict(rows: &Rows<'_>, n_items: usize) -> (Claim, String) {
    let judged = rows.filter(|row| row["true_triples"] > 0.0);
    let sentence = |row: &Row| {
        format!(
            "{:.2} times at R0 = {} (recall {:.3} by pairs, {:.3} by triples)",
            row["kept_by_pairs"] / row["kept_by_triples"].max(1e-9),
            row["R0"],
            row["recall_of_pairs"],
            row["recall_of_triples"]
        )
    };
    let ratios: Vec<String> = judged.iter().map(sentence).collect();
    let above = judged.iter().filter(|row| row["kept_by_pairs"] > row["kept_by_triples"]).count();
    let verdict = format!(
        "On one data set, of its frequent items: of {} triples of {n_items} items, pruning by pair intervals of {K} bytes keeps this many times the triples that three-way intervals keep: {}. Pruning by pairs is less good at {above} of {} thresholds.",
        rows.column("triples").last().unwrap_or_default(),
        ratios.join(", "),
        ratios.len()
    );
    (Claim::of(&[above == ratios.len() && above > 0]), verdict)
}

/// Which counts of equal registers make an interval reach each threshold.
struct Limits {
    /// At least so many equal registers of a pair.
    pair: Each<usize>,
    /// For each number of registers that all three share: at most so many that exactly one pair shares; `None` if never.
    triple: Vec<Each<Option<usize>>>,
}

impl Limits {
    fn new() -> Result<Self> {
        let k = K as usize;
        let mut pair = [k + 1; THRESHOLDS.len()];
        for equal in (0..=k).rev() {
            let high = two_way::jaccard(equal, B, Registers::independent(k), None)?
                .measured()
                .map_or(0.0, |m| m.high);
            pair.iter_mut().zip(THRESHOLDS).filter(|(_, t)| high >= *t).for_each(|(min, _)| *min = equal);
        }
        let bits = ThreeWayBits::new(B)?;
        let mut triple = vec![[None; THRESHOLDS.len()]; k + 1];
        for (all, max) in triple.iter_mut().enumerate() {
            for one in 0..=k - all {
                let agreement = Agreement { all, only: [one, 0, 0], none: k - all - one };
                let estimate = three_way::jaccard(agreement, bits, Filling::Independent, None)?;
                let high = estimate.measured().map_or(0.0, |m| m.high);
                // The interval falls with `one`: the last one that reaches it counts, and nothing beyond does.
                let mut any = false;
                for (max, _) in max.iter_mut().zip(THRESHOLDS).filter(|(_, t)| high >= *t) {
                    any = true;
                    *max = Some(one);
                }
                if !any {
                    break;
                }
            }
        }
        Ok(Self { pair, triple })
    }

    fn keeps_triple(&self, all: usize, one: usize) -> Each<bool> {
        self.triple[all].map(|max| max.is_some_and(|max| one <= max))
    }

    fn pair_chances(&self, pair: &Group<2>) -> Each<f64> {
        let q = (-f64::from(B)).exp2();
        let chances = exact::binomial(K as usize, q + (1.0 - q) * pair.jaccard);
        self.pair.map(|min| chances[min.min(chances.len())..].iter().sum())
    }

    fn triple_chances(&self, triple: &Group<3>) -> Each<f64> {
        let [all, one] = exact::three_way::chances(triple.jaccard, triple.pairs, B);
        let share = if all < 1.0 { (one / (1.0 - all)).min(1.0) } else { 0.0 };
        let mut sum = [0.0; THRESHOLDS.len()];
        for (x, weight) in
            exact::binomial(K as usize, all).into_iter().enumerate().filter(|(_, w)| *w > 1e-10)
        {
            if self.triple[x].iter().all(Option::is_none) {
                continue;
            }
            let rest = K as usize - x;
            let others = exact::binomial(rest, share);
            for (sum, max) in sum.iter_mut().zip(self.triple[x]) {
                *sum += max.map_or(0.0, |max| weight * others[..=max.min(rest)].iter().sum::<f64>());
            }
        }
        sum
    }
}

/// Sets cannot be more similar than the ratio of their sizes, and intervals know that.
fn is_possible<const N: usize>(group: &Group<N>) -> Each<bool> {
    THRESHOLDS.map(|threshold| group.max_jaccard >= threshold)
}

fn expected<const N: usize>(
    groups: &[Group<N>],
    chances: impl Fn(&Group<N>) -> Each<f64>,
) -> Each<Retrieved> {
    let mut sum = Each::<Retrieved>::default();
    for group in groups {
        let (chances, is_possible) = (chances(group), is_possible(group));
        for (i, sum) in sum.iter_mut().enumerate() {
            sum.add(if is_possible[i] { chances[i] } else { 0.0 }, group.reaches(THRESHOLDS[i]));
        }
    }
    sum
}

fn is_compared(theory: &Retrieved) -> bool {
    theory.right >= MIN_RIGHT
}

/// What sketches keep: pairs by their intervals, triples by their own, and triples by those of their pairs.
fn keep(
    words: &Words,
    pairs: &[Group<2>],
    triples: &[Group<3>],
    limits: &Limits,
) -> Result<[Each<Retrieved>; 3]> {
    let (n, bits) = (words.len(), Bits::new(B)?);
    let mut found = <[Each<Retrieved>; 3]>::default();
    let [of_pairs, by_triples, by_pairs] = &mut found;
    let mut kept = vec![vec![[false; THRESHOLDS.len()]; n]; n];
    for pair in pairs {
        let [i, j] = pair.sets;
        let equal = K as usize - count::mismatches(words.of(i), words.of(j), bits) as usize;
        kept[i][j] = both(is_possible(pair), limits.pair.map(|min| equal >= min));
        add(of_pairs, kept[i][j], pair);
    }
    for triple in triples {
        let [i, j, l] = triple.sets;
        let agreement = sketches::agreement(triple.sets.map(|i| words.of(i)), bits, K);
        let by_triple = limits.keeps_triple(agreement.all, agreement.only.iter().sum());
        add(by_triples, both(is_possible(triple), by_triple), triple);
        add(by_pairs, both(both(kept[i][j], kept[i][l]), kept[j][l]), triple);
    }
    Ok(found)
}

fn both(a: Each<bool>, b: Each<bool>) -> Each<bool> {
    array::from_fn(|i| a[i] && b[i])
}

fn add<const N: usize>(found: &mut Each<Retrieved>, kept: Each<bool>, group: &Group<N>) {
    for ((found, _), threshold) in found.iter_mut().zip(kept).zip(THRESHOLDS).filter(|((_, kept), _)| *kept) {
        found.add(1.0, group.reaches(threshold));
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
