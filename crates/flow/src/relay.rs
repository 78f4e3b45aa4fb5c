//! Batches through threads twice: made, cut into tasks in the order of the source, and what comes of the tasks placed in order again.
//!
//! ```text
//! source --> make, any thread --in order--> cut --tasks--> work, any thread --in order--> place
//! ```
//!
//! Where a task begins depends on all that was before it: so a stream is compressed in parts of a fixed size whatever its batches are. No step has a thread of its own. Whoever is free does what is furthest
//! along, so that little is under way, and all threads do the same where one step takes all the time.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// What any thread does. One value is shared by all of them.
pub trait Relay: Sync {
    /// What the source gives.
    type Batch;
    /// What becomes of a batch.
    type Made: Send;
    /// A part of what was made.
    type Task: Send;
    /// What comes of a task.
    type Done: Send;
    /// What a thread keeps from task to task.
    type Scratch: Default;
    /// Why any of it fails.
    type Error: Send;

    /// Turns a batch into something that can be cut.
    fn make(&self, batch: Self::Batch) -> Result<Self::Made, Self::Error>;

    /// Does a task.
    fn work(&self, task: Self::Task, scratch: &mut Self::Scratch) -> Result<Self::Done, Self::Error>;
}

/// Puts everything that the source gives through a relay. `cut` gets what was made in the order of the source, in the end nothing, and appends the tasks that are whole; `place` gets what came of them in
/// their order. Both are called by any thread, but by one at a time.
///
/// # Errors
/// What the source, the relay, `cut` or `place` say; everything stops there.
pub fn run<R: Relay>(
    threads: usize,
    relay: &R,
    source: impl Iterator<Item = Result<R::Batch, R::Error>> + Send,
    cut: impl FnMut(Option<R::Made>, &mut VecDeque<R::Task>) -> Result<(), R::Error> + Send,
    place: impl FnMut(R::Done) -> Result<(), R::Error> + Send,
) -> Result<(), R::Error> {
    let threads = threads.max(1);
    let relaying = Relaying {
        relay,
        most: threads + threads.div_ceil(2),
        source: Mutex::new(source),
        cut: Mutex::new(cut),
        place: Mutex::new(place),
        state: Mutex::new(State::default()),
        changed: Condvar::new(),
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| relaying.take_part());
        }
        relaying.take_part();
    });
    match relaying.state().failure.take() {
        Some(Failure::Error(error)) => Err(error),
        Some(Failure::Panic(panic)) => resume_unwind(panic),
        None => Ok(()),
    }
}

/// What the threads share.
struct Relaying<'a, R: Relay, S, C, P> {
    relay: &'a R,
    /// So many batches and so many tasks are under way at most.
    most: usize,
    source: Mutex<S>,
    cut: Mutex<C>,
    place: Mutex<P>,
    state: Mutex<State<R>>,
    changed: Condvar,
}

/// How far everything is.
struct State<R: Relay> {
    /// Batches that were read, and those that were cut.
    n_read: u64,
    n_cut: u64,
    made: BTreeMap<u64, R::Made>,
    tasks: VecDeque<R::Task>,
    /// Tasks that were begun, and those that were placed.
    n_begun: u64,
    n_placed: u64,
    done: BTreeMap<u64, R::Done>,
    reading: Turn,
    cutting: Turn,
    placing: Turn,
    failure: Option<Failure<R::Error>>,
}

/// Whether somebody is at a step that only one thread is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Free,
    Taken,
    /// There is nothing left for it.
    Over,
}

enum Failure<E> {
    Error(E),
    Panic(Box<dyn Any + Send>),
}

/// What a thread does next.
enum Step<R: Relay> {
    Place(R::Done),
    Work(u64, R::Task),
    Cut(Option<R::Made>),
    Read,
    Wait,
    End,
}

impl<R: Relay> Default for State<R> {
    fn default() -> Self {
        Self {
            n_read: 0,
            n_cut: 0,
            made: BTreeMap::new(),
            tasks: VecDeque::new(),
            n_begun: 0,
            n_placed: 0,
            done: BTreeMap::new(),
            reading: Turn::Free,
            cutting: Turn::Free,
            placing: Turn::Free,
            failure: None,
        }
    }
}

impl<R: Relay> State<R> {
    /// What is furthest along of all that can be done. What is begun here has to be ended by [`Relaying::step`].
    fn next(&mut self, most: usize) -> Step<R> {
        let is_over = self.cutting == Turn::Over && self.tasks.is_empty() && self.n_placed == self.n_begun;
        if is_over || self.failure.is_some() {
            return Step::End;
        }
        if self.placing == Turn::Free
            && let Some(done) = self.done.remove(&self.n_placed)
        {
            self.placing = Turn::Taken;
            return Step::Place(done);
        }
        // Where placing is slow nothing new is begun.
        if self.n_begun - self.n_placed >= most as u64 {
            return Step::Wait;
        }
        if let Some(task) = self.tasks.pop_front() {
            self.n_begun += 1;
            return Step::Work(self.n_begun - 1, task);
        }
        if self.cutting == Turn::Free {
            let made = self.made.remove(&self.n_cut);
            if made.is_some() || (self.reading == Turn::Over && self.n_cut == self.n_read) {
                self.cutting = Turn::Taken;
                return Step::Cut(made);
            }
        }
        if self.reading == Turn::Free && self.n_read - self.n_cut < most as u64 {
            self.reading = Turn::Taken;
            return Step::Read;
        }
        Step::Wait
    }
}

impl<R, S, C, P> Relaying<'_, R, S, C, P>
where
    R: Relay,
    S: Iterator<Item = Result<R::Batch, R::Error>> + Send,
    C: FnMut(Option<R::Made>, &mut VecDeque<R::Task>) -> Result<(), R::Error> + Send,
    P: FnMut(R::Done) -> Result<(), R::Error> + Send,
{
    fn state(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does one step after the other until all is done, or one failed.
    fn take_part(&self) {
        let mut scratch = R::Scratch::default();
        loop {
            let mut state = self.state();
            let step = loop {
                match state.next(self.most) {
                    Step::Wait => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                    step => break step,
                }
            };
            drop(state);
            if matches!(step, Step::End) {
                return self.changed.notify_all();
            }
            // The others must not wait for what never comes.
            let outcome = catch_unwind(AssertUnwindSafe(|| self.step(step, &mut scratch)));
            let failure = match outcome {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(Failure::Error(error)),
                Err(panic) => Some(Failure::Panic(panic)),
            };
            let mut state = self.state();
            if state.failure.is_none() {
                state.failure = failure;
            }
            self.changed.notify_all();
        }
    }

    fn step(&self, step: Step<R>, scratch: &mut R::Scratch) -> Result<(), R::Error> {
        match step {
            Step::Read => {
                let batch = self.source.lock().unwrap_or_else(PoisonError::into_inner).next().transpose()?;
                let mut state = self.state();
                let number = state.n_read;
                state.n_read += u64::from(batch.is_some());
                state.reading = if batch.is_some() { Turn::Free } else { Turn::Over };
                drop(state);
                self.changed.notify_all();
                if let Some(batch) = batch {
                    let made = self.relay.make(batch)?;
                    self.state().made.insert(number, made);
                }
            }
            Step::Cut(made) => {
                let (mut tasks, is_last) = (VecDeque::new(), made.is_none());
                self.cut.lock().unwrap_or_else(PoisonError::into_inner)(made, &mut tasks)?;
                let mut state = self.state();
                state.tasks.append(&mut tasks);
                state.cutting = if is_last { Turn::Over } else { Turn::Free };
                state.n_cut += u64::from(!is_last);
            }
            Step::Work(number, task) => {
                let done = self.relay.work(task, scratch)?;
                self.state().done.insert(number, done);
            }
            Step::Place(done) => {
                self.place.lock().unwrap_or_else(PoisonError::into_inner)(done)?;
                let mut state = self.state();
                state.n_placed += 1;
                state.placing = Turn::Free;
            }
            Step::Wait | Step::End => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Numbers in batches, cut into tasks of three, summed up. Counts what is under way; fails or panics at a number.
    #[derive(Default)]
    struct Threes {
        under_way: AtomicUsize,
        peak: AtomicUsize,
        bad: Option<u32>,
        panics: bool,
    }

    impl Relay for Threes {
        type Batch = Vec<u32>;
        type Made = Vec<u32>;
        type Task = Vec<u32>;
        type Done = Vec<u32>;
        type Scratch = Vec<u32>;
        type Error = String;

        fn make(&self, batch: Vec<u32>) -> Result<Vec<u32>, String> {
            let now = self.under_way.fetch_add(1, Ordering::Relaxed) + 1;
            self.peak.fetch_max(now, Ordering::Relaxed);
            Ok(batch)
        }

        fn work(&self, task: Vec<u32>, scratch: &mut Vec<u32>) -> Result<Vec<u32>, String> {
            assert!(scratch.is_empty(), "nobody shares it");
            if self.bad.is_some_and(|bad| task.contains(&bad)) {
                assert!(!self.panics, "a panic");
                return Err("bad".to_owned());
            }
            scratch.extend(&task);
            thread::yield_now();
            Ok(std::mem::take(scratch))
        }
    }

    fn relayed(threes: &Threes, threads: usize, batches: &[Vec<u32>]) -> Result<Vec<Vec<u32>>, String> {
        let (mut left, mut placed) = (Vec::new(), Vec::new());
        let cut = |made: Option<Vec<u32>>, tasks: &mut VecDeque<Vec<u32>>| {
            threes.under_way.fetch_sub(usize::from(made.is_some()), Ordering::Relaxed);
            let is_last = made.is_none();
            left.extend(made.unwrap_or_default());
            while left.len() >= 3 || (is_last && !left.is_empty()) {
                tasks.push_back(left.drain(..left.len().min(3)).collect());
            }
            Ok(())
        };
        run(threads, threes, batches.iter().cloned().map(Ok), cut, |done| {
            placed.push(done);
            Ok(())
        })?;
        Ok(placed)
    }

    proptest! {
        #[test]
        fn tasks_come_in_order_and_are_cut_alike_whatever_the_batches_and_threads(
            lengths in prop::collection::vec(0usize..9, 0..40),
            threads in 1usize..6,
        ) {
            let mut next = 0..;
            let batches: Vec<Vec<u32>> = lengths.iter().map(|n| next.by_ref().take(*n).collect()).collect();
            let all: Vec<u32> = batches.concat();
            let threes = Threes::default();
            let placed = relayed(&threes, threads, &batches).unwrap();
            prop_assert_eq!(placed, all.chunks(3).map(<[u32]>::to_vec).collect::<Vec<_>>());
            prop_assert!(threes.peak.into_inner() <= threads + threads.div_ceil(2));
        }

        #[test]
        fn what_fails_ends_everything_and_is_told(bad in 0u32..60, threads in 1usize..6) {
            let batches: Vec<Vec<u32>> = (0..20).map(|i| (3 * i..3 * i + 3).collect()).collect();
            let threes = Threes { bad: Some(bad), ..Threes::default() };
            prop_assert_eq!(relayed(&threes, threads, &batches), Err("bad".to_owned()));
        }
    }

    #[test]
    fn what_the_source_and_the_ends_say_is_told_and_a_panic_goes_on() {
        for threads in [1, 4] {
            let threes = Threes::default();
            let source = || (0..9).map(|i| if i == 5 { Err("source".to_owned()) } else { Ok(vec![i]) });
            let cut = |made: Option<Vec<u32>>, tasks: &mut VecDeque<Vec<u32>>| {
                tasks.extend(made);
                Ok(())
            };
            assert_eq!(run(threads, &threes, source(), cut, |_| Ok(())), Err("source".to_owned()));
            let place = |done: Vec<u32>| if done == [3] { Err("place".to_owned()) } else { Ok(()) };
            assert_eq!(run(threads, &threes, source().take(5), cut, place), Err("place".to_owned()));
            let fails = |_: Option<Vec<u32>>, _: &mut VecDeque<Vec<u32>>| Err("cut".to_owned());
            assert_eq!(run(threads, &threes, source().take(5), fails, |_| Ok(())), Err("cut".to_owned()));
            let panics = Threes { bad: Some(7), panics: true, ..Threes::default() };
            let batches: Vec<Vec<u32>> = (0..9).map(|i| vec![i]).collect();
            let caught = catch_unwind(AssertUnwindSafe(|| relayed(&panics, threads, &batches)));
            assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "a panic");
        }
    }
}
