//! Collections by name, on servers that others use too: nothing is touched but the keys of collections, which follow from what stands in the list of names.
//!
//! What is being made or removed stands in a second list, so that a run that was ended leaves nothing that nobody knows of.

use std::sync::Arc;

use ::redis::Value;

use super::functions::Function;
use super::home::{Entry, Home};
use super::net::{Address, Client, How, Requests};
use super::trouble::Trouble;
use super::{Redis, add_function, bytes, int, list, slot};
use crate::error::{Error, Result};
use crate::settings::Settings;
use crate::store::collections::{Collections, check_name};
use crate::store::{Report, Store};

/// Keys of one command that removes them, and commands of one round trip.
const KEYS: usize = 256;
const COMMANDS: usize = 64;
/// The hash tag of both lists.
const TAG: &str = "collections";

/// The collections of a server or a cluster.
#[derive(Debug)]
pub(in crate::store) struct OnRedis {
    pub(super) client: Arc<Client>,
}

/// What stands in the list of names, and the bytes of it.
pub(super) struct ListedCollection {
    pub entry: Entry,
    pub raw: Vec<u8>,
}

fn key(client: &Client, list: &str) -> String {
    format!("{}:{{{TAG}}}:{list}", client.address.namespace)
}

fn listed(client: &Client, name: &str) -> Result<ListedCollection> {
    let answer =
        client.ask(slot::of(TAG.as_bytes()), &[b"HGET", key(client, "names").as_bytes(), name.as_bytes()])?;
    let raw = bytes(&answer).ok_or_else(|| Error::NoCollection { name: name.to_owned() })?;
    Ok(ListedCollection { entry: Entry::decode(raw, name)?, raw: raw.to_vec() })
}

/// What a collection is.
pub(super) fn entry(client: &Client, name: &str) -> Result<Entry> {
    Ok(listed(client, name)?.entry)
}

impl OnRedis {
    pub fn new(url: &str) -> Result<Self> {
        Ok(Self { client: Arc::new(Client::new(Address::parse(url)?)?) })
    }

    pub(super) fn listed(&self, name: &str) -> Result<ListedCollection> {
        listed(&self.client, name)
    }

    pub(super) fn home(&self, entry: Entry) -> Result<Home> {
        Home::new(entry, &self.client.address.namespace)
    }

    pub(super) fn store(&self, name: &str) -> Result<Redis> {
        check_name(name)?;
        let home = self.home(entry(&self.client, name)?)?;
        Ok(Redis::new(Arc::clone(&self.client), home))
    }

    fn ask_list(&self, words: &[&[u8]]) -> Result<Value, Trouble> {
        self.client.ask(slot::of(TAG.as_bytes()), words)
    }

    /// A server that throws away any key when it is full would lose documents without a word.
    fn refuse_eviction(&self) -> Result<(), Trouble> {
        let answer = self.ask_list(&[b"INFO", b"memory"])?;
        let info = match &answer {
            Value::VerbatimString { text, .. } => text.as_str(),
            other => bytes(other).and_then(|info| std::str::from_utf8(info).ok()).unwrap_or_default(),
        };
        let field = |name: &str| info.lines().find_map(|line| line.strip_prefix(name));
        match field("maxmemory_policy:") {
            Some(policy) if policy.starts_with("allkeys") && field("maxmemory:") != Some("0") => {
                Err(Trouble::Evicts { address: self.client.address.to_string(), policy: policy.to_owned() })
            }
            _ => Ok(()),
        }
    }

    /// Makes the slices of a collection that has no name yet.
    pub(super) fn prepare(&self, home: &Home) -> Result<(), Trouble> {
        let leftovers = key(&self.client, "leftovers");
        let (uid, entry) = (home.entry.uid.as_bytes(), home.entry.encode());
        self.ask_list(&[b"HSET", leftovers.as_bytes(), uid, entry.as_bytes()])?;
        let mut requests = Requests::default();
        for at in &home.slices {
            requests.command(at.slot, &[b"SET", at.open().as_bytes(), b"open"]);
        }
        let how = How { wait: self.client.address.wait, ..How::default() };
        self.client.call(&requests, how).map(drop)
    }

    /// Puts one collection in the place of another, at once; false if somebody else was faster.
    pub(super) fn publish(
        &self,
        name: &str,
        old: Option<&ListedCollection>,
        new: Option<&Entry>,
    ) -> Result<bool, Trouble> {
        let raw = old.map_or(&[][..], |old| &old.raw);
        let (coming, uid) = new.map_or_else(Default::default, |new| (new.encode(), new.uid.clone()));
        let gone = old.map_or("", |old| &old.entry.uid);
        let args = [name.as_bytes(), raw, coming.as_bytes(), uid.as_bytes(), gone.as_bytes(), raw];
        let keys = [key(&self.client, "names"), key(&self.client, "leftovers")];
        let mut requests = Requests::default();
        add_function(&mut requests, slot::of(TAG.as_bytes()), Function::Publish, &keys, &args);
        let how = How { wait: self.client.address.wait, ..How::default() };
        Ok(self.client.call(&requests, how)?.first().is_some_and(|answer| int(answer) == 1))
    }

    /// Removes a collection that has no name any more, some keys at a time. A server frees large ones aside.
    pub(super) fn erase(&self, home: &Home) -> Result<(), Trouble> {
        // From here on nobody writes to it.
        let mut requests = Requests::default();
        home.slices.iter().for_each(|at| requests.command(at.slot, &[b"DEL", at.open().as_bytes()]));
        self.client.call(&requests, How::default())?;
        let mut requests = Requests::default();
        for (at, slice) in home.slices.iter().zip(0..) {
            let mut keys = vec![at.meta(), at.records(), at.documents(), at.expiry()];
            keys.extend((0..home.entry.id_buckets).map(|bucket| at.ids(bucket)));
            keys.extend(home.blocks_of(slice).map(|block| at.block(block)));
            for keys in keys.chunks(KEYS) {
                requests.add(at.slot, 1 + keys.len(), |arguments| {
                    arguments.word(b"UNLINK");
                    keys.iter().for_each(|key| arguments.word(key.as_bytes()));
                });
                if requests.len() == COMMANDS {
                    self.client.call(&std::mem::take(&mut requests), How::default())?;
                }
            }
        }
        self.client.call(&requests, How::default())?;
        let leftovers = key(&self.client, "leftovers");
        self.ask_list(&[b"HDEL", leftovers.as_bytes(), home.entry.uid.as_bytes()]).map(drop)
    }

    /// Removes what runs that were ended have left of collections of a name; how many there were.
    pub(super) fn finish(&self, name: &str) -> Result<usize> {
        let leftovers = key(&self.client, "leftovers");
        let answer = self.ask_list(&[b"HVALS", leftovers.as_bytes()])?;
        let mut n = 0;
        for raw in list(&answer).iter().filter_map(bytes) {
            let entry = Entry::decode(raw, "that is being removed")?;
            if entry.name == name {
                self.erase(&self.home(entry)?)?;
                n += 1;
            }
        }
        Ok(n)
    }
}

impl Collections for OnRedis {
    fn list(&self) -> Result<Vec<String>> {
        let names = key(&self.client, "names");
        let answer = self.ask_list(&[b"HKEYS", names.as_bytes()])?;
        let names =
            list(&answer).iter().filter_map(bytes).map(|name| String::from_utf8_lossy(name).into_owned());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        Ok(names)
    }

    fn create(&self, name: &str, settings: Settings) -> Result<Arc<dyn Store>> {
        check_name(name)?;
        settings.check()?;
        match self.listed(name) {
            Ok(_) => return Err(Error::Exists { name: name.to_owned() }),
            Err(Error::NoCollection { .. }) => {}
            Err(other) => return Err(other),
        }
        self.refuse_eviction()?;
        let layout = settings.layout()?;
        let home = self.home(Entry::new(name, settings, &layout, self.client.address.expected_documents))?;
        self.prepare(&home)?;
        if !self.publish(name, None, Some(&home.entry))? {
            self.erase(&home)?;
            return Err(Error::Exists { name: name.to_owned() });
        }
        Ok(Arc::new(Redis::new(Arc::clone(&self.client), home)))
    }

    fn open(&self, name: &str) -> Result<Arc<dyn Store>> {
        Ok(Arc::new(self.store(name)?))
    }

    fn read(&self, name: &str) -> Result<Arc<dyn Store>> {
        self.open(name)
    }

    fn remove(&self, name: &str) -> Result<()> {
        check_name(name)?;
        match self.listed(name) {
            Ok(old) => {
                self.publish(name, Some(&old), None)?;
                self.finish(name).map(drop)
            }
            Err(missing @ Error::NoCollection { .. }) => match self.finish(name)? {
                0 => Err(missing),
                _ => Ok(()),
            },
            Err(other) => Err(other),
        }
    }

    fn verify(&self, name: &str) -> Result<Report> {
        self.store(name)?.verify_all().map(|found| found.report)
    }

    fn repair(&self, name: &str) -> Result<Report> {
        let store = self.store(name)?;
        let mut report = store.repair_all()?;
        let n = self.finish(name)?;
        if n > 0 {
            report.repaired.push(format!("what {n} interrupted runs had left was removed"));
        }
        Ok(report)
    }

    fn reshard(&self, name: &str, expected_documents: u64) -> Result<()> {
        self.move_to(name, expected_documents)
    }
}
