//! Plans: the sketch that a goal asks for, and its alternatives.

use benzer_core::plan::{Choice, Constraint, Failure, Goal, plan};
use benzer_core::sketch::{Bits, Packing};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::{ApiError, Result};

/// Standard errors of the trade-off, as multiples of the one that is asked for.
const TRADE_OFF: [f64; 7] = [0.5, 0.65, 0.8, 1.0, 1.3, 1.7, 2.2];

/// What is wanted. Everything has a default.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(example = json!({"threshold": 0.8, "recall": 0.95, "documents": 1000000}))]
pub struct PlanRequest {
    /// The similarity from which on pairs should be found.
    #[schema(default = 0.8, minimum = 0.05, maximum = 1.0)]
    pub threshold: f64,
    /// The share of pairs at the threshold that must be found.
    #[schema(default = 0.95, minimum = 0.01, maximum = 0.9999)]
    pub recall: f64,
    /// Number of documents.
    #[schema(default = 1_000_000, minimum = 1, maximum = 1_000_000_000_000_u64)]
    pub documents: u64,
    /// Mean number of elements of a document.
    #[schema(default = 500, minimum = 1, maximum = 1_000_000_000)]
    pub set_size: f64,
    /// Most bytes of memory for sketches and postings together; no limit by default.
    #[schema(minimum = 1)]
    pub memory: Option<u64>,
    /// Largest standard error of the similarity at the threshold; that of 128 registers of 8 bits by default.
    #[schema(minimum = 0.001, maximum = 0.5)]
    pub error: Option<f64>,
    /// Whether to give the sizes of all kinds of sketches at smaller and larger errors too.
    #[schema(default = false)]
    pub trade_off: bool,
}

impl Default for PlanRequest {
    fn default() -> Self {
        let Goal { threshold, recall, documents, set_size, memory, error, .. } = Goal::default();
        Self { threshold, recall, documents, set_size, memory, error, trade_off: false }
    }
}

/// The sketch that a goal asks for.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlanAnswer {
    /// Whether the goal can be met.
    pub met: bool,
    /// The choice in words, or what would have to give.
    pub message: String,
    /// What to use, if the goal can be met.
    pub chosen: Option<PlannedSketch>,
    /// Everything that could be kept, at equal error.
    pub alternatives: Vec<PlannedSketch>,
    /// Changes of which any one makes the goal feasible, if it is not.
    pub remedies: Vec<PlanRemedy>,
    /// The recall of the choice by similarity.
    pub curve: Vec<CurvePoint>,
    /// Sizes of all kinds of sketches at other errors; only if it was asked for.
    pub trade_off: Vec<TradeOff>,
}

/// One way to keep the sketches.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlannedSketch {
    /// What is kept of the registers: `full`, `b8`, `xor2`, `odd`.
    #[schema(example = "b8")]
    pub keep: String,
    /// The family of the registers.
    pub family: String,
    /// Number of registers.
    pub registers: u32,
    /// Bits of one sketch.
    pub bits_per_document: u64,
    /// Standard error of the similarity at the threshold.
    pub standard_error: f64,
    /// Bands; nothing for sketches that can only filter.
    pub bands: Option<usize>,
    /// Registers of a band.
    pub rows: Option<usize>,
    /// Recall at the threshold.
    pub recall: Option<f64>,
    /// Expected pairs of unrelated documents that are compared.
    pub candidates: Option<f64>,
    /// Bytes of memory of all documents.
    pub ram: u64,
    /// Bytes on disk of all documents.
    pub disk: u64,
    /// What it does not meet.
    pub unmet: Vec<PlanConstraint>,
}

/// What a goal can ask and a sketch may not give.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanConstraint {
    /// It cannot be banded: it only filters pairs that were found by other means.
    Bands,
    /// Recall at the threshold.
    Recall,
    /// Keys are too short for so many documents.
    KeyBits,
    /// Standard error.
    Error,
    /// Memory.
    Memory,
}

/// A change that makes the goal feasible.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlanRemedy {
    /// The argument to change.
    pub argument: String,
    /// The nearest value that can be met.
    pub value: f64,
    /// In words.
    pub text: String,
}

/// A point of the recall curve.
#[derive(Debug, Serialize, ToSchema)]
pub struct CurvePoint {
    /// Similarity.
    pub similarity: f64,
    /// The share of pairs of that similarity that are found.
    pub recall: f64,
}

/// Sizes of sketches at one error.
#[derive(Debug, Serialize, ToSchema)]
pub struct TradeOff {
    /// The standard error.
    pub standard_error: f64,
    /// Bits of one sketch of each kind.
    pub sketches: Vec<TradeOffSketch>,
}

/// The size of one kind of sketch.
#[derive(Debug, Serialize, ToSchema)]
pub struct TradeOffSketch {
    /// What is kept of the registers.
    pub keep: String,
    /// Bits of one sketch.
    pub bits_per_document: u64,
    /// The error that it has.
    pub standard_error: f64,
}

impl PlanRequest {
    fn goal(&self) -> Goal {
        let Self { threshold, recall, documents, set_size, memory, error, .. } = *self;
        Goal { threshold, recall, documents, set_size, memory, error, ..Goal::default() }
    }

    pub fn answer(&self) -> Result<PlanAnswer> {
        let goal = self.goal();
        let mut answer = match plan(&goal) {
            Ok(plan) => PlanAnswer {
                met: true,
                message: plan.chosen.to_string(),
                chosen: Some(planned(&plan.chosen)),
                alternatives: plan.alternatives.iter().map(planned).collect(),
                remedies: Vec::new(),
                curve: plan
                    .curve
                    .iter()
                    .map(|point| CurvePoint { similarity: point.jaccard, recall: point.recall })
                    .collect(),
                trade_off: Vec::new(),
            },
            Err(Failure::Parameter(error)) => return Err(ApiError::bad(error)),
            Err(Failure::Shortfall(shortfall)) => PlanAnswer {
                met: false,
                message: shortfall.to_string(),
                chosen: None,
                alternatives: shortfall.alternatives.iter().map(planned).collect(),
                remedies: shortfall
                    .remedies
                    .iter()
                    .map(|remedy| PlanRemedy {
                        argument: remedy.argument.clone(),
                        value: remedy.value,
                        text: remedy.to_string(),
                    })
                    .collect(),
                curve: Vec::new(),
                trade_off: Vec::new(),
            },
        };
        if self.trade_off {
            let error = answer.alternatives.iter().map(|one| one.standard_error).fold(0.0, f64::max);
            answer.trade_off = trade_off(&goal, goal.error.unwrap_or(error));
        }
        Ok(answer)
    }
}

/// The sizes of all kinds at some errors around one.
fn trade_off(goal: &Goal, error: f64) -> Vec<TradeOff> {
    let at = |factor: f64| {
        let standard_error = (error * factor).min(0.49);
        let goal = Goal { error: Some(standard_error), memory: None, ..*goal };
        let alternatives = match plan(&goal) {
            Ok(plan) => plan.alternatives,
            Err(Failure::Shortfall(shortfall)) => shortfall.alternatives,
            Err(Failure::Parameter(_)) => return None,
        };
        let size = |choice: &Choice| TradeOffSketch {
            keep: kept(choice.packing),
            bits_per_document: choice.bits_per_document,
            standard_error: choice.standard_error,
        };
        Some(TradeOff { standard_error, sketches: alternatives.iter().map(size).collect() })
    };
    TRADE_OFF.into_iter().filter_map(at).collect()
}

fn planned(choice: &Choice) -> PlannedSketch {
    let banded = choice.banded.as_ref();
    PlannedSketch {
        keep: kept(choice.packing),
        family: choice.family.to_string(),
        registers: choice.registers,
        bits_per_document: choice.bits_per_document,
        standard_error: choice.standard_error,
        bands: banded.map(|banded| banded.banding.bands()),
        rows: banded.map(|banded| banded.banding.rows()),
        recall: banded.map(|banded| banded.recall),
        candidates: banded.map(|banded| banded.candidates.distinct),
        ram: choice.footprint.ram,
        disk: choice.footprint.disk,
        unmet: choice.unmet.iter().map(|constraint| unmet(*constraint)).collect(),
    }
}

fn unmet(constraint: Constraint) -> PlanConstraint {
    match constraint {
        Constraint::Bands => PlanConstraint::Bands,
        Constraint::Recall => PlanConstraint::Recall,
        Constraint::KeyBits => PlanConstraint::KeyBits,
        Constraint::Error => PlanConstraint::Error,
        Constraint::Memory => PlanConstraint::Memory,
    }
}

/// The name of a packing, as `--sketch` of the command line has it.
fn kept(packing: Packing) -> String {
    match packing {
        Packing::Bits(Bits::FULL) => "full".into(),
        Packing::Bits(bits) => format!("b{}", bits.get()),
        Packing::Xor { samples } => format!("xor{samples}"),
        Packing::Odd { .. } => "odd".into(),
    }
}
