//! Where a run is: which stage of how many, how fast it goes, and what is left of all of it. Whoever asks says what time it is.

use std::collections::VecDeque;
use std::time::Duration;

use super::Stage;

/// A rate is that of so much time.
const LATELY: Duration = Duration::from_secs(5);
/// Between two looks at what is done.
const STEP: Duration = Duration::from_millis(100);
/// A stage tells how long it takes once so much of it is done, in so much time.
const TELLING_SHARE: f64 = 0.01;
const TELLING: Duration = Duration::from_millis(300);

/// A stage of a run, and how long it takes beside the others: what that was where it was measured. How fast this machine is does not matter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Planned {
    /// The stage.
    pub stage: Stage,
    /// Its time beside that of the others.
    pub cost: f64,
}

/// How far a run is. Times are those since it began.
#[derive(Debug)]
pub struct Course {
    plan: Vec<Planned>,
    current: Option<Current>,
    /// What the stages that are over took, and what they were to cost.
    took: Duration,
    cost: f64,
}

#[derive(Debug)]
struct Current {
    /// Its place in the plan.
    place: usize,
    begun: Duration,
    total: Option<u64>,
    done: u64,
    /// When how much was done, not long ago.
    lately: VecDeque<(Duration, u64)>,
}

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Position {
    /// The stage.
    pub stage: Stage,
    /// Its number, from 1 on,
    pub number: usize,
    /// of so many.
    pub of: usize,
    /// What of it is done,
    pub done: u64,
    /// of how much, where that is known.
    pub total: Option<u64>,
    /// How long it takes by now.
    pub took: Duration,
    /// What is done in a second, of late.
    pub rate: Option<f64>,
    /// What is left of the whole run, about. Nothing as long as nothing is known.
    pub left: Option<Duration>,
}

impl Course {
    /// A run that has not begun.
    pub fn new(plan: Vec<Planned>) -> Self {
        Self { plan, current: None, took: Duration::ZERO, cost: 0.0 }
    }

    /// A stage begins, and the one before is over; where that was.
    pub fn begin(&mut self, stage: Stage, total: Option<u64>, now: Duration) -> Option<Position> {
        let before = self.position(now);
        if let Some(current) = self.current.take() {
            self.took += now.saturating_sub(current.begun);
            self.cost += self.plan[current.place].cost;
        }
        let place = self.plan.iter().position(|planned| planned.stage == stage).unwrap_or_else(|| {
            self.plan.push(Planned { stage, cost: 0.0 });
            self.plan.len() - 1
        });
        self.current =
            Some(Current { place, begun: now, total, done: 0, lately: VecDeque::from([(now, 0)]) });
        before
    }

    /// So much of the stage is done.
    pub fn reached(&mut self, done: u64, now: Duration) {
        let Some(current) = &mut self.current else { return };
        // Threads tell it in any order.
        current.done = current.done.max(done);
        let last = current.lately.back().map_or(Duration::ZERO, |(at, _)| *at);
        if now >= last + STEP {
            current.lately.push_back((now, current.done));
        }
        // One from before stays, to count from.
        while current.lately.get(1).is_some_and(|(at, _)| *at + LATELY <= now) {
            current.lately.pop_front();
        }
    }

    /// Where the run is; nothing before it begins.
    pub fn position(&self, now: Duration) -> Option<Position> {
        let current = self.current.as_ref()?;
        Some(Position {
            stage: self.plan[current.place].stage,
            number: current.place + 1,
            of: self.plan.len(),
            done: current.done,
            total: current.total,
            took: now.saturating_sub(current.begun),
            rate: current.rate(now),
            left: self.left(current, now),
        })
    }

    /// What is left of the stage by what is done of it, and of those to come by what they cost beside those that were.
    fn left(&self, current: &Current, now: Duration) -> Option<Duration> {
        let cost = self.plan[current.place].cost;
        let elapsed = now.saturating_sub(current.begun).as_secs_f64();
        let per_cost = (self.cost > 0.0).then(|| self.took.as_secs_f64() / self.cost);
        let told = current.left(now);
        let of_stage = told.or_else(|| per_cost.map(|seconds| (cost * seconds - elapsed).max(0.0)))?;
        let per_cost = match told {
            Some(left) if self.cost + cost > 0.0 => {
                (self.took.as_secs_f64() + elapsed + left) / (self.cost + cost)
            }
            _ => per_cost.unwrap_or(0.0),
        };
        let to_come: f64 = self.plan[current.place + 1..].iter().map(|planned| planned.cost).sum();
        Duration::try_from_secs_f64(of_stage + to_come * per_cost).ok()
    }
}

impl Current {
    /// What is done in a second, of late: a stage that stands still becomes slow.
    fn rate(&self, now: Duration) -> Option<f64> {
        let (since, before) = *self.lately.front()?;
        let time = now.saturating_sub(since);
        (self.done > before && time >= STEP).then(|| (self.done - before) as f64 / time.as_secs_f64())
    }

    /// Seconds left of the stage, if it has told enough.
    fn left(&self, now: Duration) -> Option<f64> {
        let total = self.total.filter(|total| *total > 0)?;
        let elapsed = now.saturating_sub(self.begun);
        if (self.done as f64) < TELLING_SHARE * total as f64 || elapsed < TELLING {
            return None;
        }
        // The mean of all of it is steadier than what was of late.
        let left = total.saturating_sub(self.done) as f64;
        Some(left * elapsed.as_secs_f64() / self.done as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: [(Stage, f64); 5] = [
        (Stage::Read, 4.0),
        (Stage::Group, 1.0),
        (Stage::Candidates, 2.0),
        (Stage::Verify, 1.0),
        (Stage::Write, 2.0),
    ];

    fn course() -> Course {
        Course::new(PLAN.map(|(stage, cost)| Planned { stage, cost }).to_vec())
    }

    fn at(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    /// Runs stages of so many seconds each, in steps of a tenth of a second; what was left by the clock, and what was told.
    fn run(seconds: [f64; 5], is_told: impl Fn(Stage) -> bool) -> Vec<(f64, Option<f64>)> {
        let (mut course, mut now, mut told) = (course(), 0.0, Vec::new());
        let all: f64 = seconds.iter().sum();
        for ((stage, _), seconds) in PLAN.into_iter().zip(seconds) {
            course.begin(stage, Some(1000), at(now));
            let begun = now;
            while now - begun < seconds - 1e-9 {
                if is_told(stage) {
                    course.reached(((now - begun) / seconds * 1000.0) as u64, at(now));
                }
                told.push((all - now, course.position(at(now)).unwrap().left.map(|left| left.as_secs_f64())));
                now += 0.1;
            }
        }
        told
    }

    #[test]
    fn a_run_as_planned_is_told_to_the_second_and_shrinks_with_the_clock() {
        let told = run([12.0, 3.0, 6.0, 3.0, 6.0], |_| true);
        assert!(told[..3].iter().all(|(_, left)| left.is_none()));
        let known: Vec<(f64, f64)> = told[4..].iter().map(|(truth, left)| (*truth, left.unwrap())).collect();
        assert!(
            known.iter().skip(10).all(|(truth, left)| (truth - left).abs() < 0.05 * truth + 0.2),
            "{known:?}"
        );
        assert!(known.windows(2).skip(10).all(|two| two[1].1 < two[0].1 + 0.1), "{known:?}");
    }

    #[test]
    fn a_stage_that_tells_nothing_is_as_long_as_planned_beside_the_others() {
        let told = run([8.0, 2.0, 4.0, 2.0, 4.0], |stage| stage == Stage::Read || stage == Stage::Write);
        assert!(told.iter().skip(20).all(|(truth, left)| (truth - left.unwrap()).abs() < 0.6), "{told:?}");
        // If it takes longer than that, only what comes after it is left.
        let told = run([8.0, 20.0, 4.0, 2.0, 4.0], |stage| stage == Stage::Read);
        let (_, left) = told[8 * 10 + 150];
        assert!((left.unwrap() - 10.0).abs() < 0.2, "{left:?}");
    }

    #[test]
    fn a_stage_that_takes_longer_than_planned_makes_the_others_longer_too() {
        let told = run([4.0, 20.0, 4.0, 2.0, 4.0], |_| true);
        let (truth, left) = told[4 * 10 + 100];
        // Ten seconds of its own, and what comes costs as much as all that was: 24 seconds.
        assert!((left.unwrap() - 34.0).abs() < 0.5, "{truth} {left:?}");
        let (truth, left) = *told.last().unwrap();
        assert!((truth - left.unwrap()).abs() < 0.1);
    }

    #[test]
    fn the_rate_is_that_of_late_and_a_stage_that_stands_still_becomes_slow() {
        let mut course = course();
        assert_eq!(course.begin(Stage::Read, None, at(1.0)), None);
        assert_eq!(course.position(at(1.0)).unwrap().rate, None);
        for i in 0..200 {
            // Ten a second for ten seconds, then a hundred.
            let seconds = f64::from(i) / 10.0;
            course.reached(if i < 100 { i } else { 10 * i - 900 } as u64, at(1.0 + seconds));
        }
        let position = course.position(at(1.0 + 19.9)).unwrap();
        assert!((position.rate.unwrap() - 100.0).abs() < 1.0, "{position:?}");
        assert_eq!((position.number, position.of, position.done, position.left), (1, 5, 1090, None));
        // From here on nothing comes.
        let rate = course.position(at(1.0 + 29.9)).unwrap().rate.unwrap();
        assert!((rate - 100.0 / 3.0).abs() < 2.0, "{rate}");
    }

    #[test]
    fn stages_that_a_resumed_run_skips_and_unplanned_ones_do_no_harm() {
        let mut course = course();
        course.begin(Stage::Read, Some(10), at(0.0));
        let read = course.begin(Stage::Verify, Some(10), at(4.0)).unwrap();
        assert_eq!((read.stage, read.took), (Stage::Read, at(4.0)));
        let verify = course.position(at(4.0)).unwrap();
        assert_eq!((verify.number, verify.left), (4, Some(at(3.0))));
        course.begin(Stage::Upload, Some(0), at(5.0));
        course.reached(7, at(6.0));
        let upload = course.position(at(6.0)).unwrap();
        assert_eq!((upload.number, upload.of, upload.left), (6, 6, Some(Duration::ZERO)));
        // Threads tell what they have done in any order.
        course.reached(5, at(6.5));
        assert_eq!(course.position(at(6.5)).unwrap().done, 7);
    }
}
