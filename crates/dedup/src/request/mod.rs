//! What a run is asked to do.

mod search;

use std::path::PathBuf;

use benzer_core::field::text::TextOptions;
use benzer_core::lsh::{Banding, bucket};
use benzer_core::sketch::SketchSpec;

use crate::decide::Rule;
use crate::keep::Keep;
use benzer_core::Threshold;
use benzer_io::read::ReadOptions;
use benzer_join::resolve::Cluster;
pub use search::{Chosen, TooFew, most_recall};

/// Where documents are saved if no archive is named, inside the output folder.
pub(crate) const SAVED: &str = "saved";

/// How a candidate becomes an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verify {
    /// By the exact similarity of the features.
    #[default]
    Exact,
    /// By the estimate of the sketches; removals are marked so.
    Estimate,
}

/// What becomes of the corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Output {
    /// The kept documents are written.
    #[default]
    Remove,
    /// All documents are written, with marks.
    Annotate,
    /// Only the evidence is written, and nothing is saved.
    DryRun,
    /// Only the evidence is written, and what is kept is saved: the caller has the documents, and takes those that are kept.
    Evidence,
}

/// What is measured between a document and an old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// The share of elements in both of those in either. Documents of the input are compared with each other too.
    #[default]
    Jaccard,
    /// The share of the old document's elements that the other has. Only old documents are compared with, all of them.
    Containment,
}

/// How the recall of the run is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Audit {
    /// It is not.
    Off,
    /// On as many documents as tell enough at a small part of the cost.
    #[default]
    Auto,
    /// On so many documents, each compared with all others.
    Sample(u32),
}

/// How candidates are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Search {
    /// By band keys: fast, with the recall of the banding.
    Bands(Banding),
    /// By the exact join: every pair that reaches the threshold.
    Exact,
}

/// A run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Files, folders, globs, addresses of objects, or `-`.
    pub inputs: Vec<PathBuf>,
    /// The folder of the results, here or in an object store.
    pub output: PathBuf,
    /// What to read of each document.
    pub read: ReadOptions,
    /// How a text becomes features.
    pub text: TextOptions,
    /// How features become a sketch.
    pub spec: SketchSpec,
    /// How candidates are found.
    pub search: Search,
    /// From which similarity on two documents are duplicates.
    pub threshold: Threshold,
    /// What is measured.
    pub measure: Measure,
    /// Old documents, which come first in keep order and are never removed: corpora, archives, folders of runs that were saved.
    pub against: Vec<PathBuf>,
    /// What to read of each old document, where they are a corpus.
    pub against_read: ReadOptions,
    /// The archive to which the kept documents are added: `saved` in the output folder, or one of those in `against`.
    pub save: Option<PathBuf>,
    /// Which of two duplicates is kept.
    pub keep: Keep,
    /// How a candidate becomes an edge.
    pub verify: Verify,
    /// How the graph is resolved.
    pub cluster: Cluster,
    /// What becomes of the corpus.
    pub write: Output,
    /// How the recall is measured.
    pub audit: Audit,
    /// Members of a bucket that everyone in it is paired with.
    pub cap: usize,
    /// Worker threads.
    pub threads: usize,
    /// Bytes of memory to stay within.
    pub memory: u64,
    /// The folder of intermediate files; by default one inside the output, or in the current folder if the output is in a store.
    pub work_dir: Option<PathBuf>,
    /// Inputs of at least so many bytes leave checkpoints in the work folder. Where the run works, in memory or on disk, follows from [`Options::memory`] alone.
    pub checkpoint: u64,
    /// Rows and texts are kept in memory up to so many bytes, and as far as [`Options::memory`] allows. Tests set it to 0: then everything goes to disk.
    pub in_memory: u64,
    /// The lines of plain files of up to so many bytes in all are held in memory, as long as they fit; those of larger ones are read again where they are needed.
    pub held: u64,
    /// Plain files that are read again are mapped into memory if they take less than a quarter of [`Options::memory`], which then counts them. That is faster, but a file that somebody cuts meanwhile ends the process with SIGBUS instead of an error.
    pub maps: bool,
    /// Go on with an interrupted run.
    pub resume: bool,
    /// Replace the results of an earlier run.
    pub overwrite: bool,
    /// A bad line ends the run.
    pub strict: bool,
    /// What was chosen in place of what was asked for; the warnings of the run begin with it.
    pub remarks: Vec<String>,
    /// Go on although most lines are no documents.
    pub allow_rejects: bool,
    /// What the input is called in the report, where its one file is a copy that nobody knows: the rows of another program, which counts them from 0 on.
    pub called: Option<String>,
    /// The same of the old documents.
    pub against_called: Option<String>,
    /// The command as it was given, for the manifest.
    pub command: Vec<String>,
    /// A command that gives the same results, for the report: without what does not matter for them. Nothing is shown if it is empty.
    pub rerun: Vec<String>,
}

impl Options {
    /// The rule of an edge that decides.
    pub(crate) fn rule(&self) -> Rule {
        match (self.measure, self.cluster, self.verify) {
            (Measure::Containment, ..) => Rule::Contained,
            (_, Cluster::Components, _) => Rule::Component,
            (_, Cluster::Leaders, Verify::Exact) => Rule::Verified,
            (_, Cluster::Leaders, Verify::Estimate) => Rule::Estimate,
        }
    }

    /// The folder of a run's own archive.
    pub(crate) fn own_archive(&self) -> PathBuf {
        self.output.join(SAVED)
    }

    /// The defaults of everything that has one.
    pub fn new(inputs: Vec<PathBuf>, output: PathBuf, threshold: Threshold, search: Search) -> Self {
        Self {
            inputs,
            output,
            read: ReadOptions { batch_bytes: BATCH_BYTES, ..ReadOptions::default() },
            text: TextOptions::default(),
            spec: SketchSpec::default(),
            search,
            threshold,
            measure: Measure::default(),
            against: Vec::new(),
            against_read: ReadOptions { batch_bytes: BATCH_BYTES, ..ReadOptions::default() },
            save: None,
            keep: Keep::default(),
            verify: Verify::default(),
            cluster: Cluster::default(),
            write: Output::default(),
            audit: Audit::default(),
            cap: bucket::DEFAULT_CAP,
            threads: 1,
            memory: 1 << 30,
            work_dir: None,
            checkpoint: CHECKPOINT_BYTES,
            in_memory: u64::MAX,
            held: HELD_BYTES,
            maps: false,
            resume: false,
            overwrite: false,
            strict: false,
            remarks: Vec::new(),
            allow_rejects: false,
            called: None,
            against_called: None,
            command: Vec::new(),
            rerun: Vec::new(),
        }
    }
}

/// Small enough to stay in the second-level cache between reading, parsing and sketching.
pub const BATCH_BYTES: usize = 512 << 10;

/// Holding what is smaller costs little memory, and saves a system call for each text.
pub const HELD_BYTES: u64 = 16 << 20;

/// Smaller inputs are read again rather than saved: that takes a second or two.
pub const CHECKPOINT_BYTES: u64 = 1 << 30;
