//! The page is whole: everything that it names is in the binary, and nothing outside.

use axum::body::Body;
use axum::http::Request;
use benzer_server::routes::page::FILES;

use crate::lab::Lab;

#[tokio::test]
async fn every_file_that_is_named_is_there() {
    let lab = Lab::new();
    for file in FILES {
        let answer = lab.get(file.path).await;
        assert_eq!(answer.status, 200, "{}", file.path);
        let text = answer.text();
        let quoted = text.split('"').filter(|part| part.starts_with("/ui/") || part.starts_with("./"));
        for name in quoted.map(|name| name.replacen("./", "/ui/", 1)) {
            assert!(FILES.iter().any(|file| file.path == name), "{name} in {}", file.path);
        }
        for outside in ["http://", "https://", "@import", "eval(", "innerHTML", "style=\""] {
            let is_namespace = outside == "http://"
                && text.matches(outside).count() == text.matches("http://www.w3.org/").count();
            assert!(is_namespace || !text.contains(outside), "{outside} in {}", file.path);
        }
    }
}

#[tokio::test]
async fn a_browser_that_has_a_file_is_not_sent_it_again() {
    let lab = Lab::new();
    let tag = lab.get("/ui/app.js").await.headers["etag"].clone();
    let again =
        lab.send(Request::get("/ui/app.js").header("if-none-match", tag).body(Body::empty()).unwrap()).await;
    assert_eq!((again.status.as_u16(), again.bytes.len()), (304, 0));
}
