//! Searches of other kinds than for similar documents.

use serde_json::Value;

use crate::bench::Bench;

fn ids(answer: &Value) -> Vec<&str> {
    answer["matches"].as_array().unwrap().iter().map(|found| found["id"].as_str().unwrap()).collect()
}

#[test]
fn the_best_come_without_a_threshold_and_with_their_recall() {
    let bench = Bench::new();
    bench.run("index news articles.jsonl --text text").ok();
    let answer = bench.run("search news --id trains-16 --top 7 --format json").ok().json();
    assert_eq!((ids(&answer).len(), ids(&answer)[0]), (7, "trains-17"));
    assert!(answer["recall"].as_f64().unwrap() >= 0.95);
    let shown = bench.run("search news --id trains-16 --top 2").ok().out;
    assert!(shown.contains("the 2 most similar; exact similarity"), "{shown}");
    bench.run("search news --id trains-16 --top 2 --threshold 0.5").fails(2, &["cannot be used with"]);
    bench.run("search news --id trains-16 --top 0").fails(2, &["`top` must be at least 1"]);
}

#[test]
fn parts_of_documents_are_found_in_collections_made_for_it() {
    let bench = Bench::new();
    bench.run("index news articles.jsonl --text text").ok();
    bench.run("search news --id trains-16 --containing").fails(2, &["--containment", "exact join"]);
    let made = "index parts articles.jsonl --text text --containment=0.7 --containment-ratio 10";
    bench.run(made).ok();
    let line = std::fs::read_to_string(bench.path("articles.jsonl")).unwrap();
    let line: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    let words: Vec<&str> = line["text"].as_str().unwrap().split(' ').collect();
    bench.write("part.txt", words[..words.len() / 3].join(" "));
    let answer = bench.run("search parts --file part.txt --containing --format json").ok().json();
    assert!(ids(&answer).contains(&line["id"].as_str().unwrap()), "{answer}");
    assert_eq!(answer["matches"][0]["similarity"], 1.0);
    let by_ratio = answer["recall_by_ratio"].as_array().unwrap();
    assert!(by_ratio.iter().all(|found| found["recall"].as_f64().unwrap() >= 0.95), "{by_ratio:?}");
    let shown = bench.run("search parts --file part.txt --containing").ok().out;
    assert!(shown.contains("containment") && shown.contains("are not looked for"), "{shown}");
    let far = "search parts --file part.txt --containing --ratio 500";
    bench.run(far).fails(2, &["`ratio` must be at most", "benzer pairs --measure containment"]);
    bench.run("search parts --file part.txt --contained --containing").fails(2, &["cannot be used with"]);
    let stats = bench.run("collections stats parts --format json").ok().json();
    assert!(stats["containment_bytes"].as_u64().unwrap() > 10_000, "{stats}");
    let one = bench.run("collections stats news --format json").ok().json();
    assert_eq!(one["containment_bytes"], 0);
    bench
        .run("index far articles.jsonl --text text --containment --containment-ratio 200")
        .fails(2, &["`ratio` must be at most"]);
}

#[test]
fn fields_can_be_weighed_and_ruled() {
    let bench = Bench::new();
    bench.run("index papers articles.jsonl --text title,text -n 2").ok();
    let search = |more: &str| {
        let call = format!("search papers --id trains-16 --threshold 0.5 --format json {more}");
        bench.run(&call).ok().json()
    };
    let similarity = |answer: &Value| answer["matches"][0]["similarity"].as_f64().unwrap();
    let (usual, weighed) = (search(""), search("--weights text=9"));
    assert_ne!(similarity(&usual), similarity(&weighed));
    let all = search("--rule all --field-thresholds title=0.1");
    let any = search("--rule any");
    assert!(similarity(&all) <= similarity(&usual) && similarity(&usual) <= similarity(&any));
    let only = search("--weights title=0");
    assert_eq!(only["matches"][0]["fields"].as_array().unwrap().len(), 1);
    bench.run("search papers --id trains-16 --weights name=2").fails(2, &["some of text, title", "`name`"]);
    bench.run("search papers --id trains-16 --weights title").fails(2, &["FIELD=NUMBER"]);
    bench.run("search papers --id trains-16 --rule none").fails(2, &["invalid value 'none'"]);
}

#[test]
fn thirds_triples_and_places_are_told() {
    let bench = Bench::new();
    bench.run("index news articles.jsonl --text text").ok();
    let triples = bench.run("collections duplicates news --triples --format json").ok().out;
    let first: Value = serde_json::from_str(triples.lines().next().unwrap()).unwrap();
    let [a, b, c] = [0, 1, 2].map(|i| first["ids"][i].as_str().unwrap());
    let answer =
        bench.run(&format!("search news --id {a} --with {b} --threshold 0.7 --format json")).ok().json();
    assert!(ids(&answer).contains(&c), "{first} {answer}");
    assert!(answer["matches"][0]["exact"].as_f64().unwrap() >= 0.7);
    let pairs = bench.run("collections duplicates news --limit 3").ok().out;
    assert_eq!(pairs.lines().count(), 3);
    assert!(bench.run("collections duplicates news --clusters").ok().out.contains("trains-16"));
    bench.run("collections duplicates news --limit 0").fails(2, &["--limit must be at least 1"]);
    let answer = bench.run("search news --id trains-16 --explain --format json").ok().json();
    let explanation = &answer["matches"][0]["fields"][0]["explanation"];
    let piece = &explanation["shared"][0];
    assert!(piece["in_query"][1].as_u64().unwrap() > piece["in_query"][0].as_u64().unwrap(), "{piece}");
    assert!(!explanation["match_covered"].as_array().unwrap().is_empty());
    let shown = bench.run("search news --id trains-16 --explain").ok().out;
    assert!(shown.contains(", match "), "{shown}");
}
