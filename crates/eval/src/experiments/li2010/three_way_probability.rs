//! 000, Fig. 2: the probability that three b-bit samples agree, against Theorem 1, for universes of 2^16 to 2^22.

use benzer_core::estimate::three_way;

use super::words::Words;
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "li2010_three_way_probability",
    source: "000, Fig. 2, Theorem 1",
    title: "Three samples agree",
    claim: "The empirical probability that the b-bit samples of three sets agree overlaps Theorem 1, whatever the sparsity (OF, AND, OR in universes of 2^16 to 2^22).",
    criterion: "Measured shares for b = 1..4 and four universes: within 4 standard errors of Theorem 1, standard error at most 2%. With one bit, P is (P12 + P13 + P23 - 1)/2 exactly in every run, so one bit carries no three-way information.",
    run,
};

const MAX_BITS: usize = 4;

fn run(context: &Context<'_>) -> Result<Outcome> {
    let samples = context.size(60_000, 1_000_000);
    let mut checks = Checks::default();
    let mut table = context.table("")?;
    for log2 in [16, 18, 20, 22] {
        context.step(format_args!("D = 2^{log2}"));
        let words = Words::new(log2);
        let mut random = Random::new(context.seed(u64::from(log2)));
        let measured = measure(&words, samples, &mut random);
        let what = format_args!("one bit, D = 2^{log2}: of three bits one or three pairs agree");
        checks.holds(what, measured.is_identity);
        for (b, agree) in (1..).zip(measured.agree) {
            let (agree, theorem) = (agree.mean(), words.theorem(b).probability(words.common));
            let sparse = three_way::probability(words.jaccard(), words.sum_of_pairs(), b);
            table.push(row![
                "log2_D": log2, "b": b, "samples": samples, "measured": agree.value, "se": agree.error,
                "theorem": theorem, "sparse_7": sparse,
            ])?;
            checks.agrees(format_args!("D = 2^{log2}, b = {b}"), agree, theorem);
        }
    }
    let rows = table.all();
    let largest = |of: &str| rows.iter().map(|row| (row[of] - row["theorem"]).abs()).fold(0.0, f64::max);
    let verdict = format!(
        "On sets made with the printed densities, from D = 2^16 on: the furthest share is {:.1} standard errors from Theorem 1, and none is more than {:.5} away; the sparse formula (7) is off by up to {:.3} (D = 2^16). \
         That one bit says nothing of three sets is an identity of three bits, true at every density and in all of {} samples.",
        checks.furthest,
        largest("measured"),
        largest("sparse_7"),
        4 * samples
    );
    let mut chart =
        Chart::new("Probability that three samples agree", Axis::linear("log2 D"), Axis::linear("P"));
    for (colour, b) in (1..=MAX_BITS).enumerate() {
        let curves = rows.only("b", b).curves("log2_D", ["measured", "theorem"]);
        chart.compare(format!("b = {b}"), colour, curves);
    }
    let claim = Claim::of(&[checks.all_hold()]);
    Ok(Outcome { tables: vec![table], charts: vec![chart], claim, checks, verdict })
}

/// How often all three samples agree, for each number of bits; whether one bit always agrees in one or three pairs.
struct Measured {
    agree: [Moments; MAX_BITS],
    is_identity: bool,
}

fn measure(words: &Words, samples: usize, random: &mut Random) -> Measured {
    let mut measured = Measured { agree: Default::default(), is_identity: true };
    for _ in 0..samples {
        let [x, y, z] = words.universe.minima(random);
        for (b, agree) in measured.agree.iter_mut().enumerate() {
            let mask = (2u32 << b) - 1;
            agree.push(f64::from(u8::from((x ^ y) & mask == 0 && (x ^ z) & mask == 0)));
        }
        let equal = [(x, y), (x, z), (y, z)].iter().filter(|(p, q)| (p ^ q) & 1 == 0).count();
        measured.is_identity &= equal == 1 || equal == 3;
    }
    measured
}
