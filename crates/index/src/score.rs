//! How similar two records are, by their sketches.

use benzer_core::estimate::{Estimate, Measured, Registers, Scheme, mle, of, two_way};
use benzer_core::sketch::{Bits, Family, Packing, Sketch, count};

use crate::error::Result;
use crate::recall::normal;
use crate::rule::Criteria;
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
    /// How much less the registers vary than independent ones: the factor of standard errors, by the size of the union.
    narrower: Vec<f64>,
}

/// Sizes of unions for which the factor of errors is known: steps of a factor of 2^(1/4), about.
const SIZES: usize = 128;

/// The similarity of two records, to rank them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rank {
    pub value: f64,
    /// Its standard error.
    pub error: f64,
    /// Above this the similarity all but never is.
    pub highest: f64,
}

impl Rank {
    /// One without an error.
    pub fn exact(value: f64) -> Self {
        Self { value, error: 0.0, highest: value }
    }
}

/// True unless it is all but impossible that the true value reaches the threshold: it would be four standard errors away, at least.
#[inline]
pub(crate) fn may_reach(estimate: &Estimate, threshold: f64) -> bool {
    estimate.measured().is_some_and(|measured| highest(measured) >= threshold)
}

/// Above this the true value all but never is.
#[inline]
fn highest(measured: &Measured) -> f64 {
    measured.high.max(measured.value + 4.0 * measured.standard_error)
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

    /// The estimates of the fields that say something about a query and a record, in the measure that is wanted.
    pub fn parts(
        &self,
        layout: &Layout,
        criteria: &Criteria,
        (a, b): (&[u64], &[u64]),
        parts: &mut Vec<(usize, Estimate)>,
    ) -> Result<()> {
        parts.clear();
        for &i in &criteria.fields {
            let field = &layout.fields()[i];
            let sizes = [field.size(a), field.size(b)];
            if criteria.measure.is_void(sizes) {
                continue;
            }
            let estimate = match sizes.iter().all(|size| *size > 0.0) {
                true => criteria.measure.estimate(self.fields[i].estimate(field, a, b)?, sizes)?,
                false => Estimate::exact(0.0),
            };
            parts.push((i, estimate));
        }
        Ok(())
    }

    /// False if it is all but impossible that a field is enough, which takes no interval to see.
    pub fn may_be_enough(
        &self,
        layout: &Layout,
        criteria: &Criteria,
        (a, b): (&[u64], &[u64]),
    ) -> Result<bool> {
        for &i in &criteria.fields {
            let field = &layout.fields()[i];
            let sizes = [field.size(a), field.size(b)];
            if sizes.iter().any(|size| *size <= 0.0) {
                continue;
            }
            let wanted = criteria.measure.jaccard_at(criteria.enough(i), sizes);
            let found = self.fields[i].rough(field, a, b)?;
            let error = (f64::from(field.spec.registers) * mle::information(wanted, sizes)).recip().sqrt();
            // Near the ends of the range an error of a register or two is larger than the standard error says.
            if found >= (wanted - 4.0 * error).min(0.8 * wanted) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The value of the only field that is compared, if it is the only one and whole registers tell it without the work of an interval.
    pub fn only_value(
        &self,
        layout: &Layout,
        criteria: &Criteria,
        pair: (&[u64], &[u64]),
    ) -> Result<Option<f64>> {
        let &[only] = &criteria.fields[..] else { return Ok(None) };
        let field = &layout.fields()[only];
        let sizes = [field.size(pair.0), field.size(pair.1)];
        if self.fields[only].by_equal.is_some() || sizes.iter().any(|size| *size <= 0.0) {
            return Ok(None);
        }
        let rough = self.fields[only].rough(field, pair.0, pair.1)?;
        Ok(Some(criteria.measure.value_at(rough, sizes)))
    }

    /// How a query and a record rank; nothing if no field says anything. `parts` is used again and again.
    pub fn rank(
        &self,
        layout: &Layout,
        criteria: &Criteria,
        pair: (&[u64], &[u64]),
        parts: &mut Vec<(usize, Estimate)>,
    ) -> Result<Option<Rank>> {
        if let &[only] = &criteria.fields[..] {
            let (field, scorer) = (&layout.fields()[only], &self.fields[only]);
            let sizes = [field.size(pair.0), field.size(pair.1)];
            if sizes.iter().all(|size| *size > 0.0) {
                return scorer.rank(field, pair, sizes).map(Some);
            }
        }
        self.parts(layout, criteria, pair, parts)?;
        let rank = |measured: &Measured| {
            let highest = highest(measured);
            Rank { value: measured.value, error: (highest - measured.value) / 4.0, highest }
        };
        Ok(criteria.together(parts).measured().map(rank))
    }

    /// The weighted mean of the wanted fields.
    #[inline]
    pub fn score(&self, layout: &Layout, wanted: &[usize], pair: (&[u64], &[u64])) -> Result<Estimate> {
        if let &[only] = wanted {
            let field = &layout.fields()[only];
            if field.size(pair.0) > 0.0 && field.size(pair.1) > 0.0 {
                return self.fields[only].estimate(field, pair.0, pair.1);
            }
        }
        let mut parts = Vec::new();
        for part in self.fields(layout, wanted, pair) {
            let (i, estimate) = part?;
            parts.push((layout.fields()[i].weight, estimate));
        }
        Ok(mean(parts.into_iter()))
    }
}

impl Scorer {
    /// The chance that a document of exactly this similarity is not estimated to be less similar. Truncated registers give only so many different estimates, of which the least that reaches it counts half.
    pub fn chance_at(&self, wanted: &[usize], similarity: f64) -> f64 {
        if similarity >= 1.0 {
            return 1.0;
        }
        let Some((_, by_equal)) = self.by_equal(wanted) else { return 0.5 };
        let value = |estimate: &Estimate| estimate.value().unwrap_or_default();
        let first = by_equal.partition_point(|estimate| value(estimate) < similarity);
        let Some(reached) = by_equal.get(first).and_then(Estimate::measured) else { return 0.5 };
        let before = value(&by_equal[first.saturating_sub(1)]);
        normal((similarity - 0.5 * (reached.value + before)) / reached.standard_error.max(f64::MIN_POSITIVE))
    }

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
        let registers = Registers { k: spec.registers as usize, scheme: Scheme::from(spec.family) };
        let narrower = (0..SIZES).map(|i| registers.factor(Some(size_of_step(i + 1))).sqrt().min(1.0));
        Ok(Self { by_equal, narrower: narrower.collect() })
    }

    /// How two sets that are not empty rank.
    #[inline]
    fn rank(&self, field: &FieldLayout, (a, b): (&[u64], &[u64]), sizes: [f64; 2]) -> Result<Rank> {
        let (value, error, margin) = match self.by_equal {
            Some(_) => match self.estimate(field, a, b)?.measured() {
                Some(found) => (found.value, found.standard_error, found.high - found.value),
                None => return Ok(Rank { value: 0.0, error: 1.0, highest: 1.0 }),
            },
            None => {
                let value = self.rough(field, a, b)?;
                let k = f64::from(field.spec.registers);
                (value, (k * mle::information(value, sizes)).recip().sqrt(), 1.0 / k)
            }
        };
        let narrower = self.narrower[step_of_size((sizes[0] + sizes[1]) / (1.0 + value))];
        let error = (error * narrower).max(margin / 4.0);
        // No two sets are more similar than their sizes.
        let most = sizes[0].min(sizes[1]) / sizes[0].max(sizes[1]);
        Ok(Rank { value, error, highest: (value + 4.0 * error).min(most) })
    }

    #[inline]
    fn rough(&self, field: &FieldLayout, a: &[u64], b: &[u64]) -> Result<f64> {
        let has_order = !matches!(field.spec.family, Family::OnePermutation | Family::BottomK | Family::Odd);
        if has_order && field.spec.packing == Packing::Bits(Bits::FULL) {
            let k = field.spec.registers as usize;
            let [x, y] = [a, b].map(|record| &field.sketch(record)[..k]);
            return Ok(mle::raw(order(x, y), [field.size(a), field.size(b)]));
        }
        Ok(self.estimate(field, a, b)?.value().unwrap_or_default())
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

/// The size at which a step of [`FieldScorer::narrower`] begins: from 1 on, four of them until it is twice as large.
fn size_of_step(i: usize) -> f64 {
    f64::from_bits(1f64.to_bits() + ((i as u64) << 50))
}

#[inline]
fn step_of_size(size: f64) -> usize {
    ((size.max(1.0).to_bits() - 1f64.to_bits()) >> 50).min(SIZES as u64 - 1) as usize
}

/// How the registers of two sketches compare.
#[inline]
fn order(a: &[u64], b: &[u64]) -> mle::Order {
    let (mut equal, mut less) = (0, 0);
    for (a, b) in a.iter().zip(b) {
        equal += usize::from(a == b);
        less += usize::from(a < b);
    }
    mle::Order { equal, less, greater: a.len() - equal - less }
}

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
