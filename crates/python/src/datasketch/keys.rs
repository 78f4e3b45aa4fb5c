//! Keys of any hashable type, by Python's own rules of equality: a dictionary from keys to entries that takes 32 bytes for each.
//!
//! Plain integers are kept as such, without an object. Everything else is kept as the object that was given first.

use pyo3::prelude::*;
use pyo3::types::PyInt;

const NONE: u32 = u32::MAX;
/// The modulus of Python's hash of integers.
const PRIME: u64 = (1 << 61) - 1;

#[derive(Debug)]
pub(super) enum Key {
    /// An integer that fits.
    Integer(i64),
    Object(Py<PyAny>),
}

impl Key {
    pub(super) fn new(object: &Bound<'_, PyAny>) -> Self {
        if object.is_exact_instance_of::<PyInt>()
            && let Ok(integer) = object.extract()
        {
            return Self::Integer(integer);
        }
        Self::Object(object.clone().unbind())
    }

    pub(super) fn object<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        match self {
            Self::Integer(integer) => PyInt::new(py, *integer).into_any(),
            Self::Object(object) => object.bind(py).clone(),
        }
    }

    fn hash(&self, py: Python<'_>) -> PyResult<u64> {
        match self {
            Self::Integer(integer) => {
                let size = (integer.unsigned_abs() % PRIME) as i64;
                let hash = if *integer < 0 { -size } else { size };
                Ok(if hash == -1 { -2i64 as u64 } else { hash as u64 })
            }
            Self::Object(object) => Ok(object.bind(py).hash()? as u64),
        }
    }

    fn equals(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Ok(a == b),
            (Self::Object(a), Self::Object(b)) if a.is(b) => Ok(true),
            _ => self.object(py).eq(other.object(py)),
        }
    }
}

/// A dictionary from keys to entries, whose numbers come from elsewhere.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// The key of each entry; none for a number that is free.
    keys: Vec<Option<Key>>,
    hashes: Vec<u64>,
    slots: Vec<u32>,
    used: usize,
    /// Entries that no slot has yet: they get one when a key is looked up.
    waiting: Vec<u32>,
}

impl Keys {
    pub(super) fn len(&self) -> usize {
        self.used
    }

    pub(super) fn reserve(&mut self, more: usize) {
        self.keys.reserve_exact(more);
        self.hashes.reserve_exact(more);
        self.waiting.reserve_exact(more);
    }

    pub(super) fn find(&mut self, py: Python<'_>, key: &Key) -> PyResult<Option<u32>> {
        self.settle();
        let hash = key.hash(py)?;
        if self.slots.is_empty() {
            return Ok(None);
        }
        let entry = self.slots[self.slot(py, key, hash)?];
        Ok((entry != NONE).then_some(entry))
    }

    /// Gives an entry to a key that is not there yet.
    pub(super) fn insert(&mut self, py: Python<'_>, key: Key, entry: u32) -> PyResult<()> {
        let hash = key.hash(py)?;
        self.used += 1;
        self.waiting.push(entry);
        let place = entry as usize;
        if self.keys.len() <= place {
            self.keys.resize_with(place + 1, || None);
            self.hashes.resize(place + 1, 0);
        }
        self.keys[place] = Some(key);
        self.hashes[place] = hash;
        Ok(())
    }

    pub(super) fn remove(&mut self, entry: u32) {
        self.settle();
        let mask = self.slots.len() - 1;
        let mut gap = self.first(self.hashes[entry as usize]);
        while self.slots[gap] != entry {
            gap = (gap + 1) & mask;
        }
        let mut next = (gap + 1) & mask;
        while self.slots[next] != NONE {
            let home = self.first(self.hashes[self.slots[next] as usize]);
            if (next.wrapping_sub(home) & mask) >= (next.wrapping_sub(gap) & mask) {
                self.slots[gap] = self.slots[next];
                gap = next;
            }
            next = (next + 1) & mask;
        }
        self.slots[gap] = NONE;
        self.keys[entry as usize] = None;
        self.used -= 1;
    }

    pub(super) fn of(&self, entry: u32) -> Option<&Key> {
        self.keys.get(entry as usize)?.as_ref()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Key)> {
        (0..).zip(&self.keys).filter_map(|(entry, key)| Some((entry, key.as_ref()?)))
    }

    fn first(&self, hash: u64) -> usize {
        benzer_core::hash::mix(hash) as usize & (self.slots.len() - 1)
    }

    fn slot(&self, py: Python<'_>, key: &Key, hash: u64) -> PyResult<usize> {
        let mut slot = self.first(hash);
        loop {
            let entry = self.slots[slot];
            if entry == NONE {
                return Ok(slot);
            }
            if self.hashes[entry as usize] == hash
                && let Some(other) = self.of(entry)
                && other.equals(py, key)?
            {
                return Ok(slot);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    fn settle(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        if self.used * 3 > self.slots.len() * 2 {
            self.slots = vec![NONE; (self.used * 2).next_power_of_two().max(8)];
            waiting.clear();
            waiting.extend((0..).zip(&self.keys).filter_map(|(entry, key)| key.as_ref().map(|_| entry)));
        }
        for &entry in &waiting {
            let mut slot = self.first(self.hashes[entry as usize]);
            while self.slots[slot] != NONE {
                slot = (slot + 1) & (self.slots.len() - 1);
            }
            self.slots[slot] = entry;
        }
        // A list that was long gives its memory back.
        if waiting.len() < 1024 {
            waiting.clear();
            self.waiting = waiting;
        }
    }
}
