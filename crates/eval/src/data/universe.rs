//! Minima of sets under true random permutations of a universe, without permuting all of it.
//!
//! A permutation is walked from its first position on: what stands there is a random one of the elements that are left, of which only
//! the sets it lies in matters. The walk ends when every set was met, after about D / (size of the smallest) steps. That is exact for any D.
//! A test holds it against the sketches of `Scheme::Exact`.

use crate::random::Random;

/// A universe of `D` elements, by the sets that they lie in. Sets are not empty.
#[derive(Debug, Clone)]
pub(crate) struct Universe<const N: usize> {
    /// `cells[members]`: elements that lie in exactly the sets whose bits are set; entry 0 is those in none.
    cells: Vec<u64>,
    pub total: u64,
}

impl<const N: usize> Universe<N> {
    /// `cells[members]` elements for each combination of sets, in a universe of `total`.
    pub fn new(mut cells: Vec<u64>, total: u64) -> Self {
        assert_eq!(cells.len(), 1 << N, "a number for each combination of sets");
        let union: u64 = cells[1..].iter().sum();
        cells[0] = total - union;
        Self { cells, total }
    }

    pub fn densities(&self) -> [f64; N] {
        std::array::from_fn(|i| self.size(1 << i) / self.total as f64)
    }

    /// How many elements lie in all sets of `members`.
    pub fn size(&self, members: usize) -> f64 {
        let of = self.cells.iter().enumerate().filter(|(cell, _)| cell & members == members);
        of.map(|(_, n)| *n as f64).sum()
    }

    /// Elements in all sets of `members` over elements in any.
    pub fn similarity(&self, members: usize) -> f64 {
        let any = self.cells.iter().enumerate().filter(|(cell, _)| cell & members != 0);
        self.size(members) / any.map(|(_, n)| *n as f64).sum::<f64>()
    }

    /// The position of the first element of each set, under a new permutation.
    #[inline]
    pub fn minima(&self, random: &mut Random) -> [u32; N] {
        let mut cells = [0u64; 8];
        cells[..1 << N].copy_from_slice(&self.cells);
        let mut minima = [u32::MAX; N];
        let (mut met, mut position) = (0, 0);
        let mut left = self.total;
        loop {
            let mut place = random.below(left);
            let mut cell = 0;
            while place >= cells[cell] {
                place -= cells[cell];
                cell += 1;
            }
            cells[cell] -= 1;
            left -= 1;
            let new = cell & !met;
            if new != 0 {
                for (i, minimum) in minima.iter_mut().enumerate() {
                    if new >> i & 1 == 1 {
                        *minimum = position;
                    }
                }
                met |= new;
                if met == (1 << N) - 1 {
                    return minima;
                }
            }
            position += 1;
        }
    }
}

/// Two sets that fill shares `densities` of `total` elements and have similarity `jaccard`, as nearly as whole numbers allow.
pub(crate) fn pair(densities: [f64; 2], jaccard: f64, total: u64) -> Universe<2> {
    let [f1, f2] = densities.map(|r| (r * total as f64).round());
    let common = (jaccard / (1.0 + jaccard) * (f1 + f2)).round().min(f1.min(f2));
    Universe::new(vec![0, (f1 - common) as u64, (f2 - common) as u64, common as u64], total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Moments;
    use benzer_core::Features;
    use benzer_core::sketch::{Family, Scheme, SketchSpec};

    /// The walk and the permutations of the sketches have the same distribution of low bits and of order.
    #[test]
    fn the_walk_is_a_permutation() {
        let universe = Universe::<2>::new(vec![0, 30, 10, 20], 200);
        let mut random = Random::new(7);
        let walked: Vec<[u32; 2]> = (0..40_000).map(|_| universe.minima(&mut random)).collect();
        let spec = SketchSpec::full(Family::Permutations(Scheme::Exact { universe: 200 }), 40_000);
        let sketcher = spec.sketcher().unwrap();
        let [a, b] = [Features::set(0..50), Features::set(30..60)].map(|set| sketcher.sketch(&set).unwrap());
        let sketched = a.registers().unwrap().iter().zip(b.registers().unwrap());
        let sketched: Vec<[u32; 2]> = sketched.map(|(x, y)| [*x as u32, *y as u32]).collect();
        let shares: [fn(&[u32; 2]) -> bool; 4] =
            [|z| z[0] == z[1], |z| (z[0] ^ z[1]) % 4 == 0, |z| z[0] < z[1], |z| z[0] > 5];
        for share in shares {
            let [x, y] = [&walked, &sketched].map(|minima| {
                minima.iter().map(|z| f64::from(u8::from(share(z)))).collect::<Moments>().mean()
            });
            assert!((x.value - y.value).abs() < 5.0 * x.error.hypot(y.error), "{x:?} {y:?}");
        }
        assert!((universe.similarity(3) - 1.0 / 3.0).abs() < 1e-12);
    }
}
