use proptest::prelude::*;

use super::*;
use crate::Features;
use crate::hash::stream as random;
use crate::sketch::{Scheme, packed};

fn spec(bits: u32, registers: u32) -> SketchSpec {
    SketchSpec { registers, packing: Packing::bits(bits).unwrap(), ..SketchSpec::default() }
}

fn packed(seed: u64, k: usize, bits: Bits) -> (Vec<u64>, Vec<u64>) {
    let registers: Vec<u64> = random(seed).take(k).map(|r| r & bits.mask()).collect();
    let mut words = vec![0; bits.words(k)];
    packed::pack(&registers, bits, &mut words);
    (registers, words)
}

/// The definition, bit by bit.
fn by_definition(registers: &[u64], bits: u32) -> u64 {
    let bit = |i: u32| registers.get((i / bits) as usize).map_or(0, |r| r >> (bits - 1 - i % bits) & 1);
    (0..64).fold(0, |key, i| key << 1 | bit(i))
}

proptest! {
    #[test]
    fn keys_are_the_first_64_bits_of_the_registers(
        seed: u64,
        stored in 0usize..18,
        narrower in 0usize..18,
        bands in 1usize..20,
        rows in 1usize..70,
        spare in 0usize..9,
    ) {
        let (stored, bits) = (Bits::ALL[stored], Bits::ALL[stored.min(narrower)]);
        let k = bands * rows + spare;
        let (registers, words) = packed(seed, k, stored);
        let banding = Banding::narrowed(&spec(stored.get(), k as u32), Shape { bands, rows }, bits).unwrap();
        let mut keys = vec![0; bands];
        banding.keys_into(&words, &mut keys);
        for (band, (key, rows)) in keys.iter().zip(registers.chunks_exact(rows)).enumerate() {
            let low: Vec<u64> = rows.iter().map(|r| r & bits.mask()).collect();
            prop_assert_eq!(*key, by_definition(&low, bits.get()), "{:?} band {}", banding, band);
        }
        let numbered: Vec<BandKey> = (0..).zip(&keys).map(|(band, &key)| BandKey { band, key }).collect();
        prop_assert_eq!(banding.keys(&words).collect::<Vec<_>>(), numbered);
        let mut some = Vec::new();
        banding.keys_within(&words, 1..bands, |band, key| some.push((band, key)));
        prop_assert!(some.into_iter().eq(keys.iter().copied().enumerate().skip(1)));
        let other = packed(seed ^ 5, k, stored).1;
        let mut of_band = [0; 2];
        for (band, key) in keys.iter().enumerate() {
            banding.keys_of(band, &[&other, &words], &mut of_band);
            prop_assert_eq!(of_band, [banding.key(&other, band), *key]);
        }
        let shares = keys.iter().enumerate().any(|(band, key)| banding.key(&other, band) == *key);
        prop_assert_eq!(banding.share_key(&words, &other), shares);
        prop_assert!(banding.share_key(&words, &words));
    }

    #[test]
    fn keys_are_ordered_as_registers_are_and_prefixes_are_ranges(seed: u64, which in 0usize..18, rows in 1usize..9) {
        let bits = Bits::ALL[which];
        let rows = rows.min(64 / bits.get() as usize);
        let banding = Banding::new(&spec(bits.get(), rows as u32 + 1), Shape { bands: 1, rows }).unwrap();
        let (a, words_a) = packed(seed, rows, bits);
        let mut b = packed(seed ^ 1, rows, bits).0;
        let same = (seed % (rows as u64 + 1)) as usize;
        b[..same].copy_from_slice(&a[..same]);
        let mut words_b = vec![0; bits.words(rows)];
        packed::pack(&b, bits, &mut words_b);
        let (key_a, key_b) = (banding.key(&words_a, 0), banding.key(&words_b, 0));
        prop_assert_eq!(key_a.cmp(&key_b), a.cmp(&b));
        for n in 0..=rows {
            prop_assert_eq!(banding.prefix(key_a, n).contains(&key_b), a[..n] == b[..n]);
        }
    }
}

#[test]
fn a_beginning_is_shared_where_it_lies_in_the_whole_band() {
    let (bands, rows) = (5, 7);
    for bits in [4, 8, 16] {
        let banding = Banding::new(&spec(bits, 35), Shape { bands, rows }).unwrap();
        let (registers, words) = packed(1, 35, banding.bits());
        for (band, same) in (0..bands).flat_map(|band| (1..=rows).map(move |same| (band, same))) {
            // All registers differ but the first ones of one band.
            let mask = banding.bits().mask();
            let mut other: Vec<u64> = registers.iter().map(|register| register ^ mask).collect();
            other[band * rows..band * rows + same]
                .copy_from_slice(&registers[band * rows..band * rows + same]);
            let mut theirs = vec![0; banding.bits().words(35)];
            packed::pack(&other, banding.bits(), &mut theirs);
            // A key holds 64 bits.
            let held = same.min(64 / bits as usize);
            for asked in 1..=rows {
                let expected = asked.min(64 / bits as usize) <= held;
                assert_eq!(
                    banding.share_prefix(&words, &theirs, asked),
                    expected,
                    "{bits} {band} {same} {asked}"
                );
            }
        }
    }
}

#[test]
fn keys_of_8_bits_are_the_same_all_at_once() {
    for rows in [1, 7, 8, 9, 16] {
        let shape = Shape { bands: 112 / rows, rows };
        let banding = Banding::new(&spec(8, 112), shape).unwrap();
        let words = packed(rows as u64, 112, banding.bits()).1;
        let mut keys = Vec::new();
        banding.keys_within(&words, 0..shape.bands, |_, key| keys.push(key));
        let one_by_one: Vec<u64> = (0..shape.bands).map(|band| banding.key(&words, band)).collect();
        assert_eq!(keys, one_by_one, "{rows} rows");
        // Another sketch that has the registers of one band, or all of them but one.
        for band in 0..shape.bands {
            let (registers, mut other) =
                (packed(rows as u64, 112, banding.bits()).0, packed(99, 112, banding.bits()).0);
            let range = band * rows..(band + 1) * rows;
            other[range.clone()].copy_from_slice(&registers[range.clone()]);
            let of = |registers: &[u64]| {
                let mut words = vec![0; banding.bits().words(112)];
                packed::pack(registers, banding.bits(), &mut words);
                words
            };
            assert!(banding.share_key(&words, &of(&other)), "{rows} rows, band {band}");
            other[range.start] ^= 1;
            let shares = |other: &[u64]| (0..shape.bands).any(|i| banding.key(other, i) == one_by_one[i]);
            assert_eq!(
                banding.share_key(&words, &of(&other)),
                shares(&of(&other)),
                "{rows} rows, band {band}"
            );
        }
    }
}

#[test]
fn narrowing_before_or_after_storing_is_the_same() {
    let features = Features::set(random(3).take(300));
    let shape = Shape { bands: 9, rows: 6 };
    for family in [Family::Fast { rounds: 2 }, Family::Permutations(Scheme::Native)] {
        let whole = SketchSpec::full(family, 64);
        let sketch = whole.sketcher().unwrap().sketch(&features).unwrap();
        let eight = sketch.pack(Packing::bits(8).unwrap()).unwrap();
        let narrow = Banding::narrowed(&whole, shape, Bits::new(8).unwrap()).unwrap();
        let plain = Banding::new(eight.spec(), shape).unwrap();
        assert!(narrow.keys(sketch.words()).eq(plain.keys(eight.words())));
    }
    let uneven = SketchSpec::full(Family::OnePermutation, 64);
    let error = Banding::narrowed(&uneven, shape, Bits::new(8).unwrap()).unwrap_err().to_string();
    assert!(error.contains("not uniform"), "{error}");
}

#[test]
fn what_cannot_be_banded_says_why() {
    let refuse =
        |spec: SketchSpec, bands, rows| Banding::new(&spec, Shape { bands, rows }).unwrap_err().to_string();
    assert_eq!(
        refuse(spec(8, 128), 19, 7),
        "`bands x rows` must be at most 128 (the number of registers), got 19 x 7 = 133"
    );
    assert!(refuse(spec(8, 128), 0, 7).starts_with("`bands` must be between 1"));
    assert!(refuse(spec(8, 128), 1, 0).starts_with("`rows` must be between 1"));
    assert!(refuse(spec(8, 128), usize::MAX, usize::MAX).starts_with("`bands` must be"));
    let odd = SketchSpec { packing: Packing::Odd { bits: 64 }, ..SketchSpec::default() };
    assert!(refuse(odd, 1, 1).contains("merged"));
    assert!(refuse(SketchSpec::full(Family::BottomK, 64), 1, 1).contains("not aligned"));
    let wide = Banding::narrowed(&spec(8, 128), Shape { bands: 1, rows: 1 }, Bits::new(16).unwrap());
    assert!(wide.unwrap_err().to_string().contains("at most 8"));
}

#[test]
fn the_rule_of_key_bits_is_enforced_to_the_document() {
    let banding = Banding::new(&spec(8, 128), Shape { bands: 42, rows: 3 }).unwrap();
    assert_eq!((banding.key_bits(), banding.max_documents()), (24, (1 << 14) / 42));
    banding.check_documents(390).unwrap();
    let error = banding.check_documents(391).unwrap_err().to_string();
    assert!(error.starts_with("`documents` must be at most 390 for 42 bands of 3 rows of 8 bits"), "{error}");
    let banding = Banding::new(&spec(8, 128), Shape { bands: 18, rows: 7 }).unwrap();
    assert!((banding.key_bits_needed(1_000_000) - 34.1).abs() < 0.05);
    let long = Banding::new(&spec(16, 128), Shape { bands: 18, rows: 7 }).unwrap();
    assert_eq!((long.key_bits(), long.max_documents()), (64, (1u64 << 54) / 18));
    let short = Banding::new(&spec(1, 128), Shape { bands: 18, rows: 7 }).unwrap();
    assert!(short.check_documents(1).is_err() && short.max_documents() == 0);
}

#[test]
fn the_curve_counts_what_the_key_holds() {
    let curve = |bits, bands, rows| {
        move |j: f64| Banding::new(&spec(bits, 260), Shape { bands, rows }).unwrap().probability(j)
    };
    for j in [0.0, 0.3, 0.8, 1.0] {
        let line = Collision::sparse(8);
        assert_eq!(curve(8, 18, 7)(j), curve::probability_b_bit(j, line, 18, 7));
        assert_eq!(curve(8, 20, 13)(j), curve(8, 20, 8)(j), "13 rows of 8 bits are 8 rows in the key");
        let cut = 1.0 - Collision::sparse(12).probability(j).powi(5) * Collision::sparse(4).probability(j);
        assert!((curve(12, 1, 6)(j) - (1.0 - cut)).abs() < 1e-12);
    }
}

#[test]
fn half_and_threshold_are_similarities() {
    let banding = Banding::new(&spec(8, 128), Shape { bands: 18, rows: 7 }).unwrap();
    let line = Collision::sparse(8);
    assert!((banding.half() - line.jaccard(curve::half(18, 7))).abs() < 1e-9);
    // Where one band in all agrees on average.
    let customary = banding.similarity_at(curve::of_bands(1.0 / 18.0, 18));
    assert!((customary - line.jaccard(curve::threshold(18, 7))).abs() < 1e-9);
    let floor = Banding::new(&spec(1, 100), Shape { bands: 50, rows: 2 }).unwrap();
    assert_eq!(floor.half(), 0.0, "chance alone finds more than half");
}

#[test]
fn a_banding_survives_json_and_nonsense_does_not() {
    let banding =
        Banding::narrowed(&spec(16, 128), Shape { bands: 18, rows: 7 }, Bits::new(9).unwrap()).unwrap();
    let json = serde_json::to_string(&banding).unwrap();
    assert_eq!(json, r#"{"bands":18,"rows":7,"bits":9,"stored":16}"#);
    assert_eq!(serde_json::from_str::<Banding>(&json).unwrap(), banding);
    for bad in [r#"{"bands":0,"rows":7,"bits":8,"stored":8}"#, r#"{"bands":1,"rows":7,"bits":16,"stored":8}"#]
    {
        assert!(serde_json::from_str::<Banding>(bad).is_err());
    }
}
