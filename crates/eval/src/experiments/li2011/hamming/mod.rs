//! 004, Figs. 5 to 9: b-bit samples against random sampling of coordinates and random projection modulo 2; sign projections as a third rival.
//!
//! The rivals estimate the Hamming distance (sampling, projection) or the angle (signs) of two sets as binary vectors.

mod ratios;
mod signs;
mod simulation;

use benzer_core::estimate::hamming;

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "li2011_hamming",
    source: "004, Figs. 5-9, (16)-(25)",
    title: "Against sampling, projection modulo 2, and signs",
    claim: "At equal storage b-bit samples are 10 to 30 times better than random sampling; random projection modulo 2 keeps up only with the best beta for the true distance, which one beta cannot be for all pairs; unless similarity is very low, they also beat sign projections.",
    criterion: "Mean square errors of all four methods on UNITED-STATES (H/D = 0.0316): within 4 standard errors of the exact expectation, standard error at most 2%. The best beta has less variance than its neighbours 1% away, with E = 0.274618 and variance 6.176555 H^2 to 1e-6; at r = 1e-4, (20) equals its sparse limit (21) to 1e-3; the variance of sign projections equals a binomial sum to 1e-3. Which is better where is then read off the variances.",
    run,
};

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let mut ratios = context.table("ratios")?;
    let mut charts = ratios::charts(&mut ratios, &mut checks)?;
    charts.push(ratios::best_beta(&mut checks));
    let mut signs = context.table("signs")?;
    charts.push(signs::chart(&mut signs)?);
    signs::against_binomial(&mut checks);
    let mut table = context.table("")?;
    charts.push(simulation::chart(context, &mut table, &mut checks)?);
    let (claim, verdict) = verdict(&ratios.all());
    Ok(Outcome { tables: vec![table, ratios, signs], charts, checks, claim, verdict })
}

/// What the ratios of Figs. 5, 7 and 8, and of signs to one bit, say of the claim.
fn verdict(ratios: &Rows<'_>) -> (Claim, String) {
    let grid: Vec<[f64; 2]> =
        (1..1000).map(|i| f64::from(i) / 1000.0).map(|j| [j, signs::ratio(j)]).collect();
    let most = grid.iter().fold([0.0; 2], |best, point| if point[1] > best[1] { *point } else { best });
    let turns = grid.windows(2).filter(|w| (w[0][1] > 1.0) != (w[1][1] > 1.0));
    let turns: Vec<String> = turns.map(|w| format!("{:.3}", w[1][0])).collect();
    let all = |figure: u32, is: fn(f64) -> bool| ratios.only("figure", figure).column("ratio").all(is);
    let is_more = signs::ratio(0.001) > 1.0;
    let claim = Claim::of(&[
        all(5, |ratio| (10.0..=30.0).contains(&ratio)),
        all(7, |ratio| ratio < 2.0),
        !all(8, |ratio| ratio < 10.0),
        !is_more && turns.len() == 1,
    ]);
    let verdict = format!(
        "Sampling needs {} times the storage of one-bit samples on sparse sets (r1 = 0.0001; the limits are {:.0} at R = 0 and {:.0} at R = 1) and {} times on dense ones, where the paper says 10 to 30. \
         Projection modulo 2 with the best beta for each pair needs {} times on sparse sets; with the beta of H = 1e-4 D for all, {} there and {} on dense ones. \
         One-bit sign projections on sparse sets have {} variance than one-bit samples at R near 0, and the order turns at R = {}; at most they have {:.2} times as much (R = {:.2}): the claim holds between the turns only.",
        span(ratios, 5, true),
        hamming::sampling_ratio_sparse(0.0, 1),
        hamming::sampling_ratio_sparse(1.0, 1),
        span(ratios, 5, false),
        span(ratios, 7, true),
        span(ratios, 8, true),
        span(ratios, 8, false),
        if is_more { "more" } else { "less" },
        turns.join(" and "),
        most[1],
        most[0]
    );
    (claim, verdict)
}

/// From the least to the largest ratio of a figure, of sparse or of dense sets.
fn span(ratios: &Rows<'_>, figure: u32, is_sparse: bool) -> String {
    let of = ratios.only("figure", figure).filter(|row| (row["r1"] < 1e-3) == is_sparse);
    let (finite, infinite): (Vec<f64>, Vec<f64>) = of.column("ratio").partition(|ratio| ratio.is_finite());
    // Some ratios no number can hold.
    let [low, high] = range(finite.iter().copied());
    match (finite.len(), infinite.len()) {
        (_, 0) => format!("{} to {}", rounded(low), rounded(high)),
        (0, _) => "more than 1e300".to_owned(),
        _ => format!("{} to more than 1e300", rounded(low)),
    }
}

fn rounded(value: f64) -> String {
    match value {
        v if v >= 1e4 => format!("{v:.1e}"),
        v if v >= 10.0 => format!("{v:.0}"),
        v => format!("{v:.1}"),
    }
}
