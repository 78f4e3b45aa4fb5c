//! Is the race of arrivals faster than ICWS for weighted sets, and from which size on?

use benzer_core::Features;
use benzer_core::hash::{mix, split, stream};
use benzer_core::sketch::{Family, SketchSpec};

const REGISTERS: usize = 128;
const SIZES: [usize; 4] = [10, 122, 1_000, 10_000];

fn main() {
    divan::main();
}

fn pairs(n: usize) -> Vec<(u64, f64)> {
    stream(1).take(n).enumerate().map(|(i, e)| (e, [1.0, 1.0, 2.0, 1.0, 5.0, 0.37][i % 6])).collect()
}

#[divan::bench(args = SIZES, sample_count = 20)]
fn benzer(bencher: divan::Bencher<'_, '_>, n: usize) {
    let features = Features::weighted(pairs(n)).unwrap();
    let sketcher = SketchSpec::full(Family::Weighted, REGISTERS as u32).sketcher().unwrap();
    bencher.bench(|| sketcher.sketch(&features).unwrap());
}

/// Improved consistent weighted sampling (Ioffe, 2010).
#[divan::bench(args = SIZES, sample_count = 5)]
fn icws(bencher: divan::Bencher<'_, '_>, n: usize) {
    let pairs = pairs(n);
    bencher.bench(|| (0..REGISTERS as u64).map(|i| icws_register(&pairs, split(7, i))).collect::<Vec<_>>());
}

fn icws_register(pairs: &[(u64, f64)], seed: u64) -> u64 {
    let unit = |bits: u64| ((bits >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    let mut best = (f64::INFINITY, 0);
    for &(element, weight) in pairs {
        let mut random = stream(mix(element ^ seed)).map(unit);
        let mut next = || random.next().unwrap();
        let r = -libm::log(next() * next());
        let c = -libm::log(next() * next());
        let beta = next();
        let t = (libm::log(weight) / r + beta).floor();
        let a = c / libm::exp(r * (t - beta + 1.0));
        if a < best.0 {
            best = (a, mix(element ^ (t as i64 as u64)));
        }
    }
    best.1
}
