//! The OpenAPI document describes every route, and metrics count them.

use serde_json::Value;

use crate::lab::Lab;

#[tokio::test]
async fn the_description_names_every_route_with_its_errors() {
    let api = Lab::new().get("/openapi.json").await.ok();
    assert!(api["openapi"].as_str().unwrap().starts_with("3.1"), "{}", api["openapi"]);
    let operations: Vec<String> = api["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, methods)| {
            methods.as_object().unwrap().keys().map(move |method| format!("{method} {path}"))
        })
        .collect();
    for expected in [
        "get /collections",
        "put /collections/{name}",
        "get /collections/{name}",
        "delete /collections/{name}",
        "get /collections/{name}/stats",
        "post /collections/{name}/documents",
        "get /collections/{name}/documents",
        "get /collections/{name}/documents/{id}",
        "delete /collections/{name}/documents/{id}",
        "get /collections/{name}/documents/{id}/sketch",
        "post /collections/{name}/search",
        "get /collections/{name}/duplicates",
        "post /compare",
        "post /plan",
        "get /healthz",
        "get /readyz",
        "get /metrics",
    ] {
        assert!(operations.iter().any(|one| one == expected), "{expected} is not in {operations:?}");
    }
    let missing: Vec<&str> =
        references(&api).into_iter().filter(|name| api["components"]["schemas"][name].is_null()).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for methods in api["paths"].as_object().unwrap().values() {
        for operation in methods.as_object().unwrap().values() {
            assert!(!operation["summary"].as_str().unwrap_or_default().is_empty(), "{operation}");
        }
    }
}

#[tokio::test]
async fn every_operation_has_a_name_of_its_own() {
    let api = Lab::new().get("/openapi.json").await.ok();
    let methods =
        api["paths"].as_object().unwrap().values().flat_map(|methods| methods.as_object().unwrap().values());
    let mut names: Vec<&str> = methods.map(|operation| operation["operationId"].as_str().unwrap()).collect();
    names.sort_unstable();
    let expected = [
        "collection_stats",
        "compare",
        "create_collection",
        "document_sketch",
        "duplicates",
        "healthz",
        "insert_documents",
        "list_collections",
        "list_documents",
        "metrics",
        "plan",
        "read_collection",
        "read_document",
        "readyz",
        "remove_collection",
        "remove_document",
        "search",
    ];
    assert_eq!(names, expected);
}

#[tokio::test]
async fn parameters_that_nobody_reads_are_refused() {
    let lab = Lab::filled("documents").await;
    lab.get("/collections?limit=3").await.fails(
        400,
        "bad_request",
        "`GET /collections` takes no parameters, got `?limit=3`",
    );
    let search =
        lab.ask("POST", "/collections/texts/search?threshold=0.1", serde_json::json!({"id": "d0"})).await;
    search.fails(400, "bad_request", "got `?threshold=0.1`");
    lab.get("/collections/texts/duplicates?limit=0").await.fails(
        400,
        "bad_request",
        "`limit` must be at least 1",
    );
    lab.get("/collections/texts/documents?limit=3").await.ok();
}

/// The names of all schemas that are referred to.
fn references(value: &Value) -> Vec<&str> {
    match value {
        Value::Object(map) => map
            .iter()
            .flat_map(|(key, value)| match value.as_str() {
                Some(text) if key == "$ref" => vec![text.rsplit('/').next().unwrap_or_default()],
                _ => references(value),
            })
            .collect(),
        Value::Array(list) => list.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn metrics_count_requests_documents_and_candidates() {
    let lab = Lab::filled("documents").await;
    lab.ask("POST", "/collections/texts/search", serde_json::json!({"id": "d5"})).await.ok();
    lab.get("/nowhere/at/all").await;
    let metrics = lab.get("/metrics").await.text();
    for part in [
        "benzer_requests_total{method=\"POST\",route=\"/collections/{name}/search\",status=\"200\"} 1",
        "benzer_requests_total{method=\"GET\",route=\"other\",status=\"404\"} 1",
        "benzer_request_seconds_count{method=\"POST\",route=\"/collections/{name}/documents\"} 1",
        "benzer_documents{collection=\"texts\"} 20",
        "benzer_documents_inserted_total 20",
        "benzer_search_candidates_count 1",
        "benzer_store_seconds_count{operation=\"search\"} 1",
        "benzer_store_seconds_count{operation=\"insert\"} 1",
        "benzer_verify_rejects_total",
    ] {
        assert!(metrics.contains(part), "{part} is not in\n{metrics}");
    }
}
