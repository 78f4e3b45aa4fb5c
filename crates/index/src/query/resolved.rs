//! A query with the defaults of a collection, checked against it.

use super::{Criteria, Measure, Query};
use crate::error::{Error, Result};
use crate::record::{Record, now};
use crate::settings::{Containment, Keeps, Layout, Settings, containment};

/// What a query means for a collection.
#[derive(Debug)]
pub(crate) struct ResolvedQuery {
    pub criteria: Criteria,
    /// Of a search for containment: how many times as large one of two documents may be.
    pub ratio: Option<f64>,
    pub explain: bool,
    now: u64,
}

impl ResolvedQuery {
    pub fn new(settings: &Settings, layout: &Layout, query: &Query) -> Result<Self> {
        query.check()?;
        let criteria = Criteria::new(settings, query)?;
        let ratio = containment_ratio(settings, layout, &criteria, query)?;
        if query.explain && settings.keeps == Keeps::Sketches {
            return Err(Error::parameter(
                "explain",
                "used with a collection that keeps documents",
                "one that keeps sketches",
            ));
        }
        Ok(Self { criteria, ratio, explain: query.explain, now: now() })
    }

    /// Whether a record has lived its time.
    pub fn is_gone(&self, record: &Record<'_>) -> bool {
        record.is_gone(self.now)
    }
}

/// The ratio up to which a search for containment looks, if it is one. Refuses a collection that is not made for it, and a ratio at which it does not find what it promises.
fn containment_ratio(
    settings: &Settings,
    layout: &Layout,
    criteria: &Criteria,
    query: &Query,
) -> Result<Option<f64>> {
    if criteria.measure == Measure::Jaccard {
        return Ok(None);
    }
    let Some(built) = settings.containment else {
        return Err(Error::parameter(
            "measure",
            "`jaccard` in a collection that was not made for containment; make one with `--containment`, or use the exact join (`benzer pairs --measure containment`)",
            "a search for containment",
        ));
    };
    let ratio = query.ratio.unwrap_or(built.ratio);
    Containment { ratio, ..built }.validate()?;
    for &field in &criteria.fields {
        let max_recall = |jaccard: f64| {
            layout
                .containment_bands(field)
                .map(|bands| bands.banding.probability(jaccard))
                .fold(0.0, f64::max)
        };
        let enough = criteria.enough(field);
        if max_recall(containment::jaccard(enough, ratio)) >= settings.recall {
            continue;
        }
        let reach = (containment::reach(max_recall, enough, settings.recall) * 10.0).floor() / 10.0;
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
