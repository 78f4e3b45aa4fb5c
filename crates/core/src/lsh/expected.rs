//! How many candidate pairs a collection gives: the sum over pairs of the S-curve.
//!
//! Most pairs of a collection have nothing to do with each other. They meet by accident of the stored bits (the collision floor, `J = 0`)
//! and through the little that any two documents share: the *background* similarity `J0`, an assumption that is stated with the
//! number.
//!
//! ```text
//! pairs      = n (n - 1) / 2
//! distinct   = pairs * S(p(J0))                 each pair counted once, however many keys it shares
//! collisions = pairs * bands * p(J0)^rows       the entries that a join by bands sees
//! accidents  = pairs * S(p(0))                  what is left if unrelated documents share nothing
//! ```
//!
//! True near-duplicates come on top: each is a candidate with the recall of its similarity. All this is before the prefilter
//! ([`super::prefilter`]), which removes nearly all pairs far below the threshold.

use serde::{Deserialize, Serialize};

use super::Banding;

/// The background similarity unless another is given: above that of unrelated documents as sets of word 5-grams (under 0.01), below that of
/// sets of short character shingles (about 0.1).
pub const DEFAULT_BACKGROUND: f64 = 0.05;

/// Expected numbers of pairs that share a band key.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    /// The assumed similarity of unrelated documents.
    pub background: f64,
    /// Distinct pairs at the background similarity.
    pub distinct: f64,
    /// The same, counted once for each key that they share.
    pub collisions: f64,
    /// Distinct pairs at similarity 0: accidents of the stored bits.
    pub accidents: f64,
}

impl Expected {
    /// Expected numbers for `documents` unrelated documents.
    pub fn new(banding: &Banding, documents: u64, background: f64) -> Self {
        let n = documents as f64;
        let pairs = 0.5 * n * (n - 1.0).max(0.0);
        Self {
            background,
            distinct: pairs * banding.probability(background),
            collisions: pairs * banding.bands() as f64 * banding.band_probability(background),
            accidents: pairs * banding.probability(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsh::Shape;
    use crate::sketch::{Packing, SketchSpec};

    fn expected(bits: u32, shape: (usize, usize), background: f64) -> Expected {
        let spec = SketchSpec { packing: Packing::bits(bits).unwrap(), ..SketchSpec::default() };
        let banding = Banding::new(&spec, Shape { bands: shape.0, rows: shape.1 }).unwrap();
        Expected::new(&banding, 1_000_000, background)
    }

    #[test]
    fn the_worked_numbers_of_the_reference() {
        let narrow = expected(1, (20, 5), 0.0);
        assert!((narrow.accidents / 5e11 - 0.47).abs() < 1e-3 && narrow.accidents == narrow.distinct);
        assert!((expected(4, (20, 5), 0.0).accidents / 5e11 / 1.9e-5 - 1.0).abs() < 0.01);
        // At 12 bits the floor is small against J0 = 0.1: 1.0e8 pairs, as with whole registers.
        assert!((expected(12, (20, 5), 0.1).distinct / 1.0e8 - 1.0).abs() < 0.03);
    }

    #[test]
    fn a_pair_that_shares_several_keys_is_one_pair() {
        let many = expected(8, (64, 2), 0.2);
        assert!(many.collisions > many.distinct && many.distinct > many.accidents);
        assert!(many.distinct <= 5e11);
    }

    #[test]
    fn one_document_has_no_pairs() {
        let banding = Banding::new(&SketchSpec::default(), Shape { bands: 18, rows: 7 }).unwrap();
        assert_eq!(Expected::new(&banding, 1, 0.05).distinct, 0.0);
    }
}
