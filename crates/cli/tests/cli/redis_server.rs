//! A server in a process of its own, which ends with the value that has started it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A running server.
pub struct Server {
    child: Child,
    pub port: u16,
    folder: tempfile::TempDir,
    flags: Vec<String>,
}

impl Server {
    pub fn start(flags: &[&str]) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let child = run(port, folder.path(), &flags);
        Self { child, port, folder, flags }
    }

    /// Ends it, as a crash would.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again, with what it has on disk.
    pub fn restart(&mut self) {
        self.child = run(self.port, self.folder.path(), &self.flags);
    }

    /// Short times, so that nothing hangs.
    pub fn url(&self) -> String {
        format!("redis://localhost:{}?retry=5", self.port)
    }

    /// One command, as another client would send it; the answer as it comes.
    pub fn ask(&self, line: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(format!("{line}\r\nQUIT\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.trim_end().trim_end_matches("+OK").trim_end().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn run(port: u16, folder: &Path, flags: &[String]) -> Child {
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/redis.sh");
    let found = Command::new("bash").arg(tool).output().unwrap();
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    let binary = String::from_utf8(found.stdout).unwrap();
    let child = Command::new(binary.trim())
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--dir"])
        .arg(folder)
        .args(flags)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < deadline, "the server does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}
