//! From what is wanted to the sketch that gives it: family, registers, bits, bands, recall, candidates, bytes.
//!
//! A [`Goal`] names a threshold, the recall *at* it, the number and size of the documents, and optionally a memory or error budget.
//! [`plan()`] answers with a [`Plan`]: the choice, and beside it everything else that could be kept of the registers (whole, 16, 8, 4, 2 and 1
//! bits, xor, odd) **at equal error**, so that bits per document compare like with like (004, Table 1; 003).
//!
//! - *Equal error* is the standard error of the similarity at the threshold: that of the goal, or that of the default sketch (128 registers of
//!   8 bits). At a threshold above 0.99, where estimates hardly spread, it is taken at 0.99.
//! - *The family* is the default one, `fast`. Its variance factor at the mean set size is used and shown ([`crate::estimate::factor`]).
//! - *Bands* are those of [`crate::lsh::choose()`]; xor and odd sketches have none and only filter.
//!
//! **What is chosen**: 8 bits, whose kernels are the fastest, if they meet the whole goal at the number of registers that the error asks for; else
//! whatever meets it with the least memory; else, with more registers than the error asks for, whatever meets it with the least memory. If
//! nothing does, the answer is a [`Shortfall`] that says what would have to give.
//!
//! ```
//! use benzer_core::plan::{Goal, plan};
//! let plan = plan(&Goal::default())?;
//! assert_eq!(plan.chosen.to_string(), "128 registers of 8 bits, 18 x 7");
//! # Ok::<(), benzer_core::plan::Failure>(())
//! ```

mod choice;
mod draw;
pub mod footprint;
mod precision;
pub mod preset;
mod shortfall;

use serde::{Deserialize, Serialize};

pub use choice::{Banded, Choice};
pub use draw::{curve_text, svg};
pub use footprint::Footprint;
pub use preset::Preset;
pub use shortfall::{Remedy, Shortfall, Violation};

use crate::lsh::{Target, expected};
use crate::sketch::{Bits, Packing, SketchSpec};
use crate::{Error, Result};
use precision::{PackingKind, Precision, Sets};

/// The highest similarity at which errors are compared.
const MAX_COMPARED: f64 = 0.99;
/// Steps of the curve.
const STEPS: u32 = 100;

/// What is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Goal {
    /// The similarity from which on pairs should be found, above 0 and at most 1.
    pub threshold: f64,
    /// The share of pairs at the threshold that must be found, above 0 and below 1.
    pub recall: f64,
    /// Number of documents.
    pub documents: u64,
    /// Mean number of elements of a document.
    pub set_size: f64,
    /// Bytes of memory for sketches and postings together, at most.
    pub memory: Option<u64>,
    /// Largest standard error of the similarity at the threshold; that of the default sketch if there is none.
    pub error: Option<f64>,
    /// Similarity of unrelated documents, which make the candidates.
    pub background: f64,
}

impl Default for Goal {
    fn default() -> Self {
        Self {
            threshold: 0.8,
            recall: 0.95,
            documents: 1_000_000,
            set_size: 500.0,
            memory: None,
            error: None,
            background: expected::DEFAULT_BACKGROUND,
        }
    }
}

impl Goal {
    /// Checks every field.
    ///
    /// # Errors
    /// The first field out of range, by its name.
    pub fn validate(&self) -> Result<()> {
        self.target().validate()?;
        if !(self.set_size.is_finite() && self.set_size >= 1.0) {
            return Err(Error::parameter("set_size", "at least 1", self.set_size));
        }
        if self.memory == Some(0) {
            return Err(Error::parameter("memory", "at least 1 byte", 0));
        }
        match self.error {
            Some(error) if !(error > 0.0 && error < 1.0) => {
                Err(Error::parameter("error", "above 0 and below 1", error))
            }
            _ => Ok(()),
        }
    }

    fn target(&self) -> Target {
        Target {
            threshold: self.threshold,
            recall: self.recall,
            documents: self.documents,
            background: self.background,
            max_bands: None,
        }
    }
}

/// A goal with its defaults worked out.
#[derive(Debug, Clone, Copy)]
struct ResolvedGoal {
    target: Target,
    memory: Option<u64>,
    error: f64,
    sets: Sets,
}

impl ResolvedGoal {
    fn new(goal: &Goal) -> Self {
        let sets = Sets { jaccard: goal.threshold.min(MAX_COMPARED), size: goal.set_size };
        let default_error = || Precision::new(SketchSpec::default(), sets).error;
        Self {
            target: goal.target(),
            memory: goal.memory,
            error: goal.error.unwrap_or_else(default_error),
            sets,
        }
    }

    /// The choice with the least memory, whether or not that is within the limit.
    fn leanest(&self) -> Option<Choice> {
        let bits = PackingKind::all().into_iter().filter_map(|kind| match kind {
            PackingKind::Bits(bits) => Some(bits),
            _ => None,
        });
        bits.filter_map(|bits| Choice::leanest(bits, self)).min_by_key(|c| c.footprint.ram_per_document())
    }
}

/// What a goal can ask and a choice may not give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Constraint {
    /// It cannot be banded: it only filters pairs that were found by other means.
    Bands,
    /// Recall at the threshold.
    Recall,
    /// The rule `rows x b >= log2(bands x documents) + 10`.
    KeyBits,
    /// Standard error.
    Error,
    /// Memory.
    Memory,
}

/// A point of the recall curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Similarity.
    pub jaccard: f64,
    /// Share of pairs of that similarity that are found.
    pub recall: f64,
}

/// The answer to a goal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What was wanted.
    pub goal: Goal,
    /// The similarity at which errors are compared: the threshold, at most 0.99.
    pub error_at: f64,
    /// The standard error that all alternatives have.
    pub error: f64,
    /// What to use.
    pub chosen: Choice,
    /// Everything that could be kept, at equal error: whole, 16, 8, 4, 2, 1 bits, xor, odd. The chosen one is among them, unless it needed more
    /// registers than the error asks for.
    pub alternatives: Vec<Choice>,
    /// The recall curve of the choice, from similarity 0 to 1.
    pub curve: Vec<Point>,
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Failure {
    /// The goal itself makes no sense.
    #[error(transparent)]
    Parameter(#[from] Error),
    /// The goal cannot be met.
    #[error(transparent)]
    Shortfall(#[from] Box<Shortfall>),
}

/// The sketch that meets a goal, and its alternatives.
///
/// # Errors
/// A field of the goal out of range; a goal that cannot be met, with what would have to give.
pub fn plan(goal: &Goal) -> Result<Plan, Failure> {
    goal.validate()?;
    let resolved = ResolvedGoal::new(goal);
    let alternatives: Vec<Choice> =
        PackingKind::all().into_iter().map(|kind| Choice::at_equal_error(kind, &resolved)).collect();
    let Some(chosen) = choose(&alternatives, &resolved) else {
        return Err(Box::new(Shortfall::new(goal, alternatives)).into());
    };
    let curve = curve(&chosen);
    Ok(Plan {
        goal: *goal,
        error_at: resolved.sets.jaccard,
        error: resolved.error,
        chosen,
        alternatives,
        curve,
    })
}

fn choose(alternatives: &[Choice], resolved: &ResolvedGoal) -> Option<Choice> {
    let default_packing = Packing::Bits(Bits::new(8).expect("an allowed width"));
    let met = || alternatives.iter().filter(|choice| choice.is_met());
    met()
        .find(|choice| choice.packing == default_packing)
        .or_else(|| met().min_by_key(|choice| choice.footprint.ram_per_document()))
        .cloned()
        .or_else(|| resolved.leanest().filter(Choice::is_met))
}

fn curve(choice: &Choice) -> Vec<Point> {
    let Some(banded) = &choice.banded else { return Vec::new() };
    let at = |i: u32| {
        let jaccard = f64::from(i) / f64::from(STEPS);
        Point { jaccard, recall: banded.banding.probability(jaccard) }
    };
    (0..=STEPS).map(at).collect()
}

#[cfg(test)]
mod tests;
