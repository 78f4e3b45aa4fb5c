//! How many pairs of sketches are counted a second, in cache? (`benzer-bench scan` has the question about memory.)

use benzer_core::Level;
use benzer_core::hash::mix;
use benzer_core::sketch::Bits;
use benzer_core::sketch::count::mismatches_many_at;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

/// Width, registers.
const SHAPES: [(u32, usize); 4] = [(1, 512), (2, 256), (4, 128), (8, 128)];

fn rows(n: usize, words: usize) -> Vec<u64> {
    (0..(n * words) as u64).map(mix).collect()
}

fn levels() -> Vec<(Level, (u32, usize))> {
    Level::available().into_iter().flat_map(|level| SHAPES.map(|shape| (level, shape))).collect()
}

/// All pairs of 256 sketches that stay in cache.
#[divan::bench(args = levels(), sample_count = 50)]
fn all_pairs(bencher: divan::Bencher<'_, '_>, (level, (b, k)): &(Level, (u32, usize))) {
    let bits = Bits::new(*b).unwrap();
    let words = bits.words(*k);
    let n = 256;
    let (rows, mut out) = (rows(n, words), vec![0; n]);
    bencher.counter(ItemsCount::new(n * n)).bench_local(|| {
        for query in rows.chunks_exact(words) {
            mismatches_many_at(*level, query, &rows, bits, divan::black_box(&mut out));
        }
    });
}
