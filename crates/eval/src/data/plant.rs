//! Sets of 64-bit elements with the similarity wanted.

use benzer_core::Features;

use crate::random::Random;

/// Sets of these sizes with `common` elements in all of them and no others in two, all drawn anew.
pub(crate) fn sets(sizes: &[usize], common: usize, random: &mut Random) -> Vec<Features> {
    let shared: Vec<u64> = (0..common).map(|_| random.next()).collect();
    let mut set = |&n: &usize| {
        let own = (common..n).map(|_| random.next());
        Features::set(shared.iter().copied().chain(own.collect::<Vec<_>>()))
    };
    sizes.iter().map(&mut set).collect()
}

/// Two sets of `n` elements with `common` in both, all drawn anew.
pub(crate) fn pair(n: usize, common: usize, random: &mut Random) -> [Features; 2] {
    sets(&[n; 2], common, random).try_into().expect("two sets")
}

/// The number of common elements of two sets of `n` that makes their similarity nearest to `jaccard`.
pub(crate) fn common(n: usize, jaccard: f64) -> usize {
    (2.0 * jaccard * n as f64 / (1.0 + jaccard)).round() as usize
}

pub(crate) fn jaccard(n: usize, common: usize) -> f64 {
    common as f64 / (2 * n - common) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planted_similarity_is_what_it_should_be() {
        let mut random = Random::new(3);
        let [a, b] = pair(100, common(100, 0.6), &mut random);
        assert_eq!((a.len(), b.len(), a.intersection(&b)), (100, 100, 75.0));
        assert_eq!(a.jaccard(&b), Some(jaccard(100, 75)));
    }
}
