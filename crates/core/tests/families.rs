//! One suite over every family and every packing it allows.

use std::collections::BTreeMap;
use std::sync::Arc;

use benzer_core::hash::{mix, stream};
use benzer_core::sketch::{Bits, Family, Packing, Scheme, Sketch, SketchSpec, Sketcher, odd};
use benzer_core::{Error, Features};
use proptest::prelude::*;

/// Every family with every packing that it allows.
fn specs() -> Vec<SketchSpec> {
    let packings = Bits::ALL.into_iter().map(Packing::Bits).chain([
        Packing::Xor { samples: 2 },
        Packing::Xor { samples: 8 },
        Packing::Odd { bits: 200 },
    ]);
    let all = packings.flat_map(|packing| {
        Family::ALL.iter().map(move |&family| SketchSpec {
            family,
            registers: 96,
            packing,
            ..SketchSpec::default()
        })
    });
    all.filter(|spec| spec.validate().is_ok()).collect()
}

fn full_specs() -> Vec<SketchSpec> {
    specs().into_iter().filter(|s| s.packing == Packing::FULL).collect()
}

/// `n` elements that every family takes, also the exact permutations of 4096.
fn elements(n: usize, seed: u64) -> Vec<u64> {
    stream(seed).map(|x| x % 4096).take(n).collect()
}

fn sketch(spec: &SketchSpec, elements: &[u64]) -> Sketch {
    spec.sketcher().unwrap().sketch(&Features::set(elements.iter().copied())).unwrap()
}

#[test]
fn the_suite_sees_every_family_and_the_aligned_ones_in_every_packing() {
    let specs = specs();
    let aligned = Family::ALL.iter().filter(|f| f.is_aligned()).count();
    assert_eq!(specs.len(), aligned * 21 + 2, "bottom_k and odd have one packing each");
}

#[test]
fn the_same_set_gives_the_same_sketch_in_any_order_and_with_repetitions() {
    for spec in specs() {
        for n in [1usize, 5, 60, 700] {
            let forward = elements(n, 1);
            let backward: Vec<u64> = forward.iter().rev().chain(&forward).copied().collect();
            assert_eq!(sketch(&spec, &forward), sketch(&spec, &backward), "{spec}");
        }
    }
}

#[test]
fn a_stream_gives_the_sketch_of_the_whole_set() {
    for spec in specs() {
        for n in [0usize, 1, 300, 9_000] {
            let elements = elements(n, 2);
            let mut builder = spec.builder().unwrap();
            // The weighted family counts repetitions, so it gets each element once.
            let features = Features::set(elements.iter().copied());
            let once = if spec.family == Family::Weighted { features.elements() } else { &elements[..] };
            once.iter().for_each(|&e| builder.update(e).unwrap());
            assert_eq!(
                builder.finish().unwrap().words(),
                sketch(&spec, &elements).words(),
                "{spec}, {n} elements"
            );
        }
    }
}

#[test]
fn bulk_gives_what_one_at_a_time_gives() {
    for spec in specs() {
        let all = elements(900, 3);
        let offsets = [0usize, 1, 4, 4, 130, 900];
        let mut out = vec![7; 5 * spec.words()];
        spec.sketcher().unwrap().sketch_many(&all, &offsets, &mut out).unwrap();
        for (i, words) in out.chunks_exact(spec.words()).enumerate() {
            let one = sketch(&spec, &all[offsets[i]..offsets[i + 1]]);
            assert_eq!(&words[..one.words().len()], one.words(), "{spec}, set {i}");
            let restored = spec.sketcher().unwrap().restore(words, one.size().unwrap()).unwrap();
            assert_eq!(restored, one, "{spec}, set {i}");
        }
        let sketcher = spec.sketcher().unwrap();
        assert!(
            sketcher.sketch_many(&all, &[0, 5, 3], &mut out[..2 * spec.words()]).is_err(),
            "offsets go back"
        );
        assert!(
            sketcher.sketch_many(&all, &[0, 901], &mut out[..spec.words()]).is_err(),
            "offsets leave the elements"
        );
        assert!(sketcher.sketch_many(&all, &[0, 5], &mut out).is_err(), "output of another length");
    }
}

#[test]
fn merging_full_sketches_gives_the_sketch_of_the_union() {
    for spec in full_specs() {
        let sketcher = spec.sketcher().unwrap();
        for (n, m) in [(1usize, 1usize), (3, 40), (60, 60), (500, 2), (700, 900), (0, 9), (9, 0)] {
            let (a, b) = (elements(n, 4), elements(m, 5));
            let merged = sketcher.merge(&sketch(&spec, &a), &sketch(&spec, &b)).unwrap();
            assert_eq!(merged.words(), sketch(&spec, &[a, b].concat()).words(), "{spec} {n} {m}");
        }
    }
}

#[test]
fn merging_weights_keeps_the_larger_one() {
    let spec = SketchSpec::full(Family::Weighted, 64);
    let sketcher = spec.sketcher().unwrap();
    let weighted =
        |pairs: &[(u64, f64)]| sketcher.sketch(&Features::weighted(pairs.iter().copied()).unwrap()).unwrap();
    let merged = sketcher
        .merge(&weighted(&[(1, 2.0), (2, 0.5)]), &weighted(&[(1, 0.25), (2, 7.0), (3, 1.0)]))
        .unwrap();
    assert_eq!(merged.words(), weighted(&[(1, 2.0), (2, 7.0), (3, 1.0)]).words());
}

#[test]
fn merging_is_refused_where_the_union_cannot_be_known() {
    for spec in specs() {
        let sketcher = spec.sketcher().unwrap();
        let one = sketch(&spec, &[1, 2, 3]);
        let mergeable = spec.packing == Packing::FULL && spec.family != Family::Odd;
        match sketcher.merge(&one, &one) {
            Ok(merged) => assert!(mergeable && merged.words() == one.words(), "{spec}"),
            Err(error) => {
                assert!(!mergeable && matches!(error, Error::Unsupported { .. }), "{spec}: {error}")
            }
        }
    }
}

#[test]
fn sketches_of_other_specs_are_refused_by_name() {
    for spec in specs() {
        let sketcher = spec.sketcher().unwrap();
        let own = sketch(&spec, &[1, 2, 3]);
        let others = [
            SketchSpec { seed: 43, ..spec.clone() },
            SketchSpec { registers: 192, ..spec.clone() },
            SketchSpec { pipeline: "other".into(), ..spec.clone() },
        ];
        for other in others {
            let error = sketcher.merge(&own, &sketch(&other, &[1, 2, 3])).unwrap_err();
            assert_eq!(error, Error::SpecMismatch { expected: spec.to_string(), got: other.to_string() });
        }
    }
}

#[test]
fn packing_a_full_sketch_is_sketching_with_the_packing() {
    for spec in specs().into_iter().filter(|s| s.family.is_aligned()) {
        let full = sketch(&SketchSpec { packing: Packing::FULL, ..spec.clone() }, &elements(50, 6));
        assert_eq!(full.pack(spec.packing).unwrap(), sketch(&spec, &elements(50, 6)), "{spec}");
    }
    let packed = sketch(&SketchSpec::default(), &[1]);
    assert!(packed.pack(Packing::FULL).unwrap_err().to_string().contains("no longer has full registers"));
}

#[test]
fn an_empty_set_is_marked_and_a_known_size_is_kept() {
    for spec in specs() {
        assert!(sketch(&spec, &[]).is_empty());
        let three = sketch(&spec, &[1, 2, 3]);
        assert!(!three.is_empty());
        assert_eq!(three.size(), Some(3.0));
    }
}

#[test]
fn an_element_outside_the_universe_is_refused() {
    let spec = SketchSpec::full(Family::Permutations(Scheme::Exact { universe: 10 }), 8);
    let error = spec.sketcher().unwrap().sketch(&Features::set([3, 10])).unwrap_err();
    assert_eq!(error.to_string(), "`element` must be below the universe of 10, got 10");
}

#[test]
fn weights_that_cannot_be_sketched_are_refused() {
    let sketcher = SketchSpec::full(Family::Weighted, 8).sketcher().unwrap();
    for weight in [1e-9, 1e30] {
        assert!(sketcher.sketch(&Features::weighted([(1, weight)]).unwrap()).is_err(), "{weight}");
    }
}

#[test]
fn toggling_an_element_twice_restores_an_odd_sketch() {
    let spec = SketchSpec {
        family: Family::Odd,
        registers: 256,
        packing: Packing::bits(1).unwrap(),
        ..SketchSpec::default()
    };
    let mut sketch = sketch(&spec, &[1, 2, 3]);
    let before = sketch.clone();
    odd::toggle(&mut sketch, 9, odd::Change::Insert).unwrap();
    assert_eq!(sketch, self::sketch(&spec, &[1, 2, 3, 9]));
    odd::toggle(&mut sketch, 9, odd::Change::Remove).unwrap();
    assert_eq!(sketch, before);
    let other = self::sketch(&spec, &[2, 3, 4]);
    assert_eq!(
        odd::symmetric_difference(&before, &other).unwrap().words(),
        self::sketch(&spec, &[1, 4]).words()
    );
    assert_eq!(odd::distance(&before, &other).unwrap(), 2);
    let fast = self::sketch(&SketchSpec::default(), &[1]);
    assert!(
        odd::toggle(&mut fast.clone(), 1, odd::Change::Insert).is_err()
            && odd::distance(&fast, &fast).is_err()
    );
}

#[test]
fn every_sketch_survives_its_encoding() {
    for spec in specs() {
        for n in [0usize, 1, 40, 500] {
            let sketch = sketch(&spec, &elements(n, 7));
            assert_eq!(Sketch::decode(&sketch.encode()).unwrap(), sketch, "{spec}");
        }
    }
}

#[test]
fn every_truncation_and_every_flipped_bit_is_refused() {
    for spec in
        specs().into_iter().filter(|s| s.packing == Packing::FULL || s.packing == Packing::bits(3).unwrap())
    {
        let bytes = sketch(&SketchSpec { registers: 8, ..spec }, &elements(20, 8)).encode();
        for n in 0..bytes.len() {
            assert!(matches!(Sketch::decode(&bytes[..n]), Err(Error::Decode { .. })), "{n} bytes");
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(Sketch::decode(&damaged), Err(Error::Decode { .. })), "bit {bit}");
        }
    }
}

#[test]
fn a_sketch_without_any_filled_bin_is_refused_unless_its_set_is_empty() {
    let spec = SketchSpec::full(Family::OnePermutation, 96);
    let claimed = sketch(&spec, &[]).with_size(5.0).unwrap();
    assert!(Sketch::decode(&claimed.encode()).unwrap_err().to_string().contains("filled bin"));
    let merged = spec.sketcher().unwrap().merge(&claimed, &claimed).unwrap();
    assert_eq!(merged.words(), claimed.words(), "nothing to borrow from, and no endless search");
}

#[test]
fn a_long_stream_of_repetitions_stays_small_and_right() {
    for family in [Family::Weighted, Family::Odd, Family::BottomK] {
        let packing = if family == Family::Odd { Packing::bits(1).unwrap() } else { Packing::FULL };
        let spec = SketchSpec { family, packing, registers: 64, ..SketchSpec::default() };
        let mut builder = spec.builder().unwrap();
        (0..50_000u64).for_each(|i| builder.update(i % 10).unwrap());
        let expected = Features::weighted((0..10).map(|e| (e, 5_000.0))).unwrap();
        assert_eq!(
            builder.finish().unwrap().words(),
            spec.sketcher().unwrap().sketch(&expected).unwrap().words(),
            "{spec}"
        );
    }
}

/// Gives damaged bytes a right checksum, so that the decoder has to look further.
fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    if let Some(body) = bytes.len().checked_sub(8) {
        let checksum = benzer_core::hash::element(&bytes[..body]).to_le_bytes();
        bytes[body..].copy_from_slice(&checksum);
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_decoder_survives_mutations_under_a_right_checksum(which in 0usize..1000, place in 0usize..400, byte: u8, cut in 0usize..40) {
        let specs = specs();
        let spec = SketchSpec { registers: 16, ..specs[which % specs.len()].clone() };
        let Ok(()) = spec.validate() else { return Ok(()) };
        let mut bytes = sketch(&spec, &elements(12, 9)).encode();
        let place = place % bytes.len();
        bytes[place] = byte;
        bytes.truncate(bytes.len() - cut.min(bytes.len()));
        let sealed = seal(bytes);
        if let Ok(decoded) = Sketch::decode(&sealed) {
            prop_assert_eq!(decoded.encode(), sealed, "a sketch has one encoding");
        }
    }

    #[test]
    fn the_decoder_survives_random_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Sketch::decode(&bytes).is_err());
        let headed = seal([b"BNZS\x01\x00".as_slice(), &bytes].concat());
        if let Ok(decoded) = Sketch::decode(&headed) {
            prop_assert_eq!(decoded.encode(), headed);
        }
    }
}

/// Sketches of version 1 as they were first written: no later build may change them or fail to read them.
#[test]
fn golden_sketches_of_version_1_are_read_and_written_byte_for_byte() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/formats/v1/sketches.json");
    let elements: Vec<u64> = (0..40u64).map(|i| mix(i) % 4096).collect();
    let written: BTreeMap<String, String> = specs()
        .into_iter()
        .map(|spec| {
            let bytes = sketch(&SketchSpec { registers: 24, ..spec.clone() }, &elements).encode();
            (
                format!("{} {}", spec.family, spec.packing),
                bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            )
        })
        .collect();
    if std::env::var_os("BENZER_WRITE_GOLDEN").is_some() {
        std::fs::write(path, serde_json::to_string_pretty(&written).unwrap() + "\n").unwrap();
    }
    let golden: BTreeMap<String, String> =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for (name, hex) in &golden {
        assert_eq!(Some(hex), written.get(name), "{name}: the same set must give the same bytes for ever");
        let bytes: Vec<u8> =
            (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect();
        assert_eq!(Sketch::decode(&bytes).unwrap().encode(), bytes, "{name}");
    }
    assert_eq!(golden.len(), written.len(), "a new family or packing needs a golden sketch");
}

#[test]
fn a_sketcher_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    let sketcher: Arc<dyn Sketcher> = SketchSpec::default().sketcher().unwrap().into();
    shared(&sketcher);
}
