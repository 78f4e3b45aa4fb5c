//! What characters of two bytes become, for table lookups in registers.

/// For each first byte from 0xc0 to 0xdf and each low six bits of the second byte the two bytes that the
/// character becomes; both are zero if it does not become two bytes in any place.
#[derive(Debug)]
pub(in super::super) struct Pairs {
    pub(super) first: [[u8; 64]; 32],
    pub(super) second: [[u8; 64]; 32],
}

impl Pairs {
    /// `becomes` tells what the character with a given number becomes.
    pub fn new(becomes: impl Fn(u32) -> Option<[u8; 2]>) -> Self {
        let mut pairs = Self { first: [[0; 64]; 32], second: [[0; 64]; 32] };
        for code in 0x80..0x800 {
            if let Some([first, second]) = becomes(code) {
                let (row, column) = (code as usize >> 6, code as usize & 0x3f);
                pairs.first[row][column] = first;
                pairs.second[row][column] = second;
            }
        }
        pairs
    }
}
