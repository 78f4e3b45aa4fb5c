//! Weighted sets: Pr(register equal) = sum of minima / sum of maxima, the weighted Jaccard similarity of bags (001).
//!
//! Every element owns a fixed Poisson process of points (weight coordinate, arrival time) on the quadrant, each point belonging to
//! one random register. A set of weights sees the points whose weight coordinate is below the element's weight; a register keeps the earliest.
//! Two sets keep the same point with probability area(common) / area(either), which is the weighted Jaccard similarity, and the larger weights of
//! both see exactly the points that either sees: registers merge by minimum.
//!
//! The weight axis is cut at powers of two, `[0, 2^-10), [2^-10, 2^-9), ..., [2^(e-1), 2^e), ...`; in each interval the points are drawn in
//! order of time, only until they cannot lower any register, and those above the element's weight are skipped. This is the idea of
//! BagMinHash (Ertl, 2018) without its tree. Cost about n (11 + log2 w) + k log k draws, against n k for ICWS; measured in
//! docs/decisions/003. Weights below 2^-10 are right but slower, and below 2^-20 refused: scale both sides up. Logarithms are `libm`'s, in software, so
//! that registers have the same bits on any machine.

use std::sync::Arc;

use super::aligned::{lower, merged, pack};
use super::{Packing, Sketch, SketchSpec, Sketcher};
use crate::hash::{mix, split};
use crate::{Error, Features, Result};

const MIN_EXPONENT: i32 = -10;
const MIN_WEIGHT: f64 = 1.0 / (1u64 << 20) as f64;
const MAX_WEIGHT: f64 = (1u64 << 60) as f64;
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The sketcher, see the module's text.
#[derive(Debug)]
pub(super) struct Weighted {
    spec: Arc<SketchSpec>,
    seed: u64,
}

impl Weighted {
    pub(super) fn new(spec: Arc<SketchSpec>) -> Self {
        Self { seed: split(spec.seed, 0), spec }
    }

    fn registers(&self, features: &Features) -> Vec<u64> {
        let mut race = Race::new(self.spec.registers as usize);
        // The heaviest element first: it fills all registers soonest, and its times bound all later draws.
        let heaviest = features.pairs().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(element, _)| element);
        let order =
            |first: bool| features.pairs().filter(move |&(element, _)| (Some(element) == heaviest) == first);
        for (element, weight) in order(true).chain(order(false)) {
            race.enter(mix(element ^ self.seed), weight);
        }
        race.times
    }
}

impl Sketcher for Weighted {
    fn spec(&self) -> &Arc<SketchSpec> {
        &self.spec
    }

    fn sketch(&self, features: &Features) -> Result<Sketch> {
        if let Some((_, weight)) = features.pairs().find(|(_, w)| !(MIN_WEIGHT..=MAX_WEIGHT).contains(w)) {
            let expected = "between 2^-20 and 2^60 (scale all weights alike)";
            return Err(Error::parameter("weight", expected, weight));
        }
        let registers = self.registers(features);
        let words = if self.spec.packing == Packing::FULL { registers } else { pack(&self.spec, &registers) };
        Ok(Sketch::new(self.spec.clone(), Some(features.size()), words))
    }

    fn merge(&self, a: &Sketch, b: &Sketch) -> Result<Sketch> {
        merged(&self.spec, a, b, || {
            let mut words = a.words().to_vec();
            lower(&mut words, b.words());
            Sketch::new(self.spec.clone(), None, words)
        })
    }
}

/// The earliest arrival in each register so far. Times are positive, so their bits order as they do.
struct Race {
    times: Vec<u64>,
    /// The latest of all registers: no later arrival matters.
    limit: f64,
}

impl Race {
    fn new(k: usize) -> Self {
        Self { times: vec![f64::INFINITY.to_bits(); k], limit: f64::INFINITY }
    }

    fn enter(&mut self, h: u64, weight: f64) {
        let top = exponent_above(weight).max(MIN_EXPONENT);
        for exponent in (MIN_EXPONENT..=top).rev() {
            self.arrivals(h, exponent, weight);
        }
    }

    /// Points of one weight interval in order of time, until they come too late.
    fn arrivals(&mut self, h: u64, exponent: i32, weight: f64) {
        let (low, length) = interval(exponent);
        let mut state = mix(h ^ mix(exponent as i64 as u64));
        let mut draw = || {
            state = state.wrapping_add(GOLDEN);
            mix(state)
        };
        let mut time = 0.0;
        loop {
            time -= libm::log(unit(draw())) / length;
            if time >= self.limit {
                return;
            }
            let place = draw();
            let register = ((u128::from(place) * self.times.len() as u128) >> 64) as usize;
            let height = low + length * unit(draw());
            if height < weight {
                self.arrive(register, time);
            }
        }
    }

    fn arrive(&mut self, register: usize, time: f64) {
        let before = f64::from_bits(self.times[register]);
        if time < before {
            self.times[register] = time.to_bits();
            if before == self.limit {
                self.limit = f64::from_bits(self.times.iter().copied().max().unwrap_or_default());
            }
        }
    }
}

/// The interval `[low, low + length)` of the weight axis that ends at `2^exponent`.
fn interval(exponent: i32) -> (f64, f64) {
    if exponent == MIN_EXPONENT {
        return (0.0, power_of_two(exponent));
    }
    let half = power_of_two(exponent - 1);
    (half, half)
}

/// The smallest e with `weight <= 2^e`.
fn exponent_above(weight: f64) -> i32 {
    let (fraction, exponent) = libm::frexp(weight);
    if fraction == 0.5 { exponent - 1 } else { exponent }
}

fn power_of_two(exponent: i32) -> f64 {
    libm::ldexp(1.0, exponent)
}

/// A number in (0, 1) from the top 53 bits.
fn unit(bits: u64) -> f64 {
    ((bits >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_tile_the_weight_axis() {
        let mut end = 0.0;
        for exponent in MIN_EXPONENT..=40 {
            let (low, length) = interval(exponent);
            assert_eq!(low, end);
            end = low + length;
        }
        for (weight, exponent) in [(1.0, 0), (1.5, 1), (2.0, 1), (0.3, -1), (1e-9, -29)] {
            assert_eq!(exponent_above(weight), exponent, "{weight}");
        }
    }
}
