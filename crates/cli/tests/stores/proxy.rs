//! A proxy between the binary and a server, which makes trouble.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What it does to connections.
#[derive(Debug, Clone, Copy, Default)]
pub struct Trouble {
    /// Every other answer is cut after so many bytes.
    pub cut_after: Option<usize>,
    /// Requests whose first line has this word are answered by 403.
    pub deny: Option<&'static str>,
}

/// A running proxy; its thread ends with the process.
pub struct Proxy {
    pub port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    trouble: Mutex<Trouble>,
    n_answers: AtomicUsize,
    n_cut: AtomicUsize,
    requests: Mutex<Vec<String>>,
}

impl Proxy {
    /// Passes everything on to a port, with some trouble.
    pub fn start(to: u16, trouble: Trouble) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared { trouble: Mutex::new(trouble), ..Shared::default() });
        let own = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (client, shared) = (client.unwrap(), Arc::clone(&own));
                // A connection that breaks is what this is for.
                std::thread::spawn(move || drop(serve(client, to, &shared)));
            }
        });
        Self { port, shared }
    }

    /// Behaves from here on.
    pub fn calm(&self) {
        *self.shared.trouble.lock().unwrap() = Trouble::default();
        self.shared.requests.lock().unwrap().clear();
    }

    /// How many answers were cut.
    pub fn n_cut(&self) -> usize {
        self.shared.n_cut.load(Ordering::SeqCst)
    }

    /// The first lines of the requests.
    pub fn requests(&self) -> Vec<String> {
        self.shared.requests.lock().unwrap().clone()
    }
}

/// One request for each connection: the answer is told to end with it.
fn serve(mut client: TcpStream, to: u16, shared: &Shared) -> std::io::Result<()> {
    let Some((head, body)) = request(&mut client)? else { return Ok(()) };
    let first = head.lines().next().unwrap_or_default().to_owned();
    shared.requests.lock().unwrap().push(first.clone());
    let trouble = *shared.trouble.lock().unwrap();
    if trouble.deny.is_some_and(|word| first.contains(word)) {
        let body = "<Error><Code>AccessDenied</Code></Error>";
        let answer = format!(
            "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        return client.write_all(answer.as_bytes());
    }
    let mut server = TcpStream::connect(("127.0.0.1", to))?;
    let head = head.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    server.write_all(head.as_bytes())?;
    server.write_all(&body)?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    let nth = shared.n_answers.fetch_add(1, Ordering::SeqCst);
    match trouble.cut_after.filter(|&n| nth.is_multiple_of(2) && answer.len() > n) {
        Some(n) => {
            shared.n_cut.fetch_add(1, Ordering::SeqCst);
            client.write_all(&answer[..n])?;
        }
        None => client.write_all(&answer)?,
    }
    client.shutdown(Shutdown::Both)
}

/// The head of a request, and its body.
fn request(client: &mut TcpStream) -> std::io::Result<Option<(String, Vec<u8>)>> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 1 << 16];
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end + 4]).into_owned();
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
            });
            let mut body = bytes.split_off(end + 4);
            let have = body.len();
            body.resize(length.unwrap_or(0).max(have), 0);
            client.read_exact(&mut body[have..])?;
            return Ok(Some((head, body)));
        }
        match client.read(&mut buffer)? {
            0 => return Ok(None),
            n => bytes.extend_from_slice(&buffer[..n]),
        }
    }
}
