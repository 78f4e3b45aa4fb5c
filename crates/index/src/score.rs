//! How similar two records are, by their sketches.

use benzer_core::estimate::{Estimate, Measured, Registers, Scheme, of, two_way};
use benzer_core::sketch::{Bits, Family, Packing, Sketch, count};

use crate::error::Result;
use crate::settings::{FieldLayout, Layout};

/// Compares the fields of records.
#[derive(Debug)]
pub(crate) struct Scorer {
    fields: Vec<FieldScorer>,
}

/// Compares one field.
#[derive(Debug)]
struct FieldScorer {
    /// Truncated registers: the estimate by the number of equal ones. Nothing for registers that say more.
    by_equal: Option<(Bits, Vec<Estimate>)>,
}

/// The similarity of the wanted fields together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Score {
    pub estimate: Estimate,
}

impl Score {
    /// The value; nothing to compare counts as not similar.
    #[inline]
    pub fn value(&self) -> f64 {
        self.estimate.value().unwrap_or_default()
    }

    /// True unless it is all but impossible that the true similarity reaches the threshold: it would be four standard errors away, at least.
    #[inline]
    pub fn may_reach(&self, threshold: f64) -> bool {
        self.estimate.measured().is_some_and(|measured| {
            measured.value >= threshold
                || measured.high >= threshold
                || measured.value + 4.0 * measured.standard_error >= threshold
        })
    }
}

impl Scorer {
    pub fn new(layout: &Layout) -> Result<Self> {
        Ok(Self { fields: layout.fields().iter().map(FieldScorer::new).collect::<Result<_>>()? })
    }

    /// The estimate of each wanted field that is not empty in both.
    pub fn fields<'a>(
        &'a self,
        layout: &'a Layout,
        wanted: &'a [usize],
        (a, b): (&'a [u64], &'a [u64]),
    ) -> impl Iterator<Item = Result<(usize, Estimate)>> + 'a {
        wanted.iter().filter_map(move |&i| {
            let field = &layout.fields()[i];
            let estimate = match (field.size(a) > 0.0, field.size(b) > 0.0) {
                (false, false) => return None,
                (true, true) => self.fields[i].estimate(field, a, b),
                _ => Ok(Estimate::exact(0.0)),
            };
            Some(estimate.map(|estimate| (i, estimate)))
        })
    }

    /// The weighted mean of the wanted fields.
    #[inline]
    pub fn score(&self, layout: &Layout, wanted: &[usize], pair: (&[u64], &[u64])) -> Result<Score> {
        if let &[only] = wanted {
            let field = &layout.fields()[only];
            if field.size(pair.0) > 0.0 && field.size(pair.1) > 0.0 {
                return Ok(Score { estimate: self.fields[only].estimate(field, pair.0, pair.1)? });
            }
        }
        let mut parts = Vec::new();
        for part in self.fields(layout, wanted, pair) {
            let (i, estimate) = part?;
            parts.push((layout.fields()[i].weight, estimate));
        }
        Ok(Score { estimate: mean(&parts) })
    }
}

impl Scorer {
    /// Where only one field is wanted and its registers are truncated: their bits, and the estimate by the number of equal ones.
    pub fn by_equal(&self, wanted: &[usize]) -> Option<(Bits, &[Estimate])> {
        let &[only] = wanted else { return None };
        let (bits, by_equal) = self.fields[only].by_equal.as_ref()?;
        Some((*bits, by_equal))
    }
}

impl FieldScorer {
    fn new(field: &FieldLayout) -> Result<Self> {
        let spec = &field.spec;
        let is_sparse =
            !matches!(spec.family, Family::Permutations(benzer_core::sketch::Scheme::Exact { .. }));
        let by_equal = match spec.packing {
            Packing::Bits(bits) if bits != Bits::FULL && is_sparse => {
                let registers = Registers { k: spec.registers as usize, scheme: Scheme::from(spec.family) };
                let estimate = |equal| two_way::jaccard(equal, bits.get(), registers, None);
                let by_equal = (0..=registers.k).map(estimate).collect::<benzer_core::Result<_>>()?;
                Some((bits, by_equal))
            }
            _ => None,
        };
        Ok(Self { by_equal })
    }

    #[inline]
    fn estimate(&self, field: &FieldLayout, a: &[u64], b: &[u64]) -> Result<Estimate> {
        let (x, y) = (field.sketch(a), field.sketch(b));
        if let Some((bits, by_equal)) = &self.by_equal {
            let k = by_equal.len() - 1;
            // What a family keeps behind its registers does not count.
            let words = bits.words(k);
            let equal = k - (count::mismatches(&x[..words], &y[..words], *bits) as usize).min(k);
            return Ok(by_equal[equal]);
        }
        let sketch = |words: &[u64], size| Sketch::from_parts(field.spec.clone(), size, words.to_vec());
        Ok(of::jaccard(&sketch(x, field.size(a))?, &sketch(y, field.size(b))?)?)
    }
}

/// The weighted mean of independent estimates. The interval combines the distances of the ends from the values, so that each keeps its shape.
fn mean(parts: &[(f64, Estimate)]) -> Estimate {
    let all: f64 = parts.iter().map(|(weight, _)| weight).sum();
    let measured: Option<Vec<(f64, Measured)>> =
        parts.iter().map(|(weight, estimate)| Some((weight / all, *estimate.measured()?))).collect();
    let Some(measured) = measured.filter(|measured| !measured.is_empty()) else {
        let undefined =
            parts.iter().map(|(_, estimate)| *estimate).find(|estimate| estimate.measured().is_none());
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
        assert_eq!(mean(&[(3.0, Estimate::Value(one))]), Estimate::Value(one));
        let two = mean(&[(1.0, Estimate::Value(one)), (1.0, Estimate::Value(one))]);
        let two = two.measured().unwrap();
        assert!(
            (two.value - 0.6).abs() < 1e-12 && two.standard_error < 0.03 && two.low > 0.52 && two.high < 0.66
        );
    }
}
