//! From files to a state: what is in segments, then what only the log has; or everything from the log.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::block::{Next, Rows};
use super::build::{self, SegmentFormat, Source};
use super::current::{self, CURRENT, Current};
use super::files::Files;
use super::log::{Access, HEADER, Known, Log};
use super::part::{Limits, Part};
use super::segment::{End, Segment};
use super::state::State;
use super::{DiskOptions, Sizes, trouble};
use crate::bit_set::BitSet;
use crate::error::{Error, Result};
use crate::record::DocNo;
use crate::settings::Layout;
use crate::store::Parts;

/// Records of a segment when everything is derived again: more would take more memory.
const REBUILT: usize = 4_000_000;

/// A folder with a collection, and how to read it.
#[derive(Debug)]
pub(super) struct Folder {
    pub path: PathBuf,
    pub files: Arc<dyn Files>,
    pub sizes: Sizes,
    pub layout: Layout,
    pub fingerprint: u64,
    pub access: Access,
    /// The number of the next file.
    next_file: AtomicU64,
}

/// A collection as it was found.
#[derive(Debug)]
pub(super) struct Found {
    pub log: Log,
    pub state: State,
    /// Why what is derived was derived again.
    pub rebuilt: Option<String>,
}

impl Folder {
    pub fn new(
        path: &Path,
        options: DiskOptions,
        layout: Layout,
        fingerprint: u64,
        access: Access,
    ) -> Result<Self> {
        let next_file = AtomicU64::new(1);
        let folder = Self {
            path: path.into(),
            files: options.files,
            sizes: options.sizes,
            layout,
            fingerprint,
            access,
            next_file,
        };
        let last = folder.names()?.iter().filter_map(|name| number_of(name)).max();
        folder.next_file.store(last.unwrap_or_default() + 1, Ordering::Relaxed);
        Ok(folder)
    }

    pub fn format(&self) -> SegmentFormat<'_> {
        SegmentFormat { layout: &self.layout, fingerprint: self.fingerprint }
    }

    pub fn known(&self, salt: Option<u64>) -> Known {
        Known { stride: self.layout.words(), fingerprint: self.fingerprint, salt }
    }

    /// What is merged on the heap from a part on: what is worth a file is left as it is.
    pub fn heap_limits(&self, first: usize) -> Limits {
        Limits { first, max: 2 * self.sizes.file, tiers: self.sizes.tiers(1 << 20) }
    }

    /// A name that was not used before.
    pub fn new_file(&self, kind: &str, extension: &str) -> PathBuf {
        let number = self.next_file.fetch_add(1, Ordering::Relaxed);
        self.path.join(format!("{kind}-{number:08}.{extension}"))
    }

    pub fn names(&self) -> Result<Vec<String>> {
        let entries = fs::read_dir(&self.path).map_err(trouble("read", &self.path))?;
        let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        names.collect::<std::io::Result<_>>().map_err(trouble("read", &self.path))
    }

    /// Reads the collection, and derives again what is missing, stale or damaged.
    pub fn load(&self) -> Result<Found> {
        if let Some(path) = self.short_log() {
            // Records are lost, which nobody should learn from missing answers.
            return Err(Error::damaged(path, "its end is missing, with records that were acknowledged"));
        }
        let mut found = self.load_current();
        // A writer may have replaced the files between two looks.
        for _ in 0..5 {
            if found.is_ok() || self.access == Access::Write {
                break;
            }
            found = self.load_current();
        }
        let mut found = match found {
            Ok((log, state)) => Found { log, state, rebuilt: None },
            Err(error) => self.rebuild(error.to_string())?,
        };
        self.replay(&mut found.state, self.heap_limits(0))?;
        let end = found.state.end.place.max(found.log.rows.acknowledged);
        match self.access {
            Access::Write => found.log.end_at(end)?,
            Access::Read => found.log.end = end,
        }
        Ok(found)
    }

    /// The log, if it ends before what its segments cover.
    pub fn short_log(&self) -> Option<PathBuf> {
        let current: Current = current::read(&self.path.join(CURRENT), "current").ok()?;
        let path = self.path.join(&current.log);
        let length = fs::metadata(&path).ok()?.len();
        (length < 8 * current.covered.place.max(current.acknowledged) as u64).then_some(path)
    }

    /// What is damaged of the files that are derived from the log. Everything was derived again without them; files that are not there, or of an earlier version, are no damage.
    pub fn damaged_files(&self) -> Vec<String> {
        let path = self.path.join(CURRENT);
        let current: Current = match current::read(&path, "current") {
            Ok(current) => current,
            Err(error) if path.exists() => return vec![error.to_string()],
            Err(_) => return Vec::new(),
        };
        let damage = |name: &str| match Segment::open(&self.path.join(name), self.fingerprint, &self.layout) {
            Err(error @ Error::Damaged { .. }) => Some(error.to_string()),
            _ => None,
        };
        current.segments.iter().filter_map(|listed| damage(&listed.file)).collect()
    }

    fn load_current(&self) -> Result<(Log, State)> {
        let current: Current = current::read(&self.path.join(CURRENT), "current")?;
        let path = self.path.join(&current.log);
        let mut log = Log::open(&self.files, &path, self.access, &self.known(Some(current.salt)))?;
        log.rows.acknowledged = current.acknowledged;
        let mut state = State::new(log.rows.clone(), current.covered);
        state.has_lost = current.has_lost;
        for listed in &current.segments {
            let path = self.path.join(&listed.file);
            let segment = Segment::open(&path, self.fingerprint, &self.layout)?;
            let shape = &segment.shape;
            if (shape.salt, shape.from, shape.to) != (current.salt, listed.from, listed.to) {
                return Err(Error::damaged(path, "it was made from other records"));
            }
            state.parts.push(Part::new(segment));
        }
        current.removed.iter().for_each(|number| state.remove(*number));
        Ok((log, state))
    }

    /// Takes in what the log has behind the state.
    pub fn replay(&self, state: &mut State, limits: Limits) -> Result<()> {
        let rows = state.rows.clone();
        let (mut blocks, mut n) = (Vec::new(), 0);
        let mut at = state.end.place;
        loop {
            match rows.next(at) {
                Next::Block(block) => {
                    at = block.end;
                    n += block.len();
                    blocks.push(block);
                }
                Next::Lost { until } => {
                    state.has_lost = true;
                    at = until;
                }
                Next::End => return state.apply(&blocks, self.format(), limits),
            }
            if n >= REBUILT {
                state.apply(&std::mem::take(&mut blocks), self.format(), limits)?;
                n = 0;
            }
        }
    }

    /// Derives everything from the log.
    pub fn rebuild(&self, why: String) -> Result<Found> {
        let mut logs = self.names()?;
        logs.retain(|name| name.starts_with("records-") && name.ends_with(".log"));
        logs.sort_unstable();
        let missing = || Error::damaged(&self.path, "it has no file of records");
        let path = self.path.join(logs.last().ok_or_else(missing)?);
        let mut log = Log::open(&self.files, &path, self.access, &self.known(None))?;
        let current: Option<Current> = current::read(&self.path.join(CURRENT), "current").ok();
        let current = current.filter(|current| current.salt == log.rows.salt);
        log.rows.acknowledged = current.as_ref().map_or(0, |current| current.acknowledged);
        let mut state = State::new(log.rows.clone(), End::START);
        let mut removed = Removed::of(&log.rows);
        // Of removals that cannot be read any more in the log.
        current.iter().flat_map(|current| &current.removed).for_each(|number| removed.add(*number));
        let (mut numbers, mut places, mut from) = (Vec::new(), Vec::new(), HEADER);
        let (rows, mut at) = (log.rows.clone(), HEADER);
        loop {
            let next = rows.next(at);
            let is_end = matches!(next, Next::End);
            if let Next::Block(block) = next {
                let live = block.places().filter(|(number, place)| {
                    !removed.has(*number) && (block.is_whole || rows.whole(*place, Parts::All).is_some())
                });
                for (number, place) in live {
                    numbers.push(number);
                    places.push(place as u64);
                }
                state.end = state.end.after(&block);
                at = block.end;
            } else if let Next::Lost { until } = next {
                state.has_lost = true;
                at = until;
            }
            if !numbers.is_empty() && (is_end || numbers.len() >= REBUILT) {
                let source = Source { rows: &rows, numbers: &numbers, places: &places, from, to: state.end };
                state.parts.push(Part::new(self.segment(&source, self.sizes.at_once)?));
                (numbers, places, from) = (Vec::new(), Vec::new(), state.end.place);
            }
            if is_end {
                return Ok(Found { log, state, rebuilt: Some(why) });
            }
        }
    }

    /// A segment, in a file from so many records on.
    pub fn segment(&self, source: &Source<'_>, file: usize) -> Result<Segment> {
        match self.access == Access::Write && source.numbers.len() >= file {
            true => build::in_file(source, self.format(), &*self.files, &self.new_file("segment", "seg")),
            false => build::on_heap(source, self.format()),
        }
    }

    /// Removes the files that a state does not need.
    pub fn remove_others(&self, log: &Log, state: &State) -> Result<()> {
        let needed = |name: &str| {
            log.path.ends_with(name)
                || state
                    .parts
                    .iter()
                    .filter_map(|part| part.segment.path.as_ref())
                    .any(|path| path.ends_with(name))
        };
        for name in self.names()? {
            let is_ours = number_of(&name).is_some() || name.ends_with(".tmp");
            if is_ours && !needed(&name) {
                let path = self.path.join(&name);
                self.files.remove(&path).map_err(trouble("remove", &path))?;
            }
        }
        Ok(())
    }
}

/// The removed numbers of a whole log.
#[derive(Debug, Default)]
pub(super) struct Removed(BitSet);

impl Removed {
    pub fn of(rows: &Rows) -> Self {
        let (mut removed, mut at) = (Self::default(), HEADER);
        loop {
            match rows.next(at) {
                Next::Block(block) => {
                    block.removed.iter().for_each(|number| removed.add(*number));
                    at = block.end;
                }
                Next::Lost { until } => at = until,
                Next::End => return removed,
            }
        }
    }

    pub fn add(&mut self, number: DocNo) {
        self.0.insert(number.0 as usize);
    }

    pub fn has(&self, number: DocNo) -> bool {
        self.0.has(number.0 as usize)
    }
}

/// The number in the name of a log or a segment.
fn number_of(name: &str) -> Option<u64> {
    let (kind, rest) = name.split_once('-')?;
    let (number, extension) = rest.split_once('.')?;
    let is_ours = matches!((kind, extension), ("records", "log" | "tmp") | ("segment", "seg"));
    number.parse().ok().filter(|_| is_ours)
}
