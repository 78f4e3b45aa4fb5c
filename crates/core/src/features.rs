//! Features: what every field kind turns its content into, and all that a sketcher sees.

use crate::{Error, Result};

/// A set of distinct 64-bit elements in increasing order, optionally with a positive weight each.
///
/// ```
/// use benzer_core::Features;
/// let a = Features::set([3, 1, 2, 3]);
/// let b = Features::set([2, 3, 4]);
/// assert_eq!(a.elements(), &[1, 2, 3]);
/// assert_eq!(a.intersection(&b), 2.0);
/// assert_eq!(a.jaccard(&b), Some(0.5));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Features {
    elements: Vec<u64>,
    weights: Option<Vec<f64>>,
}

impl Features {
    /// A set: order and repetition do not matter.
    pub fn set(elements: impl IntoIterator<Item = u64>) -> Self {
        Self::from_vec(elements.into_iter().collect())
    }

    /// A set from a buffer that is sorted and freed of repetitions in place.
    pub fn from_vec(mut elements: Vec<u64>) -> Self {
        elements.sort_unstable();
        elements.dedup();
        Self { elements, weights: None }
    }

    /// A weighted set; the weights of repeated elements add up, an element of weight zero is left out.
    ///
    /// # Errors
    /// A weight that is negative, infinite or not a number.
    pub fn weighted(pairs: impl IntoIterator<Item = (u64, f64)>) -> Result<Self> {
        let mut pairs: Vec<(u64, f64)> = pairs.into_iter().collect();
        if let Some(&(_, weight)) = pairs.iter().find(|(_, w)| !(w.is_finite() && *w >= 0.0)) {
            return Err(Error::parameter("weight", "finite and not negative", weight));
        }
        pairs.retain(|&(_, weight)| weight > 0.0);
        // Ordered by weight too, so that the sum of a repeated element's weights rounds the same in any input order.
        pairs.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        pairs.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        let (elements, weights) = pairs.into_iter().unzip();
        Ok(Self { elements, weights: Some(weights) })
    }

    /// A bag: each occurrence of an element adds one to its weight.
    pub fn bag(elements: impl IntoIterator<Item = u64>) -> Self {
        Self::weighted(elements.into_iter().map(|e| (e, 1.0))).expect("every weight is one")
    }

    /// The distinct elements in increasing order.
    pub fn elements(&self) -> &[u64] {
        &self.elements
    }

    /// The weights, parallel to the elements; `None` for a plain set.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Elements with their weights; 1 each in a plain set.
    pub fn pairs(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        let weight = |i: usize| self.weights.as_ref().map_or(1.0, |w| w[i]);
        self.elements.iter().enumerate().map(move |(i, &e)| (e, weight(i)))
    }

    /// Number of distinct elements.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// True if there is no element: such features match nothing.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// The size of the set: the number of elements, or the sum of the weights.
    pub fn size(&self) -> f64 {
        // From a positive zero: an empty sum of floats is negative zero.
        self.weights
            .as_ref()
            .map_or(self.elements.len() as f64, |w| w.iter().fold(0.0, |sum, weight| sum + weight))
    }

    /// Exact size of the intersection: common elements, or the sum of the smaller weights.
    pub fn intersection(&self, other: &Self) -> f64 {
        let (mut total, mut theirs) = (0.0, other.pairs().peekable());
        for (element, weight) in self.pairs() {
            while theirs.next_if(|&(e, _)| e < element).is_some() {}
            if let Some((_, w)) = theirs.next_if(|&(e, _)| e == element) {
                total += weight.min(w);
            }
        }
        total
    }

    /// Exact size of the union: all elements, or the sum of the larger weights.
    pub fn union(&self, other: &Self) -> f64 {
        self.size() + other.size() - self.intersection(other)
    }

    /// Exact (weighted) Jaccard similarity; `None` if both sides are empty, where it is not defined.
    pub fn jaccard(&self, other: &Self) -> Option<f64> {
        let intersection = self.intersection(other);
        let union = self.size() + other.size() - intersection;
        (union > 0.0).then(|| intersection / union)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bag_counts_and_a_set_does_not() {
        let bag = Features::bag([7, 7, 9]);
        assert_eq!(bag.pairs().collect::<Vec<_>>(), [(7, 2.0), (9, 1.0)]);
        assert_eq!(bag.size(), 3.0);
        assert_eq!(Features::set([7, 7, 9]).size(), 2.0);
    }

    #[test]
    fn weighted_jaccard_is_minima_over_maxima() {
        let a = Features::weighted([(1, 2.0), (2, 1.0)]).unwrap();
        let b = Features::weighted([(1, 1.0), (3, 4.0)]).unwrap();
        assert_eq!(a.jaccard(&b), Some(1.0 / 7.0));
        assert_eq!(a.union(&b), 7.0);
    }

    #[test]
    fn bad_weights_are_refused_and_zero_weights_vanish() {
        for weight in [-1.0, f64::NAN, f64::INFINITY] {
            let error = Features::weighted([(1, weight)]).unwrap_err();
            assert!(error.to_string().starts_with("`weight` must be finite"), "{error}");
        }
        assert!(Features::weighted([(1, 0.0)]).unwrap().is_empty());
    }

    #[test]
    fn an_empty_bag_has_size_positive_zero() {
        assert_eq!(Features::bag([]).size().to_bits(), 0.0f64.to_bits());
    }

    #[test]
    fn two_empty_sets_have_no_jaccard() {
        let empty = Features::set([]);
        assert_eq!(empty.jaccard(&empty), None);
        assert_eq!(empty.jaccard(&Features::set([1])), Some(0.0));
    }
}
