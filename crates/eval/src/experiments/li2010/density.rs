//! 000, Table 1: how sparse documents are, as sets of 1-, 2- and 3-shingles.

use std::collections::HashSet;

use benzer_core::Features;
use benzer_core::estimate::collision::accident;
use benzer_core::field::text::TextOptions;

use crate::data::corpus;
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "li2010_density",
    source: "000, Table 1",
    title: "How sparse documents are",
    claim: "f/D is small and falls with longer shingles: median 0.0021 for NYTimes words, and 0.00027, 0.00003, 0.00002 for 1-, 2-, 3-shingles of a million news articles, so the sparse formulas apply.",
    criterion: "With D the distinct shingles of the collection: the median of f/D falls from 1- to 2- to 3-shingles in every text collection, and is below 0.02 for words. At that density the sparse two-bit formula is off by less than 0.01.",
    run,
};

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let mut table = context.table("")?;
    let (mut sentences, mut largest) = (Vec::new(), 0.0f64);
    let collections = match context.data() {
        Some(data) => {
            let words = Densities::new("KOS", 1, &corpus::kos(data)?.sets);
            table.push(words.row())?;
            sentences.push(format!("KOS {:.5} for words", words.median));
            vec![("Reuters", corpus::reuters(data)?), ("Enron-spam", corpus::enron(data)?)]
        }
        None => vec![("synthetic", corpus::prose(context.seed(0), context.size(400, 2_000)))],
    };
    for (name, texts) in &collections {
        let (mut before, mut medians) = (1.0, Vec::new());
        for n in [1, 2, 3] {
            context.step(format_args!("{name}, {n}-shingles"));
            let sets = corpus::shingled(texts, &TextOptions { n, ..TextOptions::default() })?;
            let densities = Densities::new(name, n, &sets);
            table.push(densities.row())?;
            let median = densities.median;
            let what = format_args!("{name}: {n}-shingles are sparser: {median} < {before}");
            checks.holds(what, median < before);
            before = median;
            medians.push(format!("{median:.5}"));
            if n == 1 {
                checks.holds(format_args!("{name}: words {median} < 0.02"), median < 0.02);
                let dense = accident(median, 2);
                checks.close(format_args!("{name}: accident of two bits"), dense, 0.25, 0.01);
                largest = largest.max((dense - 0.25).abs());
            }
        }
        sentences.push(format!("{name} {} for 1-, 2-, 3-shingles", medians.join(", ")));
    }
    let verdict = format!(
        "On our collections, not the paper's: f/D falls with longer shingles. Medians: {} (the paper's millions of articles: 0.0021, and 0.00027, 0.00003, 0.00002). At the density of words the chance agreement of two bits is \
         {largest:.5} from the sparse 0.25 at most. Hashed to 64 bits, as here by default, D is 2^64 and r is below 1e-13.",
        sentences.join("; ")
    );
    let claim = Claim::of(&[checks.all_hold()]);
    Ok(Outcome { tables: vec![table], charts: Vec::new(), claim, checks, verdict })
}

/// f/D over the documents of a collection as sets of `n`-shingles.
struct Densities<'a> {
    name: &'a str,
    n: usize,
    documents: usize,
    universe: usize,
    median: f64,
    all: Moments,
}

impl<'a> Densities<'a> {
    fn new(name: &'a str, n: usize, sets: &[Features]) -> Self {
        let universe = sets.iter().flat_map(|set| set.elements()).collect::<HashSet<_>>().len();
        let mut all: Vec<f64> = sets.iter().map(|set| set.len() as f64 / universe.max(1) as f64).collect();
        all.sort_by(f64::total_cmp);
        let median = all.get(all.len() / 2).copied().unwrap_or_default();
        Self { name, n, documents: sets.len(), universe, median, all: all.into_iter().collect() }
    }

    fn row(&self) -> Row {
        row![
            "data": self.name, "shingle": self.n, "documents": self.documents, "D": self.universe,
            "median": self.median, "mean": self.all.mean().value, "deviation": self.all.variance().sqrt(),
        ]
    }
}
