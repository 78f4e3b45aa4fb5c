//! How near does counting equal registers come to reading memory, and how many pairs a second in cache?

use benzer_core::Level;
use benzer_core::hash::mix;
use benzer_core::sketch::Bits;
use benzer_core::sketch::count::mismatches_many_at;
use divan::counter::{BytesCount, ItemsCount};

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

/// One sketch against 10 million.
#[divan::bench(args = levels(), sample_count = 7, sample_size = 1)]
fn scan(bencher: divan::Bencher<'_, '_>, (level, (b, k)): &(Level, (u32, usize))) {
    let bits = Bits::new(*b).unwrap();
    let words = bits.words(*k);
    let n = 10_000_000;
    let (rows, mut out) = (rows(n, words), vec![0; n]);
    let query = rows[..words].to_vec();
    bencher
        .counter(BytesCount::new(n * words * 8))
        .bench_local(|| mismatches_many_at(*level, &query, &rows, bits, &mut out));
}

/// The plain read speed to compare with: the same bytes, xored together with the widest loads the CPU has.
#[divan::bench(args = [640_000_000usize, 1_280_000_000], sample_count = 7, sample_size = 1)]
fn plain_read(bencher: divan::Bencher<'_, '_>, bytes: usize) {
    let rows = rows(bytes / 64, 8);
    bencher.counter(BytesCount::new(bytes)).bench_local(|| widest_xor(&rows));
}

fn widest_xor(words: &[u64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if Level::Avx512.is_available() {
        // SAFETY: the CPU was just checked for this level, which includes the feature.
        return unsafe { xor_avx512(words) };
    }
    xor(words)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn xor_avx512(words: &[u64]) -> u64 {
    xor(words)
}

#[inline(always)]
fn xor(words: &[u64]) -> u64 {
    words.iter().fold(0, |a, b| a ^ b)
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
