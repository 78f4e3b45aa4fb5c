//! A corpus through many threads, and out again in the order of the input.
//!
//! ```text
//! reading thread --raw batches--> workers --numbered--> the caller's thread, in order
//!        ^                                                    |
//!        +------------- a ticket for each finished batch -----+
//! ```
//!
//! A batch needs a ticket to be read, and there are two per worker: that bounds the memory, also when one batch takes long and the others
//! pile up behind it. Who has one thread does everything in it: handing batches to others would take longer, and the batch would no longer be in the cache.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use crate::read::{RawBatch, Reader};

/// What the workers do with a batch. One value is shared by all of them.
pub(crate) trait Work: Sync {
    /// What a worker keeps from batch to batch.
    type Scratch: Default;
    /// What becomes of a batch.
    type Made: Send;
    /// Why a batch fails.
    type Error: Send + From<crate::Error>;

    /// Turns a batch into something else.
    fn make(&self, raw: RawBatch, scratch: &mut Self::Scratch) -> Result<Self::Made, Self::Error>;
}

type Numbered<T> = (u64, T);
/// What a worker made, or what it panicked with.
type Outcome<W> = Result<Result<<W as Work>::Made, <W as Work>::Error>, Box<dyn Any + Send>>;

/// Puts everything the reader gives through the work; `sink` gets what was made in the order of the input, whatever the number of threads.
///
/// # Errors
/// An input that cannot be read to its end, what the work says, or what `sink` returns; everything stops there.
pub(crate) fn run<W: Work, E: From<W::Error>>(
    reader: Reader,
    work: &W,
    threads: usize,
    mut sink: impl FnMut(W::Made) -> Result<(), E>,
) -> Result<(), E> {
    if threads <= 1 {
        let mut scratch = W::Scratch::default();
        for batch in reader {
            sink(work.make(batch.map_err(W::Error::from)?, &mut scratch)?)?;
        }
        return Ok(());
    }
    let n_tickets = 2 * threads;
    let (give_ticket, tickets) = sync_channel(n_tickets);
    (0..n_tickets).for_each(|_| give_ticket.send(()).expect("the receiver is here"));
    let (send_raw, raw) = sync_channel(n_tickets);
    let (send_made, made) = sync_channel(n_tickets);
    let raw = Mutex::new(raw);
    thread::scope(|scope| {
        let send_failure = send_made.clone();
        scope.spawn(move || read_all::<W>(reader, &tickets, &send_raw, &send_failure));
        for _ in 0..threads {
            let (raw, send_made) = (&raw, send_made.clone());
            scope.spawn(move || work_all(work, raw, &send_made));
        }
        drop(send_made);
        in_order::<W, E>(made, give_ticket, &mut sink)
    })
}

fn read_all<W: Work>(
    reader: Reader,
    tickets: &Receiver<()>,
    send_raw: &SyncSender<Numbered<RawBatch>>,
    send_failure: &SyncSender<Numbered<Outcome<W>>>,
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

fn work_all<W: Work>(
    work: &W,
    raw: &Mutex<Receiver<Numbered<RawBatch>>>,
    send_made: &SyncSender<Numbered<Outcome<W>>>,
) {
    let mut scratch = W::Scratch::default();
    loop {
        let received = raw.lock().expect("no worker panics while it receives").recv();
        let Ok((number, batch)) = received else { return };
        // A panic travels to the caller's thread: the others must not wait for a batch that never comes.
        let outcome = catch_unwind(AssertUnwindSafe(|| work.make(batch, &mut scratch)));
        if send_made.send((number, outcome)).is_err() {
            return;
        }
    }
}

/// Takes both ends of the pipes: when it returns early they close, and the other threads come to their end.
fn in_order<W: Work, E: From<W::Error>>(
    made: Receiver<Numbered<Outcome<W>>>,
    give_ticket: SyncSender<()>,
    sink: &mut impl FnMut(W::Made) -> Result<(), E>,
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
