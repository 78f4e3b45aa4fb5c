//! S3 through a proxy that cuts connections, and one that forbids.

use crate::lab::{Lab, assert_same, lasting};
use crate::proxy::{Proxy, Trouble};
use crate::server::Server;

#[test]
fn answers_that_break_off_go_on_where_they_broke_off() {
    let lab = Lab::with_corpus();
    let server = Server::start(&["corpus", "results"]);
    server.fill("corpus/data/", &lab.contents("data"));
    let proxy = Proxy::start(server.port, Trouble { cut_after: Some(40_000), ..Trouble::default() });
    let variables = Server::variables(proxy.port);
    lab.run("dedup data -o here", &[]).ok();
    lab.run("dedup s3://corpus/data -o s3://results/clean", &variables).ok();
    assert!(proxy.n_cut() >= 10, "only {} answers were cut", proxy.n_cut());
    assert_same(&lasting(lab.contents("here")), &lasting(server.contents("results", "clean/")));
}

#[test]
fn an_interrupted_upload_is_resumed_with_what_is_missing() {
    let lab = Lab::with_corpus();
    let server = Server::start(&["results"]);
    let proxy = Proxy::start(server.port, Trouble { deny: Some("manifest.json"), ..Trouble::default() });
    let variables = Server::variables(proxy.port);
    let line = "dedup data -o s3://results/clean --work-dir work";
    lab.run(line, &variables)
        .fails(1, &["cannot write `s3://results/clean/manifest.json`", "access denied", "AWS_ACCESS_KEY_ID"]);
    let sent = server.contents("results", "clean/");
    assert!(sent.len() > 5 && !sent.contains_key("manifest.json"), "{:?}", sent.keys());

    proxy.calm();
    // One object has changed since.
    server.ask("PUT", "results/clean/pairs.parquet", b"something else");
    let ran = lab.run(&format!("{line} --resume"), &variables).ok();
    assert!(ran.out.contains("upload"), "{}", ran.out);
    let mut puts: Vec<_> = proxy.requests();
    puts.retain(|request| request.starts_with("PUT"));
    puts.sort();
    assert_eq!(puts.len(), 2, "{puts:?}");
    assert!(puts[0].contains("manifest.json") && puts[1].contains("pairs.parquet"), "{puts:?}");
    lab.run("dedup data -o here", &[]).ok();
    assert_same(&lasting(lab.contents("here")), &lasting(server.contents("results", "clean/")));
    assert!(!lab.path("work").exists());
}
