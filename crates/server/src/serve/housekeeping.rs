//! What the server does by itself, now and then.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use benzer_index::Index;

use crate::state::{Shared, State};

/// Tends the collections, and reads the file of keys again when it changes, until the server ends.
pub async fn run(state: Shared) {
    let mut tended = Instant::now();
    let mut tending: Option<JoinHandle<()>> = None;
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        state.authenticator.refresh();
        let is_idle = tending.as_ref().is_none_or(JoinHandle::is_finished);
        if is_idle && tended.elapsed() > Duration::from_secs(30) {
            tended = Instant::now();
            let shared = Arc::clone(&state);
            // On a thread of its own: a large collection takes a while, and nobody waits for it, not even the end of the server.
            tending = thread::Builder::new().name("benzer-tend".to_owned()).spawn(move || tend(&shared)).ok();
        }
    }
}

/// Expires the documents of the open collections, and compacts these.
fn tend(state: &State) {
    for name in state.collections.open_names() {
        let Some(index) = state.collections.opened(&name) else { continue };
        if state.stopping.load(Ordering::Relaxed) {
            return;
        }
        expire(&name, &index);
        if state.compacts {
            compact_if_wasteful(&name, &index);
        }
    }
}

fn expire(name: &str, index: &Index) {
    match index.expire() {
        Ok(0) => {}
        Ok(n) => tracing::info!(collection = name, documents = n, "documents have expired"),
        Err(error) => tracing::error!(collection = name, %error, "documents cannot expire"),
    }
}

/// So many removed records are worth a compaction.
const WASTE: u64 = 100_000;

/// Compacts a collection of which more records are removed than alive, so that its files stay within about three times what its documents take.
pub fn compact_if_wasteful(name: &str, index: &Index) {
    let wasteful = index.stats().ok().filter(|stats| stats.removed > stats.documents.max(WASTE));
    let Some(stats) = wasteful else { return };
    match index.store().compact() {
        Ok(()) => tracing::info!(collection = name, records = stats.removed, "room was given back"),
        Err(error) => tracing::error!(collection = name, %error, "room cannot be given back"),
    }
}
