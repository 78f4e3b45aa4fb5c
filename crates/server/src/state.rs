//! What all requests share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use benzer_index::store::Collections;
use tokio::sync::Semaphore;

use crate::access::Authenticator;
use crate::collections::OpenCollections;
use crate::config::{Config, Limits};
use crate::metrics::Metrics;
use crate::resources::{LongPool, MemoryBudget, Pool};

/// What all requests share.
pub struct State {
    /// The collections.
    pub collections: OpenCollections,
    /// Who may come in.
    pub authenticator: Authenticator,
    pub(crate) limits: Limits,
    /// The memory of bodies.
    pub bodies: MemoryBudget,
    /// Threads for searches and other quick reads.
    pub readers: Pool,
    /// Threads for inserts and for making and removing collections.
    pub writers: Pool,
    /// Threads for what reads whole collections.
    pub scanners: LongPool,
    /// Permits of requests to be served.
    pub permits: Arc<Semaphore>,
    pub(crate) metrics: Metrics,
    /// Whether collections are compacted when most of them was replaced; on Redis that is left to who runs it.
    pub compacts: bool,
    pub(crate) stopping: AtomicBool,
    pub(crate) started: Instant,
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
            collections: OpenCollections::new(collections),
            authenticator: Authenticator::new(config)?,
            bodies: MemoryBudget::new(limits.bodies),
            readers: Pool::new("reader", limits.threads)?,
            writers: Pool::new("writer", limits.threads.div_ceil(2))?,
            scanners: LongPool::new(limits.threads.div_ceil(2)),
            permits: Arc::new(Semaphore::new(limits.requests)),
            metrics: Metrics::default(),
            compacts: !config.db.contains("://"),
            stopping: AtomicBool::new(false),
            started: Instant::now(),
            limits,
        })
    }
}
