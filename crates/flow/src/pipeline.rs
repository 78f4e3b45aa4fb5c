//! Batches through many threads, and out again in their order.
//!
//! ```text
//! each thread: a ticket --> the next batch of the reader --> work --numbered--> the caller's thread, in order
//!        ^                                                                              |
//!        +------------------------ a ticket for each finished batch --------------------+
//! ```
//!
//! Every thread takes what it works on from the reader by itself, so that a batch stays in the cache of one processor from the file to what is made of it; the caller's thread works like the others,
//! and looks after what is finished in between. A batch needs a ticket to be read, and there are two per thread: that bounds the memory, also when one batch takes long and the others
//! pile up behind it. Who has one thread needs none of this.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// What the workers do with a batch. One value is shared by all of them.
pub trait Work: Sync {
    /// What is worked on.
    type Batch;
    /// What a worker keeps from batch to batch.
    type Scratch: Default;
    /// What becomes of a batch.
    type Made: Send;
    /// Why a batch fails.
    type Error: Send;

    /// Turns a batch into something else.
    fn make(&self, batch: Self::Batch, scratch: &mut Self::Scratch) -> Result<Self::Made, Self::Error>;
}

type Numbered<T> = (u64, T);
/// What a worker made, or what it panicked with.
type Outcome<W> = Result<Result<<W as Work>::Made, <W as Work>::Error>, Box<dyn Any + Send>>;

/// Puts everything the reader gives through the work; `sink` gets what was made in the order of the input, whatever the number of threads.
///
/// # Errors
/// An input that cannot be read to its end, what the work says, or what `sink` returns; everything stops there.
pub fn run<W: Work, R, F, E: From<W::Error>>(
    reader: R,
    work: &W,
    threads: usize,
    mut sink: impl FnMut(W::Made) -> Result<(), E>,
) -> Result<(), E>
where
    R: Iterator<Item = Result<W::Batch, F>> + Send,
    W::Error: From<F>,
{
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
    let (send_made, made) = sync_channel(n_tickets);
    let queue = Queue { work, tickets: Mutex::new(tickets), reader: Mutex::new((reader, 0)) };
    thread::scope(|scope| {
        for _ in 1..threads {
            let (queue, send_made) = (&queue, send_made.clone());
            scope.spawn(move || queue.work_all(&send_made));
        }
        drop(send_made);
        queue.in_order(made, give_ticket, &mut sink)
    })
}

/// What the threads share.
struct Queue<'a, W, R> {
    work: &'a W,
    tickets: Mutex<Receiver<()>>,
    /// The reader, and the number of its next batch.
    reader: Mutex<(R, u64)>,
}

impl<W, R, F> Queue<'_, W, R>
where
    W: Work,
    R: Iterator<Item = Result<W::Batch, F>> + Send,
    W::Error: From<F>,
{
    /// Reads a batch, for which there is a ticket, and works on it; nothing if there are no more. After an error the reader has no more, either.
    fn make(&self, scratch: &mut W::Scratch) -> Option<Numbered<Outcome<W>>> {
        let (batch, number) = {
            let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
            let (reader, next) = &mut *reader;
            let number = *next;
            *next += 1;
            (reader.next()?, number)
        };
        // A panic travels to the caller's thread: the others must not wait for a batch that never comes.
        let outcome =
            catch_unwind(AssertUnwindSafe(|| self.work.make(batch.map_err(W::Error::from)?, scratch)));
        Some((number, outcome))
    }

    /// The part of the other threads.
    fn work_all(&self, send_made: &SyncSender<Numbered<Outcome<W>>>) {
        let mut scratch = W::Scratch::default();
        loop {
            let ticket = self.tickets.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Some(made) = ticket.ok().and_then(|()| self.make(&mut scratch)) else { return };
            if send_made.send(made).is_err() {
                return;
            }
        }
    }

    /// The part of the caller's thread. It takes the other ends of the pipes: when it returns early they close, and the other threads come to their end.
    fn in_order<E: From<W::Error>>(
        &self,
        made: Receiver<Numbered<Outcome<W>>>,
        give_ticket: SyncSender<()>,
        sink: &mut impl FnMut(W::Made) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut scratch, mut early, mut next) = (W::Scratch::default(), BTreeMap::new(), 0);
        let mut is_over = false;
        loop {
            early.extend(made.try_iter());
            while let Some(outcome) = early.remove(&next) {
                sink(outcome.unwrap_or_else(|panic| resume_unwind(panic))?)?;
                next += 1;
                // The others may have come to their end already.
                let _ = give_ticket.send(());
            }
            // Who waits for a ticket holds the receiver: there is none then.
            let ticket = || self.tickets.try_lock().ok().is_some_and(|tickets| tickets.try_recv().is_ok());
            if !is_over && ticket() {
                match self.make(&mut scratch) {
                    Some((number, outcome)) => {
                        early.insert(number, outcome);
                        continue;
                    }
                    None => is_over = true,
                }
            }
            // Nothing to do but to wait for the others.
            match made.recv() {
                Ok((number, outcome)) => {
                    early.insert(number, outcome);
                }
                Err(_) if early.contains_key(&next) => {}
                // All is done. Or a thread is gone before its time, which the scope tells.
                Err(_) => return Ok(()),
            }
        }
    }
}
