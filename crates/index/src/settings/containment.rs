//! Bands for containment: which documents contain this one, or are contained in it, whatever their sizes.
//!
//! A set of size x that contains the share t of a set of size q has the Jaccard similarity t / (x / q + 1 - t): the larger it is, the lower. So documents are cut into partitions by their sizes, a
//! factor of two wide, and a search asks each partition with bands that suit the sizes there, in the manner of LSH Ensemble (Zhu, Nargesian, Pu and Miller, 2016). Partitions do not depend on the
//! documents that are there: a key carries its partition, so that documents come and go as they do in any band.
//!
//! A field has a few cuts of its registers into bands: one row for sets that are far larger than the other, more rows for those that are not, which collide less by accident. The search
//! takes the cut with the most rows that still gives the recall.

use benzer_core::hash::mix;
use benzer_core::lsh::choose::key_width;
use benzer_core::lsh::{BandKey, Banding, Shape, curve};
use benzer_core::sketch::{Bits, Family, Packing, SketchSpec};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Rows of the cuts, the most first.
const ROWS: [usize; 3] = [4, 2, 1];
/// How much larger one document can be than the other, at most.
const MAX_RATIO: f64 = 1000.0;

/// Which containment can be searched for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Containment {
    /// From which containment on documents are found.
    pub threshold: f64,
    /// Up to how many times as large one document may be as the other.
    pub ratio: f64,
}

impl Default for Containment {
    fn default() -> Self {
        Self { threshold: 0.8, ratio: 16.0 }
    }
}

impl Containment {
    /// # Errors
    /// A threshold or a ratio out of range.
    pub fn validate(&self) -> Result<()> {
        if !(self.threshold > 0.0 && self.threshold <= 1.0) {
            return Err(Error::parameter("containment", "above 0 and at most 1", self.threshold));
        }
        if !(self.ratio >= 1.0 && self.ratio <= MAX_RATIO) {
            return Err(Error::parameter("ratio", format!("between 1 and {MAX_RATIO}"), self.ratio));
        }
        Ok(())
    }
}

/// The Jaccard similarity of two sets of which one is `ratio` times as large, and the other lies in it with the share `containment`.
pub(crate) fn jaccard(containment: f64, ratio: f64) -> f64 {
    (containment / (ratio + 1.0 - containment)).clamp(0.0, 1.0)
}

/// The partition of a size: from its power of two to the next.
#[inline]
pub(crate) fn partition(size: f64) -> u32 {
    // The exponent of a float is the logarithm, rounded down.
    ((size.max(1.0).to_bits() >> 52) - 1023) as u32
}

/// The sizes of a partition.
pub(crate) fn sizes(partition: u32) -> std::ops::Range<f64> {
    let start = if partition == 0 { 0.0 } else { f64::from(partition).exp2() };
    start..f64::from(partition + 1).exp2()
}

/// What is kept of registers: all of them where their order tells more than their equality.
pub(crate) fn packing(family: Family) -> Packing {
    match family {
        Family::Weighted | Family::OnePermutation => Packing::Bits(Bits::ALL[15]),
        _ => Packing::Bits(Bits::FULL),
    }
}

/// One cut of a field into bands for containment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ContainmentBands {
    /// Which field.
    pub field: usize,
    pub banding: Banding,
    pub first_band: usize,
}

impl ContainmentBands {
    /// The key of a band, of a record in a partition.
    #[inline]
    pub fn key(&self, words: &[u64], band: usize, partition: u32) -> u64 {
        mix(self.banding.key(words, band) ^ mix(u64::from(partition) + 1))
    }

    /// All keys of a record; none if it is empty.
    #[inline]
    pub fn keys(&self, words: &[u64], size: f64, visit: impl FnMut(BandKey)) {
        if size > 0.0 {
            self.keys_in(words, partition(size), visit);
        }
    }

    /// The keys that a record would have in a partition.
    #[inline]
    pub fn keys_in(&self, words: &[u64], partition: u32, mut visit: impl FnMut(BandKey)) {
        for band in 0..self.banding.bands() {
            let key = self.key(words, band, partition);
            visit(BandKey { band: (self.first_band + band) as u32, key });
        }
    }

    /// True if two records agree in a band.
    #[inline]
    pub fn share_key(&self, a: &[u64], b: &[u64]) -> bool {
        (0..self.banding.bands()).any(|band| self.banding.key(a, band) == self.banding.key(b, band))
    }
}

/// The fewest bands of each number of rows with which every ratio up to the wanted one reaches the recall.
pub(crate) fn choose(spec: &SketchSpec, containment: Containment, recall: f64) -> Result<Vec<Banding>> {
    let k = spec.registers as usize;
    let Packing::Bits(stored) = spec.packing else { return Ok(Vec::new()) };
    let cut = |rows: usize, bands: usize| {
        Banding::narrowed(spec, Shape { bands, rows }, key_width(stored, rows)).map_err(Error::from)
    };
    let mut bands = [0; ROWS.len()];
    let mut ratio = containment.ratio;
    loop {
        let wanted = jaccard(containment.threshold, ratio);
        let mut enough = None;
        for (i, &rows) in ROWS.iter().enumerate().filter(|(_, rows)| **rows <= k) {
            let band = cut(rows, 1)?.band_probability(wanted);
            let fewest = (1..=k / rows).find(|bands| curve::probability(band, *bands, 1) >= recall);
            if let Some(fewest) = fewest {
                enough = Some((i, fewest));
                break;
            }
        }
        let Some((i, fewest)) = enough else {
            return Err(out_of_reach(&cut(1, k)?, containment, recall));
        };
        bands[i] = bands[i].max(fewest);
        if ratio <= 1.0 {
            break;
        }
        ratio = (ratio / 2.0).max(1.0);
    }
    let cuts = ROWS.iter().zip(bands).filter(|(_, bands)| *bands > 0);
    cuts.map(|(&rows, bands)| cut(rows, bands)).collect()
}

/// The largest ratio at which bands still give the recall.
pub(crate) fn reach(probability: impl Fn(f64) -> f64, threshold: f64, recall: f64) -> f64 {
    let holds = |ratio: f64| probability(jaccard(threshold, ratio)) >= recall;
    if !holds(1.0) {
        return 0.0;
    }
    let (mut low, mut high) = (1.0, MAX_RATIO);
    while high - low > 1e-3 {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

fn out_of_reach(widest: &Banding, containment: Containment, recall: f64) -> Error {
    let reach = reach(|jaccard| widest.probability(jaccard), containment.threshold, recall);
    let reach = (reach * 10.0).floor() / 10.0;
    Error::parameter(
        "ratio",
        format!(
            "at most {reach} at containment {} and recall {recall} with {} registers; use more registers, or the exact join (`benzer pairs --measure containment`)",
            containment.threshold,
            widest.bands(),
        ),
        containment.ratio,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn partitions_are_powers_of_two() {
        for (size, expected) in [(0.2, 0), (1.0, 0), (1.9, 0), (2.0, 1), (3.0, 1), (1024.0, 10), (2047.0, 10)]
        {
            assert_eq!(partition(size), expected);
            assert!(sizes(expected).contains(&size));
        }
    }

    #[test]
    fn there_are_three_cuts_by_default() {
        let spec = SketchSpec { packing: Packing::Bits(Bits::FULL), ..SketchSpec::default() };
        let cuts = choose(&spec, Containment::default(), 0.95).unwrap();
        let shapes: Vec<_> = cuts.iter().map(|cut| (cut.bands(), cut.rows())).collect();
        assert_eq!(shapes, [(14, 4), (22, 2), (60, 1)]);
        let far = Containment { threshold: 0.8, ratio: 100.0 };
        let error = choose(&spec, far, 0.95).unwrap_err().to_string();
        assert!(
            error.starts_with("`ratio` must be at most 34.3") && error.contains("the exact join"),
            "{error}"
        );
    }

    proptest! {
        #[test]
        fn every_ratio_in_reach_has_a_cut(threshold in 0.3f64..1.0, ratio in 1.0f64..20.0, share in 0.0f64..=1.0, recall in 0.5f64..0.99) {
            let spec = SketchSpec { packing: Packing::Bits(Bits::FULL), ..SketchSpec::default() };
            let containment = Containment { threshold, ratio };
            let Ok(cuts) = choose(&spec, containment, recall) else { return Ok(()) };
            let wanted = jaccard(threshold, 1.0 + share * (ratio - 1.0));
            prop_assert!(cuts.iter().any(|cut| cut.probability(wanted) >= recall));
        }
    }
}
