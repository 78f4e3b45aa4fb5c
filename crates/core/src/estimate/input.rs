//! What an estimator accepts: counts, bits, sizes and densities that make sense, or an error that says which does not.

use crate::{Error, Result};

/// `k` as a number, at least one.
pub(crate) fn registers(k: usize) -> Result<f64> {
    if k == 0 {
        return Err(Error::parameter("registers", "at least 1", k));
    }
    Ok(k as f64)
}

/// A count of at most `limit`.
pub(crate) fn count(name: &'static str, n: usize, limit: usize) -> Result<f64> {
    if n > limit {
        return Err(Error::parameter(name, format!("at most {limit}"), n));
    }
    Ok(n as f64)
}

/// A number of bits that a register can be stored in.
pub(crate) fn bits(b: u32) -> Result<u32> {
    match b {
        1..=16 | 32 | 64 => Ok(b),
        _ => Err(Error::parameter("bits", "1 to 16, 32 or 64", b)),
    }
}

/// Sizes of sets that are not empty.
pub(crate) fn sizes(sizes: &[f64]) -> Result<()> {
    match sizes.iter().find(|f| !(f.is_finite() && **f > 0.0)) {
        Some(bad) => Err(Error::parameter("set size", "positive and finite", bad)),
        None => Ok(()),
    }
}

/// Shares of the universe, above 0 and at most 1.
pub(crate) fn densities(densities: &[f64]) -> Result<()> {
    match densities.iter().find(|r| !(**r > 0.0 && **r <= 1.0)) {
        Some(bad) => Err(Error::parameter("density", "above 0 and at most 1", bad)),
        None => Ok(()),
    }
}

/// A similarity strictly below one, used to choose parameters.
pub(crate) fn below_one(name: &'static str, x: f64) -> Result<f64> {
    if (0.0..1.0).contains(&x) { Ok(x) } else { Err(Error::parameter(name, "at least 0 and below 1", x)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_named() {
        assert_eq!(registers(0).unwrap_err().to_string(), "`registers` must be at least 1, got 0");
        assert!(count("equal registers", 11, 10).is_err());
        assert!(bits(0).is_err() && bits(17).is_err() && bits(33).is_err() && bits(65).is_err());
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(sizes(&[1.0, bad]).is_err());
            assert!(densities(&[0.5, bad]).is_err());
        }
        assert!(below_one("threshold", 1.0).is_err() && below_one("threshold", f64::NAN).is_err());
    }
}
