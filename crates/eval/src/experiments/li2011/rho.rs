//! 004, Fig. 11: the exponent of the query time of b-bit samples as an LSH family.

use benzer_core::estimate::collision::Collision;
use benzer_core::lsh::curve;

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "li2011_rho",
    source: "004, Fig. 11, (30), (31)",
    title: "b-bit samples as an LSH family",
    claim: "For near neighbours at distance 0.1, one bit has almost the exponent rho of whole samples; at distance 0.5, three or four bits are needed.",
    criterion: "Formulas against formulas: reference values at c = 1.5 to 1e-6; rho falls with b at every c; at distance 0.1 one bit is within 0.015 of whole samples, at 0.5 four bits are within 0.03 and one bit is not within 0.1.",
    run,
};

/// Bits of samples; 0 stands for whole ones.
const BITS: [u32; 5] = [1, 2, 3, 4, 0];

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let known = [
        (0.1, [0.648297, 0.657931, 0.653236, f64::NAN, 0.649556]),
        (0.5, [0.5, 0.612085, 0.568545, 0.538811, 0.520833]),
    ];
    for (near, values) in known {
        for (b, value) in (0..).zip(values).filter(|(_, value)| value.is_finite()) {
            checks.close(format_args!("rho at {near}, c = 1.5, b = {b}"), rho(near, 1.5, b), value, 1e-6);
        }
    }
    let mut table = context.table("")?;
    let mut charts = Vec::new();
    for near in [0.1, 0.3, 0.5] {
        charts.push(chart(near, &mut table, &mut checks)?);
    }
    let at = |near: f64, b: u32| rho(near, 1.5, b);
    checks.holds("one bit at 0.1", at(0.1, 1) - at(0.1, 0) < 0.015);
    checks.holds("four bits at 0.5", at(0.5, 4) - at(0.5, 0) < 0.03);
    checks.holds("one bit at 0.5", at(0.5, 1) - at(0.5, 0) > 0.1);
    let verdict = format!(
        "At c = 1.5: at distance 0.1 one bit has rho {:.3} against {:.3} of whole samples; at distance 0.5 it is {:.3} against {:.3}, and three and four bits come to {:.3} and {:.3}.",
        at(0.1, 1),
        at(0.1, 0),
        at(0.5, 1),
        at(0.5, 0),
        at(0.5, 3),
        at(0.5, 4)
    );
    Ok(Outcome { tables: vec![table], charts, claim: Claim::of(&[checks.all_hold()]), checks, verdict })
}

/// The exponents by the factor `c` between far and near.
fn chart(near: f64, table: &mut Table, checks: &mut Checks) -> Result<Chart> {
    let mut chart = Chart::new(format!("rho, near distance {near}"), Axis::linear("c"), Axis::linear("rho"));
    let max_c = f64::min(3.0, 0.99 / near);
    let c = |step: u32| 1.0 + (max_c - 1.0) * f64::from(step) / 40.0;
    for b in BITS {
        for c in (4..=40).step_by(4).map(c) {
            let name = if b == 0 { "M".to_owned() } else { b.to_string() };
            table.push(row!["d0": near, "c": c, "b": name, "rho": rho(near, c, b)])?;
        }
        let name = if b == 0 { "M (64 bits)".to_owned() } else { format!("b = {b}") };
        let curve = (1..=40).map(c).map(|c| (c, rho(near, c, b))).collect();
        chart.push(Series::line(name, curve).colour(b as usize));
    }
    for c in (1..=40).map(c) {
        let falls = BITS.windows(2).all(|bits| rho(near, c, bits[0]) >= rho(near, c, bits[1]) - 1e-12);
        checks.holds(format_args!("rho falls with b at {near}, c = {c}"), falls);
    }
    Ok(chart)
}

/// The exponent for `b` bits; 0 stands for whole samples.
fn rho(near: f64, c: f64, b: u32) -> f64 {
    if b == 0 { curve::rho(near, c) } else { curve::rho_b_bit(near, c, Collision::sparse(b)) }
}
