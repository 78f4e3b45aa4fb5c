//! Putting records: numbers, postings, then the records themselves, in one round trip to each node.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError};
use std::thread::sleep;
use std::time::Instant;

use super::functions::Function;
use super::home::Home;
use super::net::How;
use super::row::{self, POSTING};
use super::{CLOSED, Redis, Requests, Trouble, add_function, int, is_stale, refused};
use crate::error::{Error, Result};
use crate::record::{DocNo, Records};
use crate::settings::Keeps;

/// Bytes of records of one call of the function, about.
const BYTES: usize = 1 << 18;
/// How often a batch is sent with new numbers, because compaction has passed the old ones.
const TRIES: usize = 8;
/// The longest value that a server takes by default.
const MAX_VALUE: usize = 512 << 20;

/// Places of records in a batch, by slice.
type BySlice = BTreeMap<u32, Vec<usize>>;
/// The number of each record that is being put.
type Numbers = HashMap<usize, DocNo>;

impl Redis {
    pub(super) fn put_all(&self, records: &Records) -> Result<()> {
        check(records, self.home().layout.words(), self.settings.keeps)?;
        let (mut home, mut left) = (self.home(), records.last_of_each_id());
        let deadline = Instant::now() + self.client.address.retry;
        let mut tries = 0;
        while !left.is_empty() {
            match self.put_some(&home, records, &left) {
                Ok(_) if tries == TRIES => {
                    let why = "compactions overtake the batch; send it again".to_owned();
                    return Err(Trouble::Refused { address: self.client.address.to_string(), why }.into());
                }
                Ok(stale) => (left, tries) = (stale, tries + 1),
                Err(Trouble::Gone) => home = self.leave(&home, records, &left)?,
                Err(Trouble::Closed) if Instant::now() < deadline => sleep(CLOSED),
                Err(other) => return Err(other.into()),
            }
        }
        Ok(())
    }

    /// Looks where a collection is that is gone, and removes what this batch has appended to blocks that nobody knows any more.
    fn leave(&self, home: &Home, records: &Records, places: &[usize]) -> Result<Arc<Home>> {
        let moved = self.follow(home);
        if matches!(moved, Ok(_) | Err(Error::NoCollection { .. })) {
            let stride = home.layout.words();
            let mut requests = Requests::default();
            for place in places {
                home.layout.keys(&records.words[place * stride..][..stride], |key| {
                    let block = home.block(key);
                    let at = home.slice(home.slice_of_block(block));
                    requests.command(at.slot, &[b"UNLINK", at.block(block).as_bytes()]);
                });
            }
            self.client.call(&requests, How::default())?;
        }
        moved
    }

    /// Puts some records; those whose numbers were refused.
    fn put_some(&self, home: &Home, records: &Records, places: &[usize]) -> Result<Vec<usize>, Trouble> {
        let mut by_slice = BySlice::new();
        for &place in places {
            by_slice.entry(home.place(records.ids.get(place)).0).or_default().push(place);
        }
        let numbers = self.take_numbers(home, &by_slice)?;
        let mut requests = Requests::default();
        add_postings(&mut requests, home, records, &numbers);
        let n_posts = requests.len();
        let mut puts = Vec::new();
        for (&slice, places) in &by_slice {
            let mut ahead = self.wanted_ahead(slice, places.len());
            for places in chunks(records, places) {
                add_puts(&mut requests, home, slice, records, places, &numbers, ahead);
                puts.push((slice, places, ahead));
                ahead = 0;
            }
        }
        // The same records under the same numbers: done twice, nothing is different.
        let how = How { wait: self.client.address.wait, insists: true, ..How::default() };
        let answers = self.client.call(&requests, how)?;
        answers.iter().try_for_each(refused)?;
        let mut stale = Vec::new();
        for ((slice, places, ahead), answer) in puts.into_iter().zip(&answers[n_posts..]) {
            if is_stale(answer) {
                self.drop_numbers(slice);
                stale.extend_from_slice(places);
            } else if ahead > 0 {
                self.keep_numbers(home, slice, int(answer), ahead)?;
            }
        }
        Ok(stale)
    }

    /// Numbers for all records, from those that we have; slices that have given us too few are asked.
    fn take_numbers(&self, home: &Home, by_slice: &BySlice) -> Result<Numbers, Trouble> {
        let missing: Vec<(u32, u32)> = {
            let mut held = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
            if held.0 != home.entry.uid {
                *held = (home.entry.uid.clone(), vec![Vec::new(); home.slices.len()]);
            }
            let lacking = |(slice, places): (&u32, &Vec<usize>)| {
                let have: usize = held.1[*slice as usize].iter().map(ExactSizeIterator::len).sum();
                (*slice, places.len().saturating_sub(have) as u32)
            };
            by_slice.iter().map(lacking).filter(|(_, n)| *n > 0).collect()
        };
        if !missing.is_empty() {
            let mut requests = Requests::default();
            for &(slice, n) in &missing {
                let slice = home.slice(slice);
                let keys = [slice.open(), slice.meta()];
                add_function(
                    &mut requests,
                    slice.slot,
                    Function::Put,
                    &keys,
                    &[n.to_string().as_bytes(), b"0"],
                );
            }
            let answers = self.change(&requests)?;
            for ((slice, n), answer) in missing.into_iter().zip(&answers) {
                refused(answer)?;
                self.keep_numbers(home, slice, int(answer), n)?;
            }
        }
        let mut held = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut numbers = Numbers::new();
        // Another thread may be at work in another place of a collection that has moved.
        let is_ours = held.0 == home.entry.uid;
        for (&slice, places) in by_slice.iter().filter(|_| is_ours) {
            let mut free = held.1[slice as usize].iter_mut().flatten();
            for &place in places {
                // Another thread may have taken them in between: then the batch is tried again.
                let Some(count) = free.next() else { break };
                numbers.insert(place, home.number(slice, count));
            }
            held.1[slice as usize].retain(|range| !range.is_empty());
        }
        drop(held);
        if numbers.len() < by_slice.values().map(Vec::len).sum() {
            return self.take_numbers(home, by_slice);
        }
        Ok(numbers)
    }

    /// How many numbers to take along for the next batch, if it is like this one.
    fn wanted_ahead(&self, slice: u32, n: usize) -> u32 {
        let held = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let have: usize = held.1.get(slice as usize).into_iter().flatten().map(ExactSizeIterator::len).sum();
        (2 * n + 16).saturating_sub(have) as u32
    }

    fn keep_numbers(&self, home: &Home, slice: u32, top: i64, n: u32) -> Result<(), Trouble> {
        let top = u32::try_from(top)
            .ok()
            .filter(|top| *top <= home.max_count() && *top >= n)
            .ok_or(Trouble::Full)?;
        let mut held = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        if held.0 == home.entry.uid {
            let (new, of_slice) = (top - n + 1..top + 1, &mut held.1[slice as usize]);
            // A server that has lost its last writes gives numbers out again: those that it does not remember count no more.
            of_slice.retain(|range| range.end <= new.start);
            of_slice.push(new);
        }
        Ok(())
    }

    fn drop_numbers(&self, slice: u32) {
        let mut held = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        held.1.get_mut(slice as usize).into_iter().for_each(Vec::clear);
    }
}

/// Adds the postings of all records, by block.
pub(super) fn add_postings(requests: &mut Requests, home: &Home, records: &Records, numbers: &Numbers) {
    let stride = home.layout.words();
    let mut postings: Vec<(u32, u32, [u8; POSTING])> =
        Vec::with_capacity(numbers.len() * home.layout.bands());
    for (&place, &number) in numbers {
        home.layout.keys(&records.words[place * stride..][..stride], |key| {
            let block = home.block(key);
            postings.push((home.slice_of_block(block), block, row::posting(home.rest(key.key), number)));
        });
    }
    add_blocks(requests, home, postings);
}

/// Adds postings, each with the slice and number of its block. They are appended by plain commands: a function would take twice as long for each of them.
pub(super) fn add_blocks(requests: &mut Requests, home: &Home, mut postings: Vec<(u32, u32, [u8; POSTING])>) {
    postings.sort_unstable();
    let (mut key, mut bytes) = (String::new(), Vec::new());
    for of_block in postings.chunk_by(|a, b| a.1 == b.1) {
        let (slice, block, _) = of_block[0];
        let at = home.slice(slice);
        at.write_block(block, &mut key);
        bytes.clear();
        bytes.extend(of_block.iter().flat_map(|posting| posting.2));
        requests.command(at.slot, &[b"APPEND", key.as_bytes(), &bytes]);
    }
}

/// Records of one slice, in pieces that a function can take in a short time.
fn chunks<'a>(records: &'a Records, places: &'a [usize]) -> impl Iterator<Item = &'a [usize]> {
    let mut rest = places;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let n = rest.iter().take_while(|place| {
            let fits = bytes < BYTES;
            bytes += 200 + records.documents.get(**place).len();
            fits
        });
        let (piece, tail) = rest.split_at(n.count());
        rest = tail;
        (!piece.is_empty()).then_some(piece)
    })
}

fn add_puts(
    requests: &mut Requests,
    home: &Home,
    slice: u32,
    records: &Records,
    places: &[usize],
    numbers: &Numbers,
    ahead: u32,
) {
    let at = home.slice(slice);
    let mut keys = vec![at.open(), at.meta(), at.records(), at.documents(), at.expiry()];
    let mut known: HashMap<u32, usize> = HashMap::new();
    let buckets: Vec<usize> = places
        .iter()
        .map(|&place| {
            let bucket = home.place(records.ids.get(place)).1;
            *known.entry(bucket).or_insert_with(|| {
                keys.push(at.ids(bucket));
                keys.len() - 5
            })
        })
        .collect();
    let (mut bytes, stride) = (Vec::new(), home.layout.words());
    let n_keys: usize =
        places.iter().map(|place| home.layout.n_keys(&records.words[place * stride..][..stride])).sum();
    requests.add(at.slot, 5 + keys.len() + 6 * places.len(), |arguments| {
        arguments.word(b"FCALL");
        arguments.word(Function::Put.name().as_bytes());
        arguments.number(keys.len() as u64);
        keys.iter().for_each(|key| arguments.word(key.as_bytes()));
        arguments.number(ahead.into());
        arguments.number((POSTING * n_keys) as u64);
        for (&place, bucket) in places.iter().zip(buckets) {
            let (record, number) = (records.get(place, stride), numbers[&place]);
            arguments.number(bucket as u64);
            arguments.word(record.id);
            arguments.word(&home.parts(number).1.to_be_bytes());
            match record.expires {
                0 => arguments.word(b""),
                time => arguments.number(time),
            }
            row::write_record(number, &record, &mut bytes);
            arguments.word(&bytes);
            row::write_document(number, record.document, &mut bytes);
            arguments.word(&bytes);
        }
    });
}

fn check(records: &Records, stride: usize, keeps: Keeps) -> Result<()> {
    records.check(stride)?;
    if keeps == Keeps::Documents && (0..records.len()).any(|i| records.documents.get(i).is_empty()) {
        return Err(Error::parameter("documents", "given with each record", "records without them"));
    }
    if records.max_bytes() > MAX_VALUE / 2 {
        return Err(Error::parameter("a document", "at most 256 MiB on Redis", "one that is larger"));
    }
    Ok(())
}
