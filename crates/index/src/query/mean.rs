//! The similarity of several fields together.

use benzer_core::estimate::{Estimate, Measured};

/// The weighted mean of independent estimates. The interval combines the distances of the ends from the values, so that each keeps its shape.
pub(crate) fn mean(mut parts: impl Iterator<Item = (f64, Estimate)> + Clone) -> Estimate {
    let all: f64 = parts.clone().map(|(weight, _)| weight).sum();
    let measured: Option<Vec<(f64, Measured)>> =
        parts.clone().map(|(weight, estimate)| Some((weight / all, *estimate.measured()?))).collect();
    let Some(measured) = measured.filter(|measured| !measured.is_empty()) else {
        let undefined =
            parts.find(|(_, estimate)| estimate.measured().is_none()).map(|(_, estimate)| estimate);
        return undefined.unwrap_or(Estimate::Undefined { why: "both documents are empty" });
    };
    let sum = |of: &dyn Fn(&Measured) -> f64| -> f64 { measured.iter().map(|(w, m)| w * of(m)).sum() };
    let root = |of: &dyn Fn(&Measured) -> f64| -> f64 {
        measured.iter().map(|(w, m)| (w * of(m)).powi(2)).sum::<f64>().sqrt()
    };
    let value = sum(&|m| m.value);
    Estimate::Value(Measured {
        value,
        standard_error: root(&|m| m.standard_error),
        low: (value - root(&|m| m.value - m.low)).max(0.0),
        high: (value + root(&|m| m.high - m.value)).min(1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_one_is_itself_and_of_several_is_narrower() {
        let one = Measured { value: 0.6, standard_error: 0.04, low: 0.5, high: 0.68 };
        assert_eq!(mean([(3.0, Estimate::Value(one))].into_iter()), Estimate::Value(one));
        let two = mean([(1.0, Estimate::Value(one)), (1.0, Estimate::Value(one))].into_iter());
        let two = two.measured().unwrap();
        assert!(
            (two.value - 0.6).abs() < 1e-12 && two.standard_error < 0.03 && two.low > 0.52 && two.high < 0.66
        );
    }
}
