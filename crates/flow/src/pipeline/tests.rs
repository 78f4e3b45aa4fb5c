use std::collections::BTreeMap;
use std::sync::Mutex;

use super::*;

/// Numbers; each part is a list of them. Where it has a nothing, it fails.
struct Lists {
    parts: Mutex<Vec<Vec<Option<u32>>>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How far each part is.
    at: BTreeMap<usize, usize>,
    ended: usize,
    last: Option<u64>,
    most_open: usize,
}

impl Lists {
    fn new(parts: Vec<Vec<Option<u32>>>) -> Self {
        Self { parts: Mutex::new(parts), state: Mutex::default() }
    }
}

impl Source for &Lists {
    type Batch = u32;
    type Error = String;

    fn next_batch(&self, at_once: usize) -> Option<Taken<Result<u32, String>>> {
        let parts = self.parts.lock().unwrap();
        let mut state = self.state.lock().unwrap();
        let next = state.at.len() + state.ended;
        let is_wanted = state.last.is_none_or(|last| next as u64 <= last);
        if state.at.len() < at_once && next < parts.len() && is_wanted {
            state.at.insert(next, 0);
        }
        state.most_open = state.most_open.max(state.at.len());
        // The last one, so that much comes early.
        let last = *state.at.keys().next_back()?;
        let part = if at_once == 1 { *state.at.keys().next()? } else { last };
        let index = state.at[&part];
        let batch = parts[part].get(index).map(|number| number.ok_or(format!("{part}")));
        let is_last = !matches!(batch, Some(Ok(_)));
        match is_last {
            true => {
                state.at.remove(&part);
                // Parts are begun in order, so those that ended count.
                state.ended += 1;
            }
            false => *state.at.get_mut(&part).unwrap() += 1,
        }
        Some(Taken { at: Position { part: part as u64, index: index as u64 }, is_last, batch })
    }

    fn end_after(&self, part: u64) {
        let mut state = self.state.lock().unwrap();
        state.last = Some(state.last.map_or(part, |last| last.min(part)));
    }
}

/// Doubles numbers, and does not like some.
struct Double;

impl Work for Double {
    type Batch = u32;
    type Scratch = ();
    type Made = u32;
    type Error = String;

    fn make(&self, batch: u32, (): &mut ()) -> Result<u32, String> {
        assert!(batch != 13, "thirteen");
        if batch == 7777 { Err("work".to_owned()) } else { Ok(2 * batch) }
    }
}

fn parts(n: u32, each: u32) -> Vec<Vec<Option<u32>>> {
    (0..n).map(|part| (0..each * (part % 3)).map(|i| Some(1000 + part * each * 2 + i)).collect()).collect()
}

fn in_order(parts: &[Vec<Option<u32>>]) -> Vec<u32> {
    parts.iter().flatten().map(|number| 2 * number.unwrap()).collect()
}

/// Puts into order what comes, and wants order after so many.
#[derive(Default)]
struct Sorter {
    early: BTreeMap<Position, u32>,
    done: Vec<u32>,
    max_early: usize,
    most_early: usize,
    wants_order: bool,
}

impl Collector<u32, String> for Sorter {
    fn take(&mut self, at: Position, made: u32) -> Result<(), String> {
        assert!(self.early.insert(at, made).is_none(), "taken twice");
        Ok(())
    }

    fn reached(&mut self, front: Position) -> Result<(), String> {
        let early = self.early.split_off(&front);
        self.done.extend(std::mem::replace(&mut self.early, early).into_values());
        self.most_early = self.most_early.max(self.early.len());
        self.wants_order |= self.early.len() > self.max_early;
        Ok(())
    }

    fn wants_order(&self) -> bool {
        self.wants_order
    }
}

#[test]
fn what_comes_early_is_put_in_order_whatever_the_threads() {
    let all = parts(20, 30);
    for threads in [1, 2, 5, 16] {
        for max_early in [0, 10, usize::MAX] {
            let (lists, mut sorter) = (Lists::new(all.clone()), Sorter { max_early, ..Sorter::default() });
            collect(&lists, &Double, threads, &mut sorter).unwrap();
            assert!(sorter.early.is_empty());
            assert_eq!(sorter.done, in_order(&all), "{threads} threads");
            // Those that were open when order was asked for go on one after the other, and add nothing new.
            assert!(max_early > 0 || sorter.most_early <= 4 * threads, "{}", sorter.most_early);
        }
    }
}

#[test]
fn in_order_one_part_is_read_at_a_time() {
    let all = parts(20, 30);
    for threads in [1, 3, 16] {
        let (lists, mut done) = (Lists::new(all.clone()), Vec::new());
        run(&lists, &Double, threads, |number| {
            done.push(number);
            Ok::<_, String>(())
        })
        .unwrap();
        assert_eq!(done, in_order(&all));
        assert_eq!(lists.state.lock().unwrap().most_open, 1);
    }
}

#[test]
fn the_first_failure_of_the_input_is_told() {
    for threads in [1, 2, 16] {
        for (fails, expected) in
            [(vec![(4, None), (11, None)], "4"), (vec![(11, Some(7777)), (14, None)], "work")]
        {
            let mut all = parts(20, 30);
            fails.iter().for_each(|(part, number)| all[*part].push(*number));
            let mut sorter = Sorter { max_early: usize::MAX, ..Sorter::default() };
            let failed = collect(&Lists::new(all.clone()), &Double, threads, &mut sorter).unwrap_err();
            assert_eq!(failed, expected, "{threads} threads");
            let failed = run(&Lists::new(all), &Double, threads, |_| Ok::<_, String>(())).unwrap_err();
            assert_eq!(failed, expected, "{threads} threads");
        }
    }
}

#[test]
fn a_panic_comes_to_the_caller() {
    for threads in [1, 4] {
        let panics = || {
            let mut all = parts(9, 30);
            all[5].push(Some(13));
            run(&Lists::new(all), &Double, threads, |_| Ok::<_, String>(()))
        };
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    }
}
