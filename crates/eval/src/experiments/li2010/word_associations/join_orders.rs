//! The order in which four lists are intersected, chosen by estimated sizes.

use std::cmp::Ordering;

use benzer_core::Features;
use benzer_core::estimate::{Registers, Scheme};
use benzer_core::sketch::{Bits, Packing, SketchSpec};

use super::estimates::{pair_size, triple_size};
use crate::chart::Curves;
use crate::measure::groups::intersection;
use crate::measure::sketches::{self, FAST};
use crate::random::Random;
use crate::table::{Row, row};
use crate::{Axis, Chart, Checks, Context, Moments, Result, Series, Table};

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

/// Intermediate rows of the orders that are chosen by estimates, by the sizes of the lists alone (smallest first), at random; and of the best.
pub(super) struct Costs {
    registers: u32,
    /// How many orders were chosen.
    n: f64,
    chosen: f64,
    smallest: f64,
    random: f64,
    best: f64,
    hits: f64,
    /// What a random order and smallest first cost more than the chosen one, for each sketch.
    saved: [Moments; 2],
}

/// Registers of which the criterion and the verdict speak.
const JUDGED: u32 = 512;

pub(super) fn measure_all(
    context: &Context<'_>,
    lists: &[Features],
    table: &mut Table,
    checks: &mut Checks,
) -> Result<Vec<Costs>> {
    let mut all = Vec::new();
    for registers in [64, 128, JUDGED, 1024] {
        context.step(format_args!("join order, {registers} registers"));
        let costs = measure(context, lists, registers)?;
        table.push(costs.row())?;
        costs.compare(checks);
        all.push(costs);
    }
    Ok(all)
}

fn measure(context: &Context<'_>, lists: &[Features], registers: u32) -> Result<Costs> {
    let (sketches, cases) = (20, context.size(15, 100));
    let mut costs = Costs {
        registers,
        n: (sketches * cases) as f64,
        chosen: 0.0,
        smallest: 0.0,
        random: 0.0,
        best: 0.0,
        hits: 0.0,
        saved: [Moments::default(); 2],
    };
    let mut random = Random::new(context.seed(1_000 + u64::from(registers)));
    for _ in 0..sketches {
        let seed = random.next();
        let mut saved = [0.0; 2];
        for _ in 0..cases {
            let four = random.places::<4>(lists.len()).map(|i| &lists[i]);
            let orders = Order::all(four, registers, seed)?;
            let least = |by: fn(&Order, &Order) -> Ordering| {
                orders.iter().min_by(|x, y| by(x, y)).map_or(0.0, |order| order.rows)
            };
            let chosen = least(|x, y| x.estimated.total_cmp(&y.estimated));
            let smallest = least(|x, y| x.by_length(y));
            let best = least(|x, y| x.rows.total_cmp(&y.rows));
            let any = orders[random.below(12) as usize].rows;
            costs.chosen += chosen;
            costs.smallest += smallest;
            costs.random += any;
            costs.best += best;
            costs.hits += f64::from(u8::from(chosen <= best));
            saved[0] += any - chosen;
            saved[1] += smallest - chosen;
        }
        costs.saved.iter_mut().zip(saved).for_each(|(moments, saved)| moments.push(saved / cases as f64));
    }
    Ok(costs)
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

impl Costs {
    /// Over those of the best orders: of those chosen, of smallest lists first, and of random ones.
    fn over_best(&self) -> [f64; 3] {
        [self.chosen, self.smallest, self.random].map(|cost| cost / self.best)
    }

    fn row(&self) -> Row {
        let ([chosen, smallest, random], [of_random, of_smallest]) =
            (self.over_best(), self.saved.map(|saved| saved.mean()));
        row![
            "registers": self.registers, "cases": self.n, "cost_over_best": chosen,
            "smallest_first_over_best": smallest, "random_over_best": random,
            "best_chosen": self.hits / self.n,
            "saved_against_random": of_random.value, "saved_se": of_random.error,
            "saved_against_smallest_first": of_smallest.value, "saved_smallest_se": of_smallest.error,
        ]
    }

    fn compare(&self, checks: &mut Checks) {
        let (registers, saved) = (self.registers, self.saved[0].mean());
        let [rows, error] = [saved.value, saved.error];
        let what = format_args!("{registers} registers: {rows} rows saved against random, error {error}");
        checks.holds(what, rows > 4.0 * error);
        if registers == JUDGED {
            let [chosen, ..] = self.over_best();
            checks.holds(format_args!("{registers} registers: {chosen} <= 1.1"), chosen <= 1.1);
        }
    }
}

pub(super) fn chart(all: &[Costs]) -> Chart {
    let mut curves = Curves::default();
    for costs in all {
        curves.push(f64::from(costs.registers), costs.over_best());
    }
    let [chosen, smallest, random] = curves.0;
    let y = Axis::linear("intermediate rows over the best");
    Chart::new("Join orders of four lists", Axis::log("registers of 16 bits"), y)
        .with(Series::points("order by estimates", chosen))
        .with(Series::dashed("smallest lists first", smallest).colour(1))
        .with(Series::dashed("random order", random).colour(2))
}

pub(super) fn sentence(all: &[Costs]) -> String {
    let costs = all.iter().find(|costs| costs.registers == JUDGED).expect("measured");
    let more = |cost: f64| 100.0 * (cost / costs.best - 1.0);
    let of_smallest = costs.saved[1].mean();
    let against = match of_smallest.value {
        saved if saved > 4.0 * of_smallest.error => "which they beat",
        saved if saved < -4.0 * of_smallest.error => "which is better",
        _ => "from which they cannot be told apart",
    };
    format!(
        "Join orders of four lists chosen from {} registers of 16 bits cost {:.1}% more intermediate rows than the best ones and are the best in {:.0}% of {} cases; \
         smallest lists first, {against}, costs {:.1}% more, a random order {:.1}%.",
        costs.registers,
        more(costs.chosen),
        100.0 * costs.hits / costs.n,
        costs.n,
        more(costs.smallest),
        more(costs.random)
    )
}
