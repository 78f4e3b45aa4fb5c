//! The scanner against `serde_json`: the same strings from valid lines, the same verdict on damaged ones.

use benzer_io::read::{self, DocumentId, Inputs, ReadOptions, RejectReason};
use proptest::prelude::*;
use serde_json::Value;

/// Text and id of the one document of a line, or why it was rejected. The blank line before it keeps a damaged line from
/// being taken for a compressed file or a byte order mark.
fn read(line: &[u8], text: &[&str], id: Option<&str>) -> Result<(String, Option<String>), RejectReason> {
    let options = ReadOptions {
        text_fields: text.iter().map(|path| path.parse().unwrap()).collect(),
        id_field: id.map(|path| path.parse().unwrap()),
        batch_bytes: 1 << 16,
        ..ReadOptions::default()
    };
    let inputs = Inputs::new().stream("line", std::io::Cursor::new([b"\n", line].concat()));
    let batch = read::parse(read::open(inputs, options).unwrap().next().unwrap().unwrap());
    assert_eq!(batch.n_documents() + batch.rejects().len(), 1, "{}", String::from_utf8_lossy(line));
    if let Some(reject) = batch.rejects().first() {
        assert_eq!(batch.rejected_line(0), Some(line));
        return Err(reject.reason.clone());
    }
    let document = batch.document(0).unwrap();
    assert_eq!((document.raw.as_bytes(), document.line), (line, 2));
    let id = match document.id {
        DocumentId::Field(id) => Some(id.to_owned()),
        _ => None,
    };
    Ok((document.text.to_owned(), id))
}

fn is_json(line: &[u8]) -> bool {
    let result = read(line, &["text"], None);
    !matches!(result, Err(RejectReason::InvalidJson { .. } | RejectReason::InvalidUtf8 { .. }))
}

fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, name| value.as_object()?.get(name))
}

/// White space that may stand between tokens.
fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![8 => Just(""), 2 => Just(" "), 1 => Just("\t \r")]
}

/// A string with its quotes, escaped in all ways JSON has.
fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[ -!#-\\[\\]-~]{0,40}",
        1 => "\\PC{0,8}".prop_map(|s| s.replace(['"', '\\'], "")),
        2 => prop::sample::select(vec!["\\n", "\\\"", "\\\\", "\\/", "\\b", "\\f", "\\r", "\\t"]).prop_map(String::from),
        1 => any::<char>().prop_map(|c| {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
        }),
        1 => Just("\\u0000\\uD83D\\uDE00".to_owned()),
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// Few names, so that wanted ones repeat and nest; `\u0074ext` is `text`.
fn key() -> impl Strategy<Value = String> {
    let names = vec!["text", "id", "meta", "\\u0074ext", "m\\u0065ta", "ключ", "", "tex", "text2", "a.b"];
    prop_oneof![9 => prop::sample::select(names).prop_map(|name| format!("\"{name}\"")), 1 => string()]
}

fn number() -> impl Strategy<Value = String> {
    let odd = vec![
        "0", "-0", "1e5", "1E+5", "2.5e-3", "1e308", "1e309", "-1e400", "0e999", "0.0e400", "1e-400", "1.0",
    ];
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(|x| format!("{x:e}")),
        prop::sample::select(odd).prop_map(String::from),
        (300usize..312).prop_map(|n| "9".repeat(n)),
    ]
}

fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => string(),
        2 => number(),
        1 => prop::sample::select(vec!["true", "false", "null", "[]", "{}"]).prop_map(String::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        let elements = prop::collection::vec((space(), inner.clone(), space()), 0..5).prop_map(|elements| {
            let elements: Vec<_> = elements.iter().map(|(a, v, b)| format!("{a}{v}{b}")).collect();
            format!("[{}]", elements.join(","))
        });
        prop_oneof![1 => elements, 2 => object_of(inner)]
    })
}

fn object_of(value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let member = (space(), key(), space(), value, space());
    prop::collection::vec(member, 0..6).prop_map(|members| {
        let members: Vec<_> = members.iter().map(|(a, k, b, v, c)| format!("{a}{k}{b}:{b}{v}{c}")).collect();
        format!("{{{}}}", members.join(","))
    })
}

fn line() -> impl Strategy<Value = String> {
    (space(), prop_oneof![9 => object_of(value()).boxed(), 1 => value().boxed()], space())
        .prop_map(|(a, object, b)| format!("{a}{object}{b}"))
}

/// A change of a line: replace, insert, remove, cut off, or double a part.
fn damage() -> impl Strategy<Value = (u8, prop::sample::Index, u8)> {
    let telling =
        prop::sample::select(b"{}[]\",:\\u0159-+.eEtfn \t\r\x00\x1f\x7f\x80\xbf\xc3\xed\xff".to_vec());
    (0u8..5, any::<prop::sample::Index>(), prop_oneof![4 => telling, 1 => any::<u8>()])
}

fn apply(line: &mut Vec<u8>, (kind, at, byte): (u8, prop::sample::Index, u8)) {
    if line.is_empty() || byte == b'\n' {
        return;
    }
    let at = at.index(line.len());
    match kind {
        0 => line[at] = byte,
        1 => line.insert(at, byte),
        2 => drop(line.remove(at)),
        3 => line.truncate(at),
        _ => {
            let part = line[at..(at + usize::from(byte % 8)).min(line.len())].to_vec();
            line.splice(at..at, part);
        }
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|b| b" \t\r".contains(b))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_line_is_json_iff_serde_json_says_so(
        line in line(),
        damages in prop::collection::vec(damage(), 0..4),
    ) {
        let mut line = line.into_bytes();
        damages.into_iter().for_each(|damage| apply(&mut line, damage));
        if is_blank(&line) {
            return Ok(());
        }
        let expected = serde_json::from_slice::<Value>(&line);
        prop_assert_eq!(is_json(&line), expected.is_ok(), "{:?}", expected);
    }

    #[test]
    fn extracted_strings_equal_those_of_serde_json(line in line()) {
        let Ok(expected) = serde_json::from_str::<Value>(&line) else { return Ok(()) };
        for path in ["text", "meta.text", "meta.meta.text", "ключ", "id"] {
            let got = read(line.as_bytes(), &[path], None);
            let expected = at(&expected, path);
            match got {
                Ok((text, _)) => prop_assert_eq!(Some(text.as_str()), expected.and_then(Value::as_str)),
                Err(RejectReason::MissingField { field }) => prop_assert!(expected.is_none() && &*field == path),
                Err(RejectReason::WrongType { .. }) => prop_assert!(expected.is_some_and(|v| !v.is_string())),
                Err(RejectReason::NotObject { .. }) => prop_assert!(expected.is_none()),
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }

    #[test]
    fn several_texts_are_joined_and_ids_are_strings_or_integers(
        text in string(), body in string(), id in prop_oneof![string(), number(), Just("null".into())],
    ) {
        let line = format!("{{\"meta\":{{\"body\":{body},\"id\":[{id}]}},\"id\":{id},\"text\":{text}}}");
        let Ok(expected) = serde_json::from_str::<Value>(&line) else { return Ok(()) };
        let got = read(line.as_bytes(), &["text", "meta.body"], Some("id"));
        let texts = [expected["text"].as_str().unwrap(), expected["meta"]["body"].as_str().unwrap()];
        // Fields that are all empty are an empty text.
        let joined = if texts == ["", ""] { String::new() } else { texts.join("\n") };
        match &expected["id"] {
            Value::String(id) => prop_assert_eq!(got, Ok((joined, Some(id.clone())))),
            Value::Number(_) if !id.contains(['.', 'e', 'E']) => prop_assert_eq!(got, Ok((joined, Some(id)))),
            _ => prop_assert!(matches!(got, Err(RejectReason::WrongType { .. })), "{:?}", got),
        }
    }
}

#[test]
fn nesting_is_limited_where_serde_json_limits_it() {
    for depth in [2, 126, 127, 128, 129, 5000] {
        for line in [
            format!("{}{}", "[".repeat(depth), "]".repeat(depth)),
            format!("{{\"a\":{}{}}}", "[{\"b\":".repeat(depth / 2), "0}]".repeat(depth / 2)),
            format!("{}{{}}{}", "{\"meta\":".repeat(depth - 1), "}".repeat(depth - 1)),
            "[".repeat(depth),
        ] {
            let expected = serde_json::from_str::<Value>(&line).is_ok();
            assert_eq!(is_json(line.as_bytes()), expected, "depth {depth}");
            let path = vec!["meta"; 200].join(".");
            let wanted = read(line.as_bytes(), &["meta.meta", &path], None);
            assert_eq!(matches!(wanted, Err(RejectReason::InvalidJson { .. })), !expected, "{wanted:?}");
        }
    }
}

#[test]
fn of_a_repeated_key_the_last_one_wins_whole() {
    let text = |line: &str, path| read(line.as_bytes(), &[path], None).map(|(text, _)| text);
    assert_eq!(text(r#"{"text":"a","text":"b"}"#, "text").unwrap(), "b");
    assert_eq!(text(r#"{"text":"a","\u0074ext":"b\n"}"#, "text").unwrap(), "b\n");
    let error = text(r#"{"m":{"text":"a"},"m":{}}"#, "m.text").unwrap_err();
    assert_eq!(error, RejectReason::MissingField { field: "m.text".into() });
    let error = text(r#"{"text":"a","text":null}"#, "text").unwrap_err();
    assert_eq!(error.to_string(), "field `text` must be a string, got null");
}

#[test]
fn an_integer_id_keeps_its_digits() {
    for id in ["7", "-7", "-0", "18446744073709551616", "123456789012345678901234567890"] {
        let line = format!("{{\"id\":{id},\"text\":\"\"}}");
        assert_eq!(read(line.as_bytes(), &["text"], Some("id")), Ok((String::new(), Some(id.to_owned()))));
    }
}

#[test]
fn a_fault_names_its_column_what_was_expected_and_what_was_found() {
    let message = |line: &[u8]| read(line, &["text"], None).unwrap_err().to_string();
    for (line, expected) in [
        (r#"{"text":"a" "b":1}"#, "invalid json at column 13: expected `,` or `}`, got `\"`"),
        (r#"{"text":"a"} x"#, "invalid json at column 14: expected the end of the line, got `x`"),
        (r#"{"text":01}"#, "invalid json at column 10: expected `,` or `}`, got `1`"),
        (r#"{"a":[1,]}"#, "invalid json at column 9: expected a value, got `]`"),
        (
            r#"{"a":"\ud800x"}"#,
            "invalid json at column 7: expected a surrogate pair, not half of one, got `\\`",
        ),
        (
            r#"{"a":"\x"}"#,
            "invalid json at column 8: expected one of `\"\\/bfnrtu` after a backslash, got `x`",
        ),
        (r#"{"a":tru}"#, "invalid json at column 9: expected `true`, `false` or `null`, got `}`"),
        (
            "{",
            "invalid json at column 2: expected `\"` to begin a key, got the end of the line; write each object on one line (`jq -c .`)",
        ),
        ("[1]", "expected a json object, got an array; write one object per line (`jq -c '.[]'`)"),
        (r#"{"body":1}"#, "no field `text`; name the right one with --text-field or --id-field"),
    ] {
        assert_eq!(message(line.as_bytes()), expected, "{line}");
    }
    let bad = message(b"{\"text\":\"\xff\"}");
    assert_eq!(bad, "invalid utf-8 at column 10; convert the file to utf-8 (`iconv -t utf-8`)");
}
