//! Searches of other kinds than for similar documents.

use serde_json::{Value, json};

use crate::lab::{Lab, text};

fn ids(answer: &Value) -> Vec<&str> {
    answer["matches"].as_array().unwrap().iter().map(|found| found["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_best_and_thirds_are_found() {
    let lab = Lab::filled("documents").await;
    let ask = |query: Value| lab.ask("POST", "/collections/texts/search", query);
    let best = ask(json!({"id": "d5", "top": 6})).await.ok();
    // Those that share 34 of 46 words are too far for the threshold.
    assert_eq!(ids(&best), ["d4", "d6", "d3", "d7", "d2", "d8"]);
    assert!(best["recall"].as_f64().unwrap() >= 0.95);
    let third = ask(json!({"id": "d5", "with": "d6", "threshold": 0.7})).await.ok();
    // Three neighbours share 36 of 44 words.
    assert_eq!(third["matches"][0]["exact"], json!(36.0 / 44.0));
    assert_eq!(ids(&third)[..2], ["d4", "d7"]);
    ask(json!({"id": "d5", "top": 1001})).await.fails(400, "bad_request", "`top` must be at most 1000");
    ask(json!({"id": "d5", "with": "x"})).await.fails(404, "document_not_found", "`x`");
    let lines = lab.get("/collections/texts/duplicates?as=triples&threshold=0.7").await.text();
    let triples: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(
        triples.iter().any(|triple| triple["a"] == "d4" && triple["b"] == "d5" && triple["c"] == "d6"),
        "{lines}"
    );
}

#[tokio::test]
async fn containment_is_opted_into_and_reported() {
    let lab = Lab::filled("documents").await;
    let part: Vec<String> = text(5).split(' ').take(20).map(str::to_owned).collect();
    let query =
        json!({"document": {"fields": {"body": part.join(" ")}}, "measure": "containing", "explain": true});
    let refused = lab.ask("POST", "/collections/texts/search", query.clone()).await;
    refused.fails(400, "bad_request", "--containment");
    let fields = json!({"body": {"kind": "text", "n": 1}});
    let made = json!({"fields": fields, "containment": {"ratio": 8}});
    let made = lab.ask("PUT", "/collections/parts", made).await.ok();
    assert_eq!(made["containment"], json!({"threshold": 0.8, "ratio": 8.0}));
    let document = json!([{"id": "whole", "fields": {"body": text(5)}}]);
    lab.ask("POST", "/collections/parts/documents", document).await.ok();
    let found = lab.ask("POST", "/collections/parts/search", query).await.ok();
    assert_eq!((ids(&found), &found["matches"][0]["exact"]), (vec!["whole"], &json!(1.0)));
    assert!(!found["recall_by_ratio"].as_array().unwrap().is_empty());
    let explanation = &found["matches"][0]["fields"][0]["explanation"];
    assert_eq!(explanation["shared"][0]["in_query"], explanation["shared"][0]["in_match"]);
    assert_eq!(explanation["query_covered"].as_array().unwrap().len(), 20);
    let stats = lab.get("/collections/parts/stats").await.ok();
    assert!(stats["bytes"]["containment"].as_u64().unwrap() > 0);
    let far = json!({"id": "whole", "measure": "contained", "ratio": 900});
    lab.ask("POST", "/collections/parts/search", far).await.fails(400, "bad_request", "the exact join");
}

#[tokio::test]
async fn fields_can_be_weighed_and_ruled() {
    let lab = Lab::new();
    let fields = json!({"body": {"kind": "text", "n": 1}, "tags": {"kind": "values"}});
    lab.ask("PUT", "/collections/two", json!({"fields": fields})).await.ok();
    let one = |id: &str, i: usize, tag: &str| json!({"id": id, "fields": {"body": text(i), "tags": [tag]}});
    let documents = json!([one("a", 0, "x"), one("b", 0, "y"), one("c", 50, "x")]);
    lab.ask("POST", "/collections/two/documents", documents).await.ok();
    let ask = |query: Value| lab.ask("POST", "/collections/two/search", query);
    assert!(ids(&ask(json!({"id": "a"})).await.ok()).is_empty());
    assert_eq!(ids(&ask(json!({"id": "a", "rule": "any"})).await.ok()), ["b", "c"]);
    assert!(ids(&ask(json!({"id": "a", "rule": "all"})).await.ok()).is_empty());
    assert_eq!(ids(&ask(json!({"id": "a", "weights": {"body": 9}})).await.ok()), ["b"]);
    let strict = json!({"id": "a", "weights": {"body": 9}, "thresholds": {"tags": 0.5}});
    assert!(ids(&ask(strict).await.ok()).is_empty());
    ask(json!({"id": "a", "weights": {"x": 1}})).await.fails(400, "bad_request", "body, tags");
    ask(json!({"id": "a", "rule": "some"})).await.fails(400, "invalid_json", "unknown variant `some`");
}
