//! Registers one by one: how far estimates are from the truth after each number of samples.

use crate::random::Random;
use crate::{Context, Errors};

/// Registers are drawn until each number of `samples`, `runs` times with the random numbers of `stream`.
pub(crate) struct Sampling<'a> {
    pub stream: u64,
    pub runs: usize,
    pub samples: &'a [usize],
}

impl Sampling<'_> {
    /// The errors at each number of samples: `draw` says in which of `N` ways a register counts, `error` what a share of those that do is off.
    pub fn errors<const N: usize>(
        &self,
        context: &Context<'_>,
        draw: impl Fn(&mut Random) -> [bool; N],
        error: impl Fn(usize, f64) -> f64,
    ) -> Vec<[Errors; N]> {
        let mut errors = vec![[Errors::default(); N]; self.samples.len()];
        for run in 0..self.runs {
            let mut random = context.random(self.stream, run);
            let (mut counts, mut done) = ([0usize; N], 0);
            for (&k, errors) in self.samples.iter().zip(&mut errors) {
                for _ in done..k {
                    let counted = draw(&mut random);
                    counts.iter_mut().zip(counted).for_each(|(n, counts)| *n += usize::from(counts));
                }
                done = k;
                for (i, (errors, n)) in errors.iter_mut().zip(counts).enumerate() {
                    errors.push(error(i, n as f64 / k as f64));
                }
            }
        }
        errors
    }
}
