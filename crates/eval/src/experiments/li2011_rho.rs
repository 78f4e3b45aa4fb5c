//! 004, Fig. 11: the exponent of the query time of b-bit samples as an LSH family.

use benzer_core::estimate::collision::Collision;
use benzer_core::lsh::curve;

use crate::table::row;
use crate::{Axis, Chart, Checks, Claim, Context, Experiment, Outcome, Result, Series};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "li2011_rho",
    source: "004, Fig. 11, (30), (31)",
    title: "b-bit samples as an LSH family",
    claim: "For near neighbours at distance 0.1, one bit has almost the exponent rho of whole samples; at distance 0.5, three or four bits are needed.",
    criterion: "Formulas against formulas: reference values at c = 1.5 to 1e-6; rho falls with b at every c; at distance 0.1 one bit is within 0.015 of whole samples, at 0.5 four bits are within 0.03 and one bit is not within 0.1.",
    run,
};

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let known = [
        (0.1, [0.648297, 0.657931, 0.653236, f64::NAN, 0.649556]),
        (0.5, [0.5, 0.612085, 0.568545, 0.538811, 0.520833]),
    ];
    for (near, values) in known {
        for (b, value) in values.into_iter().enumerate().filter(|(_, value)| value.is_finite()) {
            checks.close(
                format_args!("rho at {near}, c = 1.5, b = {b}"),
                rho(near, 1.5, b as u32),
                value,
                1e-6,
            );
        }
    }
    let mut table = context.table("", &["d0", "c", "b", "rho"])?;
    let mut charts = Vec::new();
    for near in [0.1, 0.3, 0.5] {
        let mut chart =
            Chart::new(format!("rho, near distance {near}"), Axis::linear("c"), Axis::linear("rho"));
        let most = f64::min(3.0, 0.99 / near);
        for b in [1, 2, 3, 4, 0] {
            let mut points = Vec::new();
            for step in 1..=40 {
                let c = 1.0 + (most - 1.0) * f64::from(step) / 40.0;
                let value = rho(near, c, b);
                points.push((c, value));
                if step % 4 == 0 {
                    table.push(row![near, c, if b == 0 { "M".to_owned() } else { b.to_string() }, value])?;
                }
                if b == 1 {
                    let ladder = [1, 2, 3, 4, 0].map(|b| rho(near, c, b));
                    checks.holds(
                        format_args!("rho falls with b at {near}, c = {c}"),
                        ladder.windows(2).all(|w| w[0] >= w[1] - 1e-12),
                    );
                }
            }
            let name = if b == 0 { "M (64 bits)".to_owned() } else { format!("b = {b}") };
            chart.push(Series::line(name, points).colour(b as usize));
        }
        charts.push(chart);
    }
    checks.holds("one bit at 0.1", rho(0.1, 1.5, 1) - rho(0.1, 1.5, 0) < 0.015);
    checks.holds("four bits at 0.5", rho(0.5, 1.5, 4) - rho(0.5, 1.5, 0) < 0.03);
    checks.holds("one bit at 0.5", rho(0.5, 1.5, 1) - rho(0.5, 1.5, 0) > 0.1);
    let at = |near: f64, b: u32| rho(near, 1.5, b);
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

/// The exponent for `b` bits; 0 stands for whole samples.
fn rho(near: f64, c: f64, b: u32) -> f64 {
    if b == 0 { curve::rho(near, c) } else { curve::rho_b_bit(near, c, Collision::sparse(b)) }
}
