//! Bands where they find what is asked for, the exact join where they cannot.

use benzer_core::Threshold;
use benzer_core::lsh::{Banding, Target, choose};
use benzer_core::sketch::SketchSpec;

/// How a candidate becomes an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verify {
    /// By the exact similarity of the features.
    #[default]
    Exact,
    /// By the estimate of the sketches; removals are marked so.
    Estimate,
}

/// How candidates are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Search {
    /// By band keys: fast, with the recall of the banding.
    Bands(Banding),
    /// By the exact join: every pair that reaches the threshold.
    Exact,
}

/// How candidates are found, and what is to be said about it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chosen {
    /// How.
    pub search: Search,
    /// Why it is the exact join, if nobody asked for that.
    pub remark: Option<String>,
}

/// Bands that find fewer of the pairs than was asked for, where nothing else will do.
#[derive(Debug, Clone, PartialEq)]
pub struct TooFew {
    why: String,
    /// The recall that bands reach, if they reach any.
    max_recall: Option<f64>,
}

impl Verify {
    /// The name for people and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Estimate => "estimate",
        }
    }
}

impl From<Search> for Chosen {
    /// As it was asked for.
    fn from(search: Search) -> Self {
        Self { search, remark: None }
    }
}

impl TooFew {
    /// What is wrong and what to do, with the setting of estimates, and how a recall is given, in the words of the caller.
    pub(super) fn message(&self, estimate: &str, recall: &str) -> String {
        let lower = self.max_recall.map_or(String::new(), |most| format!(", or give {recall}{most}"));
        format!("{}; leave out {estimate} for the exact join{lower}", self.why)
    }
}

impl Search {
    /// The bands, if candidates are found by them.
    pub fn banding(&self) -> Option<Banding> {
        match self {
            Self::Bands(banding) => Some(*banding),
            Self::Exact => None,
        }
    }

    /// How `recall` of the pairs at a threshold are found: 1 by the exact join, less by bands, unless sketches of `spec` have none that find as many.
    ///
    /// # Errors
    /// Estimates where bands find too few of the pairs.
    pub(super) fn of_recall(
        recall: f64,
        threshold: Threshold,
        spec: &SketchSpec,
        verify: Verify,
    ) -> Result<Chosen, TooFew> {
        if recall >= 1.0 {
            return Ok(Self::Exact.into());
        }
        let target = Target { threshold: threshold.value(), recall, ..Target::default() };
        if let Ok(banding) = choose(spec, &target) {
            return Ok(Self::Bands(banding).into());
        }
        let most = max_recall(spec, threshold);
        let found = most.map_or("hardly any".to_owned(), |most| most.to_string());
        let why = format!(
            "bands of {} registers find {found} of the pairs at {threshold}, not {recall}",
            spec.registers
        );
        if verify == Verify::Estimate {
            return Err(TooFew { why, max_recall: most });
        }
        let lower =
            most.map_or(String::new(), |most| format!("; for bands, give a recall of {most} or lower"));
        let remark = format!(
            "{why}: the exact join was taken instead, which finds all of them and takes longer{lower}"
        );
        Ok(Chosen { search: Self::Exact, remark: Some(remark) })
    }
}

/// The highest recall in hundredths that bands reach at a threshold.
pub fn max_recall(spec: &SketchSpec, threshold: Threshold) -> Option<f64> {
    let threshold = threshold.value();
    let reaches = |&recall: &f64| choose(spec, &Target { threshold, recall, ..Target::default() }).is_ok();
    (1..100).rev().map(|percent| f64::from(percent) / 100.0).find(reaches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_below_the_reach_of_bands_takes_the_exact_join_and_says_what_would_not() {
        let spec = SketchSpec::default();
        let of = |recall: f64, threshold: &str, verify| {
            Search::of_recall(recall, threshold.parse().unwrap(), &spec, verify)
        };
        assert!(matches!(
            of(0.95, "0.8", Verify::Exact).unwrap(),
            Chosen { search: Search::Bands(_), remark: None }
        ));
        assert_eq!(of(1.0, "0.5", Verify::Exact).unwrap(), Chosen { search: Search::Exact, remark: None });
        let message = |error: TooFew| error.message("--verify estimate", "--recall ");
        for threshold in ["0.6", "0.5", "0.3"] {
            let Chosen { search, remark } = of(0.95, threshold, Verify::Exact).unwrap();
            let (remark, most) = (remark.unwrap(), max_recall(&spec, threshold.parse().unwrap()).unwrap());
            assert_eq!(search, Search::Exact);
            assert!(
                remark.contains("exact join") && remark.contains(&format!("{most} or lower")),
                "{remark}"
            );
            // What is advised works, and nothing better would.
            assert!(matches!(of(most, threshold, Verify::Estimate).unwrap().search, Search::Bands(_)));
            let error = message(of(most + 0.01, threshold, Verify::Estimate).unwrap_err());
            assert!(
                error.ends_with(&format!(
                    "leave out --verify estimate for the exact join, or give --recall {most}"
                )),
                "{error}"
            );
        }
        assert_eq!(of(0.95, "0.05", Verify::Exact).unwrap().search, Search::Exact);
        let error = message(of(0.95, "0.05", Verify::Estimate).unwrap_err());
        assert!(error.contains("hardly any") && !error.contains("--recall"), "{error}");
    }
}
