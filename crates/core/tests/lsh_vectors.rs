//! Band keys and prefilters against known answers, which other languages read too.

use benzer_core::lsh::{Banding, Shape, prefilter};
use benzer_core::sketch::{Bits, Packing, SketchSpec, packed};
use serde::Deserialize;

#[derive(Deserialize)]
struct Known {
    bands: Vec<Bands>,
    prefilter: Vec<Prefilter>,
}

#[derive(Deserialize)]
struct Bands {
    stored: Bits,
    bits: Bits,
    bands: usize,
    rows: usize,
    registers: Vec<u64>,
    words: Vec<u64>,
    keys: Vec<u64>,
}

#[derive(Deserialize)]
struct Prefilter {
    threshold: f64,
    bits: Bits,
    registers: u32,
    least_equal: u32,
}

fn known() -> Known {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/lsh/v1.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn band_keys_are_the_known_ones() {
    for case in known().bands {
        let spec = SketchSpec {
            registers: case.registers.len() as u32,
            packing: Packing::Bits(case.stored),
            ..SketchSpec::default()
        };
        let mut words = vec![0; spec.words()];
        packed::pack(&case.registers, case.stored, &mut words);
        assert_eq!(words, case.words);
        let shape = Shape { bands: case.bands, rows: case.rows };
        let banding = Banding::narrowed(&spec, shape, case.bits).unwrap();
        let keys: Vec<u64> = banding.keys(&words).map(|k| k.key).collect();
        assert_eq!(keys, case.keys, "{banding:?}");
    }
}

#[test]
fn prefilters_are_the_known_ones() {
    let cases = known().prefilter;
    assert_eq!(cases.len(), 288);
    for Prefilter { threshold, bits, registers, least_equal } in cases {
        let got = prefilter::min_equal(threshold, bits, registers).unwrap();
        assert_eq!(got, least_equal, "{threshold} {bits:?} {registers}");
    }
}
