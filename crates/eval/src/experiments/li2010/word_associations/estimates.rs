//! Sizes of intersections from registers that agree.

use benzer_core::estimate::three_way::{self, Agreement, ThreeWayBits};
use benzer_core::estimate::{Measured, Registers, size, two_way};

use crate::prelude::*;

/// The size of the intersection of two sets from the number of equal registers.
pub(super) fn pair_size(equal: usize, b: u32, registers: Registers, sizes: [f64; 2]) -> Result<Measured> {
    let estimate = size::intersection(&two_way::jaccard(equal, b, registers, Some(sizes))?, sizes)?;
    Ok(*estimate.measured().expect("sets that are not empty have a similarity"))
}

/// The size of the intersection of three sets, within what the estimated intersections of pairs allow.
pub(super) fn triple_size(
    agreement: Agreement,
    b: u32,
    registers: Registers,
    sizes: [f64; 3],
) -> Result<f64> {
    let [f1, f2, f3] = sizes;
    let [p12, p13, p23] = agreement.only.map(|only| only + agreement.all);
    let mut pairs = [0.0; 3];
    for (pair, (equal, sizes)) in pairs.iter_mut().zip([(p12, [f1, f2]), (p13, [f1, f3]), (p23, [f2, f3])]) {
        *pair = pair_size(equal, b, registers, sizes)?.value;
    }
    let three = three_way::jaccard(agreement, ThreeWayBits::new(b)?, registers.scheme, Some(sizes))?;
    let jaccard = three.value().unwrap_or_default().min(0.999);
    let [low, high] = size::triple_range(sizes, pairs);
    Ok(size::three_way_intersection_at(jaccard, sizes, pairs).min(high).max(low.min(high)))
}
