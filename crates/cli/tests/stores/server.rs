//! An S3 server (moto) in a process of its own, and what a test needs to put things there: plain requests, by another client than ours.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::lab::{Contents, interpreter};

/// The server asks who it is, and does not look at the signature.
const SIGNED: &str = "Authorization: AWS4-HMAC-SHA256 Credential=test/20240101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";

/// A running server, which ends with this value.
pub struct Server {
    child: Child,
    pub port: u16,
}

impl Server {
    /// Starts one, with these buckets.
    pub fn start(buckets: &[&str]) -> Self {
        let mut child = Command::new(interpreter())
            .args(["-u", "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let port = said.by_ref().map(Result::unwrap).find_map(|line| {
            let (_, rest) = line.split_once("http://127.0.0.1:")?;
            rest.trim().parse().ok()
        });
        // A full pipe would stop it.
        std::thread::spawn(move || said.for_each(drop));
        let server = Self { child, port: port.expect("the server says where it listens") };
        for bucket in buckets {
            server.ask("PUT", bucket, b"");
        }
        server
    }

    /// What the binary needs to know, if it goes through a port.
    pub fn variables(port: u16) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")),
            ("AWS_ALLOW_HTTP", "true".into()),
            ("AWS_ACCESS_KEY_ID", "test".into()),
            ("AWS_SECRET_ACCESS_KEY", "test".into()),
            ("AWS_REGION", "us-east-1".into()),
        ]
    }

    /// Puts files below a prefix, such as `bucket/folder/`.
    pub fn fill(&self, prefix: &str, contents: &Contents) {
        for (name, bytes) in contents {
            self.ask("PUT", &format!("{prefix}{}", name.replace(' ', "%20")), bytes);
        }
    }

    /// All objects of a bucket below a prefix, by the rest of their names.
    pub fn contents(&self, bucket: &str, prefix: &str) -> Contents {
        let listed =
            String::from_utf8(self.ask("GET", &format!("{bucket}?list-type=2&prefix={prefix}"), b""))
                .unwrap();
        let keys = listed.split("<Key>").skip(1).filter_map(|rest| rest.split("</Key>").next());
        let object = |key: &str| {
            let bytes = self.ask("GET", &format!("{bucket}/{}", key.replace(' ', "%20")), b"");
            (key.strip_prefix(prefix).unwrap().to_owned(), bytes)
        };
        keys.map(object).collect()
    }

    /// One request; its answer must be a success.
    pub fn ask(&self, method: &str, path: &str, body: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let head = format!(
            "{method} /{path} HTTP/1.0\r\nHost: 127.0.0.1:{}\r\n{SIGNED}\r\nContent-Length: {}\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        assert!(head.starts_with("HTTP/1.1 2") || head.starts_with("HTTP/1.0 2"), "{method} {path}: {head}");
        answer.split_off(end + 4)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
