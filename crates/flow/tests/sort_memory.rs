//! A sorter stays within its budget: counted at the allocator, the moment of growing included.

use std::path::Path;

use benzer_core::hash::stream;
use benzer_flow::sort::{Sorted, Sorter};
use benzer_storage::Files;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// What the budget does not count: paths, handles and the tree of the merge.
const BOOKS: usize = 100 << 10;

type Key = (u64, u32);

fn filled(budget: usize, n: usize, seed: u64, dir: &Path) -> Sorted<Key> {
    let mut sorter = Sorter::new(budget, dir, &Files::new());
    sorter.extend(stream(seed).take(n).map(|draw| (draw, draw as u32))).unwrap();
    sorter.finish().unwrap()
}

/// The peak of the work above what was there before.
fn peak(work: impl FnOnce()) -> usize {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    work();
    MEMORY.peak_usage() - before
}

fn count(sorted: Sorted<Key>) -> usize {
    let mut n = 0;
    assert!(sorted.map(|record| record.unwrap()).inspect(|_| n += 1).is_sorted());
    n
}

/// One test, because the allocator is one.
#[test]
fn the_peak_is_within_the_budget_and_close_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    for budget in [1 << 20, 5_000_000, 20 << 20] {
        for share in [0.05, 0.3, 0.9, 1.1, 8.0] {
            let n = (share * budget as f64 / size_of::<Key>() as f64) as usize;
            let peak = peak(|| assert_eq!(count(filled(budget, n, 1, dir)), n));
            assert!(peak <= budget + BOOKS, "budget {budget}, records of {share} of it: {peak}");
            let least = if share > 1.0 { budget * 9 / 10 } else { n * size_of::<Key>() };
            assert!(peak >= least, "budget {budget}, records of {share} of it: only {peak}");
        }
    }
    let (budget, n) = (4 << 20, 1_000_000);
    let peak = peak(|| {
        let parts = (0..3).map(|seed| filled(budget, n, seed, dir)).collect();
        assert_eq!(count(Sorted::merge(parts).unwrap()), 3 * n);
    });
    assert!(peak <= 3 * budget + BOOKS, "three parts: {peak}");
    let small = self::peak(|| assert_eq!(count(filled(1 << 30, 1_000, 1, dir)), 1_000));
    assert!(small <= BOOKS, "a thousand records in a gigabyte: {small}");
}
