//! Batches through many threads, and out again in their order, or as they come.
//!
//! ```text
//! each thread: a ticket --> the next batch of the source --> work --with its position--> the caller's thread
//!        ^                                                                                     |
//!        +-------------------------- a ticket for each batch that was taken -------------------+
//! ```
//!
//! Every thread takes what it works on from the source by itself, so that a batch stays in the cache of one processor from the file to what is made of it; the caller's thread works like the others,
//! and looks after what is finished in between. A batch needs a ticket to be read, and there are two per thread: that bounds the memory, also when one batch takes long and the others
//! pile up behind it. Who has one thread needs none of this.
//!
//! A source has parts, such as files, whose batches come one after the other ([`Position`]). In order ([`run`]), a part is begun when all batches of those before are taken. Who can put things into their
//! order later ([`Collector`]) gets them as they come, of several parts at a time, and hears up to where nothing is missing.

mod front;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use front::Front;

/// Where a batch stands in the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position {
    /// The number of its part, counted from 0.
    pub part: u64,
    /// Its number in the part, counted from 0.
    pub index: u64,
}

/// What a thread takes from a source.
#[derive(Debug)]
pub struct Taken<T> {
    /// Where it stands.
    pub at: Position,
    /// Whether it is the last of its part.
    pub is_last: bool,
    /// The batch. A part may end with nothing.
    pub batch: Option<T>,
}

/// Where batches come from. Any number of threads take them at the same time.
pub trait Source: Sync {
    /// What is worked on.
    type Batch;
    /// Why there are no more.
    type Error;

    /// The next batch that nobody has, of one of the first `at_once` parts that cannot be read by many threads; nothing when there are no more. With one at once everything before a batch was taken
    /// before it.
    fn next_batch(&self, at_once: usize) -> Option<Taken<Result<Self::Batch, Self::Error>>>;

    /// Nothing behind this part is wanted any more.
    fn end_after(&self, part: u64);
}

/// An iterator as a source: of one part, which one thread at a time reads.
pub struct OneByOne<I>(Mutex<(Option<I>, u64)>);

impl<I> OneByOne<I> {
    /// What the iterator gives.
    pub fn new(batches: I) -> Self {
        Self(Mutex::new((Some(batches), 0)))
    }
}

impl<T, E, I: Iterator<Item = Result<T, E>> + Send> Source for OneByOne<I> {
    type Batch = T;
    type Error = E;

    fn next_batch(&self, _: usize) -> Option<Taken<Result<T, E>>> {
        let mut rest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (batches, index) = &mut *rest;
        let batch = batches.as_mut()?.next();
        let at = Position { part: 0, index: *index };
        *index += 1;
        let is_last = !matches!(batch, Some(Ok(_)));
        if is_last {
            *batches = None;
        }
        Some(Taken { at, is_last, batch })
    }

    fn end_after(&self, _: u64) {}
}

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

/// Takes what was made as it comes.
pub trait Collector<T, E> {
    /// Takes what was made of the batch at a position.
    ///
    /// # Errors
    /// What ends the work.
    fn take(&mut self, at: Position, made: T) -> Result<(), E>;

    /// Everything before this position was taken.
    ///
    /// # Errors
    /// What ends the work.
    fn reached(&mut self, front: Position) -> Result<(), E>;

    /// Whether there is no room for what comes early: from now on only the first part that is not read to its end is gone on with.
    fn wants_order(&self) -> bool;
}

/// What a worker made, or what it panicked with.
type Outcome<W> = Result<Result<<W as Work>::Made, <W as Work>::Error>, Box<dyn Any + Send>>;
type Finished<W> = Taken<Outcome<W>>;

/// Puts everything the source gives through the work; `sink` gets what was made in the order of the input, whatever the number of threads.
///
/// # Errors
/// An input that cannot be read to its end, what the work says, or what `sink` returns; everything stops there.
pub fn run<W: Work, R, E: From<W::Error>>(
    source: R,
    work: &W,
    threads: usize,
    sink: impl FnMut(W::Made) -> Result<(), E>,
) -> Result<(), E>
where
    R: Source<Batch = W::Batch>,
    W::Error: From<R::Error>,
{
    Pipeline { source: &source, work, threads, at_once: AtomicUsize::new(1) }.run(&mut InOrder(sink), true)
}

/// The same for somebody who takes what was made as it comes.
///
/// # Errors
/// As [`run`], and always the first in the order of the input.
pub fn collect<W: Work, R, E: From<W::Error>>(
    source: R,
    work: &W,
    threads: usize,
    collector: &mut impl Collector<W::Made, E>,
) -> Result<(), E>
where
    R: Source<Batch = W::Batch>,
    W::Error: From<R::Error>,
{
    let at_once = AtomicUsize::new(if collector.wants_order() { 1 } else { threads });
    Pipeline { source: &source, work, threads, at_once }.run(collector, false)
}

/// Who wants everything in order.
struct InOrder<F>(F);

impl<T, E, F: FnMut(T) -> Result<(), E>> Collector<T, E> for InOrder<F> {
    fn take(&mut self, _: Position, made: T) -> Result<(), E> {
        self.0(made)
    }

    fn reached(&mut self, _: Position) -> Result<(), E> {
        Ok(())
    }

    fn wants_order(&self) -> bool {
        true
    }
}

/// What the threads share.
struct Pipeline<'a, W, R> {
    source: &'a R,
    work: &'a W,
    threads: usize,
    /// Parts that may be read at the same time.
    at_once: AtomicUsize,
}

impl<W, R> Pipeline<'_, W, R>
where
    W: Work,
    R: Source<Batch = W::Batch>,
    W::Error: From<R::Error>,
{
    fn run<E: From<W::Error>>(
        &self,
        collector: &mut impl Collector<W::Made, E>,
        waits: bool,
    ) -> Result<(), E> {
        if self.threads <= 1 {
            let (mut scratch, mut front) = (W::Scratch::default(), Front::default());
            while let Some(finished) = self.make(&mut scratch) {
                self.deliver(finished, &mut front, collector, waits)?;
            }
            return Ok(());
        }
        let n_tickets = 2 * self.threads;
        let (give_ticket, tickets) = sync_channel(n_tickets);
        (0..n_tickets).for_each(|_| give_ticket.send(()).expect("the receiver is here"));
        let (send, finished) = sync_channel(n_tickets);
        let tickets = Mutex::new(tickets);
        thread::scope(|scope| {
            for _ in 1..self.threads {
                let (tickets, send) = (&tickets, send.clone());
                scope.spawn(move || self.work_all(tickets, &send));
            }
            drop(send);
            // It takes the other ends of the pipes: when it returns early they close, and the other threads come to their end.
            self.look_after(finished, &tickets, give_ticket, collector, waits)
        })
    }

    /// Takes a batch, for which there is a ticket, and works on it; nothing if there are no more.
    fn make(&self, scratch: &mut W::Scratch) -> Option<Finished<W>> {
        let Taken { at, is_last, batch } = self.source.next_batch(self.at_once.load(Ordering::Relaxed))?;
        // A panic travels to the caller's thread: the others must not wait for a batch that never comes.
        let make = |batch: Result<W::Batch, R::Error>| {
            catch_unwind(AssertUnwindSafe(|| self.work.make(batch.map_err(W::Error::from)?, scratch)))
        };
        Some(Taken { at, is_last, batch: batch.map(make) })
    }

    /// The part of the other threads.
    fn work_all(&self, tickets: &Mutex<Receiver<()>>, send: &SyncSender<Finished<W>>) {
        let mut scratch = W::Scratch::default();
        loop {
            let ticket = tickets.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Some(finished) = ticket.ok().and_then(|()| self.make(&mut scratch)) else { return };
            if send.send(finished).is_err() {
                return;
            }
        }
    }

    /// The part of the caller's thread.
    fn look_after<E: From<W::Error>>(
        &self,
        finished: Receiver<Finished<W>>,
        tickets: &Mutex<Receiver<()>>,
        give_ticket: SyncSender<()>,
        collector: &mut impl Collector<W::Made, E>,
        waits: bool,
    ) -> Result<(), E> {
        let (mut scratch, mut front) = (W::Scratch::default(), Front::default());
        let mut is_over = false;
        let mut deliver = |finished: Finished<W>| -> Result<(), E> {
            let n_free = self.deliver(finished, &mut front, collector, waits)?;
            // The others may have come to their end already.
            (0..n_free).for_each(|_| {
                let _ = give_ticket.send(());
            });
            Ok(())
        };
        loop {
            finished.try_iter().try_for_each(&mut deliver)?;
            // Who waits for a ticket holds the receiver: there is none then.
            let ticket = || tickets.try_lock().ok().is_some_and(|tickets| tickets.try_recv().is_ok());
            if !is_over && ticket() {
                match self.make(&mut scratch) {
                    Some(finished) => {
                        deliver(finished)?;
                        continue;
                    }
                    None => is_over = true,
                }
            }
            // Nothing to do but to wait for the others.
            match finished.recv() {
                Ok(finished) => deliver(finished)?,
                // All is done. Or a thread is gone before its time, which the scope tells.
                Err(_) => return Ok(()),
            }
        }
    }

    /// Hands on what can be; how many tickets are free again. What failed waits for its turn, so that the first failure is told.
    fn deliver<E: From<W::Error>>(
        &self,
        finished: Finished<W>,
        front: &mut Front<Outcome<W>>,
        collector: &mut impl Collector<W::Made, E>,
        waits: bool,
    ) -> Result<usize, E> {
        let Taken { at, is_last, batch } = finished;
        let mut n_free = usize::from(!waits);
        match batch {
            Some(Ok(Ok(made))) if !waits => {
                collector.take(at, made)?;
                front.add(Taken { at, is_last, batch: None });
            }
            batch => {
                if matches!(batch, Some(Err(_) | Ok(Err(_)))) {
                    self.source.end_after(at.part);
                }
                front.add(Taken { at, is_last, batch });
            }
        }
        while let Some(Taken { at, batch, .. }) = front.next() {
            if let Some(outcome) = batch {
                collector.take(at, outcome.unwrap_or_else(|panic| resume_unwind(panic))?)?;
            }
            n_free += usize::from(waits);
        }
        collector.reached(front.at())?;
        if collector.wants_order() {
            self.at_once.store(1, Ordering::Relaxed);
        }
        Ok(n_free)
    }
}

#[cfg(test)]
mod tests;
