//! The application: its state, its routes, and what every request goes through.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use axum::Router;
use axum::middleware::from_fn_with_state;
use benzer_index::Index;
use benzer_index::store::Collections;
use tokio::sync::Semaphore;
use tower_http::catch_panic::CatchPanicLayer;

use crate::access::Gate;
use crate::budget::Budget;
use crate::config::{Config, Limits};
use crate::error::ApiError;
use crate::guard;
use crate::metrics::Metrics;
use crate::pool::{LongPool, Pool};
use crate::routes;
use crate::shelf::Shelf;

/// What all requests share.
#[derive(Debug)]
pub struct State {
    /// The collections.
    pub shelf: Shelf,
    /// Who may come in.
    pub gate: Gate,
    /// What is too much.
    pub limits: Limits,
    /// The memory of bodies.
    pub bodies: Budget,
    /// Threads for searches and other quick reads.
    pub readers: Pool,
    /// Threads for inserts and for making and removing collections.
    pub writers: Pool,
    /// Threads for what reads whole collections.
    pub scanners: LongPool,
    /// Places for requests.
    pub places: Arc<Semaphore>,
    /// What is counted.
    pub metrics: Metrics,
    /// Whether collections are compacted when most of them was replaced; on Redis that is left to who runs it.
    pub compacts: bool,
    /// Whether the server is going down.
    pub stopping: AtomicBool,
    /// When it came up.
    pub started: Instant,
}

/// The state as handlers see it.
pub type Shared = Arc<State>;

impl State {
    /// With some collections.
    ///
    /// # Errors
    /// A file of keys that cannot be read, or a thread that cannot be started.
    pub fn new(config: &Config, collections: Box<dyn Collections>) -> std::io::Result<Self> {
        let limits = config.limits.clone();
        Ok(Self {
            shelf: Shelf::new(collections),
            gate: Gate::new(config)?,
            bodies: Budget::new(limits.bodies),
            readers: Pool::new("reader", limits.threads)?,
            writers: Pool::new("writer", limits.threads.div_ceil(2))?,
            scanners: LongPool::new(limits.threads.div_ceil(2)),
            places: Arc::new(Semaphore::new(limits.requests)),
            metrics: Metrics::default(),
            compacts: !config.db.contains("://"),
            stopping: AtomicBool::new(false),
            started: Instant::now(),
            limits,
        })
    }
}

/// The whole application.
///
/// # Errors
/// An origin that is none.
pub fn app(state: Shared, cors: &[String]) -> Result<Router, axum::http::header::InvalidHeaderValue> {
    let guarded = routes::api()
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(Arc::clone(&state), guard::admit));
    let app = guarded
        .merge(routes::open())
        .fallback(routes::nothing)
        .method_not_allowed_fallback(routes::wrong_method)
        .layer(from_fn_with_state(Arc::clone(&state), guard::observe));
    let app = match guard::cors(cors)? {
        Some(cors) => app.layer(cors),
        None => app,
    };
    Ok(app.with_state(state))
}

/// Tends the collections, and reads the file of keys again when it changes, until the server ends.
pub async fn housekeeping(state: Shared) {
    let mut tended = Instant::now();
    let mut tending: Option<JoinHandle<()>> = None;
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        state.gate.refresh();
        let is_idle = tending.as_ref().is_none_or(JoinHandle::is_finished);
        if is_idle && tended.elapsed() > Duration::from_secs(30) {
            tended = Instant::now();
            let shared = Arc::clone(&state);
            let tend = move || {
                for name in shared.shelf.open_names() {
                    let Some(index) = shared.shelf.opened(&name) else { continue };
                    if shared.stopping.load(Ordering::Relaxed) {
                        return;
                    }
                    expire(&name, &index);
                    if shared.compacts {
                        give_back(&name, &index);
                    }
                }
            };
            // On a thread of its own: a large collection takes a while, and nobody waits for it, not even the end of the server.
            tending = thread::Builder::new().name("benzer-tend".to_owned()).spawn(tend).ok();
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
pub fn give_back(name: &str, index: &Index) {
    let wasteful = index.stats().ok().filter(|stats| stats.removed > stats.documents.max(WASTE));
    let Some(stats) = wasteful else { return };
    match index.store().compact() {
        Ok(()) => tracing::info!(collection = name, records = stats.removed, "room was given back"),
        Err(error) => tracing::error!(collection = name, %error, "room cannot be given back"),
    }
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> axum::response::Response {
    tracing::error!("a request panicked");
    let status = axum::http::StatusCode::INTERNAL_SERVER_ERROR;
    let message = "the request ended in a way that was not foreseen; the server's log says how";
    axum::response::IntoResponse::into_response(ApiError::new(status, "internal", message))
}
