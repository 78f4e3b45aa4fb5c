//! 004, Fig. 4: precision and recall of retrieving document pairs with resemblance of at least R0, against the number of samples.

use benzer_core::estimate::collision::Collision;
use benzer_core::sketch::{Bits, Packing};

use crate::corpus::{self, Corpus};
use crate::retrieval::{expected, relevant, retrieved, sketched};
use crate::table::row;
use crate::{Axis, Chart, Checks, Context, Experiment, Moments, Outcome, Result, Series, Table};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "li2011_duplicates",
    source: "004, Fig. 4",
    title: "Retrieving duplicate documents",
    claim: "Recall is high for every estimator; precision at 4 bits equals that of 64 bits (16 times less storage), and 1 or 2 bits save 20 to 40 times at equal precision. At R0 = 0.4, precision 0.8 needs k = 50, 50, 75, 145 for 64, 4, 2, 1 bits.",
    criterion: "Retrieved and rightly retrieved pairs, averaged over independent sketches: within 4 standard errors of the exact binomial expectation over all pairs, standard error at most 2%; for every R0 that at least 10 pairs of a collection reach.",
    run,
};

const THRESHOLDS: [f64; 6] = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
/// A collection with fewer similar pairs says nothing about retrieving them.
const LEAST_PAIRS: f64 = 10.0;
const BITS: [u32; 4] = [1, 2, 4, 64];

fn run(context: &Context<'_>) -> Result<Outcome> {
    let columns =
        ["corpus", "R0", "b", "k", "sketches", "precision", "recall", "precision_theory", "recall_theory"];
    let mut table = context.table("", &columns)?;
    let (mut checks, mut charts, mut savings) = (Checks::default(), Vec::new(), Vec::new());
    for corpus in corpus::documents(context, 800)? {
        let points = measure(context, &corpus, &mut table, &mut checks)?;
        for threshold in if context.is_quick() { &[0.4, 0.7][..] } else { &THRESHOLDS[..] } {
            let mut chart = Chart::new(
                format!("{}: precision, R0 = {threshold}", corpus.name),
                Axis::linear("sample size k"),
                Axis::linear("precision").from_to(0.0, 1.02),
            );
            for (colour, b) in BITS.into_iter().enumerate() {
                let of = |f: fn(&Point) -> f64| {
                    let same = points.iter().filter(|p| p.threshold == *threshold && p.b == b);
                    same.map(|p| (p.k as f64, f(p))).collect::<Vec<_>>()
                };
                chart.push(Series::points(format!("b = {b}"), of(|p| p.precision)).colour(colour));
                chart.push(Series::line("", of(|p| p.theory)).colour(colour));
            }
            charts.push(chart);
        }
        savings.push(saving(&corpus.name, &points));
    }
    let verdict =
        format!("Confirmed, and exactly predictable from the similarities alone. {}", savings.join(" "));
    Ok(Outcome { tables: vec![table], charts, checks, verdict })
}

struct Point {
    threshold: f64,
    b: u32,
    k: usize,
    precision: f64,
    theory: f64,
}

fn measure(
    context: &Context<'_>,
    corpus: &Corpus,
    table: &mut Table,
    checks: &mut Checks,
) -> Result<Vec<Point>> {
    let samples: &[usize] = if context.is_quick() { &[20, 50, 200] } else { &[20, 50, 100, 200, 500] };
    let similarities = corpus::similarities(&corpus.sets);
    let mut points = Vec::new();
    for &k in samples {
        context.step(format_args!("{}, k = {k}", corpus.name));
        // Fewer samples vary more.
        let sketches = (context.size(16_000, 120_000) / k).max(40);
        for b in BITS {
            let line = Collision::sparse(b);
            let least = THRESHOLDS.map(|t| (line.probability(t) * k as f64 - 1e-9).ceil() as usize);
            let rules: Vec<(f64, u32)> =
                THRESHOLDS.iter().zip(least).map(|(&t, least)| (t, (k - least) as u32)).collect();
            let mut counts = vec![[Moments::default(); 2]; THRESHOLDS.len()];
            for sketch in 0..sketches {
                let seed =
                    benzer_core::hash::split(context.seed(k as u64 * 100 + u64::from(b)), sketch as u64);
                let words = sketched(&corpus.sets, k as u32, Packing::bits(b)?, seed)?;
                let found = retrieved(&words, corpus.sets.len(), Bits::new(b)?, &similarities, &rules);
                for (counts, found) in counts.iter_mut().zip(found) {
                    counts[0].push(found.all);
                    counts[1].push(found.right);
                }
            }
            for ((&threshold, counts), least) in THRESHOLDS.iter().zip(&counts).zip(least) {
                let theory = expected(&similarities, threshold, (k, least), |j| line.probability(j));
                let wanted = relevant(&similarities, threshold);
                let [all, right] = [counts[0].mean(), counts[1].mean()];
                let what = format!("{}, R0 = {threshold}, b = {b}, k = {k}", corpus.name);
                if wanted >= LEAST_PAIRS {
                    // What is compared is a number of pairs; its error is a share of all pairs that are retrieved.
                    let scale = theory.all.max(wanted);
                    checks.agrees_on(format_args!("{what}: retrieved"), all, theory.all, scale);
                    checks.agrees_on(format_args!("{what}: rightly"), right, theory.right, wanted);
                }
                let precision = right.value / all.value.max(1e-9);
                let recall = right.value / wanted.max(1.0);
                let columns = row![
                    corpus.name.as_str(),
                    threshold,
                    b,
                    k,
                    sketches,
                    precision,
                    recall,
                    theory.precision(),
                    theory.recall(wanted)
                ];
                table.push(columns)?;
                points.push(Point { threshold, b, k, precision, theory: theory.precision() });
            }
        }
    }
    Ok(points)
}

/// What fewer bits save at R0 = 0.4 and precision 0.8, by linear interpolation between the sample sizes.
fn saving(name: &str, points: &[Point]) -> String {
    let needed = |b: u32| {
        let curve: Vec<&Point> = points.iter().filter(|p| p.b == b && p.threshold == 0.4).collect();
        curve.windows(2).find(|w| w[0].theory < 0.8 && w[1].theory >= 0.8).map(|w| {
            let part = (0.8 - w[0].theory) / (w[1].theory - w[0].theory);
            w[0].k as f64 + part * (w[1].k - w[0].k) as f64
        })
    };
    let Some(full) = needed(64) else {
        return format!(
            "On {name} the sample sizes tried do not enclose precision 0.8 at R0 = 0.4 for 64 bits."
        );
    };
    let parts: Vec<String> = [4, 2, 1]
        .into_iter()
        .filter_map(|b| {
            needed(b).map(|k| {
                format!("{b} bits k = {k:.0} ({:.1} times less storage)", 64.0 * full / (f64::from(b) * k))
            })
        })
        .collect();
    format!("On {name}, precision 0.8 at R0 = 0.4 needs k = {full:.0} with 64 bits; {}.", parts.join(", "))
}
