//! What is read next, and by how many threads at a time.
//!
//! | inputs | are read by | a part is |
//! |---|---|---|
//! | plain files of lines | any threads | a stretch |
//! | small plain files of any text | any threads | as many of them as a batch holds |
//! | compressed files, CSV, Arrow, whole files | one thread a file at a time | a file, or some small ones |
//! | Parquet | one thread a row group at a time | a row group |
//! | pipes, objects of stores, large windows of zstd | one thread at a time, and nothing else meanwhile | all of them in a row |
//!
//! Nothing is read here but the index of a Parquet file: the lock around it is held for a moment only.

use std::collections::VecDeque;
use std::iter::Peekable;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::vec::IntoIter;

use super::sequence::Sequence;
use crate::error::{Error, Result};
use crate::read::format::{Compression, Format};
use crate::read::input::{FoundInput, Input};
use crate::read::options::{MIN_READ, Plan};
use crate::read::rows::SegmentKind;
use crate::read::stream::{Map, Progress};
use crate::read::text::CutFile;

/// Small files that are read together, at most.
const MAX_TOGETHER: usize = 256;
/// What a byte of a compressed file stands for, about.
const UNPACKED: u64 = 8;

/// The parts of all inputs, as they are given out.
pub(super) struct Schedule {
    waiting: Peekable<IntoIter<FoundInput>>,
    /// The file that is being cut, and its next stretch.
    cutting: Option<(Arc<CutFile>, usize)>,
    /// The next parts of the table that is being read.
    splitting: VecDeque<Sequence>,
    /// Parts that one thread at a time reads, and that have not come to their end.
    open: VecDeque<Arc<SharedPart>>,
    n_parts: u64,
    /// Parts behind this one are not wanted.
    last: u64,
    plan: Arc<Plan>,
    progress: Progress,
    /// Inputs that are memory, by their number.
    maps: Vec<Option<Arc<Map>>>,
}

/// What a thread is to read.
pub(super) enum Order {
    Stretch {
        part: u64,
        file: Arc<CutFile>,
        stretch: usize,
    },
    /// All of it, as one batch.
    Together {
        part: u64,
        inputs: Sequence,
    },
    Shared(Arc<SharedPart>),
    Failed {
        part: u64,
        error: crate::error::Error,
    },
}

/// A part that one thread at a time reads.
pub(super) struct SharedPart {
    pub number: u64,
    /// The rest of it, until its end, and the number of the next batch.
    pub rest: Mutex<(Option<Sequence>, u64)>,
    /// Whether a thread reads it.
    pub is_busy: AtomicBool,
    /// Whether nothing else may be read meanwhile.
    is_alone: bool,
}

/// How an input can be read.
enum Way {
    Cut(SegmentKind),
    /// With others, of which it takes so much of a batch.
    Together(u64),
    Shared,
    /// In parts.
    Split,
    Alone,
}

impl Schedule {
    pub fn new(inputs: Vec<FoundInput>, plan: &Arc<Plan>, progress: &Progress) -> Self {
        Self {
            waiting: inputs.into_iter().peekable(),
            cutting: None,
            splitting: VecDeque::new(),
            open: VecDeque::new(),
            n_parts: 0,
            last: u64::MAX,
            plan: Arc::clone(plan),
            progress: progress.clone(),
            maps: Vec::new(),
        }
    }

    /// Reads these inputs from memory.
    pub fn use_maps(&mut self, maps: Vec<Option<Arc<Map>>>) {
        self.maps = maps;
    }

    /// Passes over tables.
    pub fn leave_out_tables(&mut self) {
        let is_table = |found: &FoundInput| found.input.format().is_some_and(Format::is_table);
        let lines: Vec<FoundInput> = self.waiting.by_ref().filter(|found| !is_table(found)).collect();
        self.waiting = lines.into_iter().peekable();
    }

    /// What the next thread is to read, while at most so many shared parts are open; nothing when all is given out.
    pub fn next(&mut self, at_once: usize) -> Option<Order> {
        let front = self.open.front().cloned();
        let is_alone = at_once <= 1 || front.as_ref().is_some_and(|front| front.is_alone);
        if let Some(front) = front.clone().filter(|_| is_alone) {
            return Some(Order::Shared(front));
        }
        // Who comes here while all are busy begins another one, if that may be, or waits for the first.
        let idle = self.open.iter().find(|part| !part.is_busy.swap(true, Ordering::Relaxed));
        if let Some(idle) = idle {
            return Some(Order::Shared(Arc::clone(idle)));
        }
        self.begin(at_once).or(front.map(Order::Shared))
    }

    /// A part has come to its end.
    pub fn close(&mut self, part: u64) {
        self.open.retain(|open| open.number != part);
    }

    /// Nothing behind a part is wanted.
    pub fn end_after(&mut self, part: u64) {
        self.last = self.last.min(part);
        self.open.retain(|open| open.number <= part);
    }

    /// Begins a part, if one may be begun.
    fn begin(&mut self, at_once: usize) -> Option<Order> {
        let part = self.n_parts;
        if part > self.last {
            return None;
        }
        if let Some((file, stretch)) = self.cutting.take() {
            self.n_parts += 1;
            if stretch + 1 < file.n_stretches(&self.plan) {
                self.cutting = Some((Arc::clone(&file), stretch + 1));
            }
            return Some(Order::Stretch { part, file, stretch });
        }
        let has_room_to_share = self.open.len() < at_once;
        if !self.splitting.is_empty() {
            let part = if has_room_to_share { self.splitting.pop_front() } else { None };
            return part.map(|part| self.share(part, false));
        }
        let way = way(self.waiting.peek()?, &self.plan);
        let has_room = match way {
            Way::Cut(_) | Way::Together(_) => true,
            Way::Shared | Way::Split => has_room_to_share,
            Way::Alone => self.open.is_empty(),
        };
        let found = self.waiting.next_if(|_| has_room)?;
        let kind = match way {
            Way::Cut(kind) => kind,
            Way::Together(bytes) => return Some(self.together(found, bytes)),
            Way::Shared => return Some(self.share(self.sequence(vec![found]), false)),
            Way::Split => return self.split(&found.input, at_once),
            Way::Alone => {
                let (mut inputs, plan) = (vec![found], Arc::clone(&self.plan));
                let mut next = || self.waiting.next_if(|found| matches!(self::way(found, &plan), Way::Alone));
                inputs.extend(std::iter::from_fn(&mut next));
                return Some(self.share(self.sequence(inputs), true));
            }
        };
        match self.cut(&found.input, kind) {
            Ok(file) => self.cutting = Some((Arc::new(file), 0)),
            Err(error) => return Some(self.fail(error)),
        }
        self.begin(at_once)
    }

    /// Begins a table whose parts can be read by themselves.
    fn split(&mut self, input: &Arc<Input>, at_once: usize) -> Option<Order> {
        match Sequence::parts_of(input, &self.plan, &self.progress) {
            Ok(parts) => self.splitting = parts.into(),
            Err(error) => return Some(self.fail(error)),
        }
        self.begin(at_once)
    }

    fn fail(&mut self, error: Error) -> Order {
        self.n_parts += 1;
        Order::Failed { part: self.n_parts - 1, error }
    }

    fn sequence(&self, inputs: Vec<FoundInput>) -> Sequence {
        Sequence::new(inputs, false, &self.plan, &self.progress)
    }

    fn cut(&self, input: &Arc<Input>, kind: SegmentKind) -> Result<CutFile> {
        let map = self.maps.get(input.number as usize).cloned().flatten();
        Ok(CutFile::open(input, kind, input.bytes.unwrap_or(0))?.mapped(map))
    }

    /// An input and those behind it, as many as a batch has room for.
    fn together(&mut self, first: FoundInput, mut bytes: u64) -> Order {
        let (mut inputs, plan) = (vec![first], Arc::clone(&self.plan));
        while inputs.len() < MAX_TOGETHER
            && let Some(found) = self.waiting.next_if(|found| match way(found, &plan) {
                Way::Together(more) if bytes + more <= room(&plan) => {
                    bytes += more;
                    true
                }
                _ => false,
            })
        {
            inputs.push(found);
        }
        if inputs.iter().any(|found| found.input.compression() != Some(Compression::None)) {
            return self.share(self.sequence(inputs), false);
        }
        let inputs = Sequence::new(inputs, true, &self.plan, &self.progress);
        self.n_parts += 1;
        Order::Together { part: self.n_parts - 1, inputs }
    }

    fn share(&mut self, sequence: Sequence, is_alone: bool) -> Order {
        let part = Arc::new(SharedPart {
            number: self.n_parts,
            rest: Mutex::new((Some(sequence), 0)),
            is_busy: AtomicBool::new(true),
            is_alone,
        });
        self.n_parts += 1;
        self.open.push_back(Arc::clone(&part));
        Order::Shared(part)
    }
}

/// Bytes of small files that a batch has room for: more is asked for than they have, so that each is seen to end.
fn room(plan: &Plan) -> u64 {
    plan.batch_bytes.saturating_sub(MIN_READ) as u64
}

fn way(found: &FoundInput, plan: &Plan) -> Way {
    let FoundInput { input, bytes } = found;
    let (None, Some(n_bytes), false) = (bytes, input.bytes, input.is_remote()) else { return Way::Alone };
    let (Some(format), Some(compression)) = (input.format(), input.compression()) else { return Way::Alone };
    if input.has_large_window() {
        return Way::Alone;
    }
    let is_plain = compression == Compression::None;
    let unpacked = if is_plain { n_bytes } else { n_bytes.saturating_mul(UNPACKED) };
    // Its last line may get a newline.
    match format {
        Format::Parquet => Way::Split,
        Format::Arrow => Way::Shared,
        _ if unpacked < room(plan) => Way::Together(unpacked + 1),
        Format::JsonLines if is_plain => Way::Cut(SegmentKind::Json),
        Format::Lines if is_plain => Way::Cut(SegmentKind::Lines),
        _ => Way::Shared,
    }
}
