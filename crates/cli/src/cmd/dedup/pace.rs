//! How far a run is, in words.

use std::time::Duration;

use benzer_dedup::progress::{Position, Stage};

use crate::output::{bytes, grouped};

/// Which stage of how many.
pub(super) fn stage(position: &Position) -> String {
    format!("stage {} of {}, {}", position.number, position.of, position.stage.name())
}

/// How much of it is done, how fast, and what is left of the whole run.
pub(super) fn pace(position: &Position) -> String {
    let share = position.total.filter(|total| *total > 0);
    let share =
        share.map(|total| format!("{}%", (100 * u128::from(position.done) / u128::from(total)).min(100)));
    let rate = position.rate.and_then(|rate| amount(position.stage, rate)).map(|rate| format!("{rate}/s"));
    let left = position.left.filter(|left| !left.is_zero());
    let left = left.map(|left| format!("about {} left", time(left)));
    [share, rate, left].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A stage that is over, and what is left of the run.
pub(super) fn finished(position: &Position, left: Option<Duration>) -> String {
    let took = position.took.as_secs_f64();
    let done = amount(position.stage, position.done as f64).filter(|_| position.done > 0);
    let mut line = format!("{}: ", stage(position));
    match done.zip(amount(position.stage, position.done as f64 / took)) {
        Some((done, rate)) => line += &format!("{done} in {took:.1} s, {rate}/s"),
        None => line += &format!("{took:.1} s"),
    }
    if let Some(left) = left {
        line += &format!("; about {} left", time(left));
    }
    line
}

/// What a stage counts, where that is something that people count.
fn amount(stage: Stage, n: f64) -> Option<String> {
    match stage {
        Stage::Read | Stage::Upload => Some(bytes(n)),
        Stage::Group | Stage::Against | Stage::Write => Some(format!("{} documents", grouped(n as u64))),
        Stage::Verify => Some(format!("{} pairs", grouped(n as u64))),
        // Documents are looked at several times, in ways that take differently long.
        Stage::Candidates | Stage::Resolve | Stage::Audit => None,
    }
}

/// A time as precise as an estimate is.
fn time(time: Duration) -> String {
    match time.as_secs_f64().ceil() as u64 {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..600 => format!("{} min {} s", seconds / 60, seconds % 60 / 10 * 10),
        seconds @ 600..6000 => format!("{} min", seconds / 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position() -> Position {
        Position {
            stage: Stage::Read,
            number: 1,
            of: 7,
            done: 3 << 29,
            total: Some(3 << 30),
            took: Duration::from_millis(2500),
            rate: Some(614.4 * f64::from(1 << 20)),
            left: Some(Duration::from_millis(7200)),
        }
    }

    #[test]
    fn a_position_is_a_line() {
        let read = position();
        assert_eq!(stage(&read), "stage 1 of 7, read");
        assert_eq!(pace(&read), "50%, 614.4 MiB/s, about 8 s left");
        let verify = Position {
            stage: Stage::Verify,
            number: 4,
            rate: Some(1_234_567.8),
            done: 7,
            total: Some(9),
            ..read
        };
        assert_eq!(stage(&verify), "stage 4 of 7, verify");
        assert_eq!(pace(&verify), "77%, 1,234,567 pairs/s, about 8 s left");
        // Nothing is said of what nothing is known.
        let unknown = Position { total: None, rate: None, left: None, ..read };
        assert_eq!(pace(&unknown), "");
        assert_eq!(pace(&Position { total: Some(0), left: None, rate: None, ..read }), "");
        let candidates = Position { stage: Stage::Candidates, done: 3, total: Some(4), ..read };
        assert_eq!(pace(&candidates), "75%, about 8 s left");
        // More than was thought.
        assert_eq!(pace(&Position { done: 4 << 30, rate: None, left: Some(Duration::ZERO), ..read }), "100%");
    }

    #[test]
    fn a_stage_that_is_over_has_its_mean_rate() {
        let read = Position { done: 3 << 30, ..position() };
        let left = Some(Duration::from_secs(75));
        assert_eq!(
            finished(&read, left),
            "stage 1 of 7, read: 3.0 GiB in 2.5 s, 1.2 GiB/s; about 1 min 10 s left"
        );
        let resolve = Position { stage: Stage::Resolve, number: 5, done: 0, ..position() };
        assert_eq!(finished(&resolve, None), "stage 5 of 7, resolve: 2.5 s");
        assert_eq!(
            finished(&Position { stage: Stage::Group, number: 2, ..resolve }, None),
            "stage 2 of 7, group: 2.5 s"
        );
    }

    #[test]
    fn times_are_as_precise_as_estimates() {
        let times = [0.0, 0.2, 59.0, 60.0, 599.0, 600.0, 5999.0, 6000.0, 90_000.0]
            .map(|seconds| time(Duration::from_secs_f64(seconds)));
        let expected =
            ["0 s", "1 s", "59 s", "1 min 0 s", "9 min 50 s", "10 min", "99 min", "1 h 40 min", "25 h 0 min"];
        assert_eq!(times, expected);
    }
}
