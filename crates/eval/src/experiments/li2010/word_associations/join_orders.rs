//! The order in which four lists are intersected, chosen by estimated sizes.

use std::cmp::Ordering;

use benzer_core::Features;
use benzer_core::estimate::{Registers, Scheme};
use benzer_core::sketch::{Bits, Packing, SketchSpec};

use super::estimates::{pair_size, triple_size};
use crate::measure::groups::intersection;
use crate::measure::sketches::{self, FAST};
use crate::prelude::*;

/// All left-deep orders of four sets: the first two, then the third.
const ORDERS: [[usize; 3]; 12] = [
    [0, 1, 2],
    [0, 1, 3],
    [0, 2, 1],
    [0, 2, 3],
    [0, 3, 1],
    [0, 3, 2],
    [1, 2, 0],
    [1, 2, 3],
    [1, 3, 0],
    [1, 3, 2],
    [2, 3, 0],
    [2, 3, 1],
];

/// Registers of which the criterion and the verdict speak.
const JUDGED: u32 = 512;

pub(super) fn measure_all(
    context: &Context<'_>,
    lists: &[Features],
    table: &mut Table,
    checks: &mut Checks,
) -> Result<()> {
    for registers in [64, 128, JUDGED, 1024] {
        context.step(format_args!("join order, {registers} registers"));
        let row = row!["registers": registers].and(measure(context, lists, registers)?);
        let (saved, error, chosen) = (row["saved_against_random"], row["saved_se"], row["cost_over_best"]);
        let what = format_args!("{registers} registers: {saved} rows saved against random, error {error}");
        checks.holds(what, saved > 4.0 * error);
        if registers == JUDGED {
            checks.holds(format_args!("{registers} registers: {chosen} <= 1.1"), chosen <= 1.1);
        }
        table.push(row)?;
    }
    Ok(())
}

/// Intermediate rows of the orders that are chosen by estimates, by the sizes of the lists alone (smallest first), and at random, over those of the best.
fn measure(context: &Context<'_>, lists: &[Features], registers: u32) -> Result<Row> {
    let (sketches, cases) = (20, context.size(15, 100));
    let [mut chosen, mut smallest, mut random, mut best] = [0.0; 4];
    let mut hits = 0.0;
    // What a random order and smallest first cost more than the chosen one, for each sketch.
    let [mut against_random, mut against_smallest] = [Moments::default(); 2];
    let mut draws = Random::new(context.seed(1_000 + u64::from(registers)));
    for _ in 0..sketches {
        let seed = draws.next();
        let [mut over_random, mut over_smallest] = [0.0; 2];
        for _ in 0..cases {
            let four = draws.places::<4>(lists.len()).map(|i| &lists[i]);
            let orders = Order::all(four, registers, seed)?;
            let first = |by: fn(&Order, &Order) -> Ordering| {
                orders.iter().min_by(|x, y| by(x, y)).map_or(0.0, |order| order.rows)
            };
            let of_chosen = first(|x, y| x.estimated.total_cmp(&y.estimated));
            let of_smallest = first(Order::by_length);
            let of_best = first(|x, y| x.rows.total_cmp(&y.rows));
            let of_random = orders[draws.below(12) as usize].rows;
            chosen += of_chosen;
            smallest += of_smallest;
            random += of_random;
            best += of_best;
            hits += f64::from(u8::from(of_chosen <= of_best));
            over_random += of_random - of_chosen;
            over_smallest += of_smallest - of_chosen;
        }
        against_random.push(over_random / cases as f64);
        against_smallest.push(over_smallest / cases as f64);
    }
    let (n, [saved, saved_smallest]) =
        ((sketches * cases) as f64, [against_random, against_smallest].map(|saved| saved.mean()));
    Ok(row![
        "cases": n, "cost_over_best": chosen / best, "smallest_first_over_best": smallest / best,
        "random_over_best": random / best, "best_chosen": hits / n,
        "saved_against_random": saved.value, "saved_se": saved.error,
        "saved_against_smallest_first": saved_smallest.value, "saved_smallest_se": saved_smallest.error,
    ])
}

/// One order of four lists. It costs the rows after its first and after its second join.
struct Order {
    estimated: f64,
    rows: f64,
    /// The longer of the first two lists, both together, and the third.
    lengths: [f64; 3],
}

impl Order {
    fn all(four: [&Features; 4], registers: u32, seed: u64) -> Result<Vec<Self>> {
        let spec = SketchSpec { packing: Packing::bits(16)?, seed, ..SketchSpec::full(FAST, registers) };
        let sketches = sketches::of(&spec, four)?;
        let filled = Registers { k: registers as usize, scheme: Scheme::from(FAST) };
        let order = |order: [usize; 3]| {
            let of = order.map(|i| four[i]);
            let words = order.map(|i| sketches[i].words());
            let agreement = sketches::agreement(words, Bits::new(16)?, registers);
            let [f1, f2, f3] = of.map(Features::size);
            let pair = pair_size(agreement.all + agreement.only[0], 16, filled, [f1, f2])?.value;
            Ok(Self {
                estimated: pair + triple_size(agreement, 16, filled, [f1, f2, f3])?,
                rows: of[0].intersection(of[1]) + intersection(&of).size(),
                lengths: [f1.max(f2), f1 + f2, f3],
            })
        };
        ORDERS.into_iter().map(order).collect()
    }

    /// Smallest lists first; of lists that are equally long the first order counts.
    fn by_length(&self, other: &Self) -> Ordering {
        let each = self.lengths.iter().zip(&other.lengths).map(|(x, y)| x.total_cmp(y));
        each.fold(Ordering::Equal, Ordering::then)
    }
}

pub(super) fn chart(rows: &Rows<'_>) -> Chart {
    let [chosen, smallest, random] =
        rows.curves("registers", ["cost_over_best", "smallest_first_over_best", "random_over_best"]);
    let y = Axis::linear("intermediate rows over the best");
    Chart::new("Join orders of four lists", Axis::log("registers of 16 bits"), y)
        .with(Series::points("order by estimates", chosen))
        .with(Series::dashed("smallest lists first", smallest).colour(1))
        .with(Series::dashed("random order", random).colour(2))
}

pub(super) fn sentence(rows: &Rows<'_>) -> String {
    let rows = rows.only("registers", JUDGED);
    let row = rows.iter().next().expect("measured");
    let more = |cost: &str| 100.0 * (row[cost] - 1.0);
    let against = match (row["saved_against_smallest_first"], 4.0 * row["saved_smallest_se"]) {
        (saved, error) if saved > error => "which they beat",
        (saved, error) if saved < -error => "which is better",
        _ => "from which they cannot be told apart",
    };
    format!(
        "Join orders of four lists chosen from {JUDGED} registers of 16 bits cost {:.1}% more intermediate rows than the best ones and are the best in {:.0}% of {} cases; \
         smallest lists first, {against}, costs {:.1}% more, a random order {:.1}%.",
        more("cost_over_best"),
        100.0 * row["best_chosen"],
        row["cases"],
        more("smallest_first_over_best"),
        more("random_over_best")
    )
}
