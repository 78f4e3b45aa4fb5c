//! The six word pairs that 004 measures with.

use crate::data::universe::{self, Universe};

/// A word pair of Table 1: names, densities, resemblance, printed ratio.
#[derive(Debug, Clone, Copy)]
pub(super) struct WordPair {
    pub name: &'static str,
    pub densities: [f64; 2],
    pub jaccard: f64,
    pub printed: f64,
}

impl WordPair {
    /// Sets with these densities and this resemblance in a universe of `total` elements.
    pub fn universe(&self, total: u64) -> Universe<2> {
        universe::pair(self.densities, self.jaccard, total)
    }
}

pub(super) const WORD_PAIRS: [WordPair; 6] = [
    WordPair { name: "KONG-HONG", densities: [0.0145, 0.0143], jaccard: 0.925, printed: 31.0 },
    WordPair { name: "OF-AND", densities: [0.570, 0.554], jaccard: 0.771, printed: 40.8 },
    WordPair { name: "GAMBIA-KIRIBATI", densities: [0.0031, 0.0028], jaccard: 0.712, printed: 26.6 },
    WordPair { name: "UNITED-STATES", densities: [0.062, 0.061], jaccard: 0.591, printed: 24.8 },
    WordPair { name: "LOW-PAY", densities: [0.045, 0.043], jaccard: 0.112, printed: 6.8 },
    WordPair { name: "A-TEST", densities: [0.596, 0.035], jaccard: 0.052, printed: 6.2 },
];

/// How charts name samples of `b` bits.
pub(super) fn bits_name(b: u32) -> String {
    if b == 64 { "M (64 bits)".to_owned() } else { format!("b = {b}") }
}
