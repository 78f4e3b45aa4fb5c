//! Collections with pictures, as base64 and in parts.
#![cfg(feature = "image")]

use benzer_core::field::image::encode;
use serde_json::{Value, json};

use crate::lab::Lab;

fn example(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

async fn shop() -> Lab {
    let lab = Lab::new();
    let fields = json!({"photo": {"kind": "image"}});
    lab.ask("PUT", "/collections/shop", json!({"fields": fields})).await.ok();
    let documents = json!([
        {"id": "bay", "fields": {"photo": encode(&example("bay.png"))}},
        {"id": "hills", "fields": {"photo": format!("data:image/png;base64,{}", encode(&example("hills.png")))}},
        {"id": "broken", "fields": {"photo": "AAAA"}},
    ]);
    let answer = lab.ask("POST", "/collections/shop/documents", documents).await.ok();
    assert_eq!((&answer["inserted"], &answer["rejected"]), (&json!(2), &json!(1)));
    let why = answer["results"][2]["error"]["message"].as_str().unwrap();
    assert!(why.contains("field `photo`: not a picture"), "{why}");
    lab
}

async fn found(lab: &Lab, file: &str) -> Value {
    let document = json!({"fields": {"photo": encode(&example(file))}});
    let answer =
        lab.ask("POST", "/collections/shop/search", json!({"document": document, "explain": true})).await;
    answer.ok()["matches"].clone()
}

#[tokio::test]
async fn a_part_of_a_picture_finds_it_and_says_by_how_many_points() {
    let lab = shop().await;
    let matches = found(&lab, "bay-part.jpg").await;
    assert_eq!(matches.as_array().unwrap().len(), 1);
    assert_eq!(matches[0]["id"], "bay");
    let why = matches[0]["fields"][0]["explanation"]["shared"][0]["text"].as_str().unwrap();
    assert!(why.contains("lie upon each other: turned by"), "{why}");
    let points = matches[0]["fields"][0]["explanation"]["points"].as_array().unwrap();
    assert!(
        points.len() >= 8 && points.iter().all(|point| point.as_array().unwrap().len() == 4),
        "{points:?}"
    );
}

#[tokio::test]
async fn a_document_comes_in_parts() {
    let lab = shop().await;
    let mut body = b"--mark\r\nContent-Disposition: form-data; name=\"document\"\r\n\r\n{\"id\": \"small\"}\r\n--mark\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"b.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n".to_vec();
    body.extend(example("bay-small.jpg"));
    body.extend(b"\r\n--mark--\r\n");
    let kind = "multipart/form-data; boundary=mark";
    let answer = lab.raw("POST", "/collections/shop/documents", kind, body.clone()).await.ok();
    assert_eq!(answer["inserted"], 1);
    let ids: Vec<Value> =
        found(&lab, "bay.png").await.as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
    assert_eq!(ids, ["bay", "small"]);
    body.truncate(body.len() - 10);
    lab.raw("POST", "/collections/shop/documents", kind, body).await.fails(400, "bad_request", "boundary");
}

#[tokio::test]
async fn pictures_of_too_many_pixels_are_refused() {
    let lab = Lab::new();
    let with = |pixels: u64| json!({"fields": {"photo": {"kind": "image", "pixels": pixels}}});
    lab.ask("PUT", "/collections/huge", with(1 << 40)).await.fails(
        400,
        "bad_request",
        "`pixels` must be at most",
    );
    lab.ask("PUT", "/collections/tiny", with(1000)).await.ok();
    let documents = json!([{"id": "bay", "fields": {"photo": encode(&example("bay.png"))}}]);
    let answer = lab.ask("POST", "/collections/tiny/documents", documents).await.ok();
    let why = answer["results"][0]["error"]["message"].as_str().unwrap();
    assert!(why.contains("76800 pixels, and at most 1000"), "{why}");
}

#[tokio::test]
async fn thumbnails_have_bands_of_their_own() {
    let lab = Lab::new();
    let fields = json!({"photo": {"kind": "image", "features": "thumbnail"}});
    lab.ask("PUT", "/collections/shop", json!({"fields": fields})).await.ok();
    let documents = json!([
        {"id": "bay", "fields": {"photo": encode(&example("bay.png"))}},
        {"id": "hills", "fields": {"photo": encode(&example("hills.png"))}},
    ]);
    lab.ask("POST", "/collections/shop/documents", documents).await.ok();
    let matches = found(&lab, "bay-small.jpg").await;
    assert_eq!(matches.as_array().unwrap().len(), 1, "{matches}");
    assert_eq!(matches[0]["id"], "bay");
}

#[tokio::test]
async fn products_have_titles_tags_and_pictures() {
    let lab = Lab::new();
    let fields = json!({"title": {"kind": "text", "n": 1}, "tags": {"kind": "values"}, "photo": {"kind": "image", "features": "thumbnail", "weight": 2}});
    lab.ask("PUT", "/collections/products", json!({"fields": fields, "threshold": 0.7})).await.ok();
    let product = |id: &str, title: &str, photo: &str| json!({"id": id, "fields": {"title": title, "tags": ["print", "wall"], "photo": encode(&example(photo))}});
    let documents =
        json!([product("1", "a bay by night", "bay.png"), product("2", "green hills", "hills.png")]);
    assert_eq!(lab.ask("POST", "/collections/products/documents", documents).await.ok()["inserted"], 2);
    let probe = product("x", "a bay by day", "bay-small.jpg");
    let asked = json!({"document": {"fields": probe["fields"]}});
    let matches = lab.ask("POST", "/collections/products/search", asked).await.ok()["matches"].clone();
    assert_eq!(matches.as_array().unwrap().len(), 1, "{matches}");
    assert_eq!(matches[0]["id"], "1");
    assert_eq!(matches[0]["fields"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_catalogue_is_searched_by_a_picture_a_title_or_both() {
    let lab = Lab::new();
    let fields =
        json!({"title": {"kind": "text", "n": 1}, "tags": {"kind": "values"}, "photo": {"kind": "image"}});
    lab.ask("PUT", "/collections/shop", json!({"fields": fields})).await.ok();
    let again = lab.ask("PUT", "/collections/shop", json!({"fields": fields, "threshold": 0.8})).await;
    assert_eq!(again.status.as_u16(), 200);
    let one = |id: &str, title: &str, file: &str| json!({"id": id, "fields": {"title": title, "tags": ["wall"], "photo": encode(&example(file))}});
    let documents = json!([
        one("bay", "a framed print of a bay", "bay.png"),
        one("card", "postcard", "bay-part.jpg"),
        one("hills", "green hills", "hills.png")
    ]);
    assert_eq!(lab.ask("POST", "/collections/shop/documents", documents).await.ok()["inserted"], 3);
    let lab = &lab;
    let ids = async |request: Value| {
        let answer = lab.ask("POST", "/collections/shop/search", request).await.ok();
        assert!(answer["recall"].as_f64().unwrap() > 0.9 && answer["warnings"] == json!([]), "{answer}");
        let ids = answer["matches"].as_array().unwrap().iter().map(|found| found["id"].clone());
        ids.collect::<Vec<Value>>()
    };
    let photo = encode(&example("bay-small.jpg"));
    assert_eq!(ids(json!({"document": {"fields": {"photo": photo}}})).await, ["bay", "card"]);
    assert_eq!(
        ids(json!({"document": {"fields": {"photo": photo}}, "fields": ["photo"]})).await,
        ["bay", "card"]
    );
    assert_eq!(ids(json!({"id": "card"})).await, ["bay"]);
    assert_eq!(
        ids(json!({"document": {"fields": {"title": "green hills", "tags": ["wall"]}}})).await,
        ["hills"]
    );
    let pairs = lab.get("/collections/shop/duplicates").await.lines();
    assert_eq!(pairs.len(), 1, "{pairs:?}");
    assert_eq!((&pairs[0]["a"], &pairs[0]["b"]), (&json!("bay"), &json!("card")));
    let compared = json!({"collection": "shop", "documents": [{"id": "bay"}, {"id": "card"}]});
    let compared = lab.ask("POST", "/compare", compared).await.ok();
    let photo =
        compared["fields"].as_array().unwrap().iter().find(|field| field["field"] == "photo").unwrap();
    assert_eq!(compared["pairs"][0]["exact"], photo["pairs"][0]["exact"]["jaccard"], "{compared}");
}
