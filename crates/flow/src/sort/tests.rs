//! Whatever the budget: the records of a sorted Vec.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use benzer_core::hash::stream;
use benzer_storage::fault::When;
use benzer_storage::{Error, Files};
use proptest::prelude::*;

use super::*;

type Key = (u64, u32);

fn sorter<T: Record>(budget: usize, dir: &Path, dedup: bool) -> Sorter<T> {
    let sorter = Sorter::new(budget, dir, &Files::new());
    if dedup { sorter.dedup() } else { sorter }
}

fn all<T: Record>(sorted: Sorted<T>) -> Vec<T> {
    sorted.map(|record| record.unwrap()).collect()
}

fn expected<T: Record>(records: impl IntoIterator<Item = T>, dedup: bool) -> Vec<T> {
    let mut records: Vec<T> = records.into_iter().collect();
    records.sort_unstable();
    if dedup {
        records.dedup();
    }
    records
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Few different keys, so that some are equal.
fn keys(n: usize, seed: u64) -> Vec<Key> {
    stream(seed).take(n).map(|draw| (draw % 997, (draw >> 40) as u32 % 3)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_budget_gives_the_order_of_a_sorted_vec(
        records in prop::collection::vec((0u8..4, 0u64..50, any::<u32>().prop_map(|n| n % 4)), 0..600),
        budget in 0usize..4_000,
        dedup: bool,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = sorter(budget, folder.path(), dedup);
        sorter.extend(records.iter().copied()).unwrap();
        let sorted = sorter.finish().unwrap();
        let expected = expected(records, dedup);
        let (said, n) = (sorted.len(), expected.len() as u64);
        prop_assert!(said == n || (dedup && said > n));
        prop_assert_eq!(sorted.is_empty(), expected.is_empty());
        prop_assert_eq!(all(sorted), expected);
        prop_assert!(files_in(folder.path()).is_empty());
    }

    #[test]
    fn sorters_of_several_threads_are_merged(
        parts in prop::collection::vec((prop::collection::vec((0u32..40, 0u32..4), 0..200), 0usize..3_000, 0usize..10), 0..6),
        dedup: bool,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let fill = |(records, budget, taken): &(Vec<(u32, u32)>, usize, usize)| {
            let mut sorter = sorter(*budget, folder.path(), dedup);
            sorter.extend(records.iter().copied()).unwrap();
            let mut sorted = sorter.finish().unwrap();
            // Some parts have begun before they are merged.
            let taken: Vec<_> = sorted.by_ref().take(*taken).map(|record| record.unwrap()).collect();
            (taken, sorted)
        };
        let filled = std::thread::scope(|scope| {
            let threads: Vec<_> = parts.iter().map(|part| scope.spawn(move || fill(part))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        let rest = filled.iter().zip(&parts).flat_map(|((taken, _), (records, ..))| {
            expected(records.iter().copied(), dedup).split_off(taken.len())
        });
        let rest = expected(rest.collect::<Vec<_>>(), dedup);
        let merged = Sorted::merge(filled.into_iter().map(|(_, sorted)| sorted).collect()).unwrap();
        prop_assert_eq!(all(merged), rest);
        prop_assert!(files_in(folder.path()).is_empty());
    }
}

#[test]
fn every_kind_of_record_comes_back() {
    fn check<T: Record + std::fmt::Debug>(make: impl Fn(u64) -> T) {
        let folder = tempfile::tempdir().unwrap();
        let records: Vec<T> = stream(7).take(500).map(make).collect();
        let mut sorter = sorter(1000, folder.path(), false);
        sorter.extend(records.iter().copied()).unwrap();
        assert!(sorter.spilled_bytes() > 0);
        assert_eq!(all(sorter.finish().unwrap()), expected(records, false));
    }
    check(|draw| (draw, draw as u32));
    check(|draw| (draw as u32, (draw >> 32) as u32));
    check(|draw| (u128::from(draw) << 64 | 5, draw as u32));
    check(|draw| (draw as u8, draw, 3u32));
    check(|draw| (draw as u32 % 3, draw as u32 % 5, (draw >> 32) as u32 % 2, (draw >> 40) as u32));
    check(|draw| draw);
}

#[test]
fn what_fits_stays_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut sorter = sorter(1 << 20, &folder.path().join("missing"), false);
    sorter.extend(keys(50_000, 1)).unwrap();
    let sorted = sorter.finish().unwrap();
    assert_eq!(
        (sorted.spilled_bytes(), sorted.len(), sorted.size_hint()),
        (0, 50_000, (50_000, Some(50_000)))
    );
    assert_eq!(all(sorted), expected(keys(50_000, 1), false));
}

#[test]
fn more_runs_than_can_be_read_at_once_are_merged_in_passes() {
    let folder = tempfile::tempdir().unwrap();
    let mut sorter = sorter(4000, folder.path(), false);
    sorter.extend(keys(60_000, 1)).unwrap();
    let (runs, once) = (files_in(folder.path()).len(), sorter.spilled_bytes());
    assert!(runs > 200, "{runs}");
    let sorted = sorter.finish().unwrap();
    assert!(files_in(folder.path()).len() <= 65 && sorted.spilled_bytes() > 3 * once / 2);
    assert_eq!(all(sorted), expected(keys(60_000, 1), false));
}

#[test]
fn parts_with_more_runs_than_descriptors_are_merged_in_passes() {
    let folder = tempfile::tempdir().unwrap();
    let part = |seed| {
        let mut sorter = sorter(4000, folder.path(), false);
        sorter.extend(keys(13_000, seed)).unwrap();
        sorter.finish().unwrap()
    };
    let parts: Vec<_> = (0..4).map(part).collect();
    assert!(files_in(folder.path()).len() > 200);
    let merged = Sorted::merge(parts).unwrap();
    assert!(files_in(folder.path()).len() <= 128);
    assert_eq!(merged.len(), 52_000);
    assert_eq!(all(merged), expected((0..4).flat_map(|seed| keys(13_000, seed)), false));
}

#[test]
fn equal_records_are_dropped_before_they_reach_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let mut few = sorter::<Key>(40_000, folder.path(), true);
    for _ in 0..200 {
        few.extend(keys(1_000, 5)).unwrap();
    }
    assert_eq!(few.spilled_bytes(), 0);
    assert_eq!(all(few.finish().unwrap()), expected(keys(1_000, 5), true));
}

#[test]
fn runs_are_removed_when_they_were_read_or_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let mut sorter = sorter(10_000, folder.path(), false);
    sorter.extend(keys(5_000, 1)).unwrap();
    assert!(files_in(folder.path()).len() > 3);
    let mut sorted = sorter.finish().unwrap();
    assert_eq!(sorted.by_ref().take(4_999).filter(|record| record.is_ok()).count(), 4_999);
    assert!(files_in(folder.path()).len() <= 1);
    drop(sorted);
    assert!(files_in(folder.path()).is_empty());
}

#[test]
fn a_damaged_run_is_an_error_and_never_wrong_data() {
    let folder = tempfile::tempdir().unwrap();
    let damaged = |damage: &dyn Fn(&mut Vec<u8>)| {
        let mut sorter = sorter(2_000, folder.path(), false);
        sorter.extend(keys(300, 1)).unwrap();
        let mut runs = files_in(folder.path());
        runs.sort();
        let mut bytes = fs::read(&runs[0]).unwrap();
        damage(&mut bytes);
        fs::write(&runs[0], bytes).unwrap();
        let sorted: Vec<_> = sorter.finish().unwrap().collect();
        let good = sorted.iter().take_while(|record| record.is_ok()).count();
        let start: Vec<Key> = sorted[..good].iter().map(|record| *record.as_ref().unwrap()).collect();
        assert_eq!(start, expected(keys(300, 1), false)[..good]);
        assert!(sorted.len() <= good + 1, "something came after the error");
        sorted.into_iter().nth(good).map(|record| record.unwrap_err().to_string())
    };
    assert_eq!(damaged(&|_| ()), None);
    // A block of two records.
    let whole = 24;
    for place in 0..3 * whole {
        let error = damaged(&|bytes| bytes[place] ^= 0x40).unwrap();
        assert!(
            error.contains("run.") && error.contains("is damaged: expected 24 bytes at"),
            "byte {place}: {error}"
        );
    }
    let truncated = damaged(&|bytes| bytes.truncate(whole + 3)).unwrap();
    assert!(truncated.contains("got the end of the file"), "{truncated}");
    assert!(damaged(&|bytes| bytes.rotate_left(whole)).is_some());
}

#[test]
fn a_full_disk_is_told_with_its_remedy() {
    let folder = tempfile::tempdir().unwrap();
    for room in [0, 1_000, 20_000, 49_000] {
        let files = Files::failing(When::AfterBytes(room), io::ErrorKind::StorageFull);
        let mut sorter = Sorter::new(10_000, folder.path(), &files);
        let error = sorter.extend(keys(5_000, 1)).and_then(|()| sorter.finish().map(drop)).unwrap_err();
        assert!(matches!(&error, Error::Disk { source, .. } if source.kind() == io::ErrorKind::StorageFull));
        assert!(error.to_string().ends_with("free some space and run again (`benzer dedup` with --resume)"));
        assert!(files_in(folder.path()).is_empty());
    }
}

#[test]
fn a_missing_folder_is_told_with_its_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let mut sorter = sorter(100, &folder.path().join("no"), false);
    let error = sorter.extend(keys(100, 1)).unwrap_err().to_string();
    assert!(error.contains("/no/run`") && error.ends_with("make its folder first"), "{error}");
}
