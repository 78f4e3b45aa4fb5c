//! What is said while sets are read.

use std::path::Path;

use benzer_io::read::Progress;
use benzer_sets::ReadListener;
use benzer_sets::Rejected;

use super::{Bar, Rejects};

/// How far the reading is, and which lines are bad.
pub struct ReadReporter {
    pub rejects: Rejects,
    bar: Option<Bar>,
}

impl ReadReporter {
    /// Keeps bad lines in a file, if one is named; with `strict`, the first one is an error. Errors: a file that cannot be made.
    pub fn new(rejects: Option<&Path>, strict: bool) -> anyhow::Result<Self> {
        Ok(Self { rejects: Rejects::new(rejects, strict)?, bar: None })
    }

    /// Ends the reading: says how many bad lines there were. Errors: rejects that cannot be written.
    pub fn finish(&mut self) -> anyhow::Result<()> {
        if let Some(bar) = self.bar.take() {
            bar.finish();
        }
        self.rejects.finish()
    }
}

impl ReadListener<anyhow::Error> for ReadReporter {
    fn begin(&mut self, progress: &Progress) {
        if let Some(bar) = self.bar.replace(Bar::new(progress)) {
            bar.finish();
        }
    }

    fn rejected(&mut self, rejected: &Rejected) -> anyhow::Result<()> {
        self.rejects.add(rejected)
    }

    fn read(&mut self) {
        if let Some(bar) = &self.bar {
            bar.update();
        }
    }
}
