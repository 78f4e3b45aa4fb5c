//! How similar two records are, by their sketches, and how similar two documents, by what is in them.

pub(crate) mod exact;
mod overlap;
mod ranking;

use benzer_core::estimate::{Estimate, Measured, Registers, Scheme, mle, of, two_way};
use benzer_core::sketch::{Bits, Family, Packing, count};

use crate::error::Result;
use crate::query::{Criteria, mean};
use crate::settings::{FieldLayout, Layout};

pub(crate) use overlap::Overlap;
pub(crate) use ranking::{Ranked, Ranking};

/// The words of two records that are compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordPair<'a> {
    pub query: &'a [u64],
    pub found: &'a [u64],
}

impl RecordPair<'_> {
    /// How large the sets of a field are.
    #[inline]
    fn sizes(self, field: &FieldLayout) -> [f64; 2] {
        [field.size(self.query), field.size(self.found)]
    }
}

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

/// True if the estimate itself reaches the threshold.
#[inline]
pub(crate) fn reaches(estimate: &Estimate, threshold: f64) -> bool {
    estimate.value().unwrap_or_default() >= threshold
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

    /// The estimates of the fields that say something about a query and a record, in the measure that is wanted.
    pub fn parts(
        &self,
        layout: &Layout,
        criteria: &Criteria,
        pair: RecordPair<'_>,
        parts: &mut Vec<(usize, Estimate)>,
    ) -> Result<()> {
        parts.clear();
        for &i in &criteria.fields {
            let field = &layout.fields()[i];
            let sizes = pair.sizes(field);
            if criteria.measure.is_void(sizes) {
                continue;
            }
            let estimate = match sizes.iter().all(|size| *size > 0.0) {
                true => criteria.measure.estimate(self.fields[i].estimate(field, pair)?, sizes)?,
                false => Estimate::exact(0.0),
            };
            parts.push((i, estimate));
        }
        Ok(())
    }

    /// False if it is all but impossible that a field is enough, which takes no interval to see.
    pub fn may_be_enough(&self, layout: &Layout, criteria: &Criteria, pair: RecordPair<'_>) -> Result<bool> {
        for &i in &criteria.fields {
            let field = &layout.fields()[i];
            let sizes = pair.sizes(field);
            if sizes.iter().any(|size| *size <= 0.0) {
                continue;
            }
            let wanted = criteria.measure.jaccard_at(criteria.enough(i), sizes);
            let found = self.fields[i].rough(field, pair)?;
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
        pair: RecordPair<'_>,
    ) -> Result<Option<f64>> {
        let &[only] = &criteria.fields[..] else { return Ok(None) };
        let field = &layout.fields()[only];
        let sizes = pair.sizes(field);
        if self.fields[only].by_equal.is_some() || sizes.iter().any(|size| *size <= 0.0) {
            return Ok(None);
        }
        let rough = self.fields[only].rough(field, pair)?;
        Ok(Some(criteria.measure.value_at(rough, sizes)))
    }

    /// How a query and a record rank; nothing if no field says anything. `parts` is used again and again.
    pub fn rank(
        &self,
        layout: &Layout,
        criteria: &Criteria,
        pair: RecordPair<'_>,
        parts: &mut Vec<(usize, Estimate)>,
    ) -> Result<Option<Rank>> {
        if let &[only] = &criteria.fields[..] {
            let (field, scorer) = (&layout.fields()[only], &self.fields[only]);
            let sizes = pair.sizes(field);
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
    pub fn score(&self, layout: &Layout, wanted: &[usize], pair: RecordPair<'_>) -> Result<Estimate> {
        if let &[only] = wanted {
            let field = &layout.fields()[only];
            if pair.sizes(field).iter().all(|size| *size > 0.0) {
                return self.fields[only].estimate(field, pair);
            }
        }
        let mut parts = Vec::new();
        for &i in wanted {
            let field = &layout.fields()[i];
            let estimate = match pair.sizes(field).map(|size| size > 0.0) {
                [false, false] => continue,
                [true, true] => self.fields[i].estimate(field, pair)?,
                _ => Estimate::exact(0.0),
            };
            parts.push((field.weight, estimate));
        }
        Ok(mean(parts.into_iter()))
    }

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
    fn rank(&self, field: &FieldLayout, pair: RecordPair<'_>, sizes: [f64; 2]) -> Result<Rank> {
        let (value, error, margin) = match self.by_equal {
            Some(_) => match self.estimate(field, pair)?.measured() {
                Some(found) => (found.value, found.standard_error, found.high - found.value),
                None => return Ok(Rank { value: 0.0, error: 1.0, highest: 1.0 }),
            },
            None => {
                let value = self.rough(field, pair)?;
                let k = f64::from(field.spec.registers);
                (value, (k * mle::information(value, sizes)).recip().sqrt(), 1.0 / k)
            }
        };
        let narrower = self.narrower[step_of_size((sizes[0] + sizes[1]) / (1.0 + value))];
        let error = (error * narrower).max(margin / 4.0);
        // No two sets are more similar than their sizes.
        let max = sizes[0].min(sizes[1]) / sizes[0].max(sizes[1]);
        Ok(Rank { value, error, highest: (value + 4.0 * error).min(max) })
    }

    #[inline]
    fn rough(&self, field: &FieldLayout, pair: RecordPair<'_>) -> Result<f64> {
        let has_order = !matches!(field.spec.family, Family::OnePermutation | Family::BottomK | Family::Odd);
        if has_order && field.spec.packing == Packing::Bits(Bits::FULL) {
            let k = field.spec.registers as usize;
            let [x, y] = [pair.query, pair.found].map(|record| &field.sketch(record)[..k]);
            return Ok(mle::raw(order(x, y), pair.sizes(field)));
        }
        Ok(self.estimate(field, pair)?.value().unwrap_or_default())
    }

    #[inline]
    fn estimate(&self, field: &FieldLayout, pair: RecordPair<'_>) -> Result<Estimate> {
        if let Some((bits, by_equal)) = &self.by_equal {
            let k = by_equal.len() - 1;
            // What a family keeps behind its registers does not count.
            let [x, y] = [pair.query, pair.found].map(|record| &field.sketch(record)[..bits.words(k)]);
            let equal = k - (count::mismatches(x, y, *bits) as usize).min(k);
            return Ok(by_equal[equal]);
        }
        Ok(of::jaccard(&field.to_sketch(pair.query)?, &field.to_sketch(pair.found)?)?)
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

/// The normal distribution.
pub(crate) fn normal(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}
