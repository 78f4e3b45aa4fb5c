//! Collections: documents in, similar documents out, and what happens to bad lines and damaged files.

use crate::bench::Bench;

#[test]
fn what_is_indexed_is_found_with_exact_similarity_and_interval() {
    let bench = Bench::new();
    let told = bench.run("index news articles.jsonl --text text --format json").ok().json();
    assert_eq!((told["inserted"].as_u64(), told["documents"].as_u64()), (Some(200), Some(200)));
    let answer = bench.run("search news --id trains-16 --format json").ok().json();
    let first = &answer["matches"][0];
    assert_eq!(first["id"], "trains-17");
    assert_eq!(first["exact"], first["similarity"]);
    let interval = &first["estimate"]["value"];
    let (low, high) = (interval["low"].as_f64().unwrap(), interval["high"].as_f64().unwrap());
    assert!(low < first["exact"].as_f64().unwrap() && first["exact"].as_f64().unwrap() < high, "{first}");
    assert!(answer["recall"].as_f64().unwrap() > 0.98);
    // The same text from a file.
    let line = std::fs::read_to_string(bench.path("articles.jsonl")).unwrap();
    let text = serde_json::from_str::<serde_json::Value>(line.lines().next().unwrap()).unwrap();
    std::fs::write(bench.path("one.txt"), text["text"].as_str().unwrap()).unwrap();
    let answer = bench.run("search news --file one.txt --explain --format json").ok().json();
    assert_eq!(answer["matches"][0]["exact"], 1.0);
    assert_eq!(answer["matches"][0]["fields"][0]["explanation"]["n_query"], 0);
    let shown = bench.run("search news --id trains-16 --threshold 0.5").ok().out;
    assert!(shown.contains("trains-17") && shown.contains("warning: the collection was built"), "{shown}");
}

#[test]
fn a_run_goes_on_by_id_and_an_id_seen_again_replaces() {
    let bench = Bench::new();
    bench.run("index news articles.jsonl --text text --sketches-only").ok();
    let again = bench.run("index news articles.jsonl --continue --format json").ok().json();
    assert_eq!((again["inserted"].as_u64(), again["passed"].as_u64()), (Some(0), Some(200)));
    std::fs::write(
        bench.path("new.jsonl"),
        "{\"id\":\"trains-16\",\"text\":\"something else entirely, and nothing of before\"}\n",
    )
    .unwrap();
    let told = bench.run("index news new.jsonl --format json").ok().json();
    assert_eq!((told["inserted"].as_u64(), told["documents"].as_u64()), (Some(1), Some(200)));
    let answer = bench.run("search news --id trains-17 --format json").ok().json();
    let ids: Vec<_> = answer["matches"].as_array().unwrap().iter().map(|found| found["id"].clone()).collect();
    assert!(!ids.contains(&"trains-16".into()), "{ids:?}");
    bench.run("search news --id trains-16 --explain").fails(2, &["explain"]);
}

#[test]
fn several_fields_and_values_are_taken_from_json_lines() {
    let bench = Bench::new();
    let lines = [
        r#"{"id": 1, "meta": {"title": "a b c d e f"}, "tags": ["x", "y", 3]}"#,
        r#"{"id": "2", "meta": {"title": "a b c d e f"}, "tags": ["x", "y", "3"]}"#,
        r#"{"id": "3", "meta": {"title": "other words in this one"}, "tags": null}"#,
        r#"{"meta": {"title": "no id"}}"#,
        r#"{"id": "4", "tags": "not a list"}"#,
        "not json",
    ];
    std::fs::write(bench.path("d.jsonl"), lines.join("\n")).unwrap();
    let line = "index c d.jsonl --text meta.title --values tags -n 2 --rejects bad.jsonl --format json";
    let told = bench.run(line).ok().json();
    assert_eq!((told["inserted"].as_u64(), told["rejected"].as_u64()), (Some(3), Some(3)), "{told}");
    let bad = std::fs::read_to_string(bench.path("bad.jsonl")).unwrap();
    assert!(bad.contains("no id") && bad.contains("field `tags`") && bad.lines().count() == 3, "{bad}");
    let answer = bench.run("search c --id 1 --format json").ok().json();
    assert_eq!(
        (answer["matches"][0]["id"].as_str(), answer["matches"][0]["exact"].as_f64()),
        (Some("2"), Some(1.0))
    );
    bench.run("index c d.jsonl --text meta.title").fails(1, &["other settings"]);
}

#[test]
fn wrong_names_are_told_with_the_remedy() {
    let bench = Bench::new();
    bench.run("index news articles.jsonl").fails(2, &["--text"]);
    bench.run("search nothing --id a").fails(1, &["nothing"]);
    bench.run("index news articles.jsonl --text text").ok();
    bench.run("search news --id nobody").fails(1, &["there is no document `nobody`"]);
    assert_eq!(bench.run("search news").code, 2);
    bench.run("index a/b articles.jsonl --text text").fails(2, &["name"]);
    bench.run("search news --id trains-16 --threshold 2").fails(2, &["threshold"]);
    bench.run("collections drop news").ok();
    assert!(bench.run("collections list").ok().out.contains("no collections"));
}

#[test]
fn damage_is_found_and_what_is_derived_is_made_again() {
    let bench = Bench::new();
    bench.run("index news articles.jsonl --text text").ok();
    bench.run("collections compact news").ok();
    assert!(bench.run("verify").ok().out.contains("news: whole, 200 documents"));
    let folder = bench.path("benzer-data/news");
    let names = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let log = names.filter(|path| path.extension().is_some_and(|e| e == "log")).max().unwrap();
    let mut bytes = std::fs::read(&log).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    std::fs::write(&log, bytes).unwrap();
    let verified = bench.run("verify news");
    assert_eq!(verified.code, 1, "{verified:?}");
    assert!(verified.out.contains("damaged") && verified.err.contains("benzer repair"), "{verified:?}");
    // A damaged record cannot be made again, and is named; the others stay.
    let repaired = bench.run("repair news");
    assert_eq!(repaired.code, 1, "{repaired:?}");
    assert!(
        bench.run("collections stats news --format json").ok().json()["documents"].as_u64().unwrap() >= 150
    );
}

/// The calls of a guide: whole lines, and those within sentences that are more than the name of a command; each with what is said of it.
fn calls(guide: &str) -> Vec<(String, String)> {
    let lines = guide.lines().flat_map(|line| match line.strip_prefix("benzer ") {
        Some(call) => vec![call.split_once('#').unwrap_or((call, ""))],
        None => {
            let pieces: Vec<&str> = line.split('`').collect();
            pieces
                .windows(2)
                .filter_map(|pair| Some((pair[0].strip_prefix("benzer ")?, pair[1])))
                .filter(|(call, _)| call.split(' ').count() > 3)
                .collect()
        }
    });
    let plain = |(call, said): (&str, &str)| (call.trim().replace("examples/", ""), said.trim().to_owned());
    let known = ["search ", "index ", "collections "];
    lines.map(plain).filter(|(call, _)| known.iter().any(|start| call.starts_with(start))).collect()
}

#[test]
fn the_commands_of_the_guide_find_what_it_says() {
    let bench = Bench::new();
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/search.md");
    let calls = calls(&std::fs::read_to_string(guide).unwrap());
    let (mut searches, mut said_what) = (0, 0);
    for (call, said) in calls {
        if call.contains("NAME") {
            continue;
        }
        let ran = bench.run(&call).ok();
        assert!(!ran.out.contains("nothing similar"), "`{call}` finds nothing: {ran:?}");
        searches += usize::from(call.starts_with("search"));
        if let Some(found) = said.strip_prefix("finds ") {
            let first = found.split([' ', ',', ':', ';']).next().unwrap();
            let answer = bench.run(&format!("{call} --format json")).json();
            assert_eq!(answer["matches"][0]["id"], first, "`{call}` finds something else: {answer}");
            said_what += 1;
        }
    }
    assert!(searches >= 7 && said_what >= 7, "{searches} searches, {said_what} of them say what they find");
}

#[test]
fn an_exported_collection_is_imported_as_it_was() {
    let bench = Bench::new();
    bench.run("index news articles.jsonl --text text").ok();
    bench.run("collections export news -o news.benzer").ok();
    bench.run("collections import copy news.benzer --db elsewhere").ok();
    let search = |what: &str| bench.run(&format!("search {what} --id trains-16 --format json")).ok().out;
    assert_eq!(search("news"), search("copy --db elsewhere"));
    bench.run("collections import copy news.benzer --db elsewhere").fails(1, &["copy"]);
    let mut bytes = bench.read("news.benzer");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    bench.write("news.benzer", bytes);
    bench.run("collections import other news.benzer").fails(1, &["news.benzer", "damage"]);
    assert!(!bench.run("collections list").ok().out.contains("other"));
}

#[test]
fn a_collection_is_made_empty_and_filled_later() {
    let bench = Bench::new();
    let low = "collections create notes --text title,body --values tags -n 3 --threshold 0.6";
    bench
        .run(low)
        .fails(2, &["must be at most 0.871 at threshold 0.6", "more --registers or a lower --recall"]);
    let made = &format!("{low} --registers 256 --sketches-only");
    let told = bench.run(&format!("{made} --format json")).ok().json();
    assert_eq!((told["documents"].as_u64(), told["settings"]["threshold"].as_f64()), (Some(0), Some(0.6)));
    assert_eq!(told["settings"]["fields"][0]["spec"]["registers"], 256);
    assert_eq!(told["settings"]["keeps"], "sketches");
    assert!(bench.run("collections list").ok().out.contains("body, tags, title"));
    bench.run("collections create low --text body --threshold 0.6 --recall 0.85").ok();
    bench.run(made).fails(1, &["there is a collection `notes` already"]);
    // It is empty, and says so.
    bench.run("search notes --id a").fails(1, &["there is no document `a`"]);
    assert!(bench.run("search notes --field body --text nothing").ok().out.contains("nothing similar"));
    bench.write(
        "d.jsonl",
        r#"{"id": "a", "title": "one two three four", "body": "five six seven", "tags": ["x"]}"#,
    );
    bench.run("index notes d.jsonl").ok();
    // What is asked for must be what it is.
    bench.run("index notes d.jsonl --threshold 0.6 --sketches-only").ok();
    bench
        .run("index notes d.jsonl --threshold 0.9")
        .fails(1, &["expected threshold 0.9, found threshold 0.6"]);
    bench.run("index notes d.jsonl --text title").fails(1, &["other settings", "expected", "found"]);
    bench.run("index notes d.jsonl -n 4").fails(2, &["when a collection is made"]);
    // A schema file is another way to say it.
    bench.write(
        "schema.json",
        r#"{"fields": {"title": {"kind": "text", "n": 2}, "tags": {"kind": "values", "weight": 0.5}}}"#,
    );
    let told = bench.run("collections create weighted --schema schema.json --format json").ok().json();
    assert_eq!(told["settings"]["fields"][0]["weight"], 0.5, "{told}");
    bench.run("collections create other").fails(2, &["--text", "--schema"]);
    bench.run("collections create other --schema schema.json -n 4").fails(2, &["part of the schema"]);
    bench.run("collections create other --schema nothing.json").fails(1, &["nothing.json"]);
    bench.write("bad.json", r#"{"fields": {"title": {"kind": "sound"}}}"#);
    bench.run("collections create other --schema bad.json").fails(2, &["bad.json", "sound"]);
    bench.run("collections create a/b --text t").fails(2, &["name"]);
    bench.run("collections create other --text t --threshold 3").fails(2, &["threshold"]);
    assert!(!bench.run("collections list").ok().out.contains("other"));
}

#[test]
fn documents_with_a_time_to_live_go_by_themselves() {
    let bench = Bench::new();
    bench.run("index news articles.jsonl --text text --ttl 100000").ok();
    bench.write(
        "one.jsonl",
        "{\"id\": \"brief\", \"text\": \"here for a moment, and then no more than a memory\"}\n",
    );
    bench.run("index news one.jsonl --ttl 0").ok();
    bench.run("search news --id brief").fails(1, &["there is no document `brief`"]);
    bench.run("search news --id trains-16").ok();
    let stats = |command: &str| bench.run(&format!("collections {command} news --format json")).json();
    assert_eq!(stats("stats")["documents"], 201, "it takes room until the collection is compacted");
    assert_eq!(stats("compact")["documents"], 200);
}

#[test]
fn documents_are_removed_by_their_ids_and_missing_ones_are_named() {
    let bench = Bench::new();
    bench.run("index news articles.jsonl --text text").ok();
    let told = bench.run("collections remove news trains-16 trains-17").ok().out;
    assert!(told.contains("2 documents removed from `news`; it has 198 now"), "{told}");
    let some = bench.run("collections remove news trains-18 nobody");
    assert_eq!(some.code, 1, "{some:?}");
    assert!(
        some.out.contains("1 documents removed") && some.err.contains("no document `nobody`"),
        "{some:?}"
    );
    bench.run("search news --id trains-18").fails(1, &["there is no document `trains-18`"]);
}

#[test]
fn an_empty_id_is_refused_and_one_of_before_can_be_removed() {
    let bench = Bench::new();
    bench.write(
        "empty.jsonl",
        "{\"id\": \"\", \"text\": \"a text without a name\"}\n{\"id\": \"a\", \"text\": \"another\"}\n",
    );
    let ran = bench.run("index news empty.jsonl --text text").ok();
    assert!(ran.err.contains("`id` must be a text that is not empty"), "{ran:?}");
    assert!(ran.out.contains("1 documents put into"), "{ran:?}");
    // As versions before this one took it.
    let settings = {
        let schema = serde_json::from_str(r#"{"fields": {"text": {"kind": "text"}}}"#).unwrap();
        benzer_index::Settings::new(schema).unwrap()
    };
    let store = benzer_index::store::open(bench.path("old").to_str().unwrap())
        .unwrap()
        .create("news", settings)
        .unwrap();
    let index = benzer_index::Index::new(store).unwrap();
    let mut records = benzer_index::Records::default();
    let nameless =
        benzer_core::field::Document::new("", [("text", benzer_core::field::Content::from("some text"))]);
    index.recorder().record(&nameless, 0, &mut records).unwrap();
    index.store().put(records).unwrap();
    drop(index);
    let mut command = bench.command(&["collections", "remove", "news", "", "--db", "old"]);
    command.env("NO_COLOR", "1");
    let told = bench.run_with(command, b"").ok().out;
    assert!(told.contains("1 documents removed from `news`; it has 0 now"), "{told}");
}

#[test]
fn a_search_by_one_field_does_not_count_the_others() {
    let bench = Bench::new();
    bench.run("index papers articles.jsonl --text title,text -n 2").ok();
    bench.run("search papers --file trains.txt").fails(2, &["--field must name one of the fields of text"]);
    let found = bench.run("search papers --file trains.txt --field text").ok().out;
    assert!(found.contains("trains-16") && found.contains("compared by `text` only"), "{found}");
    let none = bench.run("search papers --id trains-16").ok().out;
    assert!(none.contains("nothing similar") && none.contains("rule `any`"), "{none}");
    let some = bench.run("search papers --file trains.txt --field text --fields title,text").ok().out;
    assert!(some.contains("the query has no `title`"), "{some}");
    bench
        .run("search papers --id trains-16 --fields title --field-thresholds text=0.5")
        .fails(2, &["`thresholds` must be of fields that are compared, got `text`"]);
}

#[test]
fn what_is_left_out_is_said() {
    let bench = Bench::new();
    let typo = bench.run("index typo articles.jsonl --text text,titel").ok().err;
    assert!(typo.contains("warning: no document has the field `titel`"), "{typo}");
    let empty = bench.run("index empty articles.jsonl --text boddy").ok().err;
    assert!(
        empty.contains("200 documents have no content in `boddy`: they are similar to nothing"),
        "{empty}"
    );
    bench.run("index news articles.jsonl --text text").ok();
    let some = bench.run("collections duplicates news --limit 2").ok();
    assert!(some.out.lines().count() == 2 && some.err.contains("there may be more"), "{some:?}");
    bench.run("index mixed articles.jsonl --text text --values tags").ok();
    bench
        .run("index mixed reviews.csv --input-format csv")
        .fails(2, &["only JSON lines can have several fields"]);
}
