//! Collections on Redis as a user meets them: the binary, and a real server at a free port of this machine.

use crate::bench::Bench;
use crate::redis_server::Server;
use crate::serve::Running;

#[test]
fn the_commands_of_the_guide_run() {
    let (bench, server) = (Bench::new(), Server::start(&[]));
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/redis.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let calls: Vec<&str> = guide.lines().filter_map(|line| line.strip_prefix("benzer ")).collect();
    assert!(calls.len() >= 5, "{calls:?}");
    for call in calls {
        let call =
            call.replace("examples/", "").replace("localhost:6379", &format!("localhost:{}", server.port));
        bench.run(call.trim()).ok();
    }
}

#[test]
fn what_is_indexed_is_found_moved_exported_and_dropped() {
    let (bench, server) = (Bench::new(), Server::start(&[]));
    let run = |line: &str| bench.run(&format!("{line} --db {}", server.url()));
    let told =
        run("index news articles.jsonl --text text --batch 37 --expected-documents 5000 --format json")
            .json();
    assert_eq!((told["inserted"].as_u64(), told["documents"].as_u64()), (Some(200), Some(200)));
    bench.run("index news articles.jsonl --text text").ok();
    let search =
        |db: &str| bench.run(&format!("search news --id trains-16 --explain --format json{db}")).ok().out;
    let on_redis = || search(&format!(" --db {}", server.url()));
    // The same answer as from disk, to the last digit.
    assert_eq!(on_redis(), search(""));
    let again = run("index news articles.jsonl --continue --format json").json();
    assert_eq!((again["inserted"].as_u64(), again["passed"].as_u64()), (Some(0), Some(200)));
    let stats = run("collections reshard news --expected-documents 100000 --format json").json();
    assert_eq!(stats["documents"].as_u64(), Some(200));
    assert_eq!(on_redis(), search(""));
    assert!(run("verify").ok().out.contains("news: whole, 200 documents"));
    run("collections compact news").ok();
    assert!(run("collections list").ok().out.contains("news"));
    // Out, and in again, here and there.
    run("collections export news -o news.benzer").ok();
    run("collections import copy news.benzer").ok();
    bench.run("collections import copy news.benzer").ok();
    assert!(run("verify copy").ok().out.contains("copy: whole, 200 documents"));
    run("collections drop news").ok();
    run("search news --id trains-16").fails(1, &["there is no collection `news`"]);
    run("collections drop copy").ok();
    assert_eq!(server.ask("DBSIZE"), ":0");
}

#[test]
fn the_address_may_come_from_the_environment() {
    let (bench, server) = (Bench::new(), Server::start(&["--requirepass", "secret"]));
    let with = |line: &str, db: &str| {
        let mut command = bench.command(&line.split_whitespace().collect::<Vec<_>>());
        command.env("BENZER_DB", db);
        bench.run_with(command, b"")
    };
    let db = format!("redis://:secret@localhost:{}?retry=2", server.port);
    with("index news articles.jsonl --text text", &db).ok();
    assert!(with("collections stats news", &db).ok().out.contains("200"));
    let wrong = with("collections list", &db.replace("secret", "wrong"));
    wrong.fails(1, &["refuses the password"]);
    // Errors do not tell the password.
    let missing = with("index other articles.jsonl", &db);
    assert!(missing.code == 2 && !missing.err.contains("secret"), "{missing:?}");
}

#[test]
fn damage_is_found_and_repaired() {
    let (bench, server) = (Bench::new(), Server::start(&[]));
    let run = |line: &str| bench.run(&format!("{line} --db {}", server.url()));
    run("index news articles.jsonl --text text --expected-documents 1000").ok();
    let keys = server.ask("KEYS *:p*");
    let block = keys.lines().find(|line| line.starts_with("benzer:")).unwrap();
    assert_eq!(server.ask(&format!("DEL {block}")), ":1");
    let verified = run("verify news");
    assert!(verified.code == 1 && verified.out.contains("not found by all of its bands"), "{verified:?}");
    let repaired = run("repair news").ok().out;
    assert!(repaired.contains("made again from the records"), "{repaired}");
    run("verify").ok();
}

#[test]
fn what_cannot_be_is_told_with_the_remedy() {
    let (bench, server) = (Bench::new(), Server::start(&[]));
    let url = server.url();
    bench.run(&format!("collections list --db {url}&wait=x")).fails(2, &["wait"]);
    bench.run(&format!("collections list --db {url}&tiemout=1")).fails(2, &["tiemout", "timeout"]);
    bench.run("collections list --db redis://").fails(2, &["HOST"]);
    bench.run("collections list --db mysql://here").fails(2, &["redis://"]);
    bench
        .run("collections list --db redis://localhost:1?retry=0.2")
        .fails(1, &["localhost:1", "does not answer"]);
    bench.run("collections list --redis-wait 1").fails(2, &["--redis-wait", "benzer-data"]);
    bench.run("index news articles.jsonl --text text").ok();
    bench.run("collections reshard news --expected-documents 10").fails(2, &["Redis"]);
    let waited = format!("index news articles.jsonl --text text --redis-wait 1 --db {url}&timeout=1");
    bench.run(&waited).fails(1, &["replicas", "again"]);
}

#[test]
fn a_server_on_redis_says_when_redis_is_gone_and_goes_on_when_it_is_back() {
    let (bench, mut redis) = (Bench::in_memory(), Server::start(&["--appendonly", "yes"]));
    let db = format!("redis://localhost:{}?retry=1&timeout=1", redis.port);
    let mut server = Running::start(&bench, &format!("--db {db} --log-level off"));
    assert_eq!(server.ask("PUT", "/collections/a", "", r#"{"fields": {"body": {"kind": "text"}}}"#).0, 201);
    let batch = r#"[{"id": "x", "fields": {"body": "a text that stays"}}, {"id": "y", "fields": {"body": "a text that stays"}}]"#;
    assert_eq!(server.ask("POST", "/collections/a/documents", "", batch).0, 200);
    let search = || server.ask("POST", "/collections/a/search", "", r#"{"id": "x"}"#);
    let (status, found) = search();
    assert!(status == 200 && found.contains(r#""id":"y""#), "{status} {found}");
    redis.kill();
    let (status, refused) = search();
    assert!(status == 503 && refused.contains("store_unavailable"), "{status} {refused}");
    assert!(!refused.contains("localhost"), "{refused}");
    assert_eq!(server.ask("GET", "/readyz", "", "").0, 503);
    assert_eq!(server.ask("GET", "/healthz", "", "").0, 200);
    let (status, metrics) = server.ask("GET", "/metrics", "", "");
    assert!(status == 200 && metrics.contains("benzer_requests"), "{status} {metrics}");
    redis.restart();
    let (status, found) = search();
    assert!(status == 200 && found.contains(r#""id":"y""#), "{status} {found}");
    assert_eq!(server.ask("GET", "/readyz", "", "").0, 200);
    assert_eq!(server.stop(), 0);
}
