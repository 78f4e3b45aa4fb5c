//! S3, with nothing in the way.

use crate::lab::{Lab, assert_same, lasting};
use crate::server::Server;

#[test]
fn from_store_to_store_gives_the_bytes_of_a_local_run() {
    let lab = Lab::with_corpus();
    let server = Server::start(&["corpus", "results"]);
    server.fill("corpus/data/", &lab.contents("data"));
    let variables = Server::variables(server.port);
    lab.run("dedup data -o here", &[]).ok();
    let ran = lab.run("dedup s3://corpus/data -o s3://results/clean", &variables).ok();
    assert!(ran.out.contains("s3://results/clean/documents"), "{}", ran.out);
    let here = lasting(lab.contents("here"));
    assert!(here["documents/large.jsonl"].len() > 8 << 20, "large enough for an upload in parts");
    assert!(here.contains_key("documents/year=2024/month=01/part 0.parquet"), "{:?}", here.keys());
    assert_same(&here, &lasting(server.contents("results", "clean/")));
    let left: Vec<_> =
        std::fs::read_dir(lab.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("work")), "{left:?}");

    // With little memory all goes over the disk, and inputs are read twice.
    lab.run("dedup s3://corpus/data/ -o little --checkpoint 1 --memory 300MiB --threads 1", &variables).ok();
    assert_same(&here, &lasting(lab.contents("little")));
}

#[test]
fn results_are_not_overwritten_unless_asked_and_then_nothing_old_stays() {
    let lab = Lab::with_corpus();
    let server = Server::start(&["box"]);
    server.fill("box/in/", &lab.contents("data"));
    let variables = Server::variables(server.port);
    let run = |line: &str| lab.run(line, &variables);
    run("dedup s3://box/in -o s3://box/out").ok();
    let first = server.contents("box", "out/");
    run("dedup s3://box/in/lines.jsonl.gz -o s3://box/out")
        .fails(1, &["`s3://box/out/` holds the results", "--overwrite"]);
    run("dedup s3://box/in/lines.jsonl.gz -o s3://box/in").fails(1, &["`s3://box/in/` holds other files"]);
    run("dedup s3://box/in/table.arrow -o s3://box/in --overwrite")
        .fails(1, &["`s3://box/in` holds an input"]);
    assert_same(&first, &server.contents("box", "out/"));
    run("dedup s3://box/in/lines.jsonl.gz -o s3://box/out --overwrite").ok();
    let documents: Vec<_> = server.contents("box", "out/documents/").into_keys().collect();
    assert_eq!(documents, ["lines.jsonl.gz"]);
    // The results of an earlier run are below the input, and not read.
    let ran = run("dedup s3://box -o s3://box/out --overwrite --dry-run --format json").ok();
    assert!(ran.err.contains("results of an earlier run"), "{}", ran.err);
    assert!(ran.out.contains("\"read\": 9000"), "{}", ran.out);
}

#[test]
fn globs_files_and_folders_are_found() {
    let lab = Lab::with_corpus();
    let server = Server::start(&["box"]);
    server.fill("box/", &lab.contents("data"));
    let variables = Server::variables(server.port);
    let read = |inputs: &str| {
        let ran = lab.run(&format!("sketch {inputs} -o x.bsk --format json"), &variables).ok();
        let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        json["documents"].as_u64().unwrap()
    };
    assert_eq!(read("s3://box"), 9000);
    assert_eq!(read("s3://box/year=2024"), 3000);
    assert_eq!(read("s3://box/*.jsonl*"), 4500);
    assert_eq!(read("s3://box/**/*.jsonl.*"), 3000);
    assert_eq!(
        read("s3://box/year=2024/lines.jsonl.zst s3://box/year=2024/*.zst"),
        1500,
        "the same file twice"
    );
    let csv = "s3://box/*.csv";
    lab.run(&format!("sketch {csv} -o x.bsk"), &variables).fails(1, &["no file matches `s3://box/*.csv`"]);
}

#[test]
fn what_is_missing_or_forbidden_is_told_with_the_remedy() {
    let lab = Lab::new();
    let server = Server::start(&["box"]);
    server.ask("PUT", "box/a.jsonl", b"{\"text\": \"to be\"}\n");
    let variables = Server::variables(server.port);
    let without = |names: &[&str]| -> Vec<(&str, String)> {
        variables.iter().filter(|(name, _)| !names.contains(name)).cloned().collect()
    };
    let run = |line: &str, variables: &[(&str, String)]| lab.run(line, variables);
    let bucket = ["there is no such bucket", "check its name, AWS_REGION"];
    run("dedup s3://none/a.jsonl -o x", &variables).fails(1, &bucket);
    run("dedup s3://box/a.jsonl -o s3://none/x", &variables).fails(1, &bucket);
    run("dedup s3://box/b.jsonl -o x", &variables)
        .fails(1, &["cannot open `s3://box/b.jsonl`", "check the spelling"]);
    run("dedup s3://box/a.jsonl -o x", &without(&["AWS_ALLOW_HTTP"])).fails(1, &["AWS_ALLOW_HTTP=true"]);
    let nobody = [("AWS_METADATA_ENDPOINT", "http://127.0.0.1:9".to_owned())];
    let anonymous = [&without(&["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])[..], &nobody].concat();
    run("dedup s3://box/a.jsonl -o x", &anonymous).fails(1, &["cannot open `s3://box/a.jsonl`"]);
    run("dedup ftp://box/a.jsonl -o x", &[]).fails(1, &["use s3://, gs://, az://, http:// or https://"]);
    run("dedup az://box/a.jsonl -o x", &[]).fails(1, &["no credentials", "AZURE_STORAGE_ACCOUNT_NAME"]);
    run("explain s3://box/x 1", &variables).fails(1, &["copy the results to this machine first"]);
}
