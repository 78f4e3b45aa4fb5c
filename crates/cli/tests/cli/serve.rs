//! `benzer serve` and `benzer key` as processes: they listen, answer, stop cleanly, and refuse what is not safe.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::bench::Bench;

/// A server that runs until it is dropped.
pub struct Running {
    child: Child,
    address: String,
}

impl Running {
    pub fn start(bench: &Bench, arguments: &str) -> Self {
        let quiet = if arguments.contains("--log-level") { "" } else { "--log-level warn" };
        let line = format!("serve --listen 127.0.0.1:0 {quiet} --format json {arguments}");
        let mut command = bench.command(&line.split_whitespace().collect::<Vec<_>>());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
        let said: Value = serde_json::from_str(&first).unwrap_or_else(|_| panic!("{first:?}"));
        let address = said["url"].as_str().unwrap().split("://").nth(1).unwrap().to_owned();
        Self { child, address }
    }

    /// Status and body of an answer.
    pub fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{headers}\r\n{body}",
            self.address
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap_or_default().parse().unwrap_or_default();
        (status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }

    /// Tells it to stop, and waits; its exit code.
    pub fn stop(&mut self) -> i32 {
        let pid = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn what_was_acknowledged_is_there_after_a_restart() {
    let bench = Bench::in_memory();
    let mut server = Running::start(&bench, "--db data");
    assert_eq!(server.ask("PUT", "/collections/a", "", r#"{"fields": {"body": {"kind": "text"}}}"#).0, 201);
    let batch = json!([{"id": "x", "fields": {"body": "a text that stays"}}]).to_string();
    assert_eq!(server.ask("POST", "/collections/a/documents", "", &batch).0, 200);
    let _ = server.child.kill();
    let _ = server.child.wait();
    let mut server = Running::start(&bench, "--db data");
    let (status, body) = server.ask("GET", "/collections/a/documents/x", "", "");
    assert!(status == 200 && body.contains("a text that stays"), "{status} {body}");
    assert_eq!(server.stop(), 0);
    // The command line sees the same collection.
    let found = bench.run("search a --db data --id x --format json").json();
    assert_eq!(found["n_matches"], 0);
}

#[test]
fn the_sample_is_gone_when_the_server_ends_however_it_ends() {
    for ends_well in [true, false] {
        let bench = Bench::in_memory();
        let mut server = Running::start(&bench, "--demo");
        assert_eq!(server.ask("GET", "/collections/demo/documents/trains-16", "", "").0, 200);
        if ends_well {
            assert_eq!(server.stop(), 0);
        } else {
            let _ = server.child.kill();
            let _ = server.child.wait();
        }
        assert!(!bench.path("benzer-data").exists(), "the sample is left behind");
    }
    // A collection that has its name is the user's, and stays what it is.
    let bench = Bench::in_memory();
    bench.run("index demo today.jsonl --text text").ok();
    let mut server = Running::start(&bench, "--demo");
    let (_, told) = server.ask("GET", "/collections/demo", "", "");
    assert!(told.contains("\"documents\":5"), "{told}");
    assert_eq!(server.stop(), 0);
    assert_eq!(bench.run("collections stats demo --format json").json()["documents"], 5);
}

#[test]
fn a_request_in_flight_is_finished_before_the_server_ends() {
    let bench = Bench::in_memory();
    let mut server = Running::start(&bench, "--db memory:");
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // The head and half of the body are there when the server is told to stop.
    write!(stream, "POST /plan HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 20\r\n\r\n{{\"threshold\"").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let pid = server.child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    std::thread::sleep(Duration::from_millis(300));
    assert!(server.child.try_wait().unwrap().is_none(), "it did not wait for the request");
    write!(stream, ": 0.9 }} ").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn keys_are_made_listed_used_and_revoked() {
    let bench = Bench::in_memory();
    let key = bench.run("key create website --scope read --db data").ok().out.trim().to_owned();
    let listed = bench.run("key list --db data --format json").json();
    assert_eq!((&listed[0]["label"], &listed[0]["scopes"]), (&json!("website"), &json!(["read"])));
    assert!(!listed.to_string().contains(&key[12..]));
    let server = Running::start(&bench, "--db data");
    let asked =
        |key: &str| server.ask("GET", "/collections", &format!("authorization: Bearer {key}\r\n"), "").0;
    assert_eq!(
        (asked(&key), asked("bz_wrong"), server.ask("GET", "/collections", "", "").0),
        (200, 401, 401)
    );
    let id = listed[0]["id"].as_str().unwrap();
    bench.run(&format!("key revoke {id} --db data")).ok();
    let gone = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        asked(&key) == 401
    });
    assert!(gone, "the key still works");
    bench.run(&format!("key revoke {id} --db data")).fails(2, &["there is no key", "benzer key list"]);
    assert!(bench.run("key list --db data").ok().out.contains("there are no keys"));
}

#[test]
fn beyond_this_machine_a_key_is_needed() {
    let bench = Bench::in_memory();
    bench
        .run("serve --db data --listen 0.0.0.0:0 --check")
        .fails(2, &["without a key", "benzer key create", "127.0.0.1"]);
    bench.run("key create any --db data").ok();
    bench.run("serve --db data --listen 0.0.0.0:0 --check").ok();
}

#[test]
fn what_cannot_be_served_is_said_before_it_starts() {
    let bench = Bench::in_memory();
    bench.write("bad.pem", "not a certificate");
    bench.write("bad.json", "not keys");
    let half = bench.run("serve --db memory: --tls-cert bad.pem");
    assert!(half.code == 2 && half.err.contains("--tls-key"), "{half:?}");
    bench
        .run("serve --db memory: --tls-cert bad.pem --tls-key bad.pem --check")
        .fails(1, &["bad.pem", "PEM"]);
    bench.run("serve --db memory: --keys bad.json --check").fails(1, &["bad.json", "not a file of keys"]);
    bench.run("serve --db ftp://x --check").fails(2, &["ftp://x"]);
    bench.run("serve --db memory: --max-batch 0 --check").fails(2, &["--max-batch must be at least 1"]);
    bench.run("serve --db memory: --max-body 1GiB --check").fails(2, &["--max-bodies"]);
    bench.run("serve --db memory: --log-level loud --check").fails(2, &["--log-level", "loud"]);
    bench.run("serve --db memory: --listen 192.0.2.1:1 --keys bad.json --check").fails(1, &["bad.json"]);
}

#[test]
fn settings_come_from_flags_over_variables_over_the_file() {
    let bench = Bench::in_memory();
    bench.write("settings.toml", "[serve]\nlisten = \"127.0.0.1:1111\"\nmax-batch = 5\n");
    let checked = |extra: &str, variable: Option<&str>| {
        let line = format!("serve --db memory: --check --config settings.toml {extra}");
        let mut command = bench.command(&line.split_whitespace().collect::<Vec<_>>());
        variable.map(|value| command.env("BENZER_LISTEN", value));
        bench.run_with(command, b"").ok().out
    };
    assert!(checked("", None).contains("127.0.0.1:1111"));
    assert!(checked("", Some("127.0.0.1:2222")).contains("127.0.0.1:2222"));
    assert!(checked("--listen 127.0.0.1:3333", Some("127.0.0.1:2222")).contains("127.0.0.1:3333"));
}

#[test]
fn the_demo_has_something_to_look_at_and_logs_can_be_json() {
    let bench = Bench::in_memory();
    let mut server = Running::start(&bench, "--db memory: --demo --log-level info --log-format json");
    let (status, body) = server.ask("GET", "/collections/demo/duplicates?as=clusters", "", "");
    assert!(status == 200 && body.contains("\"leader\""), "{status} {body}");
    assert!(server.ask("GET", "/", "", "").1.contains("<title>Benzer</title>"));
    assert_eq!(server.stop(), 0);
    let mut log = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    let events: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events.iter().any(|event| event["path"] == "/" && event["status"] == 200), "{log}");
    assert!(events.iter().any(|event| event["message"] == "stopped"), "{log}");
}
