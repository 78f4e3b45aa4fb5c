//! Fig. 9: measured errors of the distance of two words, as a share of the universe.
//!
//! Sign projections are simulated exactly: the projections of the common and of the own parts of two sets are independent normals.

use std::f64::consts::PI;

use benzer_core::estimate::collision::Collision;
use benzer_core::estimate::hamming::{self, Pair};
use benzer_core::estimate::size;

use crate::data::universe::Universe;
use crate::experiments::li2011::words::WORD_PAIRS;
use crate::prelude::*;

const UNIVERSE: u64 = 1 << 14;

/// A way to estimate the distance from samples, each of which is a success or not.
#[derive(Clone, Copy)]
enum Method {
    OneBit,
    Sampling,
    /// Modulo 2, with the best beta for this share of the universe as distance.
    Projection {
        share: f64,
        beta: f64,
    },
    Signs,
}

fn methods() -> [Method; 6] {
    let [near, far, farthest] = [0.0316, 0.1, 0.5]
        .map(|share| Method::Projection { share, beta: hamming::best_beta(share * UNIVERSE as f64) });
    [Method::OneBit, Method::Sampling, near, far, farthest, Method::Signs]
}

struct Sets {
    universe: Universe<2>,
    pair: Pair,
    line: Collision,
    cosine: f64,
}

pub(super) fn chart(context: &Context<'_>, table: &mut Table, checks: &mut Checks) -> Result<Chart> {
    let sets = Sets::new()?;
    let truth = sets.pair.distance() / sets.pair.universe;
    let runs = context.size(18_000, 30_000);
    let (x, y) = (Axis::log("sample size k"), Axis::log("mean square error of H/D"));
    let mut chart = Chart::new("UNITED-STATES, H/D = 0.0316 (Fig. 9)", x, y);
    for (colour, method) in methods().into_iter().enumerate() {
        let name = method.name();
        context.step(&name);
        for (number, &k) in context.points(&[100, 400], &[50, 200, 500]).iter().enumerate() {
            let mut errors = Errors::default();
            for run in 0..runs {
                let mut random = context.random((colour * 8 + number) as u64, run);
                let successes = (0..k).filter(|_| sets.is_success(method, &mut random)).count();
                errors.push(sets.estimate(method, successes as f64 / k as f64) - truth);
            }
            let expected = exact::mean(k, sets.chance(method), |successes| {
                (sets.estimate(method, successes as f64 / k as f64) - truth).powi(2)
            });
            let mse = errors.mse();
            table.push(row![
                "method": name, "k": k, "runs": runs, "mse": mse.value, "mse_se": mse.error,
                "expected": expected, "formula": sets.variance(method)? / k as f64,
            ])?;
            checks.agrees(format_args!("{name}, k = {k}"), mse, expected);
        }
        let curves = table.all().only("method", name.as_str()).curves("k", ["mse", "expected"]);
        chart.compare(name, colour, curves);
    }
    Ok(chart)
}

impl Method {
    fn name(self) -> String {
        match self {
            Self::OneBit => "one bit".to_owned(),
            Self::Sampling => "sampling".to_owned(),
            Self::Projection { share, .. } => format!("projection, H* = {share} D"),
            Self::Signs => "signs".to_owned(),
        }
    }
}

impl Sets {
    fn new() -> Result<Self> {
        let universe = WORD_PAIRS[3].universe(UNIVERSE);
        let sizes = [universe.size(1), universe.size(2)];
        Ok(Self {
            pair: Pair { jaccard: universe.similarity(3), sizes, universe: UNIVERSE as f64 },
            line: Collision::dense(1, universe.densities())?,
            cosine: universe.size(3) / (sizes[0] * sizes[1]).sqrt(),
            universe,
        })
    }

    /// From the share of successes to the distance as a share of the universe. A projection that is saturated counts as the distance of a share of 0.49.
    fn estimate(&self, method: Method, share: f64) -> f64 {
        let Pair { sizes, universe: total, .. } = self.pair;
        match method {
            Method::OneBit => size::difference_at(self.line.jaccard(share), sizes) / total,
            Method::Sampling => share,
            Method::Projection { beta, .. } => hamming::projection_raw(share.min(0.49), beta) / total,
            Method::Signs => {
                (sizes[0] + sizes[1] - 2.0 * (PI * (1.0 - share)).cos() * (sizes[0] * sizes[1]).sqrt())
                    / total
            }
        }
    }

    fn chance(&self, method: Method) -> f64 {
        match method {
            Method::OneBit => self.line.probability(self.pair.jaccard),
            Method::Sampling => self.pair.distance() / self.pair.universe,
            Method::Projection { beta, .. } => hamming::projection_probability(self.pair.distance(), beta),
            Method::Signs => 1.0 - self.cosine.acos() / PI,
        }
    }

    /// The variance of one sample by the formula of the paper or the delta method.
    fn variance(&self, method: Method) -> Result<f64> {
        let Pair { sizes, universe: total, .. } = self.pair;
        let variance = match method {
            Method::OneBit => self.pair.variance(1)?,
            Method::Sampling => self.pair.sampling_variance(),
            Method::Projection { beta, .. } => hamming::projection_variance(self.pair.distance(), beta),
            Method::Signs => {
                let p = self.chance(method);
                let slope =
                    2.0 * PI * (1.0 - self.cosine * self.cosine).sqrt() * (sizes[0] * sizes[1]).sqrt();
                p * (1.0 - p) * slope * slope
            }
        };
        Ok(variance / (total * total))
    }

    fn is_success(&self, method: Method, random: &mut Random) -> bool {
        let distance = self.pair.distance();
        match method {
            Method::OneBit => {
                let [x, y] = self.universe.minima(random);
                (x ^ y) & 1 == 0
            }
            Method::Sampling => random.unit() * self.pair.universe < distance,
            Method::Projection { beta, .. } => {
                // The ones of a random row among the coordinates that differ, met by geometric leaps.
                let chance = (1.0 - 0.5 * beta).ln();
                let (mut place, mut is_odd) = (0.0, false);
                loop {
                    place += ((1.0 - random.unit()).ln() / chance).floor() + 1.0;
                    if place > distance {
                        return is_odd;
                    }
                    is_odd = !is_odd;
                }
            }
            Method::Signs => {
                let both = self.universe.size(3);
                let [common, first, second] =
                    [both, self.universe.size(1) - both, self.universe.size(2) - both]
                        .map(|n| n.sqrt() * random.normal());
                (common + first >= 0.0) == (common + second >= 0.0)
            }
        }
    }
}
