//! Progress of a run: a bar for each stage on a terminal, or lines of JSON; and the wish to stop.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use benzer_dedup::progress::{Observer, Stage};
use benzer_flow::Listener;
use clap::ValueEnum;
use indicatif::ProgressBar;
use serde_json::json;

use crate::output::bar_style;
use crate::process::stop_flag;

/// How progress is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Log {
    /// A bar for each stage, if standard error is a terminal
    Bar,
    /// A line of JSON on standard error when a stage begins, and every second
    Json,
    /// Nothing
    None,
}

pub(super) struct Bars {
    log: Log,
    bar: Mutex<ProgressBar>,
    stage: Mutex<Option<Current>>,
    stopped: Arc<AtomicBool>,
}

struct Current {
    stage: Stage,
    total: Option<u64>,
    written: Instant,
}

impl Bars {
    /// Listens to Ctrl-C from here on: the first one asks the run to stop, the second one ends the process.
    pub fn new(log: Log) -> Self {
        Self { log, bar: Mutex::new(ProgressBar::hidden()), stage: Mutex::new(None), stopped: stop_flag() }
    }

    pub fn finish(&self) {
        self.bar.lock().expect("nobody panics while a bar is drawn").finish_and_clear();
    }

    fn line(&self, stage: Stage, done: u64, total: Option<u64>) {
        talk!("{}", json!({"stage": stage.name(), "done": done, "total": total}));
    }
}

impl Observer for Bars {
    fn begin(&self, stage: Stage, total: Option<u64>) {
        self.finish();
        if self.log == Log::Json {
            self.line(stage, 0, total);
            let current = Current { stage, total, written: Instant::now() };
            *self.stage.lock().expect("nobody panics with the lock") = Some(current);
        }
        if self.log != Log::Bar || !std::io::stderr().is_terminal() {
            return;
        }
        let counter = match stage {
            Stage::Read | Stage::Upload => "{bytes}/{total_bytes} {bytes_per_sec}",
            _ => "{human_pos}/{human_len} {per_sec}",
        };
        let bar = match total {
            Some(total) => ProgressBar::new(total)
                .with_style(bar_style(&format!("{{msg:10}} {{wide_bar}} {counter} {{eta}}"))),
            None => ProgressBar::new_spinner().with_style(bar_style("{msg:10} {spinner} {elapsed}")),
        };
        bar.set_message(stage.name());
        bar.enable_steady_tick(Duration::from_millis(200));
        *self.bar.lock().expect("nobody panics while a bar is drawn") = bar;
    }
}

impl Listener for Bars {
    fn reached(&self, done: u64) {
        self.bar.lock().expect("nobody panics while a bar is drawn").set_position(done);
        if let Some(current) = &mut *self.stage.lock().expect("nobody panics with the lock")
            && current.written.elapsed() >= Duration::from_secs(1)
        {
            current.written = Instant::now();
            self.line(current.stage, done, current.total);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}
