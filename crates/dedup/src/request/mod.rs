//! What a run is asked to do: the same type, with the same defaults and checks, for the command line, Python and tests.
//!
//! [`Request::new`] has the defaults; [`Asked::choose`] fills in how documents are compared from as little as a threshold or a preset; a run begins with
//! [`Request::check`].

mod comparison;
mod search;

use std::path::{Path, PathBuf};

use benzer_io::read::ReadOptions;
use benzer_join::resolve::Cluster;

use crate::decide::Rule;
use crate::error::{Error, Result};
use crate::keep::Keep;
pub use comparison::{Asked, Comparison, Measure, Unfit, Words};
pub use search::{Search, TooFew, Verify, max_recall};

/// Where documents are saved if no archive is named, inside the output folder.
pub(crate) const SAVED: &str = "saved";

/// Small enough to stay in the second-level cache between reading, parsing and sketching.
pub const BATCH_BYTES: usize = 512 << 10;

/// Holding what is smaller costs little memory, and saves a system call for each text.
const HELD_BYTES: u64 = 16 << 20;

/// A whole deduplication.
#[derive(Debug, Clone)]
pub struct Request {
    /// The documents of which some are removed.
    pub input: DocumentSource,
    /// Old documents, which come first in keep order and are never removed: corpora, archives, folders of runs that were saved.
    pub old: DocumentSource,
    /// How two documents are compared.
    pub compare: Comparison,
    /// Which of two duplicates is kept.
    pub keep: Keep,
    /// How the graph is resolved.
    pub cluster: Cluster,
    /// How the recall is measured.
    pub audit: Audit,
    /// A bad line ends the run.
    pub strict: bool,
    /// Go on although most lines are no documents.
    pub allow_rejects: bool,
    /// What is written, and where.
    pub results: Results,
    /// What the run may use.
    pub resources: Resources,
}

/// Documents and how to read them.
#[derive(Debug, Clone)]
pub struct DocumentSource {
    /// Files, folders, globs, addresses of objects, or `-`.
    pub paths: Vec<PathBuf>,
    /// What to read of each document.
    pub read: ReadOptions,
    /// What they are called in the report, where their one file is a copy that nobody knows: the rows of another program, which counts them from 0 on.
    pub called: Option<String>,
}

/// What is written, and where.
#[derive(Debug, Clone)]
pub struct Results {
    /// The folder of the results, here or in an object store.
    pub folder: PathBuf,
    /// What becomes of the corpus.
    pub write: Output,
    /// The archive to which the kept documents are added: `saved` in the output folder, or one of the old ones.
    pub save: Option<PathBuf>,
    /// Replace the results of an earlier run.
    pub overwrite: bool,
    /// The command as it was given, for the manifest.
    pub command: Vec<String>,
    /// A command that gives the same results, for the report: without what does not matter for them. Nothing is shown if it is empty.
    pub rerun: Vec<String>,
}

/// What a run may use. The results do not depend on it.
#[derive(Debug, Clone)]
pub struct Resources {
    /// Worker threads.
    pub threads: usize,
    /// Bytes of memory to stay within.
    pub memory: u64,
    /// The folder of intermediate files; by default one inside the output, or in the current folder if the output is in a store.
    pub work_dir: Option<PathBuf>,
    /// Inputs of at least so many bytes leave checkpoints in the work folder, written beside the run; without a size, stages that took long enough to be worth it. Where the run works, in memory or on disk, follows from [`Resources::memory`] alone.
    pub checkpoint: Option<u64>,
    /// Bytes of files that the system can be expected to have in memory besides. Sketches on disk that are more than that are never looked at in random order.
    pub page_cache: u64,
    /// Rows and texts are kept in memory up to so many bytes, and as far as [`Resources::memory`] allows. Tests set it to 0: then everything goes to disk.
    pub in_memory: u64,
    /// The lines of plain files of up to so many bytes in all are held in memory, as long as they fit; those of larger ones are read again where they are needed.
    pub held: u64,
    /// Plain files that are read again are mapped into memory if they take less than a quarter of [`Resources::memory`], which then counts them. That is faster, but a file that somebody cuts meanwhile ends the process with SIGBUS instead of an error.
    pub maps: bool,
    /// Go on with an interrupted run.
    pub resume: bool,
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

impl Request {
    /// The defaults of everything that has one.
    pub fn new(inputs: Vec<PathBuf>, folder: PathBuf, compare: Comparison) -> Self {
        Self {
            input: DocumentSource::new(inputs),
            old: DocumentSource::new(Vec::new()),
            compare,
            keep: Keep::default(),
            cluster: Cluster::default(),
            audit: Audit::default(),
            strict: false,
            allow_rejects: false,
            results: Results {
                folder,
                write: Output::default(),
                save: None,
                overwrite: false,
                command: Vec::new(),
                rerun: Vec::new(),
            },
            resources: Resources::default(),
        }
    }

    /// The same, changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// The archive inside the folder of the results.
    pub fn own_archive(&self) -> PathBuf {
        self.results.folder.join(SAVED)
    }

    /// Refuses what does not go together.
    ///
    /// # Errors
    /// The first setting that does not fit the others, with the remedy.
    pub fn check(&self) -> Result<()> {
        let Comparison { measure, verify, .. } = self.compare;
        let old = &self.old.paths;
        let refuse = |name, expected: &str, got: &str| Err(Error::parameter(name, expected, got));
        if measure == Measure::Containment && old.is_empty() {
            let got = "containment; name the items that documents may contain with --against";
            return refuse("measure", "jaccard without --against", got);
        }
        if measure == Measure::Containment && verify == Verify::Estimate {
            return refuse("verify", "exact with --measure containment", "estimate");
        }
        if !old.is_empty() && self.cluster == Cluster::Components {
            let expected =
                "leaders with --against: old documents are never removed, so nothing chains through them";
            return refuse("cluster", expected, "components");
        }
        if old.iter().any(|path| path == Path::new("-")) {
            return refuse("against", "a file or a folder", "`-`; save it to a file first");
        }
        match &self.results.save {
            Some(folder) if *folder != self.own_archive() && !old.contains(folder) => {
                let got = format!("`{}`, which is not", folder.display());
                refuse("save", "one of the folders of --against, so that nothing is saved twice", &got)
            }
            _ => Ok(()),
        }
    }

    /// The rule of an edge that decides.
    pub(crate) fn rule(&self) -> Rule {
        match (self.compare.measure, self.cluster, self.compare.verify) {
            (Measure::Containment, ..) => Rule::Contained,
            (_, Cluster::Components, _) => Rule::Component,
            (_, Cluster::Leaders, Verify::Exact) => Rule::Verified,
            (_, Cluster::Leaders, Verify::Estimate) => Rule::Estimate,
        }
    }
}

impl DocumentSource {
    /// These documents, read as most are.
    pub fn new(paths: Vec<PathBuf>) -> Self {
        let read = ReadOptions { batch_bytes: BATCH_BYTES, ..ReadOptions::default() };
        Self { paths, read, called: None }
    }

    /// Paths as they were given, or what a table is called.
    pub(crate) fn names(&self) -> Vec<String> {
        match &self.called {
            Some(name) => vec![name.clone()],
            None => self.paths.iter().map(|path| path.display().to_string()).collect(),
        }
    }
}

impl Default for Resources {
    fn default() -> Self {
        Self {
            threads: 1,
            memory: 1 << 30,
            work_dir: None,
            checkpoint: None,
            page_cache: 1 << 30,
            in_memory: u64::MAX,
            held: HELD_BYTES,
            maps: false,
            resume: false,
        }
    }
}
