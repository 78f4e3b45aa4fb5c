//! k hash functions, one minimum each: the textbook MinHash of 001 and 002, with the hash functions of several tools.
//!
//! Register i is the minimum over the set of `h_i(x)`. Variance J(1-J)/k, cost n k. The [`Scheme`] says what `h_i` is; the datasketch schemes
//! give that tool's registers bit for bit (elements are its 32- or 64-bit token hashes), which known answers in testdata/golden prove.

mod functions;
mod numpy;

use super::{Scheme, aligned::Registers};
use crate::Level;
use crate::hash::{mix, split, stream};
use crate::{Error, Result};

pub use functions::Functions;

/// The Mersenne prime 2^61 - 1, modulus of [`Scheme::Linear`] and [`Scheme::Legacy`].
pub const MERSENNE_61: u64 = (1 << 61) - 1;

/// The family, see the module's text.
#[derive(Debug)]
pub(super) enum Permutations {
    Native { seed: u64, seeds: Vec<u64> },
    Linear(Vec<Linear>),
    Legacy(Vec<(u64, u64)>),
    Affine32(Vec<(u64, u64)>),
    Affine64(Vec<(u64, u64)>),
    Exact { universe: u32, ranks: Vec<u32> },
}

impl Permutations {
    pub(super) fn new(scheme: Scheme, registers: u32, seed: u64) -> Result<Self> {
        let k = registers as usize;
        Ok(match scheme {
            Scheme::Native => {
                Self::Native { seed: split(seed, 0), seeds: stream(split(seed, 1)).take(k).collect() }
            }
            Scheme::Linear => {
                Self::Linear((0..registers).map(|i| Linear::draw(seed, u64::from(i))).collect())
            }
            Scheme::Legacy => Self::Legacy(numpy::legacy(numpy::seed(seed)?, k)),
            Scheme::Affine32 => Self::Affine32(numpy::affine32(numpy::seed(seed)?, k)),
            Scheme::Affine64 => Self::Affine64(numpy::affine64(numpy::seed(seed)?, k)),
            Scheme::Exact { universe } => Self::Exact {
                universe,
                ranks: (0..registers)
                    .flat_map(|i| permutation(universe, split(seed, u64::from(i))))
                    .collect(),
            },
        })
    }
}

impl Registers for Permutations {
    type Scratch = ();

    fn empty(&self) -> u64 {
        match self {
            Self::Legacy(_) | Self::Affine32(_) => u64::from(u32::MAX),
            _ => u64::MAX,
        }
    }

    fn check(&self, elements: &[u64]) -> Result<()> {
        match self {
            Self::Exact { universe, .. } => match elements.iter().find(|&&e| e >= u64::from(*universe)) {
                Some(element) => {
                    Err(Error::parameter("element", format!("below the universe of {universe}"), element))
                }
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn accumulate(&self, elements: &[u64], registers: &mut Vec<u64>, (): &mut ()) {
        #[cfg(target_arch = "x86_64")]
        if Level::best() == Level::Avx512 {
            // SAFETY: the CPU has this level's features.
            unsafe { accumulate_avx512(self, elements, registers) };
            return;
        }
        self.lower(elements, registers);
    }
}

/// The same loops, compiled for wide vectors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn accumulate_avx512(family: &Permutations, elements: &[u64], registers: &mut [u64]) {
    family.lower(elements, registers);
}

impl Permutations {
    #[inline(always)]
    fn lower(&self, elements: &[u64], registers: &mut [u64]) {
        match self {
            Self::Native { seed, seeds } => {
                lower_by(elements, registers, seeds, |x| mix(x ^ seed), |h, s| mix(h ^ s))
            }
            Self::Linear(functions) => lower_by(elements, registers, functions, |x| x, |x, f| f.apply(x)),
            Self::Legacy(pairs) => lower_by(elements, registers, pairs, |x| x, |x, (a, b)| legacy(x, *a, *b)),
            Self::Affine32(pairs) => lower_by(elements, registers, pairs, fmix32, |h, (a, b)| {
                (a.wrapping_mul(h).wrapping_add(*b)) & 0xffff_ffff
            }),
            Self::Affine64(pairs) => {
                lower_by(elements, registers, pairs, fmix64, |h, (a, b)| a.wrapping_mul(h).wrapping_add(*b))
            }
            Self::Exact { universe, ranks } => {
                for (register, ranks) in registers.iter_mut().zip(ranks.chunks_exact(*universe as usize)) {
                    let smallest = elements.iter().map(|&e| u64::from(ranks[e as usize])).min();
                    *register = smallest.map_or(*register, |rank| rank.min(*register));
                }
            }
        }
    }
}

/// Lowers every register by every element: `hash(prepare(x), parameters of the register)`.
#[inline(always)]
fn lower_by<P>(
    elements: &[u64],
    registers: &mut [u64],
    parameters: &[P],
    prepare: impl Fn(u64) -> u64,
    hash: impl Fn(u64, &P) -> u64,
) {
    for &element in elements {
        let prepared = prepare(element);
        for (register, parameter) in registers.iter_mut().zip(parameters) {
            *register = (*register).min(hash(prepared, parameter));
        }
    }
}

/// The signature of a set under given hash functions or permutations: for each, the smallest value (001, 002 algorithm 1).
///
/// ```
/// use benzer_core::sketch::permutations::{Linear, signature};
/// let [h1, h2] = [(1, 1), (3, 1)].map(|(a, b)| Linear::new(a, b, 5).unwrap());
/// // Row 0 and row 3 of example 3.8.
/// assert_eq!(signature(&[0, 3], &[h1, h2].map(|h| move |x| h.apply(x))), [Some(1), Some(0)]);
/// ```
///
/// An empty set has no minimum.
pub fn signature<F: Fn(u64) -> u64>(elements: &[u64], functions: &[F]) -> Vec<Option<u64>> {
    functions.iter().map(|h| elements.iter().map(|&x| h(x)).min()).collect()
}

/// One function `a x + b mod p` of the linear family.
///
/// ```
/// use benzer_core::sketch::permutations::Linear;
/// let h = Linear::new(3, 1, 5).unwrap(); // example 3.8 of 001
/// assert_eq!((0..5).map(|x| h.apply(x)).collect::<Vec<_>>(), [1, 4, 2, 0, 3]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linear {
    a: u64,
    b: u64,
    modulus: u64,
}

impl Linear {
    /// The function `a x + b mod modulus`.
    ///
    /// # Errors
    /// A modulus below 2, or a multiple of it as `a` (the function would be constant).
    pub fn new(a: u64, b: u64, modulus: u64) -> Result<Self> {
        if modulus < 2 {
            return Err(Error::parameter("modulus", "at least 2", modulus));
        }
        if a.is_multiple_of(modulus) {
            return Err(Error::parameter("a", format!("not a multiple of {modulus}"), a));
        }
        Ok(Self { a: a % modulus, b: b % modulus, modulus })
    }

    fn draw(seed: u64, i: u64) -> Self {
        let a = split(split(seed, 0), i) % (MERSENNE_61 - 1) + 1;
        let b = split(split(seed, 1), i) % MERSENNE_61;
        Self { a, b, modulus: MERSENNE_61 }
    }

    /// The function's value.
    #[inline]
    pub fn apply(&self, x: u64) -> u64 {
        let value = u128::from(self.a) * u128::from(x) + u128::from(self.b);
        if self.modulus == MERSENNE_61 {
            return reduce_mersenne(value);
        }
        (value % u128::from(self.modulus)) as u64
    }
}

/// `value mod 2^61 - 1` for values below 2^125, by shifts.
#[inline(always)]
fn reduce_mersenne(value: u128) -> u64 {
    let sum = (value as u64 & MERSENNE_61) + ((value >> 61) as u64 & MERSENNE_61) + (value >> 122) as u64;
    let sum = (sum & MERSENNE_61) + (sum >> 61);
    if sum >= MERSENNE_61 { sum - MERSENNE_61 } else { sum }
}

#[inline(always)]
fn legacy(x: u64, a: u64, b: u64) -> u64 {
    let wrapped = a.wrapping_mul(x).wrapping_add(b);
    reduce_mersenne(u128::from(wrapped)) & 0xffff_ffff
}

/// MurmurHash3's 32-bit finalizer, on the lowest 32 bits.
#[inline(always)]
fn fmix32(x: u64) -> u64 {
    let h = x as u32;
    let h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    let h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    u64::from(h ^ (h >> 16))
}

/// MurmurHash3's 64-bit finalizer.
#[inline(always)]
fn fmix64(h: u64) -> u64 {
    let h = (h ^ (h >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let h = (h ^ (h >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    h ^ (h >> 33)
}

/// A uniformly random permutation of `0..n` (Fisher and Yates), as the rank of each element.
fn permutation(n: u32, seed: u64) -> Vec<u32> {
    let mut ranks: Vec<u32> = (0..n).collect();
    let mut random = stream(seed);
    for i in (1..n as usize).rev() {
        let draw = random.next().expect("the stream is endless");
        ranks.swap(i, ((u128::from(draw) * (i as u128 + 1)) >> 64) as usize);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mersenne_reduction_agrees_with_division() {
        for i in 0..2_000u64 {
            let value = u128::from(mix(i) >> 3) * u128::from(mix(i + 7)) + u128::from(mix(i + 9));
            assert_eq!(u128::from(reduce_mersenne(value)), value % u128::from(MERSENNE_61));
        }
        let corners = [
            0u128,
            1,
            u128::from(MERSENNE_61),
            u128::from(MERSENNE_61) + 1,
            u128::from(u64::MAX),
            u128::from(MERSENNE_61) * u128::from(u64::MAX),
        ];
        for value in corners {
            assert_eq!(u128::from(reduce_mersenne(value)), value % u128::from(MERSENNE_61), "{value}");
        }
    }

    #[test]
    fn wide_vectors_give_the_registers_of_plain_words() {
        let elements: Vec<u64> = stream(1).take(70).collect();
        for scheme in [Scheme::Native, Scheme::Linear, Scheme::Legacy, Scheme::Affine32, Scheme::Affine64] {
            let family = Permutations::new(scheme, 45, 7).unwrap();
            let (mut plain, mut chosen) = (vec![family.empty(); 45], vec![family.empty(); 45]);
            family.lower(&elements, &mut plain);
            family.accumulate(&elements, &mut chosen, &mut ());
            assert_eq!(plain, chosen, "{scheme}");
        }
    }

    #[test]
    fn a_permutation_is_one() {
        let mut ranks = permutation(1000, 5);
        ranks.sort_unstable();
        assert!(ranks.iter().enumerate().all(|(i, &r)| i as u32 == r));
    }

    #[test]
    fn a_constant_linear_function_is_refused() {
        assert_eq!(Linear::new(10, 1, 5).unwrap_err().to_string(), "`a` must be not a multiple of 5, got 10");
        assert!(Linear::new(1, 1, 0).is_err());
    }
}
