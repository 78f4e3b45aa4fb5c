//! Real servers, at free ports of this machine, which end with the value that has started them.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use benzer_core::field::{Content, Document};
use redis::{Connection, FromRedisValue, cmd};
use tempfile::TempDir;

use crate::index::Index;
use crate::settings::{Keeps, Settings};
use crate::store::redis::OnRedis;
use crate::store::{Collections, Store};

/// Small collections for tests, and short times.
pub const OPTIONS: &str = "expected_documents=2000&timeout=5&retry=20";

/// A running server.
pub struct Server {
    child: Child,
    pub port: u16,
    arguments: Vec<String>,
    _folder: TempDir,
}

/// The path of the server; it is installed if it is not there.
fn binary() -> &'static str {
    static BINARY: OnceLock<String> = OnceLock::new();
    BINARY.get_or_init(|| {
        let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/redis.sh");
        let output = Command::new("bash").arg(tool).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    })
}

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Server {
    pub fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // A port may be taken between looking for it and using it.
        for _ in 0..5 {
            let port = free_port();
            let mut all: Vec<String> = ["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""]
                .iter()
                .chain(arguments)
                .map(ToString::to_string)
                .collect();
            all.extend(["--dir".to_owned(), folder.path().display().to_string()]);
            if arguments.contains(&"--tls-port") {
                all[1] = "0".to_owned();
                let at = all.iter().position(|word| word == "--tls-port").unwrap();
                all[at + 1] = port.to_string();
            }
            let mut child = spawn(&all);
            if await_port(&mut child, port) {
                return Self { child, port, arguments: all, _folder: folder };
            }
        }
        panic!("no server could be started with {arguments:?}");
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/?{OPTIONS}", self.port)
    }

    pub fn connection(&self) -> Connection {
        redis::Client::open(format!("redis://127.0.0.1:{}", self.port)).unwrap().get_connection().unwrap()
    }

    /// Asks something as another client would.
    pub fn ask<T: FromRedisValue>(&self, words: &[&str]) -> T {
        let mut command = cmd(words[0]);
        for word in &words[1..] {
            command.arg(*word);
        }
        command.query(&mut self.connection()).unwrap()
    }

    /// Ends it at once, without a farewell.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Sends it a signal by its name.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    pub fn restart(&mut self) {
        self.kill();
        self.child = spawn(&self.arguments);
        assert!(await_port(&mut self.child, self.port));
    }
}

fn spawn(arguments: &[String]) -> Child {
    Command::new(binary()).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn await_port(child: &mut Child, port: u16) -> bool {
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Three masters with a replica each.
pub struct Cluster {
    pub nodes: Vec<Server>,
}

impl Cluster {
    pub fn start() -> Self {
        Self::with_replicas(3)
    }

    pub fn with_replicas(replicas: usize) -> Self {
        let start = |_| {
            let bus = free_port().to_string();
            Server::start(&[
                "--cluster-enabled",
                "yes",
                "--cluster-port",
                &bus,
                "--cluster-node-timeout",
                "1500",
                "--cluster-replica-validity-factor",
                "0",
                "--repl-diskless-sync-delay",
                "0",
            ])
        };
        let cluster = Self { nodes: (0..3 + replicas).map(start).collect() };
        cluster.introduce();
        cluster
    }

    fn introduce(&self) {
        for (node, (first, last)) in self.nodes.iter().zip([(0, 5460), (5461, 10922), (10923, 16383)]) {
            let () = node.ask(&["CLUSTER", "ADDSLOTSRANGE", &first.to_string(), &last.to_string()]);
        }
        for (node, epoch) in self.nodes.iter().zip(1..) {
            let () = node.ask(&["CLUSTER", "SET-CONFIG-EPOCH", &epoch.to_string()]);
        }
        let bus = |node: &Server| {
            let at = node.arguments.iter().position(|word| word == "--cluster-port").unwrap();
            node.arguments[at + 1].clone()
        };
        for node in &self.nodes[1..] {
            let words = ["CLUSTER", "MEET", "127.0.0.1", &node.port.to_string(), &bus(node)];
            let () = self.nodes[0].ask(&words);
        }
        let all = self.nodes.len();
        until(|| {
            self.nodes.iter().all(|node| node.ask::<String>(&["CLUSTER", "NODES"]).lines().count() == all)
        });
        for (replica, master) in self.nodes[3..].iter().zip(&self.nodes) {
            let id: String = master.ask(&["CLUSTER", "MYID"]);
            until(|| {
                let mut command = cmd("CLUSTER");
                command.arg("REPLICATE").arg(&id).query::<()>(&mut replica.connection()).is_ok()
            });
        }
        until(|| {
            let is_ok = |node: &Server| node.ask::<String>(&["CLUSTER", "INFO"]).contains("cluster_state:ok");
            self.nodes.iter().all(is_ok)
        });
        for replica in &self.nodes[3..] {
            until(|| replica.ask::<String>(&["INFO", "replication"]).contains("master_link_status:up"));
        }
    }

    pub fn url(&self) -> String {
        let nodes: Vec<String> = self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
        format!("redis+cluster://{}/?{OPTIONS}", nodes.join(","))
    }
}

/// Waits until something is so.
#[track_caller]
pub fn until(mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "it has not come to pass");
        std::thread::sleep(Duration::from_millis(30));
    }
}

pub fn settings(keeps: Keeps) -> Settings {
    let schema = r#"{"fields": {"body": {"kind": "text", "n": 1}}}"#;
    Settings::with_target(serde_json::from_str(schema).unwrap(), 0.7, 0.95, keeps).unwrap()
}

/// A new collection.
pub fn made(url: &str, name: &str, keeps: Keeps) -> (OnRedis, Index) {
    let collections = OnRedis::new(url).unwrap();
    let store: Arc<dyn Store> = collections.create(name, settings(keeps)).unwrap();
    (collections, Index::new(store).unwrap())
}

/// Documents of pairs: an even one and the next are alike.
pub fn documents(range: std::ops::Range<u64>) -> Vec<Document> {
    range.map(|i| document(&format!("d{i}"), i / 2)).collect()
}

pub fn document(id: &str, family: u64) -> Document {
    let words: Vec<String> =
        (0..40).map(|word| format!("w{:x}", benzer_core::hash::mix(family * 100 + word) >> 40)).collect();
    Document::new(id, [("body", Content::from(words.join(" ")))])
}

/// All documents, and of each exactly its postings.
#[track_caller]
pub fn is_whole(collections: &OnRedis, name: &str, documents: u64) {
    let report = collections.verify(name).unwrap();
    assert!(report.is_whole() && report.documents == documents, "{report:?}");
}
