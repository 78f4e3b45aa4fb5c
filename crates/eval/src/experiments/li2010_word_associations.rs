//! 000, applications: word associations and join orders from estimated sizes of intersections.

use benzer_core::Features;
use benzer_core::estimate::{of, size};
use benzer_core::sketch::{Family, Packing, Sketch, SketchSpec, fast};

use crate::random::Random;
use crate::table::row;
use crate::{Axis, Chart, Checks, Context, Experiment, Moments, Outcome, Result, Series, Table, corpus};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "li2010_word_associations",
    source: "000, section 1: word associations, query optimization",
    title: "Intersections of posting lists, and join orders",
    claim: "Sizes of two- and three-way intersections of posting lists can be estimated fast from b-bit samples, well enough to count co-occurrences and to plan the order in which four sets are intersected.",
    criterion: "95% intervals of estimated pair and triple similarities of posting lists hold the exact value in 92% to 99.5% of cases. The order of joins that estimates choose costs at most 10% more intermediate rows than the best order, on average, with 512 registers of 16 bits, and less than a random order.",
    run,
};

fn run(context: &Context<'_>) -> Result<Outcome> {
    let lists: Vec<Features> = match context.data() {
        Some(data) => corpus::kos_postings(data)?.into_iter().filter(|list| list.len() >= 150).collect(),
        None => posting_lists(context),
    };
    let mut checks = Checks::default();
    let mut table = context
        .table("", &["sets", "registers", "bits", "cases", "covered", "mean_relative_error_of_size"])?;
    let mut orders = context
        .table("join_order", &["registers", "cases", "cost_over_best", "random_over_best", "best_chosen"])?;
    for ways in [2usize, 3] {
        for bits in [4u32, 16] {
            context.step(format_args!("{ways} sets, {bits} bits"));
            coverage(context, &lists, [ways, bits as usize], &mut table, &mut checks)?;
        }
    }
    let mut chart = Chart::new(
        "Join orders of four lists",
        Axis::log("registers of 16 bits"),
        Axis::linear("intermediate rows over the best"),
    );
    let (mut points, mut random_points, mut at_512) = (Vec::new(), Vec::new(), 0.0);
    for registers in [64u32, 128, 512, 1024] {
        context.step(format_args!("join order, {registers} registers"));
        let [chosen, random] = join_orders(context, &lists, registers, &mut orders)?;
        points.push((f64::from(registers), chosen));
        random_points.push((f64::from(registers), random));
        checks.holds(
            format_args!("{registers} registers: {chosen} is better than random {random}"),
            chosen < random,
        );
        if registers == 512 {
            at_512 = chosen;
            checks.holds(format_args!("512 registers: {chosen} <= 1.1"), chosen <= 1.1);
        }
    }
    chart.push(Series::points("order by estimates", points));
    chart.push(Series::dashed("random order", random_points).colour(1));
    let verdict = format!(
        "Confirmed: intervals of pair and triple similarities cover as they say, and join orders chosen from 512 registers of 16 bits cost {:.1}% more intermediate rows than the best ones.",
        100.0 * (at_512 - 1.0)
    );
    Ok(Outcome { tables: vec![table, orders], charts: vec![chart], checks, verdict })
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

fn sketches(lists: &[Features], registers: u32, bits: u32, seed: u64) -> Result<Vec<Sketch>> {
    let family = Family::Fast { rounds: fast::DEFAULT_ROUNDS };
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

fn coverage(
    context: &Context<'_>,
    lists: &[Features],
    [ways, bits]: [usize; 2],
    table: &mut Table,
    checks: &mut Checks,
) -> Result<()> {
    let (seeds, cases) = (context.size(40, 100), 50);
    let (mut covered, mut errors) = (Moments::default(), Moments::default());
    for seed in 0..seeds {
        let mut random =
            Random::new(benzer_core::hash::split(context.seed((ways * 100 + bits) as u64), seed as u64));
        let sketches = sketches(lists, 256, bits as u32, random.next())?;
        for _ in 0..cases {
            let places: [usize; 3] = draw(lists.len(), &mut random);
            let places = &places[..ways];
            let sets: Vec<&Features> = places.iter().map(|&i| &lists[i]).collect();
            let common = intersected(&sets).size();
            let any = Features::set(sets.iter().flat_map(|set| set.elements().iter().copied())).size();
            let of: Vec<&Sketch> = places.iter().map(|&i| &sketches[i]).collect();
            let estimate =
                if ways == 2 { of::jaccard(of[0], of[1])? } else { of::three_way(of[0], of[1], of[2])? };
            if let Some(measured) = estimate.measured() {
                let truth = common / any;
                covered.push(f64::from(u8::from(
                    measured.low <= truth + 1e-12 && truth <= measured.high + 1e-12,
                )));
                errors.push((measured.value - truth).abs() * any / common.max(1.0));
            }
        }
    }
    let share = covered.mean().value;
    table.push(row![ways, 256, bits, covered.n(), share, errors.mean().value])?;
    checks.holds(format_args!("{ways} sets, {bits} bits: covered {share}"), (0.92..=0.995).contains(&share));
    Ok(())
}

/// The cost of left-deep orders: rows after the first and after the second join. Chosen and random, over the best.
fn join_orders(
    context: &Context<'_>,
    lists: &[Features],
    registers: u32,
    table: &mut Table,
) -> Result<[f64; 2]> {
    let cases = context.size(300, 2_000);
    let mut random = Random::new(context.seed(u64::from(registers)));
    let sketches = sketches(lists, registers, 16, random.next())?;
    let (mut chosen_cost, mut random_cost, mut best_cost, mut hits) = (0.0, 0.0, 0.0, 0);
    for _ in 0..cases {
        let places: [usize; 4] = draw(lists.len(), &mut random);
        let sizes = places.map(|i| lists[i].size());
        let pair = |i: usize, j: usize| lists[places[i]].intersection(&lists[places[j]]);
        let triple = |i: usize, j: usize, l: usize| intersected(&[i, j, l].map(|i| &lists[places[i]])).size();
        let estimated_pair = |i: usize, j: usize| -> Result<f64> {
            Ok(of::intersection(&sketches[places[i]], &sketches[places[j]])?.value().unwrap_or_default())
        };
        let mut all = Vec::new();
        for (i, j, l) in [
            (0, 1, 2),
            (0, 1, 3),
            (0, 2, 1),
            (0, 2, 3),
            (0, 3, 1),
            (0, 3, 2),
            (1, 2, 0),
            (1, 2, 3),
            (1, 3, 0),
            (1, 3, 2),
            (2, 3, 0),
            (2, 3, 1),
        ] {
            let three = of::three_way(&sketches[places[i]], &sketches[places[j]], &sketches[places[l]])?
                .value()
                .unwrap_or_default();
            let [p12, p13, p23] = [estimated_pair(i, j)?, estimated_pair(i, l)?, estimated_pair(j, l)?];
            let common = size::three_way_intersection_at(
                three.min(0.999),
                [sizes[i], sizes[j], sizes[l]],
                [p12, p13, p23],
            );
            all.push((p12 + common, pair(i, j) + triple(i, j, l)));
        }
        let chosen = all.iter().min_by(|x, y| x.0.total_cmp(&y.0)).map_or(0.0, |order| order.1);
        let best = all.iter().map(|order| order.1).fold(f64::MAX, f64::min);
        chosen_cost += chosen;
        best_cost += best;
        random_cost += all[random.below(12) as usize].1;
        hits += u32::from(chosen <= best);
    }
    let [chosen, random] = [chosen_cost, random_cost].map(|cost| cost / best_cost);
    table.push(row![registers, cases, chosen, random, f64::from(hits) / cases as f64])?;
    Ok([chosen, random])
}
