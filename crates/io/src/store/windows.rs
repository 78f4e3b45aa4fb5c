//! Reading at any place: windows of an object, fetched when they are needed, and before that when it is read in order.
//!
//! A place where nothing was read before gives a small window, as does a look at a header or a footer. Whoever reads on gets windows
//! four times as large up to [`LARGEST`], and the next [`AHEAD`] are on their way meanwhile, side by side. Several columns of a table
//! can be read in turns: [`HELD`] windows are remembered.

use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::fetch::fetch;
use super::object::Object;
use super::runtime::Task;

const FIRST: u64 = 64 << 10;
const LARGEST: u64 = 2 << 20;
const AHEAD: usize = 4;
const HELD: usize = 20;

/// An open object holds no more bytes than this.
pub const MAX_HELD: u64 = HELD as u64 * LARGEST;

/// An object that is read at any place. Clones have places of their own, and share what was fetched.
#[derive(Debug, Clone)]
pub struct ObjectFile {
    windows: Arc<Mutex<Windows>>,
    n_bytes: u64,
    place: u64,
}

impl ObjectFile {
    pub(super) fn new(object: &Arc<Object>) -> Self {
        let windows = Windows { object: Arc::clone(object), held: VecDeque::new() };
        Self { windows: Arc::new(Mutex::new(windows)), n_bytes: object.bytes, place: 0 }
    }

    /// Its size.
    pub fn n_bytes(&self) -> u64 {
        self.n_bytes
    }
}

impl Read for ObjectFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.place >= self.n_bytes || into.is_empty() {
            return Ok(0);
        }
        let bytes = self.windows.lock().unwrap_or_else(PoisonError::into_inner).at(self.place)?;
        let n = bytes.len().min(into.len());
        into[..n].copy_from_slice(&bytes[..n]);
        self.place += n as u64;
        Ok(n)
    }
}

impl Seek for ObjectFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(by) => self.n_bytes.checked_add_signed(by),
            SeekFrom::Current(by) => self.place.checked_add_signed(by),
        };
        self.place = place.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.place)
    }
}

#[derive(Debug)]
struct Windows {
    object: Arc<Object>,
    /// The one used last is at the end.
    held: VecDeque<Window>,
}

#[derive(Debug)]
struct Window {
    range: Range<u64>,
    bytes: Incoming,
}

#[derive(Debug)]
enum Incoming {
    Coming(Task<io::Result<Bytes>>),
    Here(Bytes),
}

impl Windows {
    /// What follows a place, as far as one window goes. The place is inside of the object.
    fn at(&mut self, place: u64) -> io::Result<Bytes> {
        let held = self.held.iter().position(|window| window.range.contains(&place));
        let window = match held.and_then(|i| self.held.remove(i)) {
            Some(window) => window,
            None => {
                let before = self.held.iter().find(|window| window.range.end == place);
                let n = before.map_or(FIRST, |before| larger(&before.range));
                self.request(place, n)?
            }
        };
        let bytes = match window.bytes {
            Incoming::Coming(task) => task.wait()??,
            Incoming::Here(bytes) => bytes,
        };
        let from = (place - window.range.start) as usize;
        let range = window.range.clone();
        self.hold(Window { range: window.range, bytes: Incoming::Here(bytes.clone()) });
        if range.end - range.start > FIRST {
            self.read_ahead(range)?;
        }
        Ok(bytes.slice(from..))
    }

    /// Begins to fetch what follows a window.
    fn read_ahead(&mut self, mut last: Range<u64>) -> io::Result<()> {
        for _ in 0..AHEAD {
            if last.end >= self.object.bytes {
                break;
            }
            let next = self.held.iter().find(|window| window.range.start == last.end);
            last = match next {
                Some(next) => next.range.clone(),
                None => {
                    let next = self.request(last.end, larger(&last))?;
                    let range = next.range.clone();
                    self.hold(next);
                    range
                }
            };
        }
        Ok(())
    }

    fn request(&self, start: u64, n: u64) -> io::Result<Window> {
        let range = start..(start + n).min(self.object.bytes);
        let task = Task::spawn(fetch(Arc::clone(&self.object), range.clone()))?;
        Ok(Window { range, bytes: Incoming::Coming(task) })
    }

    fn hold(&mut self, window: Window) {
        while self.held.len() >= HELD {
            self.held.pop_front();
        }
        self.held.push_back(window);
    }
}

/// The size of the window after another one.
fn larger(range: &Range<u64>) -> u64 {
    ((range.end - range.start) * 4).clamp(FIRST, LARGEST)
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;
    use object_store::{ObjectStoreExt, PutPayload};

    use super::super::address::Address;
    use super::super::connect::Store;
    use super::super::runtime;
    use super::*;

    fn object(bytes: Vec<u8>) -> Arc<Object> {
        let address = Address::parse(std::path::Path::new("s3://bucket/key")).unwrap().unwrap();
        let memory = Arc::new(InMemory::new());
        let store = Arc::new(Store { patient: memory.clone(), hasty: memory.clone() });
        let meta = runtime::wait(async move {
            memory.put(&"key".into(), PutPayload::from(bytes)).await.unwrap();
            memory.head(&"key".into()).await.unwrap()
        });
        Arc::new(Object::new(address, &store, meta.unwrap(), true))
    }

    fn noise(n: usize) -> Vec<u8> {
        (0..n as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
    }

    #[test]
    fn an_object_is_read_in_order_and_little_of_it_is_held() {
        let all = noise(70 << 20);
        let mut file = ObjectFile::new(&object(all.clone()));
        let mut read = Vec::new();
        file.read_to_end(&mut read).unwrap();
        assert!(read == all);
        assert_eq!(file.read(&mut [0; 8]).unwrap(), 0);
        let windows = file.windows.lock().unwrap();
        let held: u64 = windows.held.iter().map(|window| window.range.end - window.range.start).sum();
        assert!((1..=MAX_HELD).contains(&held), "{held}");
    }

    #[test]
    fn clones_are_read_at_any_place_in_turns() {
        let all = noise(9 << 20);
        let first = ObjectFile::new(&object(all.clone()));
        let mut clones = [first.clone(), first.clone(), first];
        let starts = [0, 3 << 20, (9 << 20) - 100_000];
        for (file, start) in clones.iter_mut().zip(starts) {
            file.seek(SeekFrom::Start(start)).unwrap();
        }
        for step in 0..40 {
            for (file, start) in clones.iter_mut().zip(starts) {
                let (from, mut read) = (start as usize + step * 50_000, Vec::new());
                file.by_ref().take(50_000).read_to_end(&mut read).unwrap();
                let end = (from + 50_000).min(all.len());
                assert!(read == all[from.min(end)..end], "{from}");
            }
        }
        let last = &mut clones[2];
        assert_eq!(last.seek(SeekFrom::End(-1)).unwrap(), (9 << 20) - 1);
        assert_eq!(last.read(&mut [0; 8]).unwrap(), 1);
        assert_eq!(last.read(&mut [0; 8]).unwrap(), 0);
        assert!(last.seek(SeekFrom::Current(-(10 << 20))).is_err());
    }
}
