//! Servers that fail, refuse, or are not what they should be: bounded retries, then a clear error; afterwards the batch can be sent again.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::time::{Duration, Instant};

use super::lab::{Cluster, OPTIONS, Server, documents, free_port, is_whole, made, until};
use super::proxy::Proxy;
use crate::index::Index;
use crate::query::Query;
use crate::settings::Keeps;
use crate::store::Collections;
use crate::store::redis::OnRedis;

#[track_caller]
fn refused(url: &str, parts: &[&str]) {
    let told = OnRedis::new(url).map(drop).unwrap_err().to_string();
    parts.iter().for_each(|part| assert!(told.contains(part), "no {part:?} in {told}"));
    assert!(!told.contains("secret"), "{told}");
}

#[test]
fn a_restarted_server_is_waited_for_and_has_what_it_kept() {
    let mut server = Server::start(&["--appendonly", "yes", "--appendfsync", "always"]);
    let (collections, index) = made(&server.url(), "restart", Keeps::Sketches);
    index.insert(&documents(0..100)).unwrap();
    server.restart();
    index.insert(&documents(100..200)).unwrap();
    // Also one that is away for a while.
    server.kill();
    std::thread::scope(|scope| {
        let load = scope.spawn(|| index.insert(&documents(200..300)).unwrap());
        std::thread::sleep(Duration::from_millis(700));
        server.restart();
        load.join().unwrap();
    });
    is_whole(&collections, "restart", 300);
    assert_eq!(index.search_id("d250", &Query::default()).unwrap().matches.len(), 1);
}

/// What it had not saved is gone, and it gives the numbers of that out again, while writers still hold some of them.
#[test]
fn a_server_that_goes_back_to_its_snapshot_mixes_nothing_up() {
    let mut server = Server::start(&["--dbfilename", "dump.rdb"]);
    let (collections, one) = made(&server.url(), "back", Keeps::Documents);
    let other = Index::new(OnRedis::new(&server.url()).unwrap().open("back").unwrap()).unwrap();
    one.insert(&documents(0..200)).unwrap();
    other.insert(&documents(200..400)).unwrap();
    let () = server.ask(&["SAVE"]);
    one.insert(&documents(400..600)).unwrap();
    other.insert(&documents(600..800)).unwrap();
    server.restart();
    let after = documents(1000..3000);
    for (i, batch) in after.chunks(100).enumerate() {
        let writer = if i == 0 || i > 17 { &other } else { &one };
        writer.insert(batch).unwrap();
    }
    let all_there = || {
        for document in &after {
            assert_eq!(one.get(&document.id).unwrap().as_ref(), Some(document), "{}", document.id);
        }
        let answers = one.search_many(&after, &Query::default()).unwrap();
        assert!(answers.iter().all(|answer| answer.matches.len() == 1));
    };
    all_there();
    let report = collections.verify("back").unwrap();
    assert!(report.records.is_empty() && report.documents == 2400, "{report:?}");
    // What the lost documents have left goes, and theirs are not given out again.
    collections.repair("back").unwrap();
    one.insert(&documents(400..800)).unwrap();
    all_there();
    is_whole(&collections, "back", 2800);
}

/// Where no document came since, a repair is enough for those that are brought again.
#[test]
fn numbers_of_lost_documents_are_not_given_out_again_after_a_repair() {
    let mut server = Server::start(&["--dbfilename", "dump.rdb"]);
    let (collections, index) = made(&server.url(), "lost", Keeps::Documents);
    index.insert(&documents(0..200)).unwrap();
    let () = server.ask(&["SAVE"]);
    // Postings of lost documents, as other nodes of a cluster have them.
    let blocks: Vec<(String, Vec<u8>)> = {
        index.insert(&documents(200..400)).unwrap();
        let keys: Vec<String> = server.ask(&["KEYS", "benzer:{lost/*}:p*"]);
        keys.into_iter().map(|key| (key.clone(), server.ask(&["GET", &key]))).collect()
    };
    server.restart();
    let mut connection = server.connection();
    for (key, bytes) in blocks {
        let () = redis::cmd("SET").arg(key).arg(bytes).query(&mut connection).unwrap();
    }
    let report = collections.verify("lost").unwrap();
    assert!(report.derived.iter().any(|line| line.contains("numbers out again")), "{report:?}");
    collections.repair("lost").unwrap();
    index.insert(&documents(200..400)).unwrap();
    is_whole(&collections, "lost", 400);
    index.compact().unwrap();
    is_whole(&collections, "lost", 400);
}

#[test]
fn a_server_that_stays_away_is_an_error_after_a_bounded_time() {
    let mut server = Server::start(&["--appendonly", "yes", "--appendfsync", "always"]);
    let url = server.url().replace("retry=20", "retry=1");
    let (collections, index) = made(&url, "away", Keeps::Sketches);
    index.insert(&documents(0..50)).unwrap();
    server.kill();
    let start = Instant::now();
    let told = index.insert(&documents(50..100)).unwrap_err().to_string();
    assert!(told.contains("does not answer") && told.contains("again without harm"), "{told}");
    assert!(start.elapsed() < Duration::from_secs(15));
    refused(&url, &["does not answer"]);
    server.restart();
    index.insert(&documents(50..100)).unwrap();
    is_whole(&collections, "away", 100);
}

/// As after `docker compose up`, or while a link comes back.
#[test]
fn a_server_that_starts_a_moment_later_is_waited_for() {
    let mut server = Server::start(&["--appendonly", "yes", "--appendfsync", "always"]);
    let (_, index) = made(&server.url(), "late", Keeps::Sketches);
    index.insert(&documents(0..50)).unwrap();
    server.kill();
    let url = server.url();
    let opened = std::thread::spawn(move || OnRedis::new(&url).unwrap().list().unwrap());
    std::thread::sleep(Duration::from_millis(700));
    server.restart();
    assert_eq!(opened.join().unwrap(), ["late"]);
}

#[test]
fn a_server_that_says_nothing_is_given_up_on() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || listener.incoming().map(Result::unwrap).collect::<Vec<_>>());
    let start = Instant::now();
    refused(&format!("redis://127.0.0.1:{port}?timeout=0.3&retry=1"), &["does not answer"]);
    assert!(start.elapsed() < Duration::from_secs(15));
}

#[test]
fn a_server_that_stops_in_the_middle_is_given_up_on_and_found_again() {
    let server = Server::start(&[]);
    let url = server.url().replace("timeout=5&retry=20", "timeout=3&retry=4");
    let (collections, index) = made(&url, "stopped", Keeps::Documents);
    index.insert(&documents(0..100)).unwrap();
    server.signal("STOP");
    let start = Instant::now();
    let told = index.insert(&documents(100..200)).unwrap_err().to_string();
    assert!(told.contains("does not answer: nothing came back in time; tried for 4 s"), "{told}");
    // The second and third answer are not waited for beyond that time.
    assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
    assert!(index.search_id("d3", &Query::default()).is_err());
    server.signal("CONT");
    index.insert(&documents(100..200)).unwrap();
    is_whole(&collections, "stopped", 200);
}

/// There is room for a part of the batch: what was written of it is no document, and harms none.
#[test]
fn a_server_that_is_full_in_the_middle_of_a_batch_has_no_half_document() {
    let server = Server::start(&[]);
    let (collections, index) = made(&server.url(), "half", Keeps::Documents);
    index.insert(&documents(0..100)).unwrap();
    let used = || {
        let info: String = server.ask(&["INFO", "memory"]);
        let line = info.lines().find_map(|line| line.strip_prefix("used_memory:")).unwrap();
        line.trim().parse::<u64>().unwrap()
    };
    for room in [20_000, 60_000, 150_000] {
        let () = server.ask(&["CONFIG", "SET", "maxmemory", &(used() + room).to_string()]);
        let told = index.insert(&documents(100..3000)).unwrap_err().to_string();
        assert!(told.contains("no room"), "{told}");
        let () = server.ask(&["CONFIG", "SET", "maxmemory", "0"]);
        let report = collections.verify("half").unwrap();
        assert!(report.records.is_empty() && report.documents >= 100, "{report:?}");
        let answers = index.search_many(&documents(0..100), &Query::default()).unwrap();
        assert!(answers.iter().all(|answer| answer.matches.len() == 1));
    }
    index.insert(&documents(100..3000)).unwrap();
    is_whole(&collections, "half", 3000);
}

#[test]
fn cut_connections_are_made_again() {
    let server = Server::start(&[]);
    let proxy = Proxy::start(server.port);
    let url = server.url().replace(&server.port.to_string(), &proxy.port.to_string());
    let (collections, index) = made(&url, "cut", Keeps::Documents);
    let all = documents(0..300);
    index.insert(&all[..100]).unwrap();
    for cut in [0, 1, 700, 40_000] {
        proxy.cut_after(cut);
        index.insert(&all[100..]).unwrap();
        proxy.cut_after(cut);
        let answers = index.search_many(&all, &Query::default()).unwrap();
        assert!(answers.iter().all(|answer| answer.matches.len() == 1));
    }
    assert!(proxy.n_cut() >= 5, "{}", proxy.n_cut());
    is_whole(&collections, "cut", 300);
    proxy.set_down(true);
    let down = url.replace("retry=20", "retry=1");
    refused(&down, &["does not answer"]);
    proxy.set_down(false);
    assert_eq!(index.search_many(&all[..1], &Query::default()).unwrap()[0].matches.len(), 1);
}

#[test]
fn a_full_server_refuses_the_batch_and_takes_it_when_there_is_room() {
    let server = Server::start(&[]);
    let (collections, index) = made(&server.url(), "full", Keeps::Documents);
    index.insert(&documents(0..100)).unwrap();
    let () = server.ask(&["CONFIG", "SET", "maxmemory", "1mb"]);
    let told = index.insert(&documents(100..300)).unwrap_err().to_string();
    assert!(told.contains("no room") && told.contains("maxmemory"), "{told}");
    // It can still be searched, and documents can be removed.
    assert_eq!(index.search_id("d4", &Query::default()).unwrap().matches.len(), 1);
    assert_eq!(index.remove(&["d0", "d1"]).unwrap(), 2);
    index.compact().unwrap();
    let () = server.ask(&["CONFIG", "SET", "maxmemory", "0"]);
    index.insert(&documents(100..300)).unwrap();
    is_whole(&collections, "full", 298);
}

#[test]
fn no_collection_is_made_where_keys_are_thrown_away() {
    let server = Server::start(&["--maxmemory", "1gb", "--maxmemory-policy", "allkeys-lru"]);
    let collections = OnRedis::new(&server.url()).unwrap();
    let make = || collections.create("x", super::lab::settings(Keeps::Sketches)).map(drop);
    let told = make().unwrap_err().to_string();
    assert!(told.contains("allkeys-lru") && told.contains("noeviction"), "{told}");
    assert_eq!(server.ask::<u64>(&["DBSIZE"]), 0);
    let () = server.ask(&["CONFIG", "SET", "maxmemory-policy", "noeviction"]);
    make().unwrap();
}

#[test]
fn a_wrong_password_is_told() {
    let server =
        Server::start(&["--requirepass", "right", "--user", "me", "on", ">mine", "~benzer:*", "&*", "+@all"]);
    let url = |who: &str| format!("redis://{who}127.0.0.1:{}/?{OPTIONS}", server.port);
    refused(&url(":secret@"), &["password"]);
    refused(&url(""), &["password"]);
    refused(&url("me:secret@"), &["password"]);
    let (collections, index) = made(&url("me:mine@"), "mine", Keeps::Sketches);
    index.insert(&documents(0..10)).unwrap();
    is_whole(&collections, "mine", 10);
    assert_eq!(OnRedis::new(&url(":right@")).unwrap().list().unwrap(), ["mine"]);
    // A user that may not write there hears so.
    let told = OnRedis::new(&(url("me:mine@") + "&namespace=other")).unwrap();
    let told = told.create("x", super::lab::settings(Keeps::Sketches)).unwrap_err().to_string();
    assert!(told.contains("refuses the password or the user"), "{told}");
}

/// A server that answers INFO as it is told, and everything else with OK.
fn pretender(info: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, mut buffer) = (client.unwrap(), [0; 4096]);
            std::thread::spawn(move || {
                while let Ok(n @ 1..) = client.read(&mut buffer) {
                    let asked = String::from_utf8_lossy(&buffer[..n]).to_uppercase();
                    for command in asked.split('*').skip(1) {
                        let answer = match command.contains("INFO\r\n$6\r\nSERVER") {
                            true => format!("${}\r\n{info}\r\n", info.len()),
                            false => "+OK\r\n".to_owned(),
                        };
                        client.write_all(answer.as_bytes()).unwrap();
                    }
                }
            });
        }
    });
    port
}

#[test]
fn a_server_that_is_too_old_is_told() {
    let old = pretender("# Server\r\nredis_version:6.2.14\r\nredis_mode:standalone\r\n");
    refused(&format!("redis://127.0.0.1:{old}"), &["6.2.14", "7.0", "Valkey"]);
    let odd = pretender("# Server\r\nserver:odd\r\n");
    refused(&format!("redis://127.0.0.1:{odd}"), &["unknown", "7.0"]);
    let valkey = pretender(
        "# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1\r\nredis_mode:standalone\r\n",
    );
    OnRedis::new(&format!("redis://127.0.0.1:{valkey}")).unwrap();
}

#[test]
fn a_cluster_and_a_single_server_are_not_mistaken_for_each_other() {
    let server = Server::start(&[]);
    refused(&server.url().replace("redis:", "redis+cluster:"), &["no node of a cluster", "redis://"]);
    let bus = free_port().to_string();
    let node = Server::start(&["--cluster-enabled", "yes", "--cluster-port", &bus]);
    refused(&node.url(), &["node of a cluster", "redis+cluster://"]);
}

#[test]
fn connections_are_secured_and_certificates_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let made_certificate = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
        ])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", &path("key.pem"), "-out", &path("cert.pem")])
        .output()
        .unwrap();
    assert!(made_certificate.status.success(), "{made_certificate:?}");
    let server = Server::start(&[
        "--tls-port",
        "0",
        "--tls-cert-file",
        &path("cert.pem"),
        "--tls-key-file",
        &path("key.pem"),
        "--tls-auth-clients",
        "no",
        "--requirepass",
        "right",
    ]);
    let url = format!("rediss://:right@localhost:{}/?{OPTIONS}", server.port);
    refused(&url, &["no secure connection", "--redis-ca"]);
    let (collections, index) = made(&format!("{url}&ca={}", path("cert.pem")), "safe", Keeps::Sketches);
    index.insert(&documents(0..50)).unwrap();
    is_whole(&collections, "safe", 50);
}

#[test]
fn replicas_acknowledge_if_they_are_asked_to() {
    let master = Server::start(&["--repl-diskless-sync-delay", "0"]);
    let url = master.url().replace("timeout=5", "timeout=1").replace("retry=20", "retry=2");
    let (collections, index) = made(&url, "wait", Keeps::Sketches);
    index.insert(&documents(0..10)).unwrap();
    let waiting = |n: u32| {
        let collections = OnRedis::new(&format!("{url}&wait={n}")).unwrap();
        Index::new(collections.open("wait").unwrap()).unwrap()
    };
    let told = waiting(1).insert(&documents(10..20)).unwrap_err().to_string();
    assert!(told.contains("only 0 of 1 replicas") && told.contains("again without harm"), "{told}");
    let replica = Server::start(&["--replicaof", &format!("127.0.0.1 {}", master.port)]);
    until(|| replica.ask::<String>(&["INFO", "replication"]).contains("master_link_status:up"));
    // On a busy machine a replica may take longer than the second that is waited; then the batch is sent again.
    until(|| waiting(1).insert(&documents(10..40)).is_ok());
    is_whole(&collections, "wait", 40);
    let read: String = replica.ask(&["INFO", "keyspace"]);
    assert!(read.contains("keys="), "{read}");
    assert!(waiting(2).insert(&documents(40..50)).is_err());
}

#[test]
fn a_failover_in_the_middle_of_a_load_loses_nothing_that_replicas_have_acknowledged() {
    let mut cluster = Cluster::start();
    let url = format!("{}&wait=1", cluster.url().replace("retry=20", "retry=40"));
    let (collections, index) = made(&url, "failover", Keeps::Sketches);
    let all = documents(0..1200);
    std::thread::scope(|scope| {
        let load = scope.spawn(|| {
            for batch in all.chunks(40) {
                // What a replica has not acknowledged is sent again.
                index.insert(batch).unwrap();
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        std::thread::sleep(Duration::from_millis(250));
        cluster.nodes[1].kill();
        // Its replica becomes master; it comes back as the replica, so that there is one to acknowledge.
        until(|| is_master(&cluster.nodes[4]));
        cluster.nodes[1].restart();
        load.join().unwrap();
    });
    is_whole(&collections, "failover", 1200);
    let answers = index.search_many(&all, &Query::default()).unwrap();
    assert!(answers.iter().all(|answer| answer.matches.len() == 1));
}

fn is_master(node: &Server) -> bool {
    node.ask::<String>(&["INFO", "replication"]).contains("role:master")
}
