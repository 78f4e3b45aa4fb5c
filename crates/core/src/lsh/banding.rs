//! Bands: a cut of the stored registers of a sketch, whose keys are the integers under which its document is filed.
//!
//! Band `i` holds registers `i * rows .. (i + 1) * rows`; registers after the last band belong to none. Its **key** is the
//! concatenation of these registers as they are stored, `bits` each, the first register in the most significant place, cut to the
//! first 64 bits:
//!
//! ```text
//! key = register(0) << (64 - b)  |  register(1) << (64 - 2b)  |  ...          b = bits
//! ```
//!
//! - `rows * b < 64`: the key is left-aligned, the unused low bits are zero.
//! - `rows * b > 64`: registers past the 64th bit do not take part, of one that straddles it only the highest bits do. The curve
//!   ([`Banding::probability`]) counts what the key holds, not what `rows` says.
//!
//! So keys are ordered as the register sequences are, and all keys that agree in the first registers are one range
//! ([`Banding::prefix`]). The band number is kept apart ([`BandKey`]): keys of different bands are never compared.
//!
//! A key may take fewer bits of each register than are stored ([`Banding::narrowed`]): with 16-bit or whole registers, that lets all
//! rows into the key. These are the *lowest* bits, so a sketch has the same keys whether it is narrowed before or after storing.
//!
//! **The rule of key bits.** Two unrelated documents share the key of a band with probability `2^-(rows * b)`, so that `n`
//! documents meet by accident `bands * n^2 / 2 * 2^-(rows * b)` times. [`Banding::check_documents`] enforces
//! `min(64, rows * b) >= log2(bands * n) + 10`: less than one accident for every two thousand documents.

mod keys;

use serde::{Deserialize, Serialize};

use super::curve::{self, Shape};
use crate::estimate::collision::Collision;
use crate::sketch::{Bits, Family, MAX_REGISTERS, Packing, SketchSpec};
use crate::{Error, Result};

pub use keys::BandKey;

/// The slack of the rule of key bits: `rows * b >= log2(bands * documents) + 10`.
pub const SLACK_BITS: u32 = 10;

/// A cut of stored b-bit registers into bands.
///
/// ```
/// use benzer_core::lsh::{Banding, Shape};
/// use benzer_core::{Features, sketch::SketchSpec};
///
/// let spec = SketchSpec::default();
/// let banding = Banding::new(&spec, Shape { bands: 18, rows: 7 })?;
/// assert!((banding.probability(0.8) - 0.986).abs() < 0.001);
/// banding.check_documents(1_000_000_000)?;
///
/// let sketch = spec.sketcher()?.sketch(&Features::set(0..500))?;
/// assert_eq!(banding.keys(sketch.words()).count(), 18);
/// # Ok::<(), benzer_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct Banding {
    bands: u32,
    rows: u32,
    bits: Bits,
    stored: Bits,
}

impl Banding {
    /// Bands of all stored bits of each register.
    ///
    /// # Errors
    /// No bands or rows, more of them than registers, or a sketch whose registers are not kept one by one.
    pub fn new(spec: &SketchSpec, shape: Shape) -> Result<Self> {
        spec.validate()?;
        let Packing::Bits(stored) = spec.packing else {
            let remedy = "its registers are merged: keep b bits of each register instead";
            return Err(spec.unsupported("banding", remedy));
        };
        if !spec.family.is_aligned() {
            let remedy = "its registers are not aligned; use an aligned family such as fast";
            return Err(spec.unsupported("banding", remedy));
        }
        let banding = Self::of_parts(shape, stored, stored)?;
        if banding.n_registers() > spec.registers as usize {
            let expected = format!("at most {} (the number of registers)", spec.registers);
            let got = format!("{} x {} = {}", shape.bands, shape.rows, banding.n_registers());
            return Err(Error::parameter("bands x rows", expected, got));
        }
        Ok(banding)
    }

    /// Bands of the lowest `bits` bits of each register.
    ///
    /// # Errors
    /// As [`Banding::new`]; more bits than are stored; whole registers of a family whose lowest bits are not uniform.
    pub fn narrowed(spec: &SketchSpec, shape: Shape, bits: Bits) -> Result<Self> {
        let whole = Self::new(spec, shape)?;
        let uneven = matches!(spec.family, Family::OnePermutation | Family::Weighted);
        if bits != whole.stored && whole.stored == Bits::FULL && uneven {
            let remedy =
                "the lowest bits of its whole registers are not uniform: sketch with 16 bits or fewer";
            return Err(spec.unsupported("banding", remedy));
        }
        Self::of_parts(shape, bits, whole.stored)
    }

    fn of_parts(shape: Shape, bits: Bits, stored: Bits) -> Result<Self> {
        for (name, n) in [("bands", shape.bands), ("rows", shape.rows)] {
            if n == 0 || n > MAX_REGISTERS as usize {
                return Err(Error::parameter(name, format!("between 1 and {MAX_REGISTERS}"), n));
            }
        }
        if bits > stored {
            let expected = format!("at most {} (what is stored)", stored.get());
            return Err(Error::parameter("key bits per register", expected, bits.get()));
        }
        Ok(Self { bands: shape.bands as u32, rows: shape.rows as u32, bits, stored })
    }

    /// Number of bands.
    pub const fn bands(&self) -> usize {
        self.bands as usize
    }

    /// Registers per band.
    pub const fn rows(&self) -> usize {
        self.rows as usize
    }

    /// Bits of each register that enter the key.
    pub const fn bits(&self) -> Bits {
        self.bits
    }

    /// Bits of each register that the sketch stores.
    pub const fn stored(&self) -> Bits {
        self.stored
    }

    /// Bands and rows.
    pub const fn shape(&self) -> Shape {
        Shape { bands: self.bands(), rows: self.rows() }
    }

    /// Registers in bands.
    pub const fn n_registers(&self) -> usize {
        self.bands() * self.rows()
    }

    /// Bits of a key that carry registers: `min(64, rows * bits)`.
    pub const fn key_bits(&self) -> u32 {
        let all = self.rows as u64 * self.bits.get() as u64;
        if all < 64 { all as u32 } else { 64 }
    }

    /// The chance that two sets of some similarity agree in the first rows of some band (at least one row): what [`Banding::prefix`] finds.
    pub fn prefix_probability(&self, jaccard: f64, rows: usize) -> f64 {
        Self { rows: (rows as u32).clamp(1, self.rows), ..*self }.probability(jaccard)
    }

    /// How many documents the keys can tell apart: `2^(key bits - 10) / bands`.
    pub fn max_documents(&self) -> u64 {
        let keys = (1u128 << self.key_bits()) >> SLACK_BITS;
        u64::try_from(keys / u128::from(self.bands)).unwrap_or(u64::MAX)
    }

    /// The key bits that `documents` need: `log2(bands * documents) + 10`.
    pub fn key_bits_needed(&self, documents: u64) -> f64 {
        libm::log2(f64::from(self.bands) * documents.max(1) as f64) + f64::from(SLACK_BITS)
    }

    /// Enforces the rule `rows * b >= log2(bands * documents) + 10`.
    ///
    /// # Errors
    /// Too many documents for these keys, with the remedy.
    pub fn check_documents(&self, documents: u64) -> Result<()> {
        let max = self.max_documents();
        if documents <= max {
            return Ok(());
        }
        let Self { bands, rows, bits, .. } = self;
        Err(Error::parameter(
            "documents",
            format!(
                "at most {max} for {bands} bands of {rows} rows of {} bits, whose keys have {} bits where {:.1} are needed \
                 (log2(bands x documents) + {SLACK_BITS}); keep more bits of each register or use more rows",
                bits.get(),
                self.key_bits(),
                self.key_bits_needed(documents),
            ),
            documents,
        ))
    }

    /// The probability that two documents of similarity `jaccard` share a key, with the collision floor of `bits`.
    pub fn probability(&self, jaccard: f64) -> f64 {
        curve::of_bands(self.band_probability(jaccard), self.bands())
    }

    /// The probability that they share the key of one given band.
    pub fn band_probability(&self, jaccard: f64) -> f64 {
        let bits = self.bits.get();
        let whole = self.rows.min(64 / bits);
        let agree = libm::pow(Collision::sparse(bits).probability(jaccard), f64::from(whole));
        let cut = self.key_bits() - whole * bits;
        if cut == 0 { agree } else { agree * Collision::sparse(cut).probability(jaccard) }
    }

    /// The similarity at which that share of pairs have a key in common; 0 if chance alone gives as many.
    pub fn similarity_at(&self, share: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        while high - low > 1e-12 {
            let middle = 0.5 * (low + high);
            if self.probability(middle) < share { low = middle } else { high = middle }
        }
        if low == 0.0 { 0.0 } else { high }
    }

    /// The similarity at which half of the pairs are found: [`curve::half`] as a similarity.
    pub fn half(&self) -> f64 {
        self.similarity_at(0.5)
    }
}

/// A banding as it is written, so that what is read is checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    bands: usize,
    rows: usize,
    bits: Bits,
    stored: Bits,
}

impl TryFrom<Fields> for Banding {
    type Error = Error;

    fn try_from(Fields { bands, rows, bits, stored }: Fields) -> Result<Self> {
        Self::of_parts(Shape { bands, rows }, bits, stored)
    }
}

#[cfg(test)]
mod tests;
