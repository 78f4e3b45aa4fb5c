//! How fast is text cut, hashed and shingled, by script?

use benzer_core::field::text::{Scratch, Shingler, TextOptions};
use divan::counter::BytesCount;

fn main() {
    divan::main();
}

/// Sentences of several scripts, repeated with variation to about a megabyte.
const TEXTS: [(&str, &str); 5] = [
    (
        "english",
        "The committee met on Tuesday, 14 March; it couldn't agree on section 3.2 (\"Definitions\"), so Dr. Miller's draft was tabled again. ",
    ),
    (
        "german",
        "Die Prüfung größerer Mengen dauert länger, weil jede Übereinstimmung für sich geprüft werden muß: Straße, Öl, Ärger. ",
    ),
    (
        "russian",
        "Комитет собрался во вторник, 14 марта, но не смог договориться о третьем разделе, поэтому проект был отложен. ",
    ),
    ("chinese", "委员会于三月十四日星期二开会，未能就第三节达成一致，因此草案再次被搁置。"),
    ("mixed", "The word “naïve” – like café – isn’t rare; 東京 and Москва appear in ordinary prose, too… "),
];

fn text(name: &str) -> String {
    let sentence = TEXTS.iter().find(|(n, _)| *n == name).expect("a known text").1;
    (0..1_000_000 / sentence.len()).map(|i| format!("{sentence}{} ", i * 7919 % 9973)).collect()
}

#[divan::bench(args = TEXTS.map(|(name, _)| name), sample_count = 60)]
fn elements(bencher: divan::Bencher<'_, '_>, name: &str) {
    let text = text(name);
    let (shingler, mut scratch) = (Shingler::new(&TextOptions::default()).unwrap(), Scratch::default());
    // Documents of about 800 bytes, cut at spaces where there are any.
    let documents: Vec<&str> = cut(&text, 800);
    bencher.counter(BytesCount::new(text.len())).bench_local(|| {
        documents.iter().map(|document| shingler.elements(document, &mut scratch).len()).sum::<usize>()
    });
}

fn cut(text: &str, bytes: usize) -> Vec<&str> {
    let (mut documents, mut rest) = (Vec::new(), text);
    while rest.len() > bytes {
        let end = (bytes..rest.len()).find(|&i| rest.is_char_boundary(i) && rest.as_bytes()[i] == b' ');
        let (document, tail) = rest.split_at(end.unwrap_or(rest.len()));
        documents.push(document);
        rest = tail;
    }
    documents.push(rest);
    documents
}
