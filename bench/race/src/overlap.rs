//! Exact overlap of two sets, as integers: similarity is compared without rounding.

/// Sizes of the intersection and the union of two sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// Common elements.
    pub intersection: u32,
    /// Elements of either set.
    pub union: u32,
}

impl Overlap {
    /// The overlap of two increasing sequences without repetitions.
    pub fn of<T: Ord>(a: &[T], b: &[T]) -> Self {
        let intersection = intersection(a, b);
        Self { intersection, union: (a.len() + b.len()) as u32 - intersection }
    }

    /// Exact Jaccard similarity; 0 for two empty sets, which match nothing.
    pub fn jaccard(self) -> f64 {
        if self.union == 0 { 0.0 } else { f64::from(self.intersection) / f64::from(self.union) }
    }
}

/// Number of common elements of two increasing sequences.
pub fn intersection<T: Ord>(a: &[T], b: &[T]) -> u32 {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (&a[i], &b[j]);
        common += u32::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_elements_count_once() {
        assert_eq!(Overlap::of(&[1, 2, 3], &[2, 3, 4, 5]), Overlap { intersection: 2, union: 5 });
        assert_eq!(Overlap::of::<u32>(&[], &[]).jaccard(), 0.0);
    }
}
