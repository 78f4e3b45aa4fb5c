//! A proxy between the store and a server, which cuts connections.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

/// A running proxy; its threads end with the process.
pub struct Proxy {
    pub port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// Bytes from the server that are passed on before the connection is cut; below zero: all.
    left: AtomicI64,
    /// Connections end as soon as they are made.
    is_down: AtomicBool,
    /// They do so once one was cut.
    falls: AtomicBool,
    n_cut: AtomicUsize,
    /// Bytes of answers that were passed on.
    n_passed: AtomicI64,
}

impl Proxy {
    pub fn start(to: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared { left: AtomicI64::new(-1), ..Shared::default() });
        let own = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (client, shared) = (client.unwrap(), Arc::clone(&own));
                if shared.is_down.load(Ordering::SeqCst) {
                    continue;
                }
                let server = TcpStream::connect(("127.0.0.1", to)).unwrap();
                let (from, into) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                std::thread::spawn(move || pass(from, into, None));
                std::thread::spawn(move || pass(server, client, Some(&shared)));
            }
        });
        Self { port, shared }
    }

    /// Cuts the connection that has got so many bytes of answers from here on.
    pub fn cut_after(&self, bytes: i64) {
        self.shared.left.store(bytes, Ordering::SeqCst);
    }

    /// [`Proxy::cut_after`], and no connection from then on.
    pub fn fall_after(&self, bytes: i64) {
        self.shared.falls.store(true, Ordering::SeqCst);
        self.cut_after(bytes);
    }

    pub fn set_down(&self, is_down: bool) {
        self.shared.falls.store(false, Ordering::SeqCst);
        self.shared.is_down.store(is_down, Ordering::SeqCst);
        if is_down {
            self.cut_after(0);
        } else {
            self.cut_after(-1);
        }
    }

    pub fn n_passed(&self) -> i64 {
        self.shared.n_passed.load(Ordering::SeqCst)
    }

    pub fn n_cut(&self) -> usize {
        self.shared.n_cut.load(Ordering::SeqCst)
    }
}

/// Passes bytes on until one side ends, or the answer is to be cut.
fn pass(mut from: TcpStream, mut to: TcpStream, answers: Option<&Shared>) {
    let mut buffer = [0; 1 << 12];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        let mut n = n;
        let mut is_cut = false;
        if let Some(shared) = answers {
            let left = shared.left.load(Ordering::SeqCst);
            if left >= 0 {
                is_cut = left < n as i64;
                n = n.min(left as usize);
                if is_cut && shared.falls.load(Ordering::SeqCst) {
                    shared.is_down.store(true, Ordering::SeqCst);
                }
                // Once it is cut, others go through again.
                let rest =
                    if is_cut && !shared.is_down.load(Ordering::SeqCst) { -1 } else { left - n as i64 };
                shared.left.store(rest, Ordering::SeqCst);
            }
            shared.n_cut.fetch_add(usize::from(is_cut), Ordering::SeqCst);
            shared.n_passed.fetch_add(n as i64, Ordering::SeqCst);
        }
        if to.write_all(&buffer[..n]).is_err() || is_cut {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
