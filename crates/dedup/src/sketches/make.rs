//! From a corpus to records, on any number of threads, in the order of the input.
//!
//! ```text
//! reading thread --raw batches--> workers: parse, shingle, sketch --numbered--> the caller's thread, in order
//!        ^                                                                              |
//!        +------------------------------- a ticket for each finished batch -------------+
//! ```
//!
//! A batch needs a ticket to be read, and there are two per worker: that bounds the memory, also when one batch takes long and the others
//! pile up behind it.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use benzer_core::field::text::{Scratch, Shingler};
use benzer_core::sketch::{SketchSpec, Sketcher};

use super::error::Result;
use super::format::Header;
use super::writer::Records;
use crate::read::{self, Batch, RawBatch, Reader, Reject};

/// Words that a worker sketches at a time: 8 MiB.
const MOST_WORDS: usize = 1 << 20;

/// How a document becomes a sketch.
#[derive(Debug)]
pub struct Recipe {
    shingler: Shingler,
    sketcher: Box<dyn Sketcher>,
}

/// What became of one batch of lines.
#[derive(Debug, Default)]
pub struct Made {
    /// One record for each document.
    pub records: Records,
    /// The lines that are not documents.
    pub rejected: Vec<Rejected>,
    /// Blank lines.
    pub n_blank: u64,
}

/// A rejected line.
#[derive(Debug)]
pub struct Rejected {
    /// Where and why.
    pub reject: Reject,
    /// Its bytes, where they are held.
    pub line: Option<Vec<u8>>,
}

impl Recipe {
    /// Sketches of this spec over these shingles; the spec's pipeline becomes that of the shingler.
    ///
    /// # Errors
    /// A spec out of range.
    pub fn new(shingler: Shingler, spec: &SketchSpec) -> Result<Self> {
        let spec = SketchSpec { pipeline: shingler.pipeline().as_str().to_owned(), ..spec.clone() };
        Ok(Self { sketcher: spec.sketcher()?, shingler })
    }

    /// The spec of every sketch, with its pipeline.
    pub fn spec(&self) -> &SketchSpec {
        self.sketcher.spec()
    }

    /// Parses and sketches one batch.
    fn make(&self, raw: RawBatch, buffers: &mut Buffers) -> Result<Made> {
        let batch = read::parse(raw);
        let records =
            if self.shingler.options().bag { self.bags(&batch)? } else { self.sets(&batch, buffers)? };
        let lines = (0..batch.rejects().len()).map(|i| batch.rejected_line(i).map(<[u8]>::to_vec));
        let rejected = batch.rejects().iter().cloned().zip(lines);
        let rejected = rejected.map(|(reject, line)| Rejected { reject, line }).collect();
        Ok(Made { records, rejected, n_blank: batch.n_blank() })
    }

    fn bags(&self, batch: &Batch) -> Result<Records> {
        let mut records = Records::default();
        for document in batch.documents() {
            let features = self.shingler.features(document.text);
            records.push(document.id, features.size(), self.sketcher.sketch(&features)?.words());
        }
        Ok(records)
    }

    fn sets(&self, batch: &Batch, buffers: &mut Buffers) -> Result<Records> {
        let header = Header::of_field_ids(self.spec().clone());
        let mut records = Records::default();
        // Sketches of short documents can be larger than the documents: a run of them has a bounded size.
        let run = (MOST_WORDS / self.spec().words()).max(1);
        for start in (0..batch.n_documents()).step_by(run) {
            let run = start..(start + run).min(batch.n_documents());
            self.sketch_run(batch, run.clone(), buffers)?;
            let n_words = self.spec().words();
            for (i, document) in run.filter_map(|i| batch.document(i)).enumerate() {
                let size = (buffers.offsets[i + 1] - buffers.offsets[i]) as f64;
                records.push(document.id, size, &buffers.words[i * n_words..][..header.words(size)]);
            }
        }
        Ok(records)
    }

    /// Leaves the sketches of a run of documents in the buffers.
    fn sketch_run(&self, batch: &Batch, run: Range<usize>, buffers: &mut Buffers) -> Result<()> {
        let Buffers { scratch, set, elements, offsets, words } = buffers;
        elements.clear();
        offsets.clear();
        offsets.push(0);
        words.resize(run.len() * self.spec().words(), 0);
        for document in run.filter_map(|i| batch.document(i)) {
            set.clear();
            set.extend_from_slice(self.shingler.elements(document.text, scratch));
            set.sort_unstable();
            set.dedup();
            elements.extend_from_slice(set);
            offsets.push(elements.len());
        }
        Ok(self.sketcher.sketch_many(elements, offsets, words)?)
    }
}

/// What a worker keeps from batch to batch.
#[derive(Default)]
struct Buffers {
    scratch: Scratch,
    set: Vec<u64>,
    elements: Vec<u64>,
    offsets: Vec<usize>,
    words: Vec<u64>,
}

type Numbered<T> = (u64, T);
/// What a worker made, or what it panicked with.
type Outcome = std::result::Result<Result<Made>, Box<dyn Any + Send>>;

/// Sketches everything the reader gives; `sink` gets what was made in the order of the input, whatever the number of threads.
///
/// # Errors
/// An input that cannot be read to its end, or what `sink` returns; the work stops there.
pub fn make<E: From<super::Error>>(
    reader: Reader,
    recipe: &Recipe,
    threads: usize,
    mut sink: impl FnMut(Made) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.max(1);
    let n_tickets = 2 * threads;
    let (give_ticket, tickets) = sync_channel(n_tickets);
    (0..n_tickets).for_each(|_| give_ticket.send(()).expect("the receiver is here"));
    let (send_raw, raw) = sync_channel(n_tickets);
    let (send_made, made) = sync_channel(n_tickets);
    let raw = Mutex::new(raw);
    thread::scope(|scope| {
        let send_failure = send_made.clone();
        scope.spawn(move || read_all(reader, &tickets, &send_raw, &send_failure));
        for _ in 0..threads {
            let (raw, send_made) = (&raw, send_made.clone());
            scope.spawn(move || work(recipe, raw, &send_made));
        }
        drop(send_made);
        in_order(made, give_ticket, &mut sink)
    })
}

fn read_all(
    reader: Reader,
    tickets: &Receiver<()>,
    send_raw: &SyncSender<Numbered<RawBatch>>,
    send_failure: &SyncSender<Numbered<Outcome>>,
) {
    let mut reader = reader.zip(0..);
    while tickets.recv().is_ok() {
        let sent = match reader.next() {
            Some((Ok(batch), number)) => send_raw.send((number, batch)).is_ok(),
            Some((Err(error), number)) => send_failure.send((number, Ok(Err(error.into())))).is_ok(),
            None => false,
        };
        if !sent {
            return;
        }
    }
}

fn work(
    recipe: &Recipe,
    raw: &Mutex<Receiver<Numbered<RawBatch>>>,
    send_made: &SyncSender<Numbered<Outcome>>,
) {
    let mut buffers = Buffers::default();
    loop {
        let received = raw.lock().expect("no worker panics while it receives").recv();
        let Ok((number, batch)) = received else { return };
        // A panic travels to the caller's thread: the others must not wait for a batch that never comes.
        let outcome = catch_unwind(AssertUnwindSafe(|| recipe.make(batch, &mut buffers)));
        if send_made.send((number, outcome)).is_err() {
            return;
        }
    }
}

/// Takes both ends of the pipes: when it returns early they close, and the other threads come to their end.
fn in_order<E: From<super::Error>>(
    made: Receiver<Numbered<Outcome>>,
    give_ticket: SyncSender<()>,
    sink: &mut impl FnMut(Made) -> Result<(), E>,
) -> Result<(), E> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for (number, outcome) in made {
        early.insert(number, outcome);
        while let Some(outcome) = early.remove(&next) {
            sink(outcome.unwrap_or_else(|panic| resume_unwind(panic))?)?;
            next += 1;
            // The reading thread may have come to its end already.
            let _ = give_ticket.send(());
        }
    }
    Ok(())
}
