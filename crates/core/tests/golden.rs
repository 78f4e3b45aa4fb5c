//! datasketch's registers, bit for bit, from signatures recorded with datasketch 1.6.5 and 2.0.0.

use std::collections::BTreeMap;

use benzer_core::Features;
use benzer_core::sketch::{Family, Scheme, SketchSpec};
use serde_json::Value;
use sha1::{Digest, Sha1};

fn golden(file: &str) -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/golden/");
    serde_json::from_str(&std::fs::read_to_string(format!("{path}{file}.json")).unwrap()).unwrap()
}

fn sha1_prefix(token: &str, bytes: usize) -> u64 {
    let digest = Sha1::digest(token.as_bytes());
    digest[..bytes].iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect()
}

fn check(file: &str, scheme: Scheme, hash_bytes: usize) {
    let golden = golden(file);
    let sets: BTreeMap<String, Vec<String>> = serde_json::from_value(golden["sets"].clone()).unwrap();
    let mut compared = 0;
    for (settings, recorded) in golden["signatures"].as_object().unwrap() {
        let (seed, registers) = settings.strip_prefix("seed").unwrap().split_once("_perm").unwrap();
        let family = Family::Permutations(scheme);
        let spec = SketchSpec {
            seed: seed.parse().unwrap(),
            ..SketchSpec::full(family, registers.parse().unwrap())
        };
        let sketcher = spec.sketcher().unwrap();
        for (name, tokens) in &sets {
            let features = Features::set(tokens.iter().map(|token| sha1_prefix(token, hash_bytes)));
            let sketch = sketcher.sketch(&features).unwrap();
            let expected = numbers(&recorded["hashvalues"][name]);
            assert_eq!(sketch.registers().unwrap(), expected, "{file} {settings} {name}");
            compared += 1;
        }
    }
    assert_eq!(compared, 27, "nine sets under three settings");
}

#[test]
fn legacy_registers_are_those_of_datasketch_1() {
    check("datasketch-1.6.5-legacy", Scheme::Legacy, 4);
}

#[test]
fn legacy_registers_are_those_of_datasketch_2() {
    check("datasketch-2.0.0-legacy", Scheme::Legacy, 4);
}

#[test]
fn affine32_registers_are_those_of_datasketch_2() {
    check("datasketch-2.0.0-affine32", Scheme::Affine32, 4);
}

#[test]
fn affine64_registers_are_those_of_datasketch_2() {
    check("datasketch-2.0.0-affine64", Scheme::Affine64, 8);
}
