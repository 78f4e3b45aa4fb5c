//! Looking at a collection. A batch of searches is two round trips to each node: the blocks of all keys, then the records of all candidates.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ::redis::Value;
use benzer_core::lsh::BandKey;

use super::home::Home;
use super::net::How;
use super::row::{self, POSTING};
use super::{Redis, Requests, Trouble, bytes, int, list, scan};
use crate::error::Result;
use crate::record::{DocNo, Record};
use crate::settings::{BandRange, Keeps, Layout};
use crate::store::{Cursor, Parts, Postings, Stats, View, Visit, VisitNumbered};

/// The bytes of blocks, by number.
type Blocks = HashMap<u32, Vec<u8>>;

/// The collection as it is whenever it is looked at.
pub(super) struct Live<'a> {
    pub(super) store: &'a Redis,
    pub(super) home: RefCell<Arc<Home>>,
    /// Nothing has been told about the collection yet: it may still turn out to have moved.
    is_fresh: Cell<bool>,
    fetched: RefCell<HashMap<DocNo, Option<Fetched>>>,
    pub(super) window: Cell<u32>,
}

/// A record as it came.
struct Fetched {
    record: Vec<u8>,
    document: Option<Vec<u8>>,
}

impl<'a> Live<'a> {
    pub fn new(store: &'a Redis) -> Self {
        Self { is_fresh: Cell::new(true), ..Self::at(store, store.home()) }
    }

    /// A view of a place that is not left.
    pub fn at(store: &'a Redis, home: Arc<Home>) -> Self {
        Self {
            store,
            home: RefCell::new(home),
            is_fresh: Cell::new(false),
            fetched: RefCell::default(),
            window: Cell::new(scan::WINDOW.0),
        }
    }

    /// Does something where the collection is. One that has moved is followed, unless numbers of its old place have been told.
    pub(super) fn at_home<T>(&self, mut work: impl FnMut(&Home) -> Result<T, Trouble>) -> Result<T> {
        let home = Arc::clone(&self.home.borrow());
        let done = match work(&home) {
            Err(Trouble::Gone) => {
                let moved = self.store.follow(&home)?;
                if !self.is_fresh.get() {
                    return Err(Trouble::Gone.into());
                }
                *self.home.borrow_mut() = Arc::clone(&moved);
                work(&moved)
            }
            done => done,
        }?;
        self.is_fresh.set(false);
        Ok(done)
    }

    /// Blocks by their numbers, and where they were found.
    fn blocks(&self, wanted: impl Fn(&Home) -> Vec<u32>) -> Result<(Arc<Home>, Blocks)> {
        self.at_home(|home| {
            let with_slice = |block| (home.slice_of_block(block), block);
            let mut wanted: Vec<(u32, u32)> = wanted(home).into_iter().map(with_slice).collect();
            wanted.sort_unstable();
            wanted.dedup();
            let blocks = self.store.blocks(home, &wanted)?;
            Ok((Arc::clone(&self.home.borrow()), blocks))
        })
    }

    /// Fetches the records of some numbers in one round trip.
    fn fetch(&self, home: &Home, numbers: &[DocNo], parts: Parts) -> Result<(), Trouble> {
        let wants_documents = parts == Parts::All && home.entry.settings.keeps == Keeps::Documents;
        let mut by_slice = BTreeMap::<u32, Vec<DocNo>>::new();
        {
            let fetched = self.fetched.borrow();
            let is_there = |fetched: &Option<Fetched>| {
                fetched.as_ref().is_none_or(|fetched| fetched.document.is_some() || !wants_documents)
            };
            for number in numbers.iter().filter(|number| !fetched.get(number).is_some_and(is_there)) {
                by_slice.entry(home.parts(*number).0).or_default().push(*number);
            }
        }
        let mut requests = Requests::default();
        for (slice, numbers) in &by_slice {
            let at = home.slice(*slice);
            requests.command(at.slot, &[b"GET", at.open().as_bytes()]);
            let keys = [Some(at.records()), wants_documents.then(|| at.documents())];
            for key in keys.into_iter().flatten() {
                requests.add(at.slot, 2 + numbers.len(), |arguments| {
                    arguments.word(b"HMGET");
                    arguments.word(key.as_bytes());
                    numbers.iter().for_each(|number| arguments.word(&home.parts(*number).1.to_be_bytes()));
                });
            }
        }
        if requests.is_empty() {
            return Ok(());
        }
        let mut answers = self.store.client.call(&requests, How::default())?.into_iter();
        let mut fetched = self.fetched.borrow_mut();
        for numbers in by_slice.into_values() {
            if !matches!(answers.next(), Some(Value::BulkString(_))) {
                return Err(Trouble::Gone);
            }
            let mut column = || match answers.next() {
                Some(Value::Array(values)) => values,
                _ => Vec::new(),
            };
            let records = column();
            let mut documents = if wants_documents { column() } else { Vec::new() }.into_iter();
            for (number, record) in numbers.into_iter().zip(records) {
                let document = documents.next();
                fetched.insert(number, made(record, document, wants_documents));
            }
        }
        Ok(())
    }
}

/// What came of a record; a record without its document has been replaced between the two.
fn made(record: Value, document: Option<Value>, wants_document: bool) -> Option<Fetched> {
    match (record, document) {
        (Value::BulkString(record), Some(Value::BulkString(document))) => {
            Some(Fetched { record, document: Some(document) })
        }
        (Value::BulkString(record), _) if !wants_document => Some(Fetched { record, document: None }),
        _ => None,
    }
}

fn damaged(home: &Home, number: DocNo) -> Trouble {
    let (slice, count) = home.parts(number);
    Trouble::Damaged { what: format!("record {count:08x} of {}", home.slice(slice).records()) }
}

impl View for Live<'_> {
    fn postings(&self, keys: &[BandKey], postings: &mut Postings) -> Result<()> {
        let (home, blocks) = self.blocks(|home| keys.iter().map(|key| home.block(*key)).collect())?;
        let mut found = Vec::new();
        for key in keys {
            found.clear();
            if let Some(block) = blocks.get(&home.block(*key)) {
                find(block, home.rest(key.key), &mut found);
            }
            found.sort_unstable();
            found.dedup();
            found.iter().for_each(|number| postings.push(*number));
            postings.end_key();
        }
        Ok(())
    }

    /// All blocks of each range, in one round trip.
    fn ranges(&self, _: &Layout, ranges: &[BandRange], postings: &mut Postings) -> Result<()> {
        let ends = |home: &Home, range: &BandRange| {
            [*range.keys.start(), *range.keys.end()]
                .map(|key| (home.block(BandKey { band: range.band, key }), home.rest(key)))
        };
        let all = |home: &Home, range| {
            let [first, last] = ends(home, range);
            first.0..=last.0
        };
        let (home, blocks) =
            self.blocks(|home| ranges.iter().flat_map(|range| all(home, range)).collect())?;
        for range in ranges {
            let [first, last] = ends(&home, range);
            for number in first.0..=last.0 {
                let block = blocks.get(&number).map(Vec::as_slice).unwrap_or_default();
                for [low, high, posting @ ..] in block.as_chunks::<POSTING>().0 {
                    let at = (number, u16::from_le_bytes([*low, *high]));
                    if first <= at && at <= last {
                        postings.push(DocNo(u32::from_le_bytes(*posting)));
                    }
                }
            }
            postings.end_key();
        }
        Ok(())
    }

    /// Whatever their number, they are two round trips.
    fn batch(&self) -> usize {
        usize::MAX
    }

    fn records(&self, numbers: &[DocNo], parts: Parts, visit: Visit<'_>) -> Result<()> {
        self.fetched.borrow_mut().clear();
        self.at_home(|home| self.fetch(home, numbers, parts))?;
        let (home, fetched) = (Arc::clone(&self.home.borrow()), self.fetched.borrow());
        let mut words = Vec::new();
        for (place, number) in numbers.iter().enumerate() {
            let Some(Some(Fetched { record, document })) = fetched.get(number) else { continue };
            let record = row::read_record(*number, record, home.layout.words(), &mut words);
            let record = record.ok_or_else(|| damaged(&home, *number))?;
            let document = match document {
                Some(bytes) if parts == Parts::All => {
                    row::read_document(*number, bytes).ok_or_else(|| damaged(&home, *number))?
                }
                _ => &[],
            };
            visit(place, Record { document, ..record })?;
        }
        Ok(())
    }

    fn numbers(&self, ids: &[&[u8]]) -> Result<Vec<Option<DocNo>>> {
        self.at_home(|home| {
            let mut requests = Requests::default();
            for id in ids {
                let (slice, bucket) = home.place(id);
                let at = home.slice(slice);
                requests.command(at.slot, &[b"GET", at.open().as_bytes()]);
                requests.command(at.slot, &[b"HGET", at.ids(bucket).as_bytes(), id]);
            }
            let answers = self.store.client.call(&requests, How::default())?;
            let number = |(id, answers): (&&[u8], &[Value])| {
                bytes(&answers[0]).ok_or(Trouble::Gone)?;
                let count = bytes(&answers[1]).and_then(|entry| entry.first_chunk::<4>());
                Ok(count.map(|count| home.number(home.place(id).0, u32::from_be_bytes(*count))))
            };
            ids.iter().zip(answers.chunks_exact(2)).map(number).collect()
        })
    }

    fn scan(
        &self,
        from: Cursor,
        max: usize,
        parts: Parts,
        visit: VisitNumbered<'_>,
    ) -> Result<Option<Cursor>> {
        let mut words = Vec::new();
        self.scan_raw(from, max, parts, &mut |home, _, number, record, document| {
            let record = row::read_record(number, record, home.layout.words(), &mut words);
            let record = record.ok_or_else(|| damaged(home, number))?;
            let document = match document {
                [] => &[],
                bytes => row::read_document(number, bytes).ok_or_else(|| damaged(home, number))?,
            };
            visit(number, Record { document, ..record })
        })
    }

    fn stats(&self) -> Result<Stats> {
        self.at_home(|home| {
            let fields: [&[u8]; 5] =
                [b"documents", b"dead", b"posting_bytes", b"record_bytes", b"document_bytes"];
            let mut requests = Requests::default();
            for at in &home.slices {
                let (open, meta) = (at.open(), at.meta());
                requests.command(at.slot, &[b"GET", open.as_bytes()]);
                requests.command(at.slot, &[&[b"HMGET" as &[u8], meta.as_bytes()], &fields[..]].concat());
            }
            let answers = self.store.client.call(&requests, How::default())?;
            let mut sums = [0i64; 5];
            for answers in answers.chunks_exact(2) {
                bytes(&answers[0]).ok_or(Trouble::Gone)?;
                for (sum, value) in sums.iter_mut().zip(list(&answers[1])) {
                    *sum += int(value);
                }
            }
            let [documents, removed, posting_bytes, record_bytes, document_bytes] =
                sums.map(|sum| sum.max(0) as u64);
            let sketch_bytes = 8 * home.layout.words() as u64 * documents;
            let id_bytes = record_bytes.saturating_sub(sketch_bytes);
            let parts = home.entry.slices.into();
            Ok(Stats {
                documents,
                removed,
                parts,
                posting_bytes,
                sketch_bytes,
                id_bytes,
                document_bytes,
                ..Stats::default()
            })
        })
    }
}

/// The numbers of the postings of a block whose key goes on with these bits.
fn find(block: &[u8], rest: u16, found: &mut Vec<DocNo>) {
    let rest = rest.to_le_bytes();
    for posting in block.as_chunks::<POSTING>().0 {
        if posting[..2] == rest {
            found.push(DocNo(u32::from_le_bytes([posting[2], posting[3], posting[4], posting[5]])));
        }
    }
}
