//! Talking to one server, or to all nodes of a cluster.
//!
//! A call sends any number of commands: one round trip to each node that has something to do, all at the same time. What a node could not answer for a reason that passes (a broken connection, a slot
//! that has moved, an election) is sent again until the time is up; everything that Benzer sends may be sent twice.

mod address;
mod call;
mod connect;
mod requests;
mod topology;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::sleep;
use std::time::{Duration, Instant};

use ::redis::Connection;

pub(super) use address::Address;
pub(in crate::store) use address::is_redis;
pub(super) use call::How;
pub(super) use connect::Node;
pub(super) use requests::Requests;
use topology::Topology;

use super::trouble::Trouble;

/// Idle connections that are kept to each node.
const IDLE: usize = 16;

/// How long one who connects for the first time tries again, at most: the address may be wrong.
const FIRST: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(200);

/// Connections to all nodes.
pub(super) struct Client {
    pub address: Address,
    topology: RwLock<Arc<Topology>>,
    idle: Mutex<HashMap<Node, Vec<Connection>>>,
    trips: AtomicU64,
}

impl Client {
    /// Connects, and looks who is there.
    pub fn new(address: Address) -> Result<Self, Trouble> {
        let client = Self {
            topology: RwLock::new(Arc::new(Topology::single(address.nodes[0].clone()))),
            address,
            idle: Mutex::default(),
            trips: AtomicU64::new(0),
        };
        let deadline = Instant::now() + client.address.retry.min(FIRST);
        loop {
            match client.refresh(client.address.timeout) {
                Err(Trouble::Unreachable { .. }) if Instant::now() + PAUSE < deadline => sleep(PAUSE),
                connected => return connected.map(|()| client),
            }
        }
    }

    /// Round trips to nodes so far.
    #[cfg(test)]
    pub fn trips(&self) -> u64 {
        self.trips.load(Ordering::Relaxed)
    }

    /// Looks which node has which slots; an answer may take as long as `patience`.
    fn refresh(&self, patience: Duration) -> Result<(), Trouble> {
        let known = self.topology().nodes.clone();
        let mut seen: Vec<Node> = Vec::new();
        let mut last = None;
        for node in known.into_iter().chain(self.address.nodes.iter().cloned()) {
            if seen.contains(&node) {
                continue;
            }
            seen.push(node.clone());
            let found = self.connection(&node, patience).and_then(|mut connection| {
                let found = Topology::ask(&self.address, &node, &mut connection)?;
                self.give_back(&node, connection);
                Ok(found)
            });
            match found {
                Ok(topology) => {
                    *self.topology.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(topology);
                    return Ok(());
                }
                // What the first node says is what the user should hear, unless a later one knows better.
                Err(trouble) => last = last.or(Some(trouble)),
            }
        }
        Err(last.expect("an address has a node"))
    }

    fn topology(&self) -> Arc<Topology> {
        Arc::clone(&self.topology.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// An idle connection, or a new one, on which an answer may take as long as `patience`.
    fn connection(&self, node: &Node, patience: Duration) -> Result<Connection, Trouble> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).get_mut(node).and_then(Vec::pop);
        match idle {
            Some(connection) => {
                let set = connect::set_patience(&connection, patience);
                set.map_err(|error| connect::trouble_of(&self.address, node, &error)).map(|()| connection)
            }
            None => connect::connect(&self.address, node, patience),
        }
    }

    fn give_back(&self, node: &Node, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = idle.entry(node.clone()).or_default();
        if idle.len() < IDLE {
            idle.push(connection);
        }
    }

    /// Idle connections to a node that has failed are likely to be broken too.
    fn forget(&self, node: &Node) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).remove(node);
    }

    fn count_trip(&self) {
        self.trips.fetch_add(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("address", &self.address).finish_non_exhaustive()
    }
}
