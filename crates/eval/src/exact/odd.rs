//! The exact distribution of an Odd Sketch: how many bits of two sketches differ, for registers that agree with a given probability.
//!
//! Every register that differs throws two balls into `n` bins, and a bit differs where an odd number of balls fell. The number of odd bins is a Markov
//! chain: from `z` it goes down with probability `z / n` and up otherwise.

use super::binomial;

/// The distribution of the number of odd bins after so many balls.
pub(crate) fn after(n: usize, balls: usize) -> Vec<f64> {
    let mut chances = vec![0.0; n + 1];
    chances[0] = 1.0;
    (0..balls).fold(chances, |chances, _| thrown(&chances))
}

/// The probability of at most `max` differing bits after 0, 1, ..., `registers` registers that differ.
pub(crate) fn at_most(n: usize, registers: usize, max: usize) -> Vec<f64> {
    let mut chances = vec![0.0; n + 1];
    chances[0] = 1.0;
    let mut all = Vec::with_capacity(registers + 1);
    for done in 0..=registers {
        all.push(chances[..=max.min(n)].iter().sum());
        if done < registers {
            chances = thrown(&thrown(&chances));
        }
    }
    all
}

/// The distribution of the number of differing bits for `k` registers that agree with probability `agree` each.
pub(crate) fn distribution(n: usize, k: usize, agree: f64) -> Vec<f64> {
    let weights = binomial(k, 1.0 - agree);
    let last = weights.iter().rposition(|w| *w > 1e-15).unwrap_or(0);
    let mut chances = vec![0.0; n + 1];
    chances[0] = 1.0;
    let mut sum = vec![0.0; n + 1];
    for (done, weight) in weights[..=last].iter().enumerate() {
        sum.iter_mut().zip(&chances).for_each(|(sum, p)| *sum += weight * p);
        if done < last {
            chances = thrown(&thrown(&chances));
        }
    }
    sum
}

fn thrown(chances: &[f64]) -> Vec<f64> {
    let n = (chances.len() - 1) as f64;
    let from = |z: usize, way: f64| chances.get(z).map_or(0.0, |p| p * way / n);
    let to = |z: usize| {
        let below = if z > 0 { from(z - 1, n - (z - 1) as f64) } else { 0.0 };
        below + from(z + 1, (z + 1) as f64)
    };
    (0..chances.len()).map(to).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_core::estimate::odd;

    #[test]
    fn mean_and_variance_are_those_of_the_chain() {
        let (n, k, agree) = (64, 100, 0.8);
        let chances = distribution(n, k, agree);
        let moment = |f: &dyn Fn(f64) -> f64| -> f64 {
            chances.iter().enumerate().map(|(z, p)| p * f(z as f64)).sum()
        };
        let over = |f: &dyn Fn(f64) -> f64| super::super::mean(k, 1.0 - agree, |d| f(2.0 * d as f64));
        let (size, ones) = (n as f64, |m: f64| n as f64 * odd::probability(m, n as f64));
        let mean = moment(&|z| z);
        assert!((moment(&|_| 1.0) - 1.0).abs() < 1e-12);
        assert!((mean - over(&ones)).abs() < 1e-9);
        let squares = over(&|m| odd::variance_of_ones(m, size) + ones(m) * ones(m));
        assert!((moment(&|z| z * z) - squares).abs() < 1e-8);
    }

    #[test]
    fn two_balls_in_four_bins_meet_in_a_fourth_of_all_cases() {
        let cumulated = at_most(4, 2, 0);
        assert!((cumulated[0] - 1.0).abs() < 1e-15 && (cumulated[1] - 0.25).abs() < 1e-15);
        assert!(at_most(4, 2, 4).iter().all(|p| (p - 1.0).abs() < 1e-15));
    }
}
