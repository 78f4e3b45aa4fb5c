//! How far the reading is, on a terminal.

use std::io::IsTerminal;
use std::time::Duration;

use benzer_io::read::Progress;
use indicatif::ProgressBar;

use crate::output::bar_style;

pub(crate) struct Bar {
    bar: ProgressBar,
    progress: Progress,
}

impl Bar {
    pub fn new(progress: &Progress) -> Self {
        let bar = match progress.bytes_total() {
            _ if !std::io::stderr().is_terminal() => ProgressBar::hidden(),
            Some(total) => {
                ProgressBar::new(total).with_style(bar_style("{wide_bar} {bytes}/{total_bytes} {eta}"))
            }
            None => ProgressBar::new_spinner().with_style(bar_style("{spinner} {bytes} {elapsed}")),
        };
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, progress: progress.clone() }
    }

    pub fn update(&self) {
        self.bar.set_position(self.progress.bytes_read());
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
