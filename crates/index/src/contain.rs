//! Which bands to ask for containment: for every partition of sizes the rung of the ladder that suits it.

use benzer_core::lsh::BandKey;

use crate::error::{Error, Result};
use crate::ladder::{self, Rung};
use crate::measure::Measure;
use crate::query::{Query, RatioRecall};
use crate::rule::Criteria;
use crate::settings::{Layout, Settings};

/// How one record is searched for.
#[derive(Debug, Default)]
pub(crate) struct Plan<'a> {
    steps: Vec<Step<'a>>,
}

/// One partition of one field.
#[derive(Debug)]
struct Step<'a> {
    rung: &'a Rung,
    partition: u32,
    ratio: f64,
    recall: f64,
}

/// The ratio up to which a search for containment looks, if it is one.
///
/// # Errors
/// A collection that is not made for it; a ratio at which it does not find what it promises.
pub(crate) fn ratio(
    settings: &Settings,
    layout: &Layout,
    criteria: &Criteria,
    query: &Query,
) -> Result<Option<f64>> {
    if criteria.measure == Measure::Jaccard {
        return match query.ratio {
            Some(ratio) => Err(Error::parameter("ratio", "used with a search for containment", ratio)),
            None => Ok(None),
        };
    }
    let Some(containment) = settings.containment else {
        return Err(Error::parameter(
            "measure",
            "`jaccard` in a collection that was not made for containment; make one with `--containment`, or use the exact join (`benzer pairs --measure containment`)",
            "a search for containment",
        ));
    };
    let ratio = query.ratio.unwrap_or(containment.ratio);
    ladder::Containment { ratio, ..containment }.validate()?;
    for &field in &criteria.fields {
        let most = |jaccard: f64| {
            layout.ladder(field).map(|rung| rung.banding.probability(jaccard)).fold(0.0, f64::max)
        };
        let enough = criteria.enough(field);
        if most(ladder::jaccard(enough, ratio)) >= settings.recall {
            continue;
        }
        let reach = (ladder::reach(most, enough, settings.recall) * 10.0).floor() / 10.0;
        let expected = match reach >= 1.0 {
            true => format!("at most {reach} at containment {enough}"),
            false => format!("smaller than any at containment {enough}: ask for a higher one"),
        };
        let expected = format!(
            "{expected}, where the collection still finds {}% of the documents; for all of them use the exact join (`benzer pairs --measure containment`)",
            100.0 * settings.recall
        );
        return Err(Error::parameter("ratio", expected, ratio));
    }
    Ok(Some(ratio))
}

impl<'a> Plan<'a> {
    /// For a record, up to a ratio of sizes.
    pub fn new(layout: &'a Layout, criteria: &Criteria, record: &[u64], (ratio, recall): (f64, f64)) -> Self {
        let mut steps = Vec::new();
        for &field in &criteria.fields {
            let size = layout.fields()[field].size(record);
            if size <= 0.0 {
                continue;
            }
            let enough = criteria.enough(field);
            // The smallest and the largest document that can match.
            let (least, most) = match criteria.measure {
                Measure::Contained => (size / ratio, size / enough),
                _ => (size * enough, size * ratio),
            };
            for partition in ladder::partition(least)..=ladder::partition(most) {
                let sizes = ladder::sizes(partition);
                let ratio = match criteria.measure {
                    Measure::Contained => size / sizes.start.max(least),
                    _ => sizes.end.min(most) / size,
                };
                let jaccard = ladder::jaccard(enough, ratio);
                let chance = |rung: &&Rung| rung.banding.probability(jaccard);
                let enough = layout.ladder(field).find(|rung| chance(rung) >= recall);
                let rung =
                    enough.or_else(|| layout.ladder(field).max_by(|a, b| chance(a).total_cmp(&chance(b))));
                steps.extend(rung.map(|rung| Step {
                    rung,
                    partition,
                    ratio,
                    recall: rung.banding.probability(jaccard),
                }));
            }
        }
        Self { steps }
    }

    /// The keys of the record to look up.
    pub fn keys(&self, layout: &Layout, record: &[u64], keys: &mut Vec<BandKey>) {
        for step in &self.steps {
            let words = layout.fields()[step.rung.field].sketch(record);
            step.rung.keys_in(words, step.partition, |key| keys.push(key));
        }
    }

    /// True if another record has one of these keys.
    pub fn share_key(&self, layout: &Layout, record: &[u64], other: &[u64]) -> bool {
        self.steps.iter().any(|step| {
            let field = &layout.fields()[step.rung.field];
            let size = field.size(other);
            size > 0.0
                && ladder::partition(size) == step.partition
                && step.rung.share_key(field.sketch(record), field.sketch(other))
        })
    }

    /// What is found, by size ratio: the least of the fields. `chance` is that of a document at the threshold not to be taken for less.
    pub fn recall(&self, chance: f64) -> Vec<RatioRecall> {
        let of_step = |step: &Step<'_>| {
            let Step { ratio, recall, .. } = *step;
            RatioRecall { ratio, recall, shown: recall * chance }
        };
        let mut all: Vec<RatioRecall> = self.steps.iter().map(of_step).collect();
        all.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        let mut kept: Vec<RatioRecall> = Vec::new();
        for one in all {
            match kept.last_mut() {
                Some(last) if one.ratio - last.ratio < 1e-9 => {
                    last.recall = last.recall.min(one.recall);
                    last.shown = last.shown.min(one.shown);
                }
                _ => kept.push(one),
            }
        }
        kept
    }
}
