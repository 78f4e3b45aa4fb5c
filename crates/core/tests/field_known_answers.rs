//! Known answers: any change of a hash, a token or an element fails here, and is a new version of the format.

use benzer_core::field::text::{Scratch, Shingler, TextOptions, Unit};
use benzer_core::hash;
use serde_json::Value;

fn read(path: &str) -> Value {
    let path = format!("{}/../../testdata/{path}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(&path).expect(&path)).expect(&path)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

fn number(value: &Value) -> u64 {
    u64::from_str_radix(text(value), 16).expect("a hexadecimal number")
}

fn numbers(value: &Value) -> Vec<u64> {
    list(value).iter().map(number).collect()
}

fn bytes(value: &Value) -> Vec<u8> {
    let digits = text(value).as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

#[test]
fn the_element_hash_gives_its_known_answers() {
    let known = read("hash/v1.json");
    for case in list(&known["element"]) {
        assert_eq!(hash::token(&bytes(&case["bytes"])), number(&case["token"]), "{case}");
        assert_eq!(hash::element(&bytes(&case["bytes"])), number(&case["element"]), "{case}");
    }
    for case in list(&known["combine"]) {
        assert_eq!(hash::combine(&numbers(&case["tokens"])), number(&case["combined"]), "{case}");
    }
    for case in list(&known["mix"]) {
        assert_eq!(hash::mix(number(&case["x"])), number(&case["mixed"]), "{case}");
    }
    for case in list(&known["split"]) {
        let found = hash::split(number(&case["seed"]), number(&case["stream"]));
        assert_eq!(found, number(&case["seed_of_stream"]), "{case}");
    }
}

#[test]
fn the_text_pipeline_gives_its_known_answers() {
    let known = read("fields/text-v1.json");
    for case in list(&known["cases"]) {
        let options: TextOptions = serde_json::from_value(case["options"].clone()).unwrap();
        let shingler = Shingler::new(&options).unwrap();
        let name = format!("{} under {}", case["name"], shingler.pipeline());
        assert_eq!(shingler.pipeline().as_str(), text(&case["pipeline"]), "{name}");
        assert_eq!(
            hash::element(shingler.pipeline().as_str().as_bytes()),
            number(&case["pipeline_hash"]),
            "{name}"
        );

        let expected = |token: &Value| match options.unit {
            Unit::Bytes => bytes(token),
            _ => text(token).as_bytes().to_vec(),
        };
        let tokens: Vec<Vec<u8>> = list(&case["tokens"]).iter().map(expected).collect();
        let found = shingler.tokens(text(&case["text"]));
        assert_eq!(found.into_iter().map(|token| token.bytes).collect::<Vec<_>>(), tokens, "{name}");
        let mut scratch = Scratch::default();
        let elements = shingler.elements(text(&case["text"]), &mut scratch);
        assert_eq!(elements, numbers(&case["elements"]), "{name}");
    }
}
