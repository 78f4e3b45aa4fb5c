//! What an answer has of the truth.
//!
//! **Looked at** is what the bands say: the share of the documents at the threshold that share a key with the query. Where documents are kept, exact similarities decide on all of them, and they are shown.
//! Where only sketches are, estimates decide, and about half of the documents exactly at the threshold are estimated below it.
//!
//! A search for the best has a share of the best that there are. Each document that was found stands for those of its similarity that were not: one that is found with a chance of 0.5 for two (Horvitz and
//! Thompson 1952). That is its recall against brute force over what is kept: documents, or sketches. Where only sketches are, each may be more or less similar than it seems, by its standard error, and fewer of
//! the truly best are shown. That takes errors to be independent and no two documents to be exactly equally similar: of templates, whose documents are equally similar and share their errors, more is shown than
//! is stated.

use serde::Serialize;

use crate::candidates::ContainmentPlan;
use crate::query::{ResolvedQuery, Rule};
use crate::record::Recorder;
use crate::score::{Rank, Scorer, normal};
use crate::settings::Settings;

/// What is found of documents of some size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RatioRecall {
    /// Up to how many times as large one of the two documents is as the other.
    pub ratio: f64,
    /// The share of documents at the threshold that are compared.
    pub recall: f64,
    /// The share of them that are shown.
    pub shown: f64,
}

/// What is said of a search with thresholds.
#[derive(Debug, Clone)]
pub(crate) struct Stated {
    /// The share of documents at the threshold that is looked at.
    pub recall: f64,
    /// The share of them that an answer shows.
    pub shown: f64,
    /// The chance that a document exactly at the threshold is not taken for less similar.
    chance: f64,
    pub warnings: Vec<String>,
}

/// Documents of one estimate.
struct Equals {
    value: f64,
    /// Their standard error, in the mean.
    error: f64,
    /// For how many documents of the collection one of them stands.
    stands_for: f64,
    /// How many were found.
    found: f64,
    /// How many of them are in the answer.
    given: f64,
}

/// No estimate is taken to be more exact.
const MIN_ERROR: f64 = 1e-6;
/// Steps in which the similarity of the last of the best is found.
const HALVINGS: usize = 30;
/// Nor is one document taken for more than a thousand.
const MIN_CHANCE: f64 = 1e-3;

impl Stated {
    /// Of a search by similarity, where similarities are exact or not.
    pub fn new(recorder: &Recorder, scorer: &Scorer, query: &ResolvedQuery, is_exact: bool) -> Self {
        let (settings, criteria) = (recorder.settings(), &query.criteria);
        let found = |&i: &usize| recorder.layout().fields()[i].banding.probability(criteria.enough(i));
        // Some field of a match is enough: the worst of them is the bound.
        let recall = criteria.fields.iter().map(found).fold(1.0, f64::min);
        let built = settings.threshold;
        // A field of a lower scale has bands for its own threshold, in collections of today.
        let is_low = |&&i: &&usize| {
            let own = Settings::own_threshold(&settings.schema, &settings.fields[i].name);
            own.is_none_or(|own| criteria.enough(i) < own || found(&i) < settings.recall)
        };
        let enough = criteria.fields.iter().filter(is_low).map(|&i| criteria.enough(i));
        let lowest = enough.fold(1.0, f64::min);
        let below = format!(
            "the collection was built for similarities from {built} on: at {lowest} it finds {:.1}% of the documents",
            100.0 * recall
        );
        let warnings = if lowest < built && query.ratio.is_none() { vec![below] } else { Vec::new() };
        let chance = chance_at_threshold(scorer, query, is_exact);
        Self { recall, shown: recall * chance, chance, warnings }
    }

    /// The same by the ratio of sizes, of a search for containment.
    pub fn by_ratio(&self, plan: &ContainmentPlan<'_>) -> Vec<RatioRecall> {
        let found = plan.recall_by_ratio().into_iter();
        found
            .map(|found| RatioRecall {
                ratio: found.ratio,
                recall: found.recall,
                shown: found.recall * self.chance,
            })
            .collect()
    }

    /// What of a search for containment is found and shown, of documents of whatever size.
    pub fn of_ratios(&self, by_ratio: &[RatioRecall]) -> Self {
        let recall = by_ratio.iter().map(|found| found.recall).fold(1.0, f64::min);
        Self { recall, shown: recall * self.chance, ..self.clone() }
    }
}

/// The chance that a document exactly at the threshold is not taken for less similar.
fn chance_at_threshold(scorer: &Scorer, query: &ResolvedQuery, is_exact: bool) -> f64 {
    let criteria = &query.criteria;
    match criteria.rule {
        _ if is_exact => 1.0,
        // Every field has to reach its own.
        Rule::All => 0.5f64.powi(criteria.fields.len() as i32),
        _ if query.ratio.is_some() => 0.5,
        _ => scorer.chance_at(&criteria.fields, criteria.threshold),
    }
}

/// The share of the best `n` documents that are among the first so many of those found, the most similar first. `chance` is that with which a document of some similarity was found.
pub(crate) fn of_best(found: impl Iterator<Item = Rank>, n: usize, chance: impl Fn(f64) -> f64) -> f64 {
    let mut groups: Vec<Equals> = Vec::new();
    for (place, rank) in found.enumerate() {
        let given = f64::from(u8::from(place < n));
        let error = rank.error.max(MIN_ERROR);
        match groups.last_mut().filter(|group| group.value == rank.value) {
            Some(group) => {
                // Errors depend on sizes, too.
                group.error += (error - group.error) / (group.found + 1.0);
                group.found += 1.0;
                group.given += given;
            }
            None => groups.push(Equals {
                value: rank.value,
                error,
                stands_for: chance(rank.value).max(MIN_CHANCE).recip(),
                found: 1.0,
                given,
            }),
        }
    }
    let above = |limit: f64, of: &dyn Fn(&Equals) -> f64| -> f64 {
        groups.iter().map(|group| of(group) * normal((group.value - limit) / group.error)).sum()
    };
    let all = |group: &Equals| group.stands_for * group.found;
    let best = (n as f64).min(groups.iter().map(all).sum());
    if best <= 0.0 {
        return 0.0;
    }
    // The similarity of the last of the best.
    let (mut low, mut high) = (-1.0, 2.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if above(middle, &all) > best { low = middle } else { high = middle }
    }
    (above(low, &|group| group.given) / best).min(1.0)
}

#[cfg(test)]
mod tests {
    use benzer_core::hash;

    use crate::score::Rank;

    fn of_best(values: &[f64], error: f64, n: usize, chance: impl Fn(f64) -> f64) -> f64 {
        let rank = |value: &f64| Rank { value: *value, error, highest: value + 4.0 * error };
        super::of_best(values.iter().map(rank), n, chance)
    }

    #[test]
    fn exact_similarities_and_sure_finds_have_all_of_the_best() {
        let found = [0.9, 0.7, 0.7, 0.2, 0.1];
        assert!((of_best(&found, 0.0, 4, |_| 1.0) - 1.0).abs() < 1e-6);
        assert!((of_best(&found[..2], 0.0, 4, |_| 1.0) - 1.0).abs() < 1e-6, "there are no more");
        assert_eq!(of_best(&[], 0.0, 4, |_| 1.0), 0.0);
    }

    #[test]
    fn what_is_missed_takes_the_places_of_the_last() {
        let found = [0.9, 0.8, 0.3, 0.2];
        // Each of the last two stands for two: of the best four 0.9, 0.8 and one of 0.3 are here.
        let chance = |similarity: f64| if similarity < 0.5 { 0.5 } else { 1.0 };
        let recall = of_best(&found, 0.0, 4, chance);
        assert!((recall - 0.75).abs() < 0.01, "{recall}");
    }

    #[test]
    fn errors_cost_as_much_of_the_best_as_is_stated() {
        const ERROR: f64 = 0.03;
        let (mut stated, mut found, rounds) = (0.0, 0.0, 300);
        for round in 0..rounds {
            let mut unit =
                hash::stream(hash::split(7, round)).map(|x| (x >> 11) as f64 / (1u64 << 53) as f64 + 1e-17);
            let mut next = || unit.next().expect("the stream has no end");
            // Few are similar, many less: an exponential tail. The normal noise is that of Box and Muller.
            let mut documents: Vec<(f64, f64)> = (0..400)
                .map(|_| {
                    let truth = 0.2 - 0.06 * next().ln();
                    (
                        truth,
                        truth + ERROR * (-2.0 * next().ln()).sqrt() * (std::f64::consts::TAU * next()).cos(),
                    )
                })
                .collect();
            documents.sort_by(|a, b| b.1.total_cmp(&a.1));
            let values: Vec<f64> = documents.iter().map(|document| document.1).collect();
            stated += of_best(&values, ERROR, 10, |_| 1.0);
            let mut truths: Vec<f64> = documents.iter().map(|document| document.0).collect();
            truths.sort_by(|a, b| b.total_cmp(a));
            found += documents[..10].iter().filter(|document| document.0 >= truths[9]).count() as f64 / 10.0;
        }
        let (stated, found) = (stated / rounds as f64, found / rounds as f64);
        // The standard error of the mean is 0.007.
        assert!((stated - found).abs() < 0.03 && found < 0.9, "stated {stated}, found {found}");
    }
}
