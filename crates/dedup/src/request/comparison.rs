//! How two documents are compared, chosen from what a caller says of it.

use benzer_core::Threshold;
use benzer_core::field::text::{TextOptions, Unit};
use benzer_core::lsh::{Target, bucket};
use benzer_core::plan::Preset;
use benzer_core::sketch::SketchSpec;

use super::search::{Chosen, Search, TooFew, Verify};

/// What is measured between a document and an old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// The share of elements in both of those in either. Documents of the input are compared with each other too.
    #[default]
    Jaccard,
    /// The share of the old document's elements that the other has. Only old documents are compared with, all of them.
    Containment,
}

impl Measure {
    /// The name for people and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jaccard => "jaccard",
            Self::Containment => "containment",
        }
    }
}

/// How two documents are compared, and which are.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// How a text becomes features.
    pub text: TextOptions,
    /// How features become a sketch.
    pub spec: SketchSpec,
    /// How candidates are found.
    pub search: Search,
    /// Members of a bucket that everyone in it is paired with.
    pub cap: usize,
    /// From which similarity on two documents are duplicates.
    pub threshold: Threshold,
    /// What is measured.
    pub measure: Measure,
    /// How a candidate becomes an edge.
    pub verify: Verify,
    /// What was chosen in place of what was asked for; the warnings of the run begin with it.
    pub remark: Option<String>,
}

impl Comparison {
    /// The defaults of everything that has one.
    pub fn new(threshold: Threshold, search: Search) -> Self {
        Self {
            text: TextOptions::default(),
            spec: SketchSpec::default(),
            search,
            cap: bucket::DEFAULT_CAP,
            threshold,
            measure: Measure::default(),
            verify: Verify::default(),
            remark: None,
        }
    }
}

/// What a caller says of a comparison; the rest follows from it.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Shingles, registers, bands and threshold of another tool.
    pub preset: Option<Preset>,
    /// From which similarity on two documents are duplicates; by default 0.8, or that of the preset.
    pub threshold: Option<Threshold>,
    /// The share of pairs at the threshold that must be found.
    pub recall: Option<f64>,
    /// How a text becomes features, if not as in the preset.
    pub text: Option<TextOptions>,
    /// What is measured.
    pub measure: Measure,
    /// How a candidate becomes an edge.
    pub verify: Verify,
}

impl Asked {
    /// All of the comparison.
    ///
    /// # Errors
    /// What does not go together.
    pub fn choose(self) -> Result<Comparison, Unfit> {
        let threshold = self.threshold.unwrap_or_else(|| {
            let threshold =
                self.preset.map_or_else(|| "0.8".to_owned(), |preset| preset.threshold.to_string());
            threshold.parse().expect("thresholds that are known are between 0 and 1")
        });
        let spec = self.preset.map_or_else(SketchSpec::default, |preset| preset.spec());
        let Chosen { search, remark } = self.search(&spec, threshold)?;
        let (measure, verify) = (self.measure, self.verify);
        let text = self.text.unwrap_or_else(|| shingles(self.preset));
        Ok(Comparison { text, spec, measure, verify, remark, ..Comparison::new(threshold, search) })
    }

    fn search(&self, spec: &SketchSpec, threshold: Threshold) -> Result<Chosen, Unfit> {
        let recall = self.recall.unwrap_or(Target::default().recall);
        if !(recall > 0.0 && recall <= 1.0) {
            return Err(Unfit::Recall(recall));
        }
        match (self.preset, self.recall) {
            _ if self.measure == Measure::Containment || recall == 1.0 => Ok(Search::Exact.into()),
            (Some(preset), None) => Ok(Search::Bands(preset.banding()).into()),
            (Some(_), Some(_)) => Err(Unfit::RecallOfPreset),
            (None, _) => Search::of_recall(recall, threshold, spec, self.verify).map_err(Unfit::TooFew),
        }
    }
}

/// The shingles of a preset, or the usual ones.
fn shingles(preset: Option<Preset>) -> TextOptions {
    let default = TextOptions::default();
    let Some(Preset { unit, n, .. }) = preset else { return default };
    TextOptions { unit, n, ..default }
}

/// What does not go together in what was asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Unfit {
    /// A recall that is no share.
    Recall(f64),
    /// A recall beside a preset, which has its own.
    RecallOfPreset,
    /// Bands that find too few of the pairs.
    TooFew(TooFew),
}

/// What the caller calls what it can ask for.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// The recall.
    pub recall: &'static str,
    /// What stands before the number of a recall.
    pub recall_of: &'static str,
    /// The recall that finds all pairs.
    pub recall_of_all: &'static str,
    /// The preset.
    pub preset: &'static str,
    /// That estimates decide.
    pub estimate: &'static str,
}

impl Unfit {
    /// What is wrong and what to do, in the words of the caller.
    pub fn message(&self, words: &Words) -> String {
        let Words { recall, recall_of, recall_of_all, preset, estimate } = words;
        match self {
            Self::Recall(got) => format!("{recall} must be above 0 and at most 1, got {got}"),
            Self::RecallOfPreset => format!(
                "{preset} has bands of its own; leave out {recall}, or give {recall_of_all} for the exact join"
            ),
            Self::TooFew(few) => few.message(estimate, recall_of),
        }
    }
}
