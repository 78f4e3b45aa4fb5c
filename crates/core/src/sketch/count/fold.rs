//! Folding: the lowest bit of each b-bit lane becomes the OR of all its bits.

/// The shifts and the mask for one width, computed at compile time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fold {
    /// Shifts whose steps cover exactly b bits: 1, 2, 4, ... and the remainder; zero where fewer are needed.
    pub shifts: [u32; 6],
    /// The lowest bit of every lane.
    pub mask: u64,
}

impl Fold {
    pub(super) const fn new(b: u32) -> Self {
        let mut shifts = [0; 6];
        let (mut covered, mut i) = (1, 0);
        while covered < b {
            shifts[i] = if covered < b - covered { covered } else { b - covered };
            covered += shifts[i];
            i += 1;
        }
        let (mut mask, mut lane) = (0, 0);
        while lane < 64 / b {
            mask |= 1 << (lane * b);
            lane += 1;
        }
        Self { shifts, mask }
    }

    /// One bit for each lane of `difference` that is not zero. Neighbouring lanes only reach a lane's upper bits, which the mask drops.
    #[inline(always)]
    pub(super) const fn word(&self, difference: u64) -> u64 {
        let mut v = difference;
        let mut i = 0;
        while i < 6 {
            v |= v >> self.shifts[i];
            i += 1;
        }
        v & self.mask
    }
}

/// Calls a function with the width as a constant: `with_width!(bits, B => function::<B>(..))`.
macro_rules! with_width {
    ($bits:expr, $B:ident => $call:expr) => {
        with_width!(@ $bits, $B => $call; 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 32 64)
    };
    (@ $bits:expr, $B:ident => $call:expr; $($width:literal)*) => {
        match $bits.get() {
            $($width => { const $B: u32 = $width; $call })*
            _ => unreachable!("a width is one of Bits::ALL"),
        }
    };
}
pub(super) use with_width;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::Bits;

    #[test]
    fn a_single_bit_marks_its_own_lane_and_no_other() {
        for bits in Bits::ALL {
            let fold = Fold::new(bits.get());
            for bit in 0..bits.lanes() as u32 * bits.get() {
                assert_eq!(fold.word(1 << bit), 1 << (bit / bits.get() * bits.get()), "{bits:?} bit {bit}");
            }
        }
    }
}
