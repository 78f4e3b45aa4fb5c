//! Similarity of any number of sets: elements in all of them over elements in any.
//!
//! Full registers: the share of registers in which all agree. b-bit registers of 64-bit hashes: with `d` the number
//! of distinct values at one position,
//!
//! ```text
//! R_n = mean of g(d),      g(d) = (-1)^(d-1) / C(2^b - 1, d - 1),      needs 2^b >= n
//! ```
//!
//! which is unbiased and contains the two-way estimator (9) and the three-way (8) as `n = 2` and `n = 3`. The error
//! bar comes from the spread of `g`.

use super::{Estimate, Registers, input, interval, interval::Cell};
use crate::{Error, Result};

/// Similarity from the number of full registers in which all sets agree. `union` is the size of the union, if known.
pub fn full(all_equal: usize, registers: Registers, union: Option<f64>) -> Result<Estimate> {
    let k = input::registers(registers.k)?;
    let raw = input::count("equal registers", all_equal, registers.k)? / k;
    let variance = interval::Quadratic::BINOMIAL.scaled(registers.factor(union));
    let ends = interval::score(raw, k, variance);
    Ok(Estimate::clamped(raw, (variance.at(raw) / k).sqrt(), ends, [0.0, 1.0]))
}

/// The weights `g(1) ... g(n)`.
pub fn weights(n: usize, b: u32) -> Result<Vec<f64>> {
    input::bits(b)?;
    if n < 2 {
        return Err(Error::parameter("sets", "at least 2", n));
    }
    let values = libm::exp2(f64::from(b));
    if (n as f64) > values {
        return Err(Error::parameter("sets", format!("at most {values} with {b} bits"), n));
    }
    let mut weights = vec![1.0];
    for d in 1..n {
        let d = d as f64;
        weights.push(-weights[weights.len() - 1] * d / (values - d));
    }
    Ok(weights)
}

/// Similarity from b-bit registers of 64-bit hashes: `distinct[d-1]` registers show `d` distinct values among the
/// `n = distinct.len()` sets. `union` is the size of the union, if known.
///
/// ```
/// use benzer_core::estimate::{Scheme, n_way};
/// let estimate = n_way::b_bit(&[90, 30, 8], 4, Scheme::Independent, None)?;
/// assert!((estimate.value().unwrap() - 0.6881).abs() < 1e-3);
/// # Ok::<(), benzer_core::Error>(())
/// ```
pub fn b_bit(distinct: &[usize], b: u32, scheme: super::Scheme, union: Option<f64>) -> Result<Estimate> {
    let weights = weights(distinct.len(), b)?;
    let registers = Registers { k: distinct.iter().sum(), scheme };
    let k = input::registers(registers.k)?;
    let cells: Vec<Cell> =
        weights.iter().zip(distinct).map(|(&value, &count)| Cell { value, count: count as f64 }).collect();
    let raw = cells.iter().map(|c| c.value * c.count).sum::<f64>() / k;
    let squares = cells.iter().map(|c| (c.value - raw) * (c.value - raw) * c.count).sum::<f64>() / k;
    let factor = registers.factor(union);
    let value = raw.clamp(0.0, 1.0);
    let variance = (squares + (factor - 1.0) * value * (1.0 - value)).max(0.0);
    let ends = interval::tilted(&cells, |_| factor);
    Ok(Estimate::clamped(raw, (variance / k).sqrt(), ends, [0.0, 1.0]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{
        Scheme,
        three_way::{self, Agreement, ThreeWayBits},
        two_way,
    };

    #[test]
    fn two_sets_are_the_two_way_estimate() {
        let registers = Registers::independent(128);
        for b in [1, 2, 8] {
            let two = two_way::jaccard(100, b, registers, None).unwrap();
            let n = b_bit(&[100, 28], b, Scheme::Independent, None).unwrap();
            let (x, y) = (two.measured().unwrap(), n.measured().unwrap());
            assert!((x.value - y.value).abs() < 1e-12 && (x.standard_error - y.standard_error).abs() < 1e-12);
            assert!((x.low - y.low).abs() < 1e-9 && (x.high - y.high).abs() < 1e-9);
        }
    }

    #[test]
    fn three_sets_are_the_three_way_estimate() {
        let bits = ThreeWayBits::new(2).unwrap();
        let agreement = Agreement { all: 60, only: [20, 10, 8], none: 30 };
        let three = three_way::raw(agreement.rates().unwrap(), bits);
        let n = b_bit(&[60, 38, 30], 2, Scheme::Independent, None).unwrap();
        assert!((three - n.value().unwrap()).abs() < 1e-12);
    }

    #[test]
    fn too_few_values_for_the_sets_are_refused() {
        assert!(weights(3, 1).is_err() && weights(5, 2).is_err() && weights(4, 2).is_ok());
        assert!(weights(1, 2).is_err() && b_bit(&[0, 0], 1, Scheme::Independent, None).is_err());
        assert!(full(1, Registers::independent(0), None).is_err());
        assert!(full(3, Registers::independent(2), None).is_err());
    }

    #[test]
    fn full_registers_give_wilson() {
        let measured = *full(128, Registers::independent(128), None).unwrap().measured().unwrap();
        assert!(measured.value == 1.0 && measured.low > 0.97 && measured.high == 1.0);
    }
}
