//! Whether the intervals hold the truth: draws from corpora with large clusters, whose pairs are found or missed together in many ways.
//!
//! The share of all pairs of a corpus that are found is known here, so it can be counted how often the interval of a draw holds it.

use benzer_core::hash::split;

use super::Pair;
use super::share::{Design, Shares};
use benzer_join::{Edge, Rank};

/// Draws from each corpus, for each way to draw.
const ROUNDS: u64 = 300;
/// Documents that are in clusters, about.
const CLUSTERED: usize = 3000;

/// Numbers from 0 to 1.
struct Random(u64, u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.1 += 1;
        split(self.0, self.1) as f64 / u64::MAX as f64
    }

    fn is(&mut self, p: f64) -> bool {
        self.next() < p
    }
}

/// How large the clusters of a corpus are.
#[derive(Debug, Clone, Copy)]
enum Sizes {
    /// All so large.
    Equal(usize),
    /// From 2 to 300, the larger the fewer.
    Tail,
    /// One so large, the others of 2 to 4.
    One(usize),
    /// Ten of 100, the others of 2 to 4.
    Ten,
}

/// What becomes of the pairs of a cluster.
#[derive(Debug, Clone, Copy)]
enum Loss {
    /// Each pair is missed with this probability.
    Pairs(f64),
    /// All pairs of a document are missed with this probability.
    Documents(f64),
    /// All pairs of a cluster are.
    Clusters(f64),
    /// Found if one of both is among the first 16 of the cluster: the limit of buckets.
    First,
    /// Found if a band of so many, of 8 rows each, is equal: the bands of the presets, for documents near their threshold.
    Bands(usize),
}

/// The clusters of a corpus: for each its size, and which of its pairs are found, by the later document and the earlier one.
struct Corpus(Vec<(usize, Vec<bool>)>);

impl Corpus {
    fn new(sizes: Sizes, loss: Loss) -> Self {
        let mut random = Random(7, 0);
        let (mut clusters, mut n) = (Vec::new(), 0);
        while n < CLUSTERED {
            let first = clusters.is_empty();
            let size = match sizes {
                Sizes::Equal(size) => size,
                Sizes::Tail => ((2.0 / (random.next() + 1e-4).powf(0.8)) as usize).clamp(2, 300),
                Sizes::One(size) if first => size,
                Sizes::Ten if clusters.len() < 10 => 100,
                Sizes::One(_) | Sizes::Ten => 2 + (3.0 * random.next()) as usize,
            };
            clusters.push((size, found(size, loss, &mut random)));
            n += size;
        }
        Self(clusters)
    }

    fn truth(&self) -> f64 {
        let (mut found, mut pairs) = (0, 0);
        for (_, of) in &self.0 {
            found += of.iter().filter(|is| **is).count();
            pairs += of.len();
        }
        found as f64 / pairs as f64
    }

    /// The pairs of a first draw of a share `p` of all documents with a second one of `q`; of two documents that are in both the pair counts once.
    fn draw(&self, [p, q]: [f64; 2], random: &mut Random) -> Vec<Pair> {
        let (mut pairs, mut first) = (Vec::new(), 0);
        for (size, found) in &self.0 {
            let is = (0..*size).map(|_| [random.is(p), random.is(q)]).collect::<Vec<_>>();
            let drawn: Vec<usize> = (0..*size).filter(|&i| is[i][0] || is[i][1]).collect();
            for (n, &later) in drawn.iter().enumerate() {
                for &earlier in &drawn[..n] {
                    let later_is_drawn = is[later][0] && is[earlier][1];
                    if later_is_drawn || is[earlier][0] && is[later][1] {
                        let [x, y] = [later, earlier].map(|i| Rank((first + i) as u32));
                        let edge = Edge { later: x, earlier: y, intersection: 1, union: 1 };
                        let found = found[later * (later - 1) / 2 + earlier];
                        pairs.push(Pair { found, ..Pair::new(edge, later_is_drawn) });
                    }
                }
            }
            first += size;
        }
        pairs
    }
}

impl Corpus {
    /// The pairs of a share `p` of all documents with up to 16 others that have their minimum: 90 of 100 documents of a cluster have that of the cluster, the others one of their own.
    fn draw_twins(&self, p: f64, random: &mut Random) -> Vec<Pair> {
        let (mut pairs, mut first) = (Vec::new(), 0);
        for (size, found) in &self.0 {
            let twins: Vec<usize> = (0..*size).filter(|_| random.is(0.9)).collect();
            for &one in twins.iter().filter(|_| random.is(p)).collect::<Vec<_>>() {
                let mut others: Vec<usize> = twins.iter().copied().filter(|other| *other != one).collect();
                let n = others.len().min(16);
                let factor = others.len() as f64 / n.max(1) as f64;
                for i in 0..n {
                    let chosen = i + (random.next() * (others.len() - i) as f64) as usize;
                    let chosen = chosen.min(others.len() - 1);
                    others.swap(i, chosen);
                }
                for &other in &others[..n] {
                    let (later, earlier) = (one.max(other), one.min(other));
                    let [x, y] = [later, earlier].map(|i| Rank((first + i) as u32));
                    let edge = Edge { later: x, earlier: y, intersection: 81, union: 100 };
                    let found = found[later * (later - 1) / 2 + earlier];
                    let pair = Pair::new(edge, later == one);
                    pairs.push(Pair { found, weight: factor / 0.81, ..pair });
                }
            }
            first += size;
        }
        pairs
    }
}

fn found(size: usize, loss: Loss, random: &mut Random) -> Vec<bool> {
    let kept = random.next();
    let documents: Vec<f64> = (0..size).map(|_| random.next()).collect();
    // Which bands of a document are those of its cluster.
    let bands: Vec<Vec<bool>> = match loss {
        Loss::Bands(n) => {
            let like = |of: f64| (0.84 + 0.14 * of * kept).powi(8);
            documents.iter().map(|&of| (0..n).map(|_| random.is(like(of))).collect()).collect()
        }
        _ => Vec::new(),
    };
    let mut pairs = Vec::with_capacity(size * (size - 1) / 2);
    for later in 0..size {
        for earlier in 0..later {
            pairs.push(match loss {
                Loss::Pairs(missed) => !random.is(missed),
                Loss::Documents(missed) => documents[later] >= missed && documents[earlier] >= missed,
                Loss::Clusters(missed) => kept >= missed,
                Loss::First => earlier < 16,
                Loss::Bands(_) => bands[later].iter().zip(&bands[earlier]).any(|(x, y)| *x && *y),
            });
        }
    }
    pairs
}

/// How pairs are drawn.
#[derive(Debug, Clone, Copy)]
enum Way {
    Draws([f64; 2]),
    Twins(f64),
}

/// What came of all draws.
#[derive(Debug, Default)]
struct CountKind {
    n: f64,
    /// Intervals that begin above the truth, and that end below it.
    missed: [f64; 2],
    width: f64,
    /// Sums of the shares and of their squares.
    shares: [f64; 2],
}

impl CountKind {
    fn covered(&self) -> f64 {
        1.0 - (self.missed[0] + self.missed[1]) / self.n
    }

    /// The mean width over that of an interval that knows how far shares are spread.
    fn excess(&self) -> f64 {
        let [sum, squares] = self.shares.map(|sum| sum / self.n);
        self.width / self.n / (2.0 * 1.96 * (squares - sum * sum).max(0.0).sqrt())
    }
}

fn counted(corpus: &Corpus, way: Way) -> CountKind {
    let (truth, mut counted, mut random) = (corpus.truth(), CountKind::default(), Random(11, 0));
    for _ in 0..ROUNDS {
        let (pairs, design) = match way {
            Way::Draws(drawn) => (corpus.draw(drawn, &mut random), Design::Draws(drawn)),
            Way::Twins(p) => (corpus.draw_twins(p, &mut random), Design::Twins),
        };
        let Some(share) = Shares::new(&pairs, design).of(|pair| pair.found) else { continue };
        counted.n += 1.0;
        counted.missed[0] += f64::from(u8::from(truth < share.low - 1e-12));
        counted.missed[1] += f64::from(u8::from(truth > share.high + 1e-12));
        counted.width += share.high - share.low;
        counted.shares[0] += share.value;
        counted.shares[1] += share.value * share.value;
    }
    counted
}

#[test]
fn intervals_of_two_draws_hold_the_truth_whatever_is_found_or_missed_together() {
    check(&[[0.1, 0.1], [0.25, 0.25], [0.05, 1.0]].map(Way::Draws), [1.3, 2.5]);
}

#[test]
fn intervals_of_documents_and_their_twins_hold_the_truth_whatever_is_found_or_missed_together() {
    check(&[0.05, 0.2, 1.0].map(Way::Twins), [1.8, 4.0]);
}

/// All corpora in some ways, and how much wider than the spread of the shares the intervals may be: the median, and four of five.
fn check(ways: &[Way], widths: [f64; 2]) {
    let sizes = [Sizes::Equal(2), Sizes::Equal(40), Sizes::Tail, Sizes::One(500), Sizes::Ten];
    let losses = [
        Loss::Pairs(0.05),
        Loss::Documents(0.05),
        Loss::Documents(0.004),
        Loss::Clusters(0.1),
        Loss::First,
        Loss::Bands(14),
        Loss::Bands(16),
    ];
    let (mut all, mut excesses) = (Vec::new(), Vec::new());
    for sizes in sizes {
        for loss in losses {
            let corpus = Corpus::new(sizes, loss);
            for &way in ways {
                let counted = counted(&corpus, way);
                let covered = counted.covered();
                assert!(covered >= 0.92, "{sizes:?} {loss:?} {way:?}: {covered} {counted:?}");
                all.push(covered);
                if counted.excess().is_finite() {
                    excesses.push(counted.excess());
                }
            }
        }
    }
    // Not by being as wide as can be: about as often as promised, and about as wide as the spread of the shares asks for.
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    assert!((0.95..=0.995).contains(&mean), "{mean}");
    excesses.sort_by(f64::total_cmp);
    let [median, high] = [excesses.len() / 2, excesses.len() * 4 / 5].map(|i| excesses[i]);
    assert!(median < widths[0] && high < widths[1], "{median} {high}");
}
