//! Which bands to ask for containment: for every partition of sizes the cut that suits it.

use benzer_core::lsh::BandKey;

use crate::query::{Measure, ResolvedQuery};
use crate::settings::{ContainmentBands, Layout, containment};

/// The share of documents at the threshold that is found, where one document is so many times as large as the other at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartitionRecall {
    pub ratio: f64,
    pub recall: f64,
}

/// How one record is searched for.
#[derive(Debug, Default)]
pub(crate) struct ContainmentPlan<'a> {
    steps: Vec<Step<'a>>,
}

/// One partition of one field.
#[derive(Debug)]
struct Step<'a> {
    bands: &'a ContainmentBands,
    partition: u32,
    ratio: f64,
    recall: f64,
}

impl<'a> ContainmentPlan<'a> {
    /// For a record of a query, if that is one for containment: so that `recall` is reached wherever it can be.
    pub fn new(layout: &'a Layout, query: &ResolvedQuery, record: &[u64], recall: f64) -> Option<Self> {
        let (criteria, ratio) = (&query.criteria, query.ratio?);
        let mut steps = Vec::new();
        for &field in &criteria.fields {
            let size = layout.fields()[field].size(record);
            if size <= 0.0 {
                continue;
            }
            let enough = criteria.enough(field);
            // The smallest and the largest document that can match.
            let (min, max) = match criteria.measure {
                Measure::Contained => (size / ratio, size / enough),
                _ => (size * enough, size * ratio),
            };
            for partition in containment::partition(min)..=containment::partition(max) {
                let sizes = containment::sizes(partition);
                let ratio = match criteria.measure {
                    Measure::Contained => size / sizes.start.max(min),
                    _ => sizes.end.min(max) / size,
                };
                let jaccard = containment::jaccard(enough, ratio);
                let chance = |bands: &&ContainmentBands| bands.banding.probability(jaccard);
                let all = || layout.containment_bands(field);
                let enough = all().find(|bands| chance(bands) >= recall);
                let bands = enough.or_else(|| all().max_by(|a, b| chance(a).total_cmp(&chance(b))));
                steps.extend(bands.map(|bands| Step { bands, partition, ratio, recall: chance(&bands) }));
            }
        }
        Some(Self { steps })
    }

    /// The keys of the record to look up.
    pub fn keys(&self, layout: &Layout, record: &[u64], keys: &mut Vec<BandKey>) {
        for step in &self.steps {
            let words = layout.fields()[step.bands.field].sketch(record);
            step.bands.keys_in(words, step.partition, |key| keys.push(key));
        }
    }

    /// True if another record has one of these keys.
    pub fn share_key(&self, layout: &Layout, record: &[u64], other: &[u64]) -> bool {
        self.steps.iter().any(|step| {
            let field = &layout.fields()[step.bands.field];
            let size = field.size(other);
            size > 0.0
                && containment::partition(size) == step.partition
                && step.bands.share_key(field.sketch(record), field.sketch(other))
        })
    }

    /// What is found, by size ratio: the least of the fields.
    pub fn recall_by_ratio(&self) -> Vec<PartitionRecall> {
        let of_step = |step: &Step<'_>| PartitionRecall { ratio: step.ratio, recall: step.recall };
        let mut all: Vec<PartitionRecall> = self.steps.iter().map(of_step).collect();
        all.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        all.dedup_by(|one, kept| {
            let is_same = one.ratio - kept.ratio < 1e-9;
            if is_same {
                kept.recall = kept.recall.min(one.recall);
            }
            is_same
        });
        all
    }
}
