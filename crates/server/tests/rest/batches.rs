//! Batches: arrays and lines, compressed or not, with an answer for each document.

use std::io::Write;

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use crate::lab::{Lab, text};

async fn lab() -> Lab {
    let lab = Lab::new();
    lab.ask(
        "PUT",
        "/collections/c",
        json!({"fields": {"body": {"kind": "text", "n": 1}, "tags": {"kind": "values"}}}),
    )
    .await
    .ok();
    lab
}

#[tokio::test]
async fn every_document_has_an_answer_at_its_position() {
    let lab = lab().await;
    let batch = json!([
        {"id": "a", "fields": {"body": "some words", "tags": ["x", 5]}},
        {"id": "b", "fields": {"body": 7}},
        {"fields": {"body": "no id"}},
        {"id": "d", "fields": {"body": ["not", "text"]}},
        {"id": "e", "fields": {"tags": {"milk": 2}, "body": null}},
        "not a document"
    ]);
    let answer = lab.ask("POST", "/collections/c/documents", batch).await.ok();
    assert_eq!((&answer["inserted"], &answer["rejected"]), (&json!(2), &json!(4)));
    let statuses: Vec<&str> = answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["inserted", "rejected", "rejected", "rejected", "inserted", "rejected"]);
    let message = |i: usize| answer["results"][i]["error"]["message"].as_str().unwrap().to_owned();
    assert!(message(1).contains("expected text, a list"), "{}", message(1));
    assert!(message(2).contains("missing field `id`"), "{}", message(2));
    assert!(message(3).contains("field `body`"), "{}", message(3));
    assert_eq!(lab.get("/collections/c").await.ok()["documents"], 2);
}

#[tokio::test]
async fn lines_are_documents_and_a_bad_line_is_only_one() {
    let lab = lab().await;
    let lines = "{\"id\": \"a\", \"fields\": {\"body\": \"x\"}}\n\n{oops\n{\"id\": \"b\"}\r\n";
    let answer = lab.raw("POST", "/collections/c/documents", "application/x-ndjson", lines).await.ok();
    assert_eq!((&answer["inserted"], &answer["rejected"]), (&json!(2), &json!(1)));
    assert_eq!(answer["results"][1]["error"]["code"], "invalid_document");
}

#[tokio::test]
async fn an_id_that_is_there_is_replaced_and_one_can_be_removed() {
    let lab = lab().await;
    let put = |body: &str| json!([{"id": "a/ü?", "fields": {"body": body}}]);
    lab.ask("POST", "/collections/c/documents", put("first")).await.ok();
    lab.ask("POST", "/collections/c/documents", put("second")).await.ok();
    let path = "/collections/c/documents/a%2F%C3%BC%3F";
    assert_eq!(lab.get(path).await.ok(), json!({"id": "a/ü?", "fields": {"body": "second"}}));
    assert_eq!(lab.get("/collections/c").await.ok()["documents"], 1);
    assert_eq!(lab.delete(path).await.status, 204);
    lab.delete(path).await.fails(404, "document_not_found", "a/ü?");
    lab.get(path).await.fails(404, "document_not_found", "a/ü?");
}

#[tokio::test]
async fn bodies_may_be_compressed() {
    let lab = lab().await;
    let batch = |id: &str| json!([{"id": id, "fields": {"body": text(1)}}]).to_string();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(batch("gzip").as_bytes()).unwrap();
    let packed =
        [("gzip", gzip.finish().unwrap()), ("zstd", zstd::encode_all(batch("zstd").as_bytes(), 3).unwrap())];
    let send = |coding: &str, body: Vec<u8>| {
        let request = Request::post("/collections/c/documents").header("content-type", "application/json");
        lab.send(request.header("content-encoding", coding).body(Body::from(body)).unwrap())
    };
    for (coding, body) in &packed {
        assert_eq!(send(coding, body.clone()).await.ok()["inserted"], 1, "{coding}");
        send(coding, b"something else".to_vec()).await.fails(400, "bad_request", coding);
        let cut = body[..body.len() / 2].to_vec();
        send(coding, cut).await.fails(400, "bad_request", coding);
    }
    send("br", Vec::new()).await.fails(415, "unsupported_media_type", "gzip, zstd");
    assert_eq!(lab.get("/collections/c").await.ok()["documents"], 2);
}

#[tokio::test]
async fn what_is_no_list_of_documents_changes_nothing() {
    let lab = lab().await;
    for body in ["", "{", "{}", "[{\"id\": \"a\"}", "null"] {
        let answer = lab.raw("POST", "/collections/c/documents", "application/json", body).await;
        answer.fails(400, "invalid_json", "not a list of documents");
    }
    for kind in ["text/plain", "", "application/x-www-form-urlencoded"] {
        lab.raw("POST", "/collections/c/documents", kind, "[]").await.fails(
            415,
            "unsupported_media_type",
            "application/json",
        );
    }
    assert_eq!(lab.get("/collections/c").await.ok()["documents"], 0);
    assert_eq!(lab.ask("POST", "/collections/c/documents", json!([])).await.ok()["inserted"], 0);
}

#[tokio::test]
async fn a_document_can_have_a_time_to_live() {
    let lab = lab().await;
    let batch = json!([{"id": "short", "fields": {"body": text(1)}, "ttl": 0}, {"id": "long", "fields": {"body": text(1)}, "ttl": 1000}]);
    assert_eq!(lab.ask("POST", "/collections/c/documents", batch).await.ok()["inserted"], 2);
    let query = json!({"document": {"fields": {"body": text(1)}}, "fields": ["body"]});
    let found = lab.ask("POST", "/collections/c/search", query).await.ok();
    assert_eq!((found["matches"].as_array().unwrap().len(), &found["matches"][0]["id"]), (1, &json!("long")));
}

#[tokio::test]
async fn sketches_of_documents_are_given_register_by_register() {
    let lab = Lab::filled("sketches").await;
    let sketch = lab.get("/collections/texts/documents/d3/sketch").await.ok();
    assert_eq!((&sketch["id"], &sketch["fields"][0]["size"]), (&json!("d3"), &json!(40.0)));
    let registers = sketch["fields"][0]["registers"].as_array().unwrap();
    assert!(registers.len() == 128 && registers.iter().all(|register| register.as_u64().unwrap() < 256));
    let encoded = sketch["fields"][0]["encoded"].as_str().unwrap();
    let bytes: Vec<u8> =
        (0..encoded.len() / 2).map(|i| u8::from_str_radix(&encoded[2 * i..2 * i + 2], 16).unwrap()).collect();
    let decoded = benzer_core::sketch::Sketch::decode(&bytes).unwrap();
    assert_eq!(decoded.register(5).unwrap(), registers[5].as_u64().unwrap());
    lab.get("/collections/texts/documents/d3").await.fails(404, "document_not_kept", "sketches only");
    lab.get("/collections/texts/documents/x/sketch").await.fails(404, "document_not_found", "`x`");
}

#[tokio::test]
async fn documents_are_listed_page_by_page() {
    let lab = Lab::filled("documents").await;
    let (mut ids, mut from) = (Vec::new(), json!(0));
    while !from.is_null() {
        let page = lab.get(&format!("/collections/texts/documents?from={from}&limit=7")).await.ok();
        ids.extend(page["documents"].as_array().unwrap().iter().map(|one| one["id"].clone()));
        from = page["next"].clone();
    }
    assert_eq!(ids, (0..20).map(|i| json!(format!("d{i}"))).collect::<Vec<Value>>());
    lab.get("/collections/texts/documents?limit=0").await.fails(400, "bad_request", "between 1 and 1000");
    lab.get("/collections/texts/documents?page=2").await.fails(400, "bad_request", "page");
}

#[tokio::test]
async fn an_empty_id_is_refused_and_one_of_before_can_be_read_and_removed() {
    let lab = Lab::filled("documents").await;
    let answer = lab
        .ask("POST", "/collections/texts/documents", json!([{"id": "", "fields": {"body": "words"}}]))
        .await
        .ok();
    let why = answer["results"][0]["error"]["message"].as_str().unwrap();
    assert!(answer["inserted"] == 0 && why.contains("`id` must be a text that is not empty"), "{answer}");
    // As versions before this one took it.
    let index = lab.state.collections.get("texts").unwrap();
    let mut records = benzer_index::Records::default();
    let nameless =
        benzer_core::field::Document::new("", [("body", benzer_core::field::Content::from("words"))]);
    index.recorder().record(&nameless, 0, &mut records).unwrap();
    index.store().put(records).unwrap();
    let nameless = "/collections/texts/documents/";
    assert_eq!(lab.get(nameless).await.ok()["fields"]["body"], "words");
    assert_eq!(lab.delete(nameless).await.status.as_u16(), 204);
    lab.delete(nameless).await.fails(404, "document_not_found", "");
    assert_eq!(lab.get("/collections/texts").await.ok()["documents"], 20);
}
