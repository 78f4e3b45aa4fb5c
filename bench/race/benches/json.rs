//! How fast is one text field taken out of JSON lines that are in memory already?

use std::io::Cursor;

use benzer_io::read::{Inputs, RawBatch, ReadOptions, open, parse};
use divan::counter::BytesCount;

fn main() {
    divan::main();
}

/// Lines of about 850 bytes; what else they hold beside id and text.
const KINDS: [&str; 4] = ["plain", "escapes", "skipped", "short"];

fn line(kind: &str, i: usize) -> String {
    let words = [
        "The",
        "committee",
        "met",
        "on",
        "Tuesday,",
        "and",
        "couldn't",
        "agree;",
        "so",
        "the",
        "draft",
        "was",
        "tabled",
        "again.",
    ];
    let text = |n: usize| (0..n).map(|w| words[(w * 7 + i) % words.len()]).collect::<Vec<_>>().join(" ");
    match kind {
        // One line in ten has an escape, as prose has.
        "plain" if i.is_multiple_of(10) => {
            format!(r#"{{"id":"{i}","text":"{} \"{}\""}}"#, text(70), text(70))
        }
        "escapes" => {
            format!(r#"{{"id":"{i}","text":"{}"}}"#, (0..14).map(|_| text(9)).collect::<Vec<_>>().join("\\n"))
        }
        "skipped" => {
            format!(r#"{{"id":"{i}","html":"{}","text":"{}","meta":{{"a":[1,2,3]}}}}"#, text(500), text(140))
        }
        "short" => format!(r#"{{"id":"{i}","text":"{}"}}"#, text(16)),
        _ => format!(r#"{{"id":"{i}","text":"{}"}}"#, text(140)),
    }
}

fn batches(corpus: &str) -> Vec<RawBatch> {
    let inputs = Inputs::new().stream("corpus.jsonl", Cursor::new(corpus.to_owned().into_bytes()));
    open(inputs, ReadOptions::default()).unwrap().map(Result::unwrap).collect()
}

#[divan::bench(args = KINDS, sample_count = 40, sample_size = 1)]
fn extract(bencher: divan::Bencher<'_, '_>, kind: &str) {
    let mut corpus = String::new();
    for i in 0.. {
        corpus += &line(kind, i);
        corpus.push('\n');
        if corpus.len() > 40_000_000 {
            break;
        }
    }
    bencher
        .counter(BytesCount::new(corpus.len()))
        .with_inputs(|| batches(&corpus))
        .bench_values(|batches| batches.into_iter().map(|raw| parse(raw).n_documents()).sum::<usize>());
}
