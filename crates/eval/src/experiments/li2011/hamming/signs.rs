//! The variance of sign projections on sparse sets, beside that of one-bit samples.

use std::f64::consts::PI;

use benzer_core::estimate::collision::Collision;

use crate::prelude::*;

/// The variance of signs over that of one-bit samples.
pub(super) fn ratio(jaccard: f64) -> f64 {
    variance(jaccard) / one_bit(jaccard)
}

fn one_bit(jaccard: f64) -> f64 {
    Collision::sparse(1).variance(1.0).at(jaccard)
}

/// Variance of the similarity from one sign projection of two sparse sets of equal size, by the delta method.
fn variance(jaccard: f64) -> f64 {
    let cosine = 2.0 * jaccard / (1.0 + jaccard);
    let p = 1.0 - cosine.acos() / PI;
    // d cos / d p, then d R / d cos with R = c / (2 - c).
    let slope = PI * (1.0 - cosine * cosine).sqrt() * 2.0 / ((2.0 - cosine) * (2.0 - cosine));
    p * (1.0 - p) * slope * slope
}

/// The variance by the delta method against a binomial sum with so many samples that curvature does not matter.
pub(super) fn against_binomial(checks: &mut Checks) {
    for jaccard in [0.1, 0.3, 0.5, 0.7, 0.9] {
        let (k, cosine) = (200_000, 2.0 * jaccard / (1.0 + jaccard));
        let summed = exact::mean(k, 1.0 - f64::acos(cosine) / PI, |hits| {
            let c = (PI * (1.0 - hits as f64 / k as f64)).cos();
            (c / (2.0 - c) - jaccard).powi(2)
        });
        let what = format_args!("variance of signs at R = {jaccard}");
        checks.close(what, k as f64 * summed / variance(jaccard), 1.0, 1e-3);
    }
}

pub(super) fn chart(table: &mut Table) -> Result<Chart> {
    for step in (5..100).step_by(5) {
        let jaccard = f64::from(step) / 100.0;
        table.push(row![
            "R": jaccard, "var_signs": variance(jaccard), "var_1_bit": one_bit(jaccard), "ratio": ratio(jaccard),
        ])?;
    }
    let title = "Variance of sign projections over one-bit samples, sparse";
    Ok(Chart::new(title, Axis::linear("R"), Axis::log("ratio"))
        .with(Series::line("ratio", hundredths(1..=99, ratio)))
        .with(Series::dashed("equal", vec![(0.0, 1.0), (1.0, 1.0)]).colour(4)))
}
