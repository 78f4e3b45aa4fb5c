//! Progress of a run: a bar for each stage on a terminal, or lines of JSON; and the wish to stop.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use benzer_dedup::progress::{Observer, Stage};
use benzer_flow::Listener;
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

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

/// One bar at a time.
pub(super) struct Bars {
    log: Log,
    bar: Mutex<ProgressBar>,
    /// The stage at hand, its total, and when something was said of it.
    stage: Mutex<Option<(Stage, Option<u64>, Instant)>>,
    stopped: Arc<AtomicBool>,
}

impl Bars {
    /// Listens to Ctrl-C from here on: the first one asks the run to stop, the second one ends the process.
    pub fn new(log: Log) -> Self {
        let stopped = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            // Without handlers the signals end the process at once, which is safe too.
            let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&stopped));
            let _ = signal_hook::flag::register(signal, Arc::clone(&stopped));
        }
        Self { log, bar: Mutex::new(ProgressBar::hidden()), stage: Mutex::new(None), stopped }
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
            *self.stage.lock().expect("nobody panics with the lock") = Some((stage, total, Instant::now()));
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
                .with_style(style(&format!("{{msg:10}} {{wide_bar}} {counter} {{eta}}"))),
            None => ProgressBar::new_spinner().with_style(style("{msg:10} {spinner} {elapsed}")),
        };
        bar.set_message(stage.name());
        bar.enable_steady_tick(Duration::from_millis(200));
        *self.bar.lock().expect("nobody panics while a bar is drawn") = bar;
    }
}

impl Listener for Bars {
    fn reached(&self, done: u64) {
        self.bar.lock().expect("nobody panics while a bar is drawn").set_position(done);
        if let Some((stage, total, said)) = &mut *self.stage.lock().expect("nobody panics with the lock")
            && said.elapsed() >= Duration::from_secs(1)
        {
            *said = Instant::now();
            self.line(*stage, done, *total);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is a constant")
}
