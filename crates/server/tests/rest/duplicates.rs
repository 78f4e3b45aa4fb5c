//! Duplicates are streamed, as pairs or clusters.

use crate::lab::Lab;

#[tokio::test]
async fn pairs_come_line_by_line() {
    let lab = Lab::filled("documents").await;
    let answer = lab.get("/collections/texts/duplicates").await;
    assert_eq!(answer.headers["content-type"], "application/x-ndjson");
    let lines = answer.lines();
    assert!(lines.len() >= 19, "{}", lines.len());
    assert!(
        lines.iter().all(|line| line["estimate"]["value"]["value"].as_f64().unwrap() >= 0.8),
        "{lines:?}"
    );
    assert!(lines.iter().any(|line| line["a"] == "d4" && line["b"] == "d5"));
    let fewer = lab.get("/collections/texts/duplicates?threshold=0.9").await.lines();
    assert!(!fewer.is_empty() && fewer.len() < lines.len());
    assert_eq!(lab.get("/collections/texts/duplicates?limit=3").await.lines(), lines[..3]);
}

#[tokio::test]
async fn clusters_come_largest_first_and_have_no_chains() {
    let lab = Lab::filled("documents").await;
    let lines = lab.get("/collections/texts/duplicates?as=clusters").await.lines();
    assert!(lines.len() > 2, "{lines:?}");
    let sizes: Vec<usize> = lines.iter().map(|line| line["members"].as_array().unwrap().len()).collect();
    assert!(sizes.is_sorted_by(|a, b| a >= b) && sizes[0] < 10, "{sizes:?}");
    assert_eq!(lab.get("/collections/texts/duplicates?as=clusters&limit=1").await.lines(), lines[..1]);
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_before_the_stream_begins() {
    let lab = Lab::filled("documents").await;
    lab.get("/collections/texts/duplicates?threshold=0").await.fails(400, "bad_request", "threshold");
    lab.get("/collections/texts/duplicates?as=quads").await.fails(400, "bad_request", "quads");
    lab.get("/collections/none/duplicates").await.fails(404, "collection_not_found", "`none`");
}
