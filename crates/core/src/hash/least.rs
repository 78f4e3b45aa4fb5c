//! The least of some elements under an order of their own, which no sketch uses.

use super::mix;
use crate::Level;

/// An odd number at random.
const ORDER: u64 = 0xd1b5_4a32_d192_ed03;

/// The least of some elements under a hash that no sketch uses, zero if there are none. Two sets have the same with probability J, whatever their sketches are.
///
/// ```
/// use benzer_core::hash::least;
/// assert_eq!(least(&[7, 5, 9]), least(&[9, 7, 5, 5]));
/// assert_eq!(least(&[]), 0);
/// ```
#[inline]
pub fn least(elements: &[u64]) -> u32 {
    if elements.is_empty() {
        return 0;
    }
    // The least of many begins with zeros.
    mix(least_key(elements)) as u32
}

fn least_key(elements: &[u64]) -> u64 {
    match Level::best() {
        // SAFETY: the level is only the best one if the CPU has it, and it includes the features.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { least_avx512(elements) },
        _ => least_plainly::<4>(elements),
    }
}

/// Eight at a time in one vector.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn least_avx512(elements: &[u64]) -> u64 {
    least_plainly::<8>(elements)
}

/// `N` at a time: each would wait for the one before.
#[inline(always)]
fn least_plainly<const N: usize>(elements: &[u64]) -> u64 {
    let (chunks, rest) = elements.as_chunks::<N>();
    let mut least = [u64::MAX; N];
    for chunk in chunks {
        for (least, element) in least.iter_mut().zip(chunk) {
            *least = key(*element).min(*least);
        }
    }
    let rest = rest.iter().map(|element| key(*element));
    rest.chain(least).fold(u64::MAX, u64::min)
}

/// Elements are hashes already, so that one multiplication orders them anew.
#[inline(always)]
fn key(element: u64) -> u64 {
    (element ^ ORDER).wrapping_mul(ORDER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_path_gives_the_least(elements in prop::collection::vec(any::<u64>(), 1..70)) {
            let expected = elements.iter().map(|element| key(*element)).min().unwrap();
            prop_assert_eq!(least_plainly::<4>(&elements), expected);
            prop_assert_eq!(least_plainly::<8>(&elements), expected);
            prop_assert_eq!(least_key(&elements), expected);
            prop_assert_eq!(least(&elements), mix(expected) as u32);
        }
    }
}
