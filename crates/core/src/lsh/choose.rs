//! Choosing bands x rows.
//!
//! **The objective.** Of all cuts whose recall *at* the threshold is at least the target, take the one with the fewest expected candidates:
//! the smallest probability `S(J0)` that two unrelated documents of the background similarity `J0` share a key, collision floor included.
//! For a given number of rows, every register that is there is used: `bands = registers / rows`, less only where the caller
//! limits the bands ([`Target::max_bands`], memory) or the rule of key bits does. What the last row left over therefore goes into
//! recall and not into fewer bands: the registers are paid for, and at the same rows another band costs few candidates. With 128 registers of
//! 8 bits, threshold 0.8 and target 0.95 this gives 18 x 7, recall 0.986 (16 x 8 would give 0.948).
//!
//! Since `S(J0)` is about `bands * p(J0)^rows`, the answer is the largest number of rows that still reaches the target.
//!
//! **Bits of a key.** Keys hold 64 bits, so that of rows wider than that nothing would be gained: rows are limited to `64 / min(b, 8)`, and
//! of registers wider than `64 / rows` the lowest bits enter the key ([`Banding::narrowed`]).

use serde::{Deserialize, Serialize};

use super::{Banding, Shape, banding::SLACK_BITS, expected};
use crate::sketch::{Bits, Packing, SketchSpec};
use crate::{Error, Result};

/// Bits of a register beyond which a key takes fewer of them rather than have fewer rows.
const WIDEST_SHARE: u32 = 8;

/// What a banding should reach.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The similarity from which on pairs should be found.
    pub threshold: f64,
    /// The share of pairs at the threshold that must share a key.
    pub recall: f64,
    /// Number of documents, for the rule of key bits.
    pub documents: u64,
    /// Similarity of unrelated documents, which make the candidates.
    pub background: f64,
    /// Bands, each of which costs memory, at most.
    #[serde(rename = "most_bands")]
    pub max_bands: Option<u32>,
}

impl Default for Target {
    fn default() -> Self {
        Self {
            threshold: 0.8,
            recall: 0.95,
            documents: 1_000_000,
            background: expected::DEFAULT_BACKGROUND,
            max_bands: None,
        }
    }
}

impl Target {
    /// Checks every field.
    ///
    /// # Errors
    /// The first field out of range.
    pub fn validate(&self) -> Result<()> {
        if !(self.threshold > 0.0 && self.threshold <= 1.0) {
            return Err(Error::parameter("threshold", "above 0 and at most 1", self.threshold));
        }
        if self.recall >= 1.0 {
            let expected = "below 1 (sketches always miss some; for recall 1 use the exact join)";
            return Err(Error::parameter("recall", expected, self.recall));
        }
        if self.recall.is_nan() || self.recall <= 0.0 {
            return Err(Error::parameter("recall", "above 0 and below 1", self.recall));
        }
        if self.documents == 0 {
            return Err(Error::parameter("documents", "at least 1", self.documents));
        }
        if !(0.0..1.0).contains(&self.background) {
            return Err(Error::parameter("background", "at least 0 and below 1", self.background));
        }
        Ok(())
    }
}

/// The bands x rows of sketches of `spec` that reach the target with the fewest candidates.
///
/// ```
/// use benzer_core::{lsh::{self, Shape, Target}, sketch::SketchSpec};
/// let banding = lsh::choose(&SketchSpec::default(), &Target::default())?;
/// assert_eq!(banding.shape(), Shape { bands: 18, rows: 7 });
/// # Ok::<(), benzer_core::Error>(())
/// ```
///
/// # Errors
/// A target out of range; a sketch that cannot be banded; a recall that these registers cannot give, with the most they can.
pub fn choose(spec: &SketchSpec, target: &Target) -> Result<Banding> {
    target.validate()?;
    let cuts = cuts(spec, target, |rows, bits| max_bands(rows, bits, target.documents))?;
    cheapest(&cuts, target).ok_or_else(|| {
        let max_recall = cuts.iter().map(|cut| cut.probability(target.threshold)).fold(0.0, f64::max);
        out_of_reach(spec, target, max_recall)
    })
}

/// The same without the rule of key bits, and where the recall cannot be reached, the cut that comes nearest to it: what to show of
/// registers that do not meet the target.
///
/// # Errors
/// A target out of range; a sketch that cannot be banded.
pub fn nearest(spec: &SketchSpec, target: &Target) -> Result<Banding> {
    target.validate()?;
    let cuts = cuts(spec, target, |_, _| u128::MAX)?;
    let recall = |cut: &Banding| cut.probability(target.threshold);
    let closest = cuts.iter().copied().reduce(|a, b| if recall(&b) > recall(&a) { b } else { a });
    match cheapest(&cuts, target).or(closest) {
        Some(banding) => Ok(banding),
        None => Banding::new(spec, Shape { bands: 1, rows: 1 }),
    }
}

fn cheapest(cuts: &[Banding], target: &Target) -> Option<Banding> {
    let cost = |cut: &Banding| cut.probability(target.background);
    let enough = cuts.iter().copied().filter(|cut| cut.probability(target.threshold) >= target.recall);
    enough.reduce(|a, b| if cost(&b) <= cost(&a) { b } else { a })
}

/// The cut with as many bands as allowed, for each number of rows.
fn cuts(spec: &SketchSpec, target: &Target, by_rule: impl Fn(usize, Bits) -> u128) -> Result<Vec<Banding>> {
    Banding::new(spec, Shape { bands: 1, rows: 1 })?;
    let Packing::Bits(stored) = spec.packing else { unreachable!("a banding exists") };
    let (k, allowed) = (spec.registers as usize, u128::from(target.max_bands.unwrap_or(u32::MAX)));
    let cut = |rows: usize| {
        let bits = key_width(stored, rows);
        let bands = (k / rows).min(allowed.min(by_rule(rows, bits)) as usize);
        Banding::narrowed(spec, Shape { bands, rows }, bits).ok()
    };
    Ok((1..=max_rows(stored).min(k)).filter_map(cut).collect())
}

/// Rows that all fit a key.
pub fn max_rows(stored: Bits) -> usize {
    (64 / stored.get().min(WIDEST_SHARE)) as usize
}

/// The most bits of each register that let all `rows` into a key.
pub fn key_width(stored: Bits, rows: usize) -> Bits {
    let share = 64 / rows.max(1) as u32;
    let fits = |bits: &&Bits| bits.get() <= share.max(1) && **bits <= stored;
    *Bits::ALL.iter().rev().find(fits).expect("one bit always fits")
}

/// Bands up to which the rule of key bits holds.
fn max_bands(rows: usize, bits: Bits, documents: u64) -> u128 {
    let key_bits = (rows as u32 * bits.get()).min(64);
    ((1u128 << key_bits) >> SLACK_BITS) / u128::from(documents.max(1))
}

fn out_of_reach(spec: &SketchSpec, target: &Target, max_recall: f64) -> Error {
    Error::parameter(
        "recall",
        format!(
            "at most {:.3} at threshold {} for {} documents in {} registers of {}{}; use more registers or more bits",
            (max_recall * 1000.0).floor() / 1000.0,
            target.threshold,
            target.documents,
            spec.registers,
            spec.packing,
            target.max_bands.map_or(String::new(), |bands| format!(" and {bands} bands")),
        ),
        target.recall,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::Family;
    use proptest::prelude::*;

    fn spec(bits: u32, registers: u32) -> SketchSpec {
        SketchSpec { registers, packing: Packing::bits(bits).unwrap(), ..SketchSpec::default() }
    }

    fn shape(bits: u32, registers: u32, target: Target) -> (usize, usize) {
        let Shape { bands, rows } = choose(&spec(bits, registers), &target).unwrap().shape();
        (bands, rows)
    }

    #[test]
    fn the_default_is_eighteen_by_seven() {
        let banding = choose(&SketchSpec::default(), &Target::default()).unwrap();
        assert_eq!((banding.bands(), banding.rows(), banding.bits().get()), (18, 7, 8));
        assert!((banding.probability(0.8) - 0.986).abs() < 5e-4);
        let next = Banding::new(&SketchSpec::default(), Shape { bands: 16, rows: 8 }).unwrap();
        assert!((next.probability(0.8) - 0.948).abs() < 5e-4);
    }

    #[test]
    fn wide_registers_are_narrowed_until_the_rows_fit() {
        assert_eq!(shape(16, 128, Target::default()), (18, 7));
        assert_eq!(choose(&spec(16, 128), &Target::default()).unwrap().bits().get(), 9);
        assert_eq!(choose(&spec(64, 128), &Target::default()).unwrap().key_bits(), 63);
        assert_eq!([1, 2, 3, 5, 7, 8].map(|rows| key_width(Bits::FULL, rows).get()), [64, 32, 16, 12, 9, 8]);
    }

    #[test]
    fn bands_are_given_up_for_memory_and_no_further() {
        let at_most = |n| Target { max_bands: Some(n), ..Target::default() };
        assert_eq!(shape(8, 128, at_most(14)), (14, 7));
        assert_eq!(shape(8, 128, at_most(10)), (10, 6));
        let error = choose(&spec(8, 128), &at_most(1)).unwrap_err().to_string();
        assert!(error.starts_with("`recall` must be at most 0.411 at threshold 0.8"), "{error}");
    }

    #[test]
    fn the_rule_of_key_bits_is_kept_or_refused() {
        let low = Target { threshold: 0.5, ..Target::default() };
        assert!(choose(&spec(8, 128), &low).unwrap_err().to_string().contains("more bits"));
        let wide = choose(&spec(16, 128), &low).unwrap();
        assert_eq!((wide.bands(), wide.rows(), wide.bits().get()), (42, 3, 16));
        assert_eq!(shape(8, 128, Target { documents: 300, ..low }), (42, 3));
    }

    #[test]
    fn what_comes_nearest_may_break_the_rule_or_miss_the_recall() {
        let low = Target { threshold: 0.5, ..Target::default() };
        let short_keys = nearest(&spec(8, 128), &low).unwrap();
        assert_eq!((short_keys.bands(), short_keys.rows()), (42, 3));
        let few = nearest(&spec(8, 4), &Target { threshold: 0.1, ..low }).unwrap();
        assert_eq!((few.bands(), few.rows()), (4, 1));
        assert_eq!(nearest(&spec(8, 4), &Target { max_bands: Some(0), ..low }).unwrap().bands(), 1);
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        let refuse = |target: Target| choose(&SketchSpec::default(), &target).unwrap_err().to_string();
        let good = Target::default();
        for threshold in [0.0, 1.01, f64::NAN] {
            assert!(refuse(Target { threshold, ..good }).starts_with("`threshold`"));
        }
        for recall in [0.0, -1.0, f64::NAN] {
            assert!(refuse(Target { recall, ..good }).starts_with("`recall` must be above 0"));
        }
        assert!(refuse(Target { recall: 1.0, ..good }).contains("use the exact join"));
        assert!(refuse(Target { documents: 0, ..good }).starts_with("`documents`"));
        assert!(refuse(Target { background: 1.0, ..good }).starts_with("`background`"));
        assert!(choose(&SketchSpec::full(Family::BottomK, 64), &good).is_err());
    }

    proptest! {
        #[test]
        fn what_is_chosen_holds_and_no_other_cut_is_better(
            which in 0usize..18, k in 1u32..300, t in 0.05f64..1.0, recall in 0.5f64..0.999, log_n in 0u32..40,
        ) {
            let spec = spec(Bits::ALL[which].get(), k);
            let target = Target { threshold: t, recall, documents: 1 << log_n, ..Target::default() };
            let Ok(chosen) = choose(&spec, &target) else { return Ok(()) };
            prop_assert!(chosen.probability(t) >= recall && chosen.check_documents(1 << log_n).is_ok());
            prop_assert!(chosen.rows() * chosen.bits().get() as usize <= 64);
            for rows in 1..=max_rows(chosen.stored()).min(k as usize) {
                let shape = Shape { bands: k as usize / rows, rows };
                let other = Banding::narrowed(&spec, shape, key_width(chosen.stored(), rows)).unwrap();
                if other.probability(t) >= recall && other.check_documents(1 << log_n).is_ok() {
                    let [best, cost] = [chosen, other].map(|b| b.probability(target.background));
                    prop_assert!(best <= cost);
                }
            }
        }
    }
}
