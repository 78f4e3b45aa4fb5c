//! Progress of a run: a line on a terminal that is rewritten, lines for a log, or lines of JSON; and the wish to stop.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use benzer_dedup::progress::{Course, Observer, Position, Stage};
use benzer_flow::Listener;
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use serde_json::json;

use super::pace;
use crate::output::bar_style;
use crate::process::stop_flag;

/// How progress is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Log {
    /// A line on a terminal that is rewritten; elsewhere one for each stage that takes a second or more, and each minute
    Bar,
    /// A line of JSON on standard error when a stage begins, and every second
    Json,
    /// Nothing
    None,
}

/// A stage that takes less is not worth a line of a log.
const WORTH: Duration = Duration::from_secs(1);

pub(super) struct Bars {
    log: Log,
    is_terminal: bool,
    begun: Instant,
    /// Never held together with the bar, which asks for it while it draws.
    course: Arc<Mutex<Course>>,
    bar: Mutex<ProgressBar>,
    /// When the last line was written.
    written: Mutex<Instant>,
    stopped: Arc<AtomicBool>,
}

impl Bars {
    /// Listens to Ctrl-C from here on: the first one asks the run to stop, the second one ends the process.
    pub fn new(log: Log, course: Course) -> Self {
        Self {
            log,
            is_terminal: std::io::stderr().is_terminal(),
            begun: Instant::now(),
            course: Arc::new(Mutex::new(course)),
            bar: Mutex::new(ProgressBar::hidden()),
            written: Mutex::new(Instant::now()),
            stopped: stop_flag(),
        }
    }

    pub fn finish(&self) {
        lock(&self.bar).finish_and_clear();
    }

    fn draw(&self, total: Option<u64>) {
        let template = "{stage} {wide_bar} {pace}";
        let bar = match total {
            Some(total) => ProgressBar::new(total).with_style(self.style(template)),
            None => ProgressBar::new_spinner().with_style(self.style("{stage} {spinner} {pace}")),
        };
        bar.enable_steady_tick(Duration::from_millis(200));
        *lock(&self.bar) = bar;
    }

    /// A style that asks where the run is whenever it is drawn: many a stage says nothing for long.
    fn style(&self, template: &str) -> ProgressStyle {
        let told = |tell: fn(&Position) -> String| {
            let (course, begun) = (self.course.clone(), self.begun);
            move |_: &ProgressState, out: &mut dyn Write| {
                let position = lock(&course).position(begun.elapsed());
                let _ = out.write_str(&position.map_or_else(String::new, |position| tell(&position)));
            }
        };
        bar_style(template).with_key("stage", told(pace::stage)).with_key("pace", told(pace::pace))
    }

    /// A line about the stage if the last one is so old.
    fn write(&self, position: Option<Position>, age: Duration) {
        let mut written = lock(&self.written);
        let (Some(position), true) = (position, written.elapsed() >= age) else { return };
        *written = Instant::now();
        match self.log {
            Log::Json => talk!("{}", json(&position)),
            _ => talk!("{}: {}", pace::stage(&position), pace::pace(&position)),
        }
    }
}

fn json(position: &Position) -> serde_json::Value {
    let Position { stage, number, of, done, total, rate, left, .. } = position;
    let left = left.map(|left| left.as_secs_f64().round());
    json!({"stage": stage.name(), "done": done, "total": total, "number": number, "of": of, "rate": rate.map(f64::round), "seconds_left": left})
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Observer for Bars {
    fn begin(&self, stage: Stage, total: Option<u64>) {
        self.finish();
        let now = self.begun.elapsed();
        let mut course = lock(&self.course);
        let before = course.begin(stage, total, now);
        let position = course.position(now);
        drop(course);
        match (self.log, self.is_terminal) {
            (Log::Json, _) => self.write(position, Duration::ZERO),
            (Log::Bar, true) => self.draw(total),
            (Log::Bar, false) => {
                if let Some(before) = before.filter(|before| before.took >= WORTH) {
                    let left = position.and_then(|position| position.left);
                    talk!("{}", pace::finished(&before, left));
                    *lock(&self.written) = Instant::now();
                }
            }
            (Log::None, _) => {}
        }
    }
}

impl Listener for Bars {
    fn reached(&self, done: u64) {
        let now = self.begun.elapsed();
        let mut course = lock(&self.course);
        course.reached(done, now);
        let position = course.position(now);
        drop(course);
        match (self.log, self.is_terminal) {
            (Log::Json, _) => self.write(position, Duration::from_secs(1)),
            (Log::Bar, true) => lock(&self.bar).set_position(done),
            (Log::Bar, false) => self.write(position, Duration::from_secs(60)),
            (Log::None, _) => {}
        }
    }

    fn is_cancelled(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}
