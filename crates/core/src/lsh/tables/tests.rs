//! Tables beside a map of sets.

use super::*;
use crate::hash::{mix, split};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

proptest! {
    #[test]
    fn tables_do_what_a_map_of_sets_does(seed: u64, steps in 1usize..300, kinds in prop_oneof![1u64..40, 1000u64..100_000]) {
        let bands = 1 + (seed % 3) as usize * 40;
        let mut tables = Tables::new(bands);
        let mut model: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for step in 0..steps as u64 {
            let draw = split(seed, step);
            if draw.is_multiple_of(4) && !model.is_empty() {
                let entry = *model.keys().nth(draw as usize / 4 % model.len()).unwrap();
                model.remove(&entry);
                tables.remove(entry);
            } else {
                let keys: Vec<u64> = (0..bands as u64).map(|band| mix(split(draw, band) % kinds)).collect();
                let entry = tables.insert(&keys);
                prop_assert!(model.insert(entry, keys).is_none());
            }
            prop_assert_eq!(tables.len(), model.len());
        }
        let mut found = Vec::new();
        for probe in 0..8u64 {
            let keys: Vec<u64> = (0..bands as u64).map(|band| mix(split(probe, band) % kinds)).collect();
            tables.candidates(&keys, &mut found);
            let shares = |other: &Vec<u64>| other.iter().zip(&keys).any(|(a, b)| a == b);
            let expected: Vec<u32> = model.iter().filter(|(_, k)| shares(k)).map(|(e, _)| *e).collect();
            prop_assert_eq!(&found, &expected);
            tables.candidates_of_many(&keys.repeat(3), |many| {
                let mut many = many.to_vec();
                many.sort_unstable();
                assert_eq!(many, expected);
            });
            let first: BTreeSet<u32> = tables.of(0, keys[0]).collect();
            prop_assert!(first.iter().all(|e| model[e][0] == keys[0]));
        }
        // Every entry finds itself and those that share a key with it.
        let own: Vec<u64> = model.values().flatten().copied().collect();
        let with = |keys: &Vec<u64>| -> Vec<u32> {
            let shares = |other: &Vec<u64>| other.iter().zip(keys).any(|(a, b)| a == b);
            model.iter().filter(|(_, other)| shares(other)).map(|(entry, _)| *entry).collect()
        };
        let mut expected = model.values().map(with);
        tables.candidates_of_many(&own, |many| {
            let mut many = many.to_vec();
            many.sort_unstable();
            assert_eq!(Some(many), expected.next());
        });
        let mut expected = model.values().map(with);
        tables.are_shared(&own, |is_shared| assert_eq!(Some(is_shared), expected.next().map(|all| all.len() > 1)));
        let counted: usize = tables.buckets(0).map(|(_, n)| n).sum();
        prop_assert_eq!(counted, model.len());
        let all = tables.all_keys();
        for (entry, keys) in &model {
            prop_assert_eq!(&tables.keys(*entry).collect::<Vec<_>>(), keys);
            prop_assert_eq!(&all[*entry as usize * bands..][..bands], keys);
        }
    }
}

#[test]
fn reserving_changes_nothing() {
    let mut tables = Tables::new(3);
    let [one, two, three] = [1, 2, 3].map(mix);
    let a = tables.insert(&[one, two, three]);
    tables.reserve(1000);
    let mut added = Vec::new();
    tables.extend(&[one, mix(5), mix(6), mix(7), mix(8), mix(9)], |entry| added.push(entry));
    assert_eq!(added, [a + 1, a + 2]);
    assert_eq!(tables.of(0, one).collect::<Vec<_>>(), [a + 1, a]);
    assert!(!tables.is_empty() && tables.bands() == 3);
}

#[test]
fn many_at_once_are_as_one_by_one() {
    let bands = 5;
    // A third are copies, a third share some bands with others, and few have a bucket alone.
    let row = |i: u64| -> Vec<u64> {
        let from = if mix(i).is_multiple_of(3) { mix(i ^ 7) % (i + 1) } else { i };
        let kinds = if mix(from) % 3 == 1 { 500 } else { 1 << 40 };
        (0..bands).map(|band| mix(split(from, band) % kinds)).collect()
    };
    let keys: Vec<u64> = (0..20_000).flat_map(row).collect();
    let (mut one_by_one, mut many) = (Tables::new(bands as usize), Tables::new(bands as usize));
    for tables in [&mut one_by_one, &mut many] {
        (0..40).for_each(|i| assert_eq!(tables.insert(&row(i)), i as u32));
        (0..40).step_by(3).for_each(|entry| tables.remove(entry));
    }
    let mut entries = Vec::new();
    many.extend(&keys, |entry| entries.push(entry));
    let expected: Vec<u32> = keys.chunks(bands as usize).map(|keys| one_by_one.insert(keys)).collect();
    assert_eq!(entries, expected);
    let mut rows = keys.chunks(bands as usize);
    let mut n_found = 0;
    many.candidates_of_many(&keys, |found| {
        let (keys, mut expected, mut found) = (rows.next().unwrap(), Vec::new(), found.to_vec());
        one_by_one.candidates(keys, &mut expected);
        found.sort_unstable();
        assert_eq!(found, expected);
        n_found += found.len();
        for (band, &key) in keys.iter().enumerate() {
            assert!(many.of(band, key).eq(one_by_one.of(band, key)));
        }
    });
    assert!(rows.next().is_none() && n_found > 3 * 20_000, "{n_found}");
    let (mut rows, mut n_shared) = (keys.chunks(bands as usize), 0);
    many.are_shared(&keys, |is_shared| {
        let mut expected = Vec::new();
        one_by_one.candidates(rows.next().unwrap(), &mut expected);
        assert_eq!(is_shared, expected.len() > 1);
        n_shared += usize::from(is_shared);
    });
    assert!(rows.next().is_none() && (10_000..19_000).contains(&n_shared), "{n_shared}");
    many.are_shared(&row(1 << 50), |is_shared| assert!(!is_shared, "nobody has its keys"));
}
