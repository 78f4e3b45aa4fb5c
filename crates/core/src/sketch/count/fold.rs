//! Folding: the lowest bit of each b-bit lane becomes the OR of all its bits.

use crate::sketch::Bits;

/// The shifts and the mask for one width.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fold {
    /// Shifts whose steps cover exactly b bits: 1, 2, 4, ... and the remainder; zero where fewer are needed.
    pub shifts: [u32; 6],
    /// The lowest bit of every lane.
    pub mask: u64,
}

impl Fold {
    #[inline(always)]
    pub(super) fn new(bits: Bits) -> Self {
        let b = bits.get();
        let mut shifts = [0; 6];
        let mut covered = 1;
        let mut i = 0;
        while covered < b {
            shifts[i] = covered.min(b - covered);
            covered += shifts[i];
            i += 1;
        }
        let mask = (0..bits.lanes() as u32).fold(0, |mask, lane| mask | 1 << (lane * b));
        Self { shifts, mask }
    }

    /// One bit for each lane of `difference` that is not zero. Neighbouring lanes only reach a lane's upper bits, which the mask drops.
    #[inline(always)]
    pub(super) fn word(&self, difference: u64) -> u64 {
        let mut v = difference;
        for shift in self.shifts {
            v |= v >> shift;
        }
        v & self.mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_bit_marks_its_own_lane_and_no_other() {
        for bits in Bits::ALL {
            let fold = Fold::new(bits);
            for bit in 0..bits.lanes() as u32 * bits.get() {
                assert_eq!(fold.word(1 << bit), 1 << (bit / bits.get() * bits.get()), "{bits:?} bit {bit}");
            }
        }
    }
}
