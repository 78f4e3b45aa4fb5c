//! Search, compare and plan.

use serde_json::{Value, json};

use crate::lab::{Lab, text};

fn ids(answer: &Value) -> Vec<&str> {
    answer["matches"].as_array().unwrap().iter().map(|found| found["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn kept_documents_give_exact_similarities_with_intervals() {
    let lab = Lab::filled("documents").await;
    let found = lab.ask("POST", "/collections/texts/search", json!({"id": "d5"})).await.ok();
    // Neighbours share 38 of 42 words, those after them 36 of 44.
    assert_eq!(ids(&found), ["d4", "d6", "d3", "d7"]);
    let first = &found["matches"][0];
    assert_eq!(first["exact"], json!(38.0 / 42.0));
    assert_eq!(first["similarity"], first["exact"]);
    let estimate = &first["estimate"]["value"];
    let number = |name: &str| estimate[name].as_f64().unwrap();
    assert!(
        number("low") < number("value") && number("value") < number("high") && number("standard_error") > 0.0
    );
    assert_eq!(first["fields"][0]["field"], "body");
    assert!(found["recall"].as_f64().unwrap() > 0.95 && found["took_ms"].as_f64().unwrap() > 0.0);
    assert!(found["n_candidates"].as_u64().unwrap() >= 4);
    assert_eq!(found["n_matches"], 4);
}

#[tokio::test]
async fn everything_that_a_query_has_can_be_asked() {
    let lab = Lab::filled("documents").await;
    let ask = |query: Value| lab.ask("POST", "/collections/texts/search", query);
    let document = json!({"fields": {"body": text(5)}});
    let all = ask(json!({"document": document})).await.ok();
    assert_eq!(ids(&all), ["d5", "d4", "d6", "d3", "d7"]);
    let some = ask(json!({"document": document, "limit": 2, "offset": 1, "threshold": 0.9, "fields": ["body"], "explain": true})).await.ok();
    assert_eq!((ids(&some), &some["n_matches"]), (vec!["d4", "d6"], &json!(3)));
    let explanation = &some["matches"][0]["fields"][0]["explanation"];
    assert_eq!((&explanation["n_shared"], &explanation["n_query"]), (&json!(38), &json!(2)));
    assert_eq!(ask(json!({"document": document, "limit": 0})).await.ok()["matches"], json!([]));
    let low = ask(json!({"document": document, "threshold": 0.5})).await.ok();
    assert!(low["warnings"][0].as_str().unwrap().contains("built for"), "{low}");
}

#[tokio::test]
async fn sketches_give_estimates() {
    let lab = Lab::filled("sketches").await;
    let found = lab
        .ask("POST", "/collections/texts/search", json!({"document": {"fields": {"body": text(5)}}}))
        .await
        .ok();
    assert_eq!(found["matches"][0]["id"], "d5");
    assert!(found["matches"][0].get("exact").is_none());
    assert_eq!(found["matches"][0]["similarity"], found["matches"][0]["estimate"]["value"]["value"]);
}

#[tokio::test]
async fn a_search_that_makes_no_sense_is_refused() {
    let lab = Lab::filled("sketches").await;
    let document = json!({"fields": {"body": "x"}});
    for (query, part) in [
        (json!({}), "either `document` or `id`"),
        (json!({"id": "d1", "document": document}), "either `document` or `id`"),
        (json!({"id": "d1", "threshold": 1.5}), "threshold"),
        (json!({"id": "d1", "limit": 1001}), "at most 1000"),
        (json!({"id": "d1", "explain": true, "limit": 101}), "at most 100"),
        (json!({"id": "d1", "explain": true}), "keeps documents"),
        (json!({"id": "d1", "fields": ["title"]}), "body"),
        (json!({"document": {"fields": {"body": ["x"]}}}), "field `body`"),
    ] {
        lab.ask("POST", "/collections/texts/search", query).await.fails(400, "bad_request", part);
    }
    let unknown = lab.ask("POST", "/collections/texts/search", json!({"id": "d1", "treshold": 0.9})).await;
    unknown.fails(400, "invalid_json", "unknown field `treshold`");
    lab.ask("POST", "/collections/texts/search", json!({"id": "x"})).await.fails(
        404,
        "document_not_found",
        "`x`",
    );
    lab.ask("POST", "/collections/other/search", json!({"id": "x"})).await.fails(
        404,
        "collection_not_found",
        "`other`",
    );
}

#[tokio::test]
async fn texts_are_compared_with_every_cell_and_passage() {
    let lab = Lab::new();
    let document = |text: &str| json!({"document": {"fields": {"text": text}}});
    let request = json!({"fields": {"text": {"kind": "text", "n": 1}}, "passages": true,
        "documents": [document("a b c d"), document("b c d e"), document("c d e f")]});
    let answer = lab.ask("POST", "/compare", request).await.ok();
    let field = &answer["fields"][0];
    assert_eq!(field["three_way"]["exact"], json!(2.0 / 6.0));
    assert!(field["three_way"]["estimate"]["value"]["high"].as_f64().unwrap() >= 0.33);
    assert_eq!(field["pairs"][0]["exact"]["jaccard"], json!(3.0 / 5.0));
    assert_eq!(field["cells"].as_array().unwrap().len(), 7);
    assert_eq!(field["passages"][0][0], json!({"text": "a ", "of": []}));
    let two = json!({"documents": [document("the quick brown fox jumps over it"), document("the quick brown fox jumps over it")]});
    assert_eq!(lab.ask("POST", "/compare", two).await.ok()["pairs"][0]["exact"], 1.0);
}

#[tokio::test]
async fn stored_documents_and_others_are_compared_by_the_schema_of_the_collection() {
    let lab = Lab::filled("documents").await;
    let request = json!({"collection": "texts", "documents": [{"id": "d1"}, {"id": "d2"}, {"document": {"fields": {"body": text(1)}}}]});
    let answer = lab.ask("POST", "/compare", request).await.ok();
    assert_eq!(
        (&answer["pairs"][0]["exact"], &answer["pairs"][1]["exact"]),
        (&json!(38.0 / 42.0), &json!(1.0))
    );
    for (request, status, part) in [
        (json!({"documents": [{"id": "d1"}, {"id": "d2"}]}), 400, "`collection` must name"),
        (json!({"collection": "texts", "documents": [{"id": "d1"}]}), 400, "two or three"),
        (json!({"collection": "texts", "documents": [{"id": "d1"}, {}]}), 400, "either `document` or `id`"),
        (json!({"collection": "texts", "documents": [{"id": "d1"}, {"id": "x"}]}), 404, "`x`"),
        (
            json!({"collection": "texts", "fields": {"b": {"kind": "text"}}, "documents": []}),
            400,
            "either `collection` or `fields`",
        ),
    ] {
        let answer = lab.ask("POST", "/compare", request).await;
        assert_eq!(answer.status.as_u16(), status, "{}", answer.text());
        assert!(answer.text().contains(part), "{part} is not in {}", answer.text());
    }
}

#[tokio::test]
async fn a_plan_is_made_or_says_what_would_have_to_give() {
    let lab = Lab::new();
    let plan = lab.ask("POST", "/plan", json!({"trade_off": true})).await.ok();
    assert_eq!((&plan["met"], &plan["message"]), (&json!(true), &json!("128 registers of 8 bits, 18 x 7")));
    assert_eq!((&plan["chosen"]["bands"], &plan["chosen"]["keep"]), (&json!(18), &json!("b8")));
    assert_eq!(plan["curve"].as_array().unwrap().len(), 101);
    assert!(plan["trade_off"].as_array().unwrap().len() >= 5);
    let keeps: Vec<&str> =
        plan["alternatives"].as_array().unwrap().iter().map(|one| one["keep"].as_str().unwrap()).collect();
    assert!(["full", "b1", "b8", "odd"].iter().all(|keep| keeps.contains(keep)), "{keeps:?}");
    let short =
        lab.ask("POST", "/plan", json!({"documents": 1_000_000_000u64, "memory": 1_000_000})).await.ok();
    assert!(short["met"] == false && !short["remedies"].as_array().unwrap().is_empty(), "{short}");
    lab.ask("POST", "/plan", json!({"threshold": 2})).await.fails(400, "bad_request", "threshold");
}
