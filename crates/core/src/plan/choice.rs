//! One way to keep the sketches: its size, its error, its bands, and which constraints of the goal it does not meet.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::footprint::{self, Footprint};
use super::precision::{PackingKind, Precision};
use super::{Constraint, ResolvedGoal};
use crate::lsh::choose::{key_width, max_rows, nearest};
use crate::lsh::{Banding, Expected, Prefilter, Shape, choose, curve};
use crate::sketch::{Bits, Family, MAX_REGISTERS, Packing, SketchSpec};

/// One way to keep the sketches of a collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The family of the registers.
    pub family: Family,
    /// Number of registers.
    pub registers: u32,
    /// What is kept of them.
    pub packing: Packing,
    /// Bits of one sketch as stored. In the table of alternatives all have the same error.
    pub bits_per_document: u64,
    /// Standard error of the similarity at [`super::Plan::error_at`].
    pub standard_error: f64,
    /// Variance factor of the family at the mean set size: below 1, its registers are worth more than independent ones.
    pub factor: f64,
    /// Bands and what they find; `None` if the sketch can only filter pairs found by other means (xor and odd merge registers).
    pub banded: Option<Banded>,
    /// Bytes of memory and disk.
    pub footprint: Footprint,
    /// The constraints of the goal that it does not meet.
    pub unmet: Vec<Constraint>,
}

/// The bands of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Banded {
    /// Bands, rows and bits of the keys.
    pub banding: Banding,
    /// Recall at the threshold: the least, for `fast` registers.
    pub recall: f64,
    /// The similarity at which half of the pairs are found.
    pub half: f64,
    /// Bits of a band key that carry registers.
    pub key_bits: u32,
    /// Bits that the number of documents asks for: `log2(bands x documents) + 10`.
    pub key_bits_needed: f64,
    /// Expected candidate pairs, before the prefilter.
    pub candidates: Expected,
    /// The prefilter m(T, k): equal registers that a candidate must have.
    #[serde(rename = "least_equal")]
    pub min_equal: u32,
}

impl Choice {
    /// True if it can only filter pairs that were found by other means.
    pub const fn is_filter_only(&self) -> bool {
        self.banded.is_none()
    }

    /// True if every constraint of the goal is met.
    pub const fn is_met(&self) -> bool {
        self.unmet.is_empty()
    }

    /// The spec of its sketches, with the default seed and raw elements.
    pub fn spec(&self) -> SketchSpec {
        SketchSpec {
            family: self.family,
            registers: self.registers,
            packing: self.packing,
            ..SketchSpec::default()
        }
    }

    /// The choice at the error of the plan, with the best bands that its registers give.
    pub(super) fn at_equal_error(kind: PackingKind, goal: &ResolvedGoal) -> Self {
        let precision = kind.reaching(goal.error, goal.sets);
        let banding = matches!(kind, PackingKind::Bits(_)).then(|| best_bands(&precision.spec, goal));
        Self::of(precision, banding, goal)
    }

    /// The choice with the least memory that meets recall, error and the rule of key bits, with as many registers as that takes;
    /// `None` if 65,536 are not enough.
    pub(super) fn leanest(bits: Bits, goal: &ResolvedGoal) -> Option<Self> {
        let for_error = PackingKind::Bits(bits).reaching(goal.error, goal.sets);
        if for_error.error > goal.error * (1.0 + 1e-12) {
            return None;
        }
        let grown = (1..=max_rows(bits)).filter_map(|rows| {
            let key = key_width(bits, rows);
            let shape = Shape { bands: bands_for(goal, key, rows)?, rows };
            let registers = for_error.spec.registers.max((shape.bands * rows) as u32);
            let spec = SketchSpec { registers, ..for_error.spec.clone() };
            let banding = Banding::narrowed(&spec, shape, key).ok()?;
            banding.check_documents(goal.target.documents).ok()?;
            Some((
                Footprint::new(&spec, shape.bands, goal.target.documents).ram_per_document(),
                spec,
                banding,
            ))
        });
        let (_, spec, banding) = grown.min_by_key(|(ram, ..)| *ram)?;
        Some(Self::of(Precision::new(spec, goal.sets), Some(banding), goal))
    }

    pub(super) fn of(precision: Precision, banding: Option<Banding>, goal: &ResolvedGoal) -> Self {
        let Precision { spec, error, factor } = precision;
        let bands = banding.map_or(0, |b| b.bands());
        let mut choice = Self {
            family: spec.family,
            registers: spec.registers,
            packing: spec.packing,
            bits_per_document: stored_bits(&spec),
            standard_error: error,
            factor,
            banded: banding.map(|banding| Banded::new(banding, &spec, goal)),
            footprint: Footprint::new(&spec, bands, goal.target.documents),
            unmet: Vec::new(),
        };
        choice.unmet = choice.broken(goal);
        choice
    }

    fn broken(&self, goal: &ResolvedGoal) -> Vec<Constraint> {
        let target = &goal.target;
        let recall = self.banded.as_ref().is_some_and(|b| b.recall < target.recall);
        let keys = self.banded.as_ref().is_some_and(|b| b.banding.check_documents(target.documents).is_err());
        let all = [
            (Constraint::Bands, self.is_filter_only()),
            (Constraint::Recall, recall),
            (Constraint::KeyBits, keys),
            (Constraint::Error, self.standard_error > goal.error * (1.0 + 1e-12)),
            (Constraint::Memory, goal.memory.is_some_and(|memory| self.footprint.ram > memory)),
        ];
        all.into_iter().filter(|(_, broken)| *broken).map(|(constraint, _)| constraint).collect()
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.packing {
            Packing::FULL => write!(f, "{} whole registers", self.registers)?,
            Packing::Bits(_) => write!(f, "{} registers of {}", self.registers, self.packing)?,
            _ => write!(f, "{} registers, {}", self.registers, self.packing)?,
        }
        match &self.banded {
            Some(banded) => write!(f, ", {} x {}", banded.banding.bands(), banded.banding.rows()),
            None => f.write_str(", filter only"),
        }
    }
}

impl Banded {
    pub(super) fn new(banding: Banding, spec: &SketchSpec, goal: &ResolvedGoal) -> Self {
        let target = &goal.target;
        Self {
            banding,
            recall: banding.probability(target.threshold),
            half: banding.half(),
            key_bits: banding.key_bits(),
            key_bits_needed: banding.key_bits_needed(target.documents),
            candidates: Expected::new(&banding, target.documents, target.background),
            min_equal: Prefilter::new(spec, target.threshold).expect("a banded spec").min_equal(),
        }
    }
}

/// The best bands within memory; failing that without its limit; failing that without the rule of key bits, or with less recall.
fn best_bands(spec: &SketchSpec, goal: &ResolvedGoal) -> Banding {
    let documents = goal.target.documents;
    let max_bands = goal.memory.map(|memory| {
        let left = (memory / documents).saturating_sub(8 * spec.words() as u64);
        (left / footprint::posting(documents)).min(u64::from(MAX_REGISTERS)) as u32
    });
    let within = crate::lsh::Target { max_bands, ..goal.target };
    choose(spec, &within)
        .or_else(|_| choose(spec, &goal.target))
        .or_else(|_| nearest(spec, &goal.target))
        .expect("a valid target, and b-bit registers of an aligned family")
}

/// The fewest bands of `rows` rows that reach the recall; `None` beyond the largest sketch.
fn bands_for(goal: &ResolvedGoal, key: Bits, rows: usize) -> Option<usize> {
    let line = crate::estimate::collision::Collision::sparse(key.get());
    let band = libm::pow(line.probability(goal.target.threshold), rows as f64);
    let recall = goal.target.recall;
    let needed = if band >= 1.0 { 1.0 } else { libm::log1p(-recall) / libm::log1p(-band) };
    let bands = needed.ceil().max(1.0).min(f64::from(MAX_REGISTERS) + 1.0) as usize;
    let bands = bands + usize::from(curve::of_bands(band, bands) < recall);
    (bands * rows <= MAX_REGISTERS as usize).then_some(bands)
}

fn stored_bits(spec: &SketchSpec) -> u64 {
    let k = u64::from(spec.registers);
    match spec.packing {
        Packing::Bits(bits) => k * u64::from(bits.get()),
        Packing::Xor { samples } => k / u64::from(samples),
        Packing::Odd { bits } => u64::from(bits),
    }
}
