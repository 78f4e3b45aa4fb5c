//! # benzer-image
//!
//! A whole deduplication of pictures: [`run`] with [`Options`] gives a [`Summary`] and leaves a folder of results.
//!
//! ```text
//! files --> features, sketch, keypoints --> pairs that share a band key --> words in common >= T --> geometric check --> resolve --> results
//! ```
//!
//! **What it must not know**: how a run over documents works. It shares the rules, the observer and the form of results with it.
//!
//! **The way through**: `find` names the files, `extract` makes their features on many threads (keypoints go to a file, `keypoints`). `decide` sets files with the same bytes aside, pairs what shares a band
//! key, checks pairs with enough words in common geometrically, and resolves them: a picture goes for the kept one with the most inliers. `output` writes the lists, the evidence and the kept files, `sheet` the page of clusters.
//!
//! The rules are those of documents: every removed picture names a kept one that was checked against it, never a chain. Here the check is geometric
//! ([`verify`](benzer_core::field::image::local::verify)): keypoints that lie upon each other are the evidence. Files with the same bytes are copies. A file that cannot be decoded is a reject.
//!
//! Of each picture words and sketch stay in memory, about 8 KB; keypoints and descriptors, about 45 KB, go to a temporary file in the output folder.

mod decide;
mod extract;
mod find;
mod keypoints;
mod output;
mod sheet;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Instant;

use benzer_core::field::image::{ImageOptions, Limits};
use serde::Serialize;

use benzer_dedup::progress::{Observer, Stage};
use benzer_dedup::{Error, Result};
use benzer_storage::Files;

/// What to deduplicate, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// Files, folders and globs.
    pub inputs: Vec<PathBuf>,
    /// The folder for the results.
    pub output: PathBuf,
    /// Which of two pictures is kept.
    pub keep: Keep,
    /// What is done with the kept files.
    pub kept: Kept,
    /// How large a picture may be.
    pub limits: Limits,
    /// Worker threads.
    pub threads: usize,
    /// Results of an earlier run are replaced.
    pub overwrite: bool,
    /// The first file that cannot be read stops the run.
    pub strict: bool,
    /// Go on although most files are no pictures.
    pub allow_rejects: bool,
    /// The command, for `run.json`.
    pub command: Vec<String>,
}

impl Options {
    /// The defaults.
    pub fn new(inputs: Vec<PathBuf>, output: PathBuf) -> Self {
        Self {
            inputs,
            output,
            keep: Keep::Largest,
            kept: Kept::Copied,
            limits: Limits::default(),
            threads: 1,
            overwrite: false,
            strict: false,
            allow_rejects: false,
            command: Vec::new(),
        }
    }
}

/// Which of two pictures is kept; of equals the one whose file comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// The one whose file comes first.
    First,
    /// The one whose file comes last.
    Last,
    /// The one with the most pixels; of those, the largest file.
    #[default]
    Largest,
    /// The one with the fewest pixels; of those, the smallest file.
    Smallest,
}

/// What is done with the kept files, beside listing them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kept {
    /// Nothing.
    Listed,
    /// They are copied to the output.
    #[default]
    Copied,
    /// They get another name in the output: hard links, or symbolic ones where that is another disk.
    Linked,
}

/// What a run found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Files.
    pub read: u64,
    /// Files that are no pictures, or damaged.
    pub rejected: u64,
    /// Pictures that stay.
    pub kept: u64,
    /// Pictures that are a kept one: copies of its file among them.
    pub removed: u64,
    /// Of those, the ones with the bytes of the kept one, which are `exact-copy` in the evidence.
    pub copies: u64,
    /// Pictures without any keypoint, which are like nothing.
    pub empty: u64,
    /// Pairs that share a band key.
    pub candidates: u64,
    /// Of those, pairs with enough words in common, on which the geometric check was made.
    pub checked: u64,
    /// Of those, pairs that are one picture.
    pub verified: u64,
    /// Kept pictures of which others were removed.
    pub clusters: u64,
}

/// What a run found, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The numbers.
    pub counts: Counts,
    /// Seconds of each stage.
    pub seconds: Vec<(&'static str, f64)>,
    /// The first rejects, as they are written.
    pub rejects: Vec<String>,
}

/// Deduplicates pictures.
///
/// # Errors
/// Inputs that cannot be read, results that cannot be written.
pub fn run(options: &Options, observer: &dyn Observer) -> Result<Summary> {
    let files = Files::new();
    let named = || options.inputs.iter().map(PathBuf::as_path);
    benzer_io::places::check_folder(&options.output, named())?;
    let inputs = find::find(&options.inputs, &options.output)?;
    let mut folder = output::Folder::prepare(&files, options, &inputs)?;
    match stages(inputs, &mut folder, options, observer) {
        Ok(summary) => {
            folder.finish(options, &summary)?;
            Ok(summary)
        }
        Err(error) => {
            folder.withdraw();
            Err(error)
        }
    }
}

fn stages(
    inputs: Vec<find::Input>,
    folder: &mut output::Folder,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Summary> {
    let (mut started, mut seconds) = (Instant::now(), Vec::new());
    let mut lap = |name| {
        seconds.push((name, started.elapsed().as_secs_f64()));
        started = Instant::now();
    };
    observer.begin(Stage::Read, Some(inputs.iter().map(|input| input.bytes).sum()));
    let read = extract::extract(inputs, options, &Files::new(), observer)?;
    lap("read");
    folder.check_rejects(options, &read)?;
    let decided = decide::decide(&read, options, observer)?;
    lap("decide");
    observer.begin(Stage::Write, Some(read.pictures.len() as u64));
    folder.write(options, &read, &decided)?;
    lap("write");
    Ok(Summary { counts: decided.counts, seconds, rejects: read.rejected() })
}

/// The features that a run compares.
fn features() -> ImageOptions {
    ImageOptions::default()
}

fn check_cancelled(observer: &dyn Observer) -> Result<()> {
    if observer.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}
