//! The hash functions of a datasketch scheme by themselves: drawn as that tool draws them, or given.

use super::{Permutations, Scheme, numpy};
use crate::{Error, Result, sketch::aligned::Registers};

/// The k functions of one of datasketch's schemes.
///
/// ```
/// use benzer_core::sketch::{Scheme, permutations::Functions};
/// let functions = Functions::draw(Scheme::Affine32, 4, 1)?;
/// let mut registers = vec![functions.empty(); 4];
/// functions.lower(&[7, 9], &mut registers);
/// let mut again = registers.clone();
/// functions.lower(&[9], &mut again);
/// assert_eq!(registers, again);
/// # Ok::<(), benzer_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Functions {
    family: Permutations,
}

impl Functions {
    /// The functions that datasketch draws for a seed.
    ///
    /// # Errors
    /// A scheme that is not datasketch's; a seed of more than 32 bits.
    pub fn draw(scheme: Scheme, k: usize, seed: u64) -> Result<Self> {
        numpy::seed(seed)?;
        Self::given(scheme, Vec::new())?;
        Ok(Self { family: Permutations::new(scheme, k as u32, seed)? })
    }

    /// Functions with these parameters `(a, b)`.
    ///
    /// # Errors
    /// A scheme that is not datasketch's; for the affine schemes an even `a`, with which the function is no permutation.
    pub fn given(scheme: Scheme, pairs: Vec<(u64, u64)>) -> Result<Self> {
        if scheme != Scheme::Legacy && pairs.iter().any(|(a, _)| a % 2 == 0) {
            return Err(Error::parameter("a", "odd in the affine schemes", "an even number"));
        }
        let family = match scheme {
            Scheme::Legacy => Permutations::Legacy(pairs),
            Scheme::Affine32 => Permutations::Affine32(pairs),
            Scheme::Affine64 => Permutations::Affine64(pairs),
            other => return Err(Error::parameter("scheme", "legacy, affine32 or affine64", other)),
        };
        Ok(Self { family })
    }

    /// The parameters `(a, b)` of each function.
    pub fn parameters(&self) -> &[(u64, u64)] {
        match &self.family {
            Permutations::Legacy(pairs) | Permutations::Affine32(pairs) | Permutations::Affine64(pairs) => {
                pairs
            }
            _ => &[],
        }
    }

    /// The value of a register that no element has lowered.
    pub fn empty(&self) -> u64 {
        self.family.empty()
    }

    /// Lowers registers by the values of elements.
    pub fn lower(&self, elements: &[u64], registers: &mut Vec<u64>) {
        self.family.accumulate(elements, registers, &mut ());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_parameters_do_what_drawn_ones_do() {
        for scheme in [Scheme::Legacy, Scheme::Affine32, Scheme::Affine64] {
            let drawn = Functions::draw(scheme, 16, 3).unwrap();
            let given = Functions::given(scheme, drawn.parameters().to_vec()).unwrap();
            let (mut a, mut b) = (vec![drawn.empty(); 16], vec![given.empty(); 16]);
            drawn.lower(&[1, 2, 3], &mut a);
            given.lower(&[3, 2, 1], &mut b);
            assert_eq!(a, b);
            assert!(a.iter().all(|register| *register < drawn.empty()));
        }
    }

    #[test]
    fn what_is_no_permutation_of_datasketch_is_refused() {
        assert!(Functions::given(Scheme::Affine32, vec![(2, 1)]).unwrap_err().to_string().contains("odd"));
        assert!(Functions::given(Scheme::Legacy, vec![(2, 1)]).is_ok());
        assert!(Functions::draw(Scheme::Native, 4, 1).unwrap_err().to_string().contains("legacy"));
        assert!(Functions::draw(Scheme::Legacy, 4, 1 << 40).is_err());
    }
}
