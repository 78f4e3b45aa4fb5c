//! Collections are made, read, listed, measured and deleted.

use benzer_server::Config;
use benzer_server::serve::compact_if_wasteful;
use serde_json::json;

use crate::lab::Lab;

#[tokio::test]
async fn a_collection_comes_and_goes() {
    let lab = Lab::new();
    assert_eq!(lab.get("/collections").await.ok(), json!({"collections": []}));
    let made = lab.ask("PUT", "/collections/articles", json!({"fields": {"body": {"kind": "text"}}})).await;
    assert_eq!(made.status, 201);
    let made = made.ok();
    assert_eq!(
        (&made["name"], &made["documents"], &made["threshold"]),
        (&json!("articles"), &json!(0), &json!(0.8))
    );
    assert_eq!((&made["keeps"], &made["fields"]["body"]["n"]), (&json!("documents"), &json!(5)));
    assert!(made["sketches"][0]["recall"].as_f64().unwrap() > 0.98);
    assert_eq!(lab.get("/collections/articles").await.ok(), made);
    assert_eq!(lab.get("/collections").await.ok()["collections"], json!([made]));
    assert_eq!(lab.delete("/collections/articles").await.status, 204);
    lab.get("/collections/articles").await.fails(404, "collection_not_found", "`articles`");
    lab.delete("/collections/articles").await.fails(404, "collection_not_found", "`articles`");
}

#[tokio::test]
async fn making_it_again_is_fine_if_nothing_differs() {
    let lab = Lab::new();
    let settings = json!({"fields": {"tags": {"kind": "values"}}, "threshold": 0.9, "keeps": "sketches"});
    assert_eq!(lab.ask("PUT", "/collections/a", settings.clone()).await.status, 201);
    assert_eq!(lab.ask("PUT", "/collections/a", settings).await.status, 200);
    let other = json!({"fields": {"tags": {"kind": "values"}}});
    lab.ask("PUT", "/collections/a", other).await.fails(409, "collection_exists", "already");
}

#[tokio::test]
async fn nonsense_is_refused_with_what_was_expected() {
    let lab = Lab::new();
    for (name, body, part) in [
        ("a", json!({}), "missing field `fields`"),
        ("a", json!({"fields": {}}), "at least one field"),
        ("a", json!({"fields": {"body": {"kind": "sound"}}}), "`kind` must be `text`"),
        ("a", json!({"fields": {"body": {"kind": "text", "n": 101}}}), "`n` must be at most 100"),
        ("a", json!({"fields": {"body": {"kind": "text"}}, "threshold": 0}), "threshold"),
        ("a", json!({"fields": {"body": {"kind": "text"}}, "keep": "all"}), "unknown field `keep`"),
        (".a", json!({"fields": {"body": {"kind": "text"}}}), "not begin with `.`"),
        ("a%2Fb", json!({"fields": {"body": {"kind": "text"}}}), "a/b"),
        ("%2e%2e", json!({"fields": {"body": {"kind": "text"}}}), "`..`"),
    ] {
        let answer = lab.ask("PUT", &format!("/collections/{name}"), body).await;
        assert_eq!(answer.status, 400, "{}", answer.text());
        assert!(answer.text().contains(part), "{part} is not in {}", answer.text());
    }
    assert_eq!(lab.get("/collections").await.ok(), json!({"collections": []}));
}

#[tokio::test]
async fn statistics_tell_bytes_skew_and_candidates() {
    let lab = Lab::filled("documents").await;
    let stats = lab.get("/collections/texts/stats").await.ok();
    assert_eq!((&stats["documents"], &stats["sampled"]), (&json!(20), &json!(20)));
    assert!(stats["bytes_per_document"].as_f64().unwrap() > 300.0);
    assert!(stats["bytes"]["sketches"].as_u64().unwrap() >= 20 * 128, "{stats}");
    // Neighbours share most words, so that buckets have more than one document.
    let number = |name: &str| stats[name].as_f64().unwrap();
    assert!(number("mean_bucket") > 1.0 && number("bucket_skew") >= 1.0, "{stats}");
    assert!(number("candidates_per_document") >= 1.0 && number("candidate_ratio") < 0.5, "{stats}");
}

#[tokio::test]
async fn paths_and_methods_that_are_none_say_so() {
    let lab = Lab::new();
    lab.get("/nowhere").await.fails(404, "not_found", "/openapi.json");
    lab.delete("/collections").await.fails(405, "method_not_allowed", "/openapi.json");
}

#[tokio::test]
async fn a_collection_of_which_most_was_replaced_gives_the_room_back() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { db: folder.path().to_str().unwrap().to_owned(), ..Config::default() };
    let lab = Lab::with(config);
    let settings = json!({"fields": {"tags": {"kind": "values"}}, "keeps": "sketches"});
    lab.ask("PUT", "/collections/c", settings).await.ok();
    let documents: Vec<_> =
        (0..5000).map(|i| json!({"id": i.to_string(), "fields": {"tags": [i]}})).collect();
    let documents = json!(documents);
    let after = || {
        let open = lab.state.collections.all_open();
        compact_if_wasteful("c", &open[0].1);
        open[0].1.stats().unwrap()
    };
    for _ in 0..20 {
        lab.ask("POST", "/collections/c/documents", documents.clone()).await.ok();
    }
    assert_eq!((after().documents, after().removed), (5000, 95_000), "not worth it yet");
    for _ in 0..2 {
        lab.ask("POST", "/collections/c/documents", documents.clone()).await.ok();
    }
    assert_eq!((after().documents, after().removed), (5000, 0));
    let found = lab.ask("POST", "/collections/c/search", json!({"id": "7"})).await.ok();
    assert_eq!(found["matches"], json!([]));
}
