//! Exact expectations under the binomial distribution: what a function of a count of `k` independent registers gives on average.

pub(crate) mod bottom_k;
pub(crate) mod odd;
pub(crate) mod three_way;

/// The probability of each count from 0 to `k`.
pub(crate) fn binomial(k: usize, p: f64) -> Vec<f64> {
    let mut weights = vec![0.0; k + 1];
    if p <= 0.0 || p >= 1.0 {
        weights[if p <= 0.0 { 0 } else { k }] = 1.0;
        return weights;
    }
    // From the most likely count outwards, so that nothing underflows that matters.
    let mode = (((k + 1) as f64 * p) as usize).min(k);
    weights[mode] = 1.0;
    let odds = p / (1.0 - p);
    for i in mode..k {
        weights[i + 1] = weights[i] * odds * (k - i) as f64 / (i + 1) as f64;
    }
    for i in (1..=mode).rev() {
        weights[i - 1] = weights[i] / odds * i as f64 / (k - i + 1) as f64;
    }
    let total: f64 = weights.iter().sum();
    weights.iter().map(|w| w / total).collect()
}

/// The mean of a function of the count.
pub(crate) fn mean(k: usize, p: f64, f: impl Fn(usize) -> f64) -> f64 {
    binomial(k, p).iter().enumerate().filter(|(_, w)| **w > 0.0).map(|(count, w)| w * f(count)).sum()
}

#[cfg(test)]
pub(crate) fn at_least(k: usize, p: f64, min: usize) -> f64 {
    binomial(k, p)[min.min(k + 1)..].iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_binomial_distribution() {
        for (k, p) in [(1, 0.3), (500, 0.9), (5000, 1e-3), (40, 0.0), (40, 1.0)] {
            let (n, q) = (k as f64, p * k as f64);
            assert!((mean(k, p, |x| x as f64) - q).abs() < 1e-9 * n);
            assert!((mean(k, p, |x| (x as f64 - q).powi(2)) - q * (1.0 - p)).abs() < 1e-9 * n * n);
        }
        assert!((at_least(3, 0.5, 2) - 0.5).abs() < 1e-12);
        assert_eq!(at_least(3, 0.5, 4), 0.0);
    }
}
