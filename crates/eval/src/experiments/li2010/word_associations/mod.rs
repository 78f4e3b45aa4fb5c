//! 000, applications: word associations (sizes of two- and three-way intersections of posting lists) and join orders from them.

mod estimates;
mod intersections;
mod join_orders;

use benzer_core::Features;

use crate::data::corpus;
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "li2010_word_associations",
    source: "000, section 1: word associations, query optimization",
    title: "Intersections of posting lists, and join orders",
    claim: "Sizes of two- and three-way intersections of posting lists can be estimated fast from b-bit samples, well enough to count co-occurrences and to plan the order in which four sets are intersected.",
    criterion: "Mean square errors of the sizes of two- and three-way intersections (each as a share of the smallest list), and the coverage of 95% intervals of pairs: within 4 standard errors of the exact expectation (pairs) or of an independent simulation (triples), standard error at most 2%; `fast` is not worse than independent registers by more than 4 standard errors. Join orders chosen from 512 registers of 16 bits cost at most 10% more intermediate rows than the best ones, and at every number of registers less than random orders by more than 4 standard errors.",
    run,
};

fn run(context: &Context<'_>) -> Result<Outcome> {
    let lists: Vec<Features> = match context.data() {
        Some(data) => corpus::kos_postings(data)?.into_iter().filter(|list| list.len() >= 150).collect(),
        None => posting_lists(context),
    };
    let mut checks = Checks::default();
    let (mut table, mut orders) = (context.table("")?, context.table("join_order")?);
    let intersections = intersections::measure_all(context, &lists, &mut table, &mut checks)?;
    join_orders::measure_all(context, &lists, &mut orders, &mut checks)?;
    let verdict = format!(
        "How fast the estimates are is not measured here. {} {}",
        intersections.join(" "),
        join_orders::sentence(&orders.all())
    );
    // How fast it is is not measured here, and how well is well enough the paper does not say in numbers.
    let claim = Claim::of(&[checks.all_hold(), false]);
    let charts = vec![join_orders::chart(&orders.all())];
    Ok(Outcome { tables: vec![table, orders], charts, checks, claim, verdict })
}

/// Lists of documents whose words come in topics, so that some meet often.
fn posting_lists(context: &Context<'_>) -> Vec<Features> {
    let mut random = Random::new(context.seed(0));
    let documents = 4_000u64;
    (0..60)
        .map(|list: u64| {
            let (topic, often) = (list % 6, 0.02 + 0.3 * random.unit());
            let chance = |document: u64| if document % 6 == topic { often } else { often * 0.4 };
            let chosen: Vec<u64> = (0..documents).filter(|&d| random.unit() < chance(d)).collect();
            Features::set(chosen.into_iter().map(benzer_core::hash::mix))
        })
        .collect()
}
