//! Progress of a run: a bar for each stage, on a terminal.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::Duration;

use benzer_dedup::job::{Observer, Stage};
use indicatif::{ProgressBar, ProgressStyle};

/// One bar at a time.
pub(super) struct Bars {
    bar: Mutex<ProgressBar>,
}

impl Bars {
    pub fn new() -> Self {
        Self { bar: Mutex::new(ProgressBar::hidden()) }
    }

    pub fn finish(&self) {
        self.bar.lock().expect("nobody panics while a bar is drawn").finish_and_clear();
    }
}

impl Observer for Bars {
    fn begin(&self, stage: Stage, total: Option<u64>) {
        self.finish();
        if !std::io::stderr().is_terminal() {
            return;
        }
        let counter = match stage {
            Stage::Read => "{bytes}/{total_bytes} {bytes_per_sec}",
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

    fn reached(&self, done: u64) {
        self.bar.lock().expect("nobody panics while a bar is drawn").set_position(done);
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is a constant")
}
