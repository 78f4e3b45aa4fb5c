//! Whatever the memory and the threads: the pairs of brute force.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use benzer_core::hash::{mix, stream};
use benzer_flow::Workspace;
use proptest::prelude::*;

use super::*;
use crate::store::SetWriter;

/// Sets of some families, each a part of the family's elements and some of its own.
pub(crate) fn sets(seed: u64, n: usize, (families, length): (u64, u64)) -> Vec<BTreeSet<u64>> {
    let mut random = stream(seed);
    let mut below = |most: u64| random.next().unwrap() % most;
    let set = |_| {
        let (family, noise, kept) = (below(families), below(30), 50 + below(51));
        let of_family = |i| mix((family << 32) + i % 97);
        (0..length / 2 + below(length / 2 + 1))
            .filter_map(|i| match below(100) {
                other if other < noise => Some(mix(below(60))),
                _ => (below(100) < kept).then(|| of_family(i)),
            })
            .collect()
    };
    (0..n).map(set).collect()
}

pub(crate) fn stored(sets: &[BTreeSet<u64>], most: usize, resources: &Resources) -> SetStore {
    let mut store = SetWriter::new(Workspace { bytes: most, ..resources.workspace(0).unwrap() });
    for (i, set) in sets.iter().enumerate() {
        store.push(i.to_string().as_bytes(), &set.iter().copied().collect::<Vec<_>>()).unwrap();
    }
    store.finish().unwrap()
}

pub(crate) fn resources(folder: &std::path::Path, threads: usize) -> Resources {
    Resources::new(1 << 30, threads, folder, Arc::new(AtomicBool::new(false))).unwrap()
}

fn brute(sets: &[BTreeSet<u64>], wanted: &Wanted) -> Vec<Pair> {
    let n = sets.len() as u32;
    let all = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
    let asked = |&(a, b): &(u32, u32)| match (wanted.split, wanted.measure) {
        (Some(split), _) => a < split && b >= split,
        (None, Measure::Jaccard) => a < b,
        (None, Measure::Containment) => a != b,
    };
    let pair = |(a, b): (u32, u32)| {
        let (x, y) = (&sets[a as usize], &sets[b as usize]);
        let (intersection, size_a, size_b) =
            (x.intersection(y).count() as u32, x.len() as u32, y.len() as u32);
        Pair { a, b, intersection, size_a, size_b }
    };
    let reaches = |pair: &Pair| match wanted.measure {
        Measure::Jaccard => wanted.threshold.is_reached(pair.intersection.into(), pair.union()),
        Measure::Containment => wanted.threshold.is_reached(pair.intersection.into(), pair.size_a.into()),
    };
    all.filter(asked).map(pair).filter(reaches).collect()
}

fn found(sets: &[BTreeSet<u64>], wanted: &Wanted, (threads, most): (usize, usize)) -> Vec<Pair> {
    let folder = tempfile::tempdir().unwrap();
    let resources = resources(folder.path(), threads);
    let mut pairs = Vec::new();
    let told = find(&stored(sets, most, &resources), wanted, &resources, |some| -> Result<()> {
        pairs.extend_from_slice(some);
        Ok(())
    })
    .unwrap();
    assert_eq!(told.n_pairs, pairs.len() as u64);
    pairs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn pairs_are_those_of_brute_force_in_order(
        seed: u64,
        n in 0usize..60,
        shape in (1u64..5, 1u64..70),
        measure in prop_oneof![Just(Measure::Jaccard), Just(Measure::Containment)],
        split in prop_oneof![Just(None), (0u32..60).prop_map(Some)],
        threshold in prop_oneof![1u32..=1_000_000_000, Just(1_000_000_000), Just(800_000_000), Just(500_000_000)],
        threads in 1usize..4,
        most in prop_oneof![Just(0usize), Just(usize::MAX)],
    ) {
        let sets = sets(seed, n, shape);
        let threshold = format!("{}.{:09}", threshold / 1_000_000_000, threshold % 1_000_000_000).parse().unwrap();
        let wanted = Wanted { measure, threshold, split };
        prop_assert_eq!(found(&sets, &wanted, (threads, most)), brute(&sets, &wanted));
    }
}

#[test]
fn the_random_sets_have_pairs_of_each_kind() {
    for measure in [Measure::Jaccard, Measure::Containment] {
        for split in [None, Some(20)] {
            let wanted = Wanted { measure, threshold: "0.5".parse().unwrap(), split };
            let n = brute(&sets(3, 60, (3, 60)), &wanted).len();
            assert!(n > 8 && n < 1_800, "{wanted:?}: {n}");
        }
    }
}

#[test]
fn a_run_that_is_to_stop_stops() {
    let folder = tempfile::tempdir().unwrap();
    let resources = Resources::new(256 << 20, 1, folder.path(), Arc::new(AtomicBool::new(true))).unwrap();
    let wanted = Wanted { measure: Measure::Jaccard, threshold: "0.5".parse().unwrap(), split: None };
    let sets = sets(3, 60, (3, 60));
    let outcome = find(&stored(&sets, usize::MAX, &resources), &wanted, &resources, |_| Ok(()));
    assert!(matches!(outcome, Err(Error::Cancelled)));
}

#[test]
fn candidates_do_not_depend_on_the_budget_of_the_join() {
    let folder = tempfile::tempdir().unwrap();
    let resources = resources(folder.path(), 2);
    let store = stored(&sets(9, 150, (4, 60)), usize::MAX, &resources);
    let members: Vec<Rank> = Rank::all(store.len()).filter(|set| store.size(set.0) > 0).collect();
    for measure in [Measure::Jaccard, Measure::Containment] {
        for sides in [Sides::One, Sides::Two(Rank(60))] {
            let rule = Rule { measure, threshold: "0.4".parse().unwrap(), sides };
            let within = |budget: usize| {
                let workspace = Workspace { bytes: budget, ..resources.workspace(0).unwrap() };
                let workers = Workers { threads: 2, progress: &Progress::silent() };
                let found = exact::candidates(&members, &store, rule, workspace, workers).unwrap();
                (found.pairs.map(|pair| pair.unwrap()).collect::<Vec<_>>(), found.n_bucket_pairs)
            };
            let large = within(1 << 24);
            assert!(large.0.len() > 100, "{rule:?}");
            assert!([4_000, 30_000].map(within).iter().all(|small| *small == large), "{rule:?}");
        }
    }
}
