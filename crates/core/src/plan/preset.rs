//! The settings of other tools: shingles, registers, bands and threshold, under the tool's name.
//!
//! | preset | shingles | bands x rows | threshold |
//! |---|---|---|---|
//! | `fineweb` | 5 words | 14 x 8 | 0.72 |
//! | `nemo` | 24 characters | 20 x 13 | 0.8 |
//! | `datasketch` | 5 words | 5 x 25, its optimal bands of 128 for 0.9 | 0.9 |
//! | `lance` | 3 words | 16 x 8 | 0.71 |
//!
//! A preset does not reproduce the other tool's hash values. Its registers are kept as 8 bits, and its keys take as many of these as let
//! all rows into 64 bits: 8 for 8 rows, 4 for 13, 2 for 25. Fewer bits lift the curve ([`Preset::recall`]) above that of the other tool's
//! whole registers ([`Preset::recall_of_whole_registers`]): some more pairs are found and verified, none is lost.

use serde::Serialize;

use super::{Goal, ResolvedGoal, choice::Choice, precision::Precision};
use crate::field::text::Unit;
use crate::lsh::choose::key_width;
use crate::lsh::{Banding, Shape, curve};
use crate::sketch::{Packing, SketchSpec};
use crate::{Error, Result};

/// The settings of another tool.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Preset {
    /// The tool.
    pub name: &'static str,
    /// What a shingle is made of.
    pub unit: Unit,
    /// How many of them make a shingle.
    pub n: usize,
    /// Number of registers.
    pub registers: u32,
    /// Bands and rows.
    pub shape: Shape,
    /// The threshold for which the tool uses them.
    pub threshold: f64,
}

impl Preset {
    /// Every preset.
    pub const ALL: [Self; 4] = [
        Self::new("fineweb", Unit::Words, 5, 112, [14, 8], 0.72),
        Self::new("nemo", Unit::Characters, 24, 260, [20, 13], 0.8),
        Self::new("datasketch", Unit::Words, 5, 128, [5, 25], 0.9),
        Self::new("lance", Unit::Words, 3, 128, [16, 8], 0.71),
    ];

    const fn new(
        name: &'static str,
        unit: Unit,
        n: usize,
        registers: u32,
        [bands, rows]: [usize; 2],
        threshold: f64,
    ) -> Self {
        Self { name, unit, n, registers, shape: Shape { bands, rows }, threshold }
    }

    /// The preset of a name.
    ///
    /// # Errors
    /// An unknown name; the error lists the known ones.
    pub fn named(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|preset| preset.name == name).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|preset| preset.name).collect();
            Error::parameter("preset", format!("one of {}", known.join(", ")), format!("`{name}`"))
        })
    }

    /// The spec of its sketches, with the default family and seed.
    pub fn spec(&self) -> SketchSpec {
        SketchSpec { registers: self.registers, ..SketchSpec::default() }
    }

    /// Its bands.
    pub fn banding(&self) -> Banding {
        let spec = self.spec();
        let Packing::Bits(stored) = spec.packing else { unreachable!("the default keeps bits") };
        Banding::narrowed(&spec, self.shape, key_width(stored, self.shape.rows))
            .expect("a preset fits its registers")
    }

    /// Recall at its threshold.
    pub fn recall(&self) -> f64 {
        self.banding().probability(self.threshold)
    }

    /// Recall at its threshold that whole registers have, as in the other tool.
    pub fn recall_of_whole_registers(&self) -> f64 {
        curve::probability(self.threshold, self.shape.bands, self.shape.rows)
    }

    /// The preset as a choice beside others, judged by the goal (its threshold, recall, documents and memory).
    ///
    /// # Errors
    /// A field of the goal out of range.
    pub fn choice(&self, goal: &Goal) -> Result<Choice> {
        goal.validate()?;
        let resolved = ResolvedGoal::new(goal);
        Ok(Choice::of(Precision::new(self.spec(), resolved.sets), Some(self.banding()), &resolved))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Constraint;

    #[test]
    fn presets_have_the_bands_of_their_tools_and_known_recall() {
        let table = [
            ("fineweb", 8, 0.6545, 0.6499),
            ("nemo", 4, 0.7515, 0.6773),
            ("datasketch", 2, 0.5361, 0.3110),
            ("lance", 8, 0.6612, 0.6563),
        ];
        for (name, bits, recall, whole) in table {
            let preset = Preset::named(name).unwrap();
            assert_eq!(preset.banding().bits().get(), bits, "{name}");
            assert!(preset.banding().rows() * bits as usize <= 64);
            let got = [preset.recall(), preset.recall_of_whole_registers()];
            assert!((got[0] - recall).abs() < 1e-4 && (got[1] - whole).abs() < 1e-4, "{name} {got:?}");
        }
        let datasketch = Preset::named("datasketch").unwrap();
        assert_eq!(curve::optimal(128, 0.9, 0.5, 0.5).unwrap(), datasketch.shape);
    }

    #[test]
    fn a_preset_is_judged_by_the_goal() {
        let preset = Preset::named("fineweb").unwrap();
        let choice = preset.choice(&Goal { threshold: preset.threshold, ..Goal::default() }).unwrap();
        assert_eq!(choice.unmet, [Constraint::Recall, Constraint::Error]);
        assert_eq!(choice.to_string(), "112 registers of 8 bits, 14 x 8");
        assert!(preset.choice(&Goal { threshold: 0.0, ..Goal::default() }).is_err());
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = Preset::named("dolma").unwrap_err().to_string();
        assert_eq!(error, "`preset` must be one of fineweb, nemo, datasketch, lance, got `dolma`");
    }
}
