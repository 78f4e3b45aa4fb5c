//! How fast is each family at 128 and 256 registers of 8 bits, by set size?

use benzer_core::hash::stream;
use benzer_core::sketch::{Family, Scheme, SketchSpec};
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

const SIZES: [usize; 6] = [10, 30, 45, 122, 500, 5_000];

fn bench(bencher: divan::Bencher<'_, '_>, family: Family, registers: u32, n: usize) {
    let n_sets = (200_000 / n).max(20);
    let elements: Vec<u64> = stream(1).take(n * n_sets).collect();
    let offsets: Vec<usize> = (0..=n_sets).map(|i| i * n).collect();
    let spec = SketchSpec { family, registers, ..SketchSpec::default() };
    let (sketcher, mut words) = (spec.sketcher().unwrap(), vec![0; n_sets * spec.words()]);
    bencher
        .counter(ItemsCount::new(n * n_sets))
        .bench_local(|| sketcher.sketch_many(&elements, &offsets, divan::black_box(&mut words)).unwrap());
}

#[divan::bench(args = SIZES, consts = [128, 256])]
fn fast<const K: u32>(bencher: divan::Bencher<'_, '_>, n: usize) {
    bench(bencher, Family::Fast { rounds: 2 }, K, n);
}

#[divan::bench(args = SIZES, consts = [128, 256])]
fn one_permutation<const K: u32>(bencher: divan::Bencher<'_, '_>, n: usize) {
    bench(bencher, Family::OnePermutation, K, n);
}

#[divan::bench(args = SIZES, sample_count = 10)]
fn permutations_native(bencher: divan::Bencher<'_, '_>, n: usize) {
    bench(bencher, Family::Permutations(Scheme::Native), 128, n);
}

#[divan::bench(args = SIZES, sample_count = 10)]
fn permutations_affine32(bencher: divan::Bencher<'_, '_>, n: usize) {
    bench(bencher, Family::Permutations(Scheme::Affine32), 128, n);
}
