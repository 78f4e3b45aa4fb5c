//! Whatever the memory and the threads: the triples of brute force; and sketches that lose no more than they say.

use std::collections::BTreeSet;

use benzer_core::hash::mix;
use benzer_flow::Workspace;
use proptest::prelude::*;

use super::find::within;
use super::*;
use crate::pairs::tests::{resources, sets, stored};

fn wanted(threshold: &str, verify: Verify, (registers, bits): (u32, u32)) -> Wanted {
    let spec = SketchSpec { registers, packing: Packing::bits(bits).unwrap(), ..SketchSpec::default() };
    Wanted { threshold: threshold.parse().unwrap(), verify, spec }
}

fn found(sets: &[BTreeSet<u64>], wanted: &Wanted, (threads, budget): (usize, usize)) -> (Vec<Triple>, Found) {
    let folder = tempfile::tempdir().unwrap();
    let resources = resources(folder.path(), threads);
    let store = stored(sets, if budget < 1_000 { 0 } else { usize::MAX }, &resources);
    let mut triples = Vec::new();
    let workspace = Workspace { bytes: budget, ..resources.workspace(0).unwrap() };
    let found = within(workspace, &store, wanted, &resources, |some| -> Result<()> {
        triples.extend_from_slice(some);
        Ok(())
    })
    .unwrap();
    assert_eq!(found.n_triples, triples.len() as u64);
    (triples, found)
}

fn brute(sets: &[BTreeSet<u64>], threshold: Threshold) -> Vec<([u32; 3], u32, u64)> {
    let mut triples = Vec::new();
    for a in 0..sets.len() {
        for b in a + 1..sets.len() {
            for c in b + 1..sets.len() {
                let all = sets[a].iter().filter(|x| sets[b].contains(x) && sets[c].contains(x)).count();
                let any: BTreeSet<_> = [a, b, c].iter().flat_map(|&i| &sets[i]).collect();
                if threshold.is_reached(all as u64, any.len() as u64) {
                    triples.push(([a, b, c].map(|i| i as u32), all as u32, any.len() as u64));
                }
            }
        }
    }
    triples
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn triples_are_those_of_brute_force_in_order(
        seed: u64,
        n in 0usize..32,
        shape in (1u64..4, 1u64..60),
        threshold in prop_oneof![Just("0.05"), Just("0.3"), Just("0.5"), Just("0.8"), Just("1")],
        threads in 1usize..4,
        budget in prop_oneof![0usize..1_000, Just(1 << 20)],
    ) {
        let sets = sets(seed, n, shape);
        let wanted = wanted(threshold, Verify::Exact, (128, 8));
        let (triples, _) = found(&sets, &wanted, (threads, budget));
        let exact: Vec<_> = triples.iter().map(|triple| {
            let (all, union) = triple.exact.unwrap();
            (triple.sets, all, union)
        }).collect();
        prop_assert_eq!(exact, brute(&sets, wanted.threshold));
    }
}

#[test]
fn the_random_sets_have_triples() {
    let n = brute(&sets(5, 32, (2, 60)), "0.3".parse().unwrap()).len();
    assert!(n > 50 && n < 4_000, "{n}");
}

/// Triples of which `common` of every 100 elements are in all three, the others in one.
fn planted(n: usize, common: u64) -> Vec<BTreeSet<u64>> {
    let set = |i: u64| {
        let (family, member) = (i / 3, i % 3);
        (0..600u64)
            .filter(move |x| x % 100 < common || x % 3 == member)
            .map(move |x| mix(family << 32 | x))
            .collect()
    };
    (0..3 * n as u64).map(set).collect()
}

#[test]
fn the_filter_loses_less_than_one_in_a_thousand_at_the_threshold() {
    let sets = planted(4_000, 50);
    for shape in [(128, 2), (128, 4), (64, 8), (256, 64)] {
        let (triples, counts) = found(&sets, &wanted("0.5", Verify::Filter, shape), (2, 1 << 26));
        let (exact, all) = found(&sets, &wanted("0.5", Verify::Exact, shape), (2, 1 << 26));
        assert_eq!((exact.len(), all.n_candidates, counts.n_candidates), (4_000, 4_000, 4_000));
        assert!(triples.len() > 3_996, "{shape:?}: {}", triples.len());
        assert!(triples.iter().all(|triple| triple.exact == Some((300, 600)) && triple.estimate.is_none()));
    }
}

#[test]
fn the_filter_spares_what_is_far_below_and_an_estimate_has_an_interval() {
    // Pairs at 0.53, triples at 0.3: the pairs' intersections alone do not rule them out at 0.5.
    let sets = planted(500, 30);
    let (triples, counts) = found(&sets, &wanted("0.45", Verify::Filter, (512, 8)), (1, 1 << 26));
    assert!(triples.is_empty() && counts.n_verified * 10 < counts.n_candidates.max(1), "{counts:?}");
    let sets = planted(500, 50);
    let (triples, counts) = found(&sets, &wanted("0.5", Verify::Estimate, (256, 4)), (2, 1 << 26));
    assert!(triples.len() > 150 && triples.len() < 350 && counts.n_verified == 0, "{counts:?}");
    for triple in triples {
        let estimate = triple.estimate.unwrap();
        assert!(triple.exact.is_none() && estimate.value >= 0.5 && estimate.low <= estimate.value);
    }
}

#[test]
fn one_bit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let resources = resources(folder.path(), 1);
    let store = stored(&[], 0, &resources);
    let error =
        find(&store, &wanted("0.5", Verify::Filter, (128, 1)), &resources, |_| -> Result<()> { Ok(()) });
    assert!(error.unwrap_err().to_string().contains("no three-way information"));
}
