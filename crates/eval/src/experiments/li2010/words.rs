//! The three words that 000 measures with.

use benzer_core::estimate::collision::Collision;
use benzer_core::estimate::three_way::Rates;
use benzer_core::estimate::three_way_dense::Theorem;

use crate::data::universe::Universe;

/// OF, AND, OR in a universe. The paper gives sizes and R = 0.47; the rest is chosen to fit R12 = 0.771 of 004.
pub(super) struct Words {
    pub universe: Universe<3>,
    /// Shares of the universe: of each word, of each pair, of all three.
    pub densities: [f64; 3],
    pairs: [f64; 3],
    pub common: f64,
}

impl Words {
    /// In a universe of 2 to this power.
    pub fn new(log2: u32) -> Self {
        let [f1, f2, f3] = [37_336u64, 36_287, 23_357];
        let ([a12, a13, a23], a) = ([32_052u64, 20_972, 20_972], 20_382u64);
        let cells =
            vec![0, f1 + a - a12 - a13, f2 + a - a12 - a23, a12 - a, f3 + a - a13 - a23, a13 - a, a23 - a, a];
        let universe = Universe::new(cells, 1 << log2);
        let total = universe.total as f64;
        Self {
            densities: universe.densities(),
            pairs: [3, 5, 6].map(|members| universe.size(members) / total),
            common: universe.size(7) / total,
            universe,
        }
    }

    pub fn jaccard(&self) -> f64 {
        self.universe.similarity(7)
    }

    pub fn sum_of_pairs(&self) -> f64 {
        [3, 5, 6].map(|members| self.universe.similarity(members)).iter().sum()
    }

    pub fn theorem(&self, b: u32) -> Theorem {
        Theorem::new(self.densities, self.pairs, b)
    }

    pub fn rates(&self, b: u32) -> Rates {
        let [r1, r2, r3] = self.densities;
        let of = |[x, y]: [f64; 2], s: f64| {
            let line = Collision::dense(b, [x, y]).expect("densities of sets");
            line.probability(s / (x + y - s))
        };
        let [p12, p13, p23] = self.pairs;
        Rates {
            all: self.theorem(b).probability(self.common),
            pairs: [of([r1, r2], p12), of([r1, r3], p13), of([r2, r3], p23)],
        }
    }
}
