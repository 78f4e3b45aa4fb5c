//! A collection on Redis 7 or Valkey: one server, or a cluster.
//!
//! ```text
//! NAMESPACE:{collections}:names       hash: name -> what the collection is
//! NAMESPACE:{collections}:leftovers   hash: uid -> what is being made, or being removed
//! NAMESPACE:{NAME/UID/SLICE.SALT}:    what the keys of a slice begin with; all have one hash tag, and so one slot
//!   o    open, or closed; not there once the collection is gone
//!   m    hash: counts of the slice
//!   pN   postings of block N, six bytes each, appended
//!   iN   hash, id bucket N: id -> number in the slice
//!   r    hash: number -> record          d    hash: number -> document          x    sorted set: time of expiry -> number
//! ```
//!
//! **Many writers and readers.** A record has a number, which is its version, and postings carry it. A document counts as there when its id bucket and its record say so, which one function of the server
//! changes at once; so a reader sees a document as it was or as it is, never half of it, and of several writers of one id one is the last. Postings whose record is gone, and repeated ones, mean nothing: readers leave them
//! out, compaction removes them. So everything can be sent twice. Postings come before records on each node, in one round trip.
//!
//! **Numbers** are given out by the slices, some ahead with each batch. Compaction first raises a fence: records with numbers that were given out before and are not there by then are refused, and
//! their writer takes new numbers. So a posting without a record can be removed without knowing whether somebody is about to put the record.
//!
//! **Limits.** What comes later may show in a view: atomic is the document, not the batch. How durable a batch is decides the server (`docs/guide/redis.md`).

mod blocks;
mod collections;
mod compact;
mod functions;
mod home;
mod net;
mod put;
mod remove;
mod repair;
mod reshard;
mod row;
mod scan;
mod slot;
#[cfg(test)]
mod tests;
mod trouble;
mod verify;
mod view;

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::sleep;
use std::time::{Duration, Instant};

use ::redis::Value;

use crate::error::Result;
use crate::record::Records;
use crate::settings::Settings;
use crate::store::{Store, View};
pub(super) use collections::OnRedis;
use functions::Function;
use home::Home;
pub(super) use net::is_redis;
use net::{Client, How, Requests};
use trouble::Trouble;

/// How long a writer waits before it looks again whether a closed collection is open.
const CLOSED: Duration = Duration::from_millis(100);

/// A collection.
#[derive(Debug)]
pub(super) struct Redis {
    client: Arc<Client>,
    name: String,
    settings: Settings,
    /// Where it lies; another place after it was moved to other buckets.
    home: RwLock<Arc<Home>>,
    /// Numbers that the slices have given us ahead, of the collection with this uid.
    numbers: Mutex<(String, Vec<Vec<Range<u32>>>)>,
}

impl Redis {
    fn new(client: Arc<Client>, home: Home) -> Self {
        let (name, settings) = (home.entry.name.clone(), home.entry.settings.clone());
        Self { client, name, settings, home: RwLock::new(Arc::new(home)), numbers: Mutex::default() }
    }

    fn home(&self) -> Arc<Home> {
        Arc::clone(&self.home.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks where the collection is now, after it was not where it had been.
    fn follow(&self, old: &Home) -> Result<Arc<Home>> {
        let entry = collections::entry(&self.client, &self.name)?;
        if entry.uid == old.entry.uid {
            // It is being removed, and its name still there.
            return Err(Trouble::Gone.into());
        }
        self.settings.require(&entry.settings)?;
        let home = Arc::new(Home::new(entry, &self.client.address.namespace)?);
        *self.home.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&home);
        Ok(home)
    }

    /// A call that changes something.
    fn change(&self, requests: &Requests) -> Result<Vec<Value>, Trouble> {
        self.client.call(requests, How { wait: self.client.address.wait, ..How::default() })
    }

    /// Does something with the collection where it is now. One that has moved is followed, one that is about to is waited for.
    fn at_home<T>(&self, mut work: impl FnMut(&Home) -> Result<T, Trouble>) -> Result<T> {
        let deadline = Instant::now() + self.client.address.retry;
        let mut home = self.home();
        loop {
            match work(&home) {
                Err(Trouble::Gone) => home = self.follow(&home)?,
                Err(Trouble::Closed) if Instant::now() < deadline => sleep(CLOSED),
                other => return Ok(other?),
            }
        }
    }
}

impl Store for Redis {
    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn put(&self, records: Records) -> Result<()> {
        self.put_all(&records)
    }

    fn remove(&self, ids: &[&[u8]]) -> Result<u64> {
        self.at_home(|home| self.remove_ids(home, ids))
    }

    fn expire(&self, now: u64) -> Result<u64> {
        self.at_home(|home| self.expire_at(home, now))
    }

    fn view(&self) -> Result<Box<dyn View + '_>> {
        Ok(Box::new(view::Live::new(self)))
    }

    fn compact(&self) -> Result<()> {
        self.at_home(|home| self.compact_all(home))
    }
}

/// Adds a call of a function.
fn add_function(requests: &mut Requests, slot: u16, function: Function, keys: &[String], args: &[&[u8]]) {
    requests.add(slot, 3 + keys.len() + args.len(), |arguments| {
        arguments.word(b"FCALL");
        arguments.word(function.name().as_bytes());
        arguments.number(keys.len() as u64);
        keys.iter().for_each(|key| arguments.word(key.as_bytes()));
        args.iter().for_each(|arg| arguments.word(arg));
    });
}

/// What one of our functions has refused, if it has.
fn refused(answer: &Value) -> Result<(), Trouble> {
    match answer {
        Value::SimpleString(code) if code == "BENZERGONE" => Err(Trouble::Gone),
        Value::SimpleString(code) if code == "BENZERCLOSED" => Err(Trouble::Closed),
        _ => Ok(()),
    }
}

fn is_stale(answer: &Value) -> bool {
    matches!(answer, Value::SimpleString(code) if code == "BENZERSTALE")
}

/// The whole number of an answer.
fn int(answer: &Value) -> i64 {
    match answer {
        Value::Int(number) => *number,
        Value::BulkString(bytes) => {
            std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
        }
        _ => 0,
    }
}

/// The bytes of an answer, if there are any.
fn bytes(answer: &Value) -> Option<&[u8]> {
    match answer {
        Value::BulkString(bytes) => Some(bytes),
        _ => None,
    }
}

/// The parts of an answer.
fn list(answer: &Value) -> &[Value] {
    match answer {
        Value::Array(values) => values,
        _ => &[],
    }
}
