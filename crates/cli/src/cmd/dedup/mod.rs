//! `benzer dedup`: a corpus in, a clean corpus out, with evidence for every removal.

mod bar;
#[cfg(feature = "image")]
mod image;
mod old;
mod pace;
mod show;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{anyhow, bail};
use benzer_core::Threshold;
use benzer_core::plan::Preset;
use benzer_dedup::progress::Course;
use benzer_dedup::request::{
    Asked, Audit, Comparison, Measure, Output, Request, Resources, Results, Verify, Words,
};
use benzer_dedup::{Error, Keep};
use benzer_io::read::{FieldPath, Format, ReadOptions};
use benzer_join::resolve::Cluster;
use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};

use crate::Usage;
use crate::options::text::TextArguments;
use crate::options::{amount, memory};
use crate::output::View;
use crate::process::pages;

/// A budget that leaves room for huge pages.
const AMPLE: u64 = 1 << 30;

pub const ABOUT: &str = "\
Remove near-duplicates from a corpus, with evidence for every removal.

Every removed document names a kept one that is at least threshold-similar to it, by the exact \
similarity of their shingles: never a chain, never a bare collision. The output folder gets the kept \
documents (in `documents/`, same format, compression and relative path, lines byte for byte), and \
report.html (look at it first), evidence.parquet, pairs.parquet, clusters.parquet, rejects.jsonl, \
manifest.json, run.json.";

const EXAMPLES: &str = "\
Examples:
  benzer dedup articles.jsonl -o clean
  benzer dedup articles.jsonl -o best --keep longest --id-field id
  benzer dedup articles.jsonl -o marked --annotate
  benzer dedup articles.jsonl -o look --dry-run --format json
  benzer dedup articles.jsonl -o sure --threshold 0.7 --audit 100
  benzer dedup articles.jsonl -o all --text-field title,text --recall 1
  benzer dedup articles.jsonl -o small --memory 1GiB --threads 2 --work-dir work
  benzer dedup articles.jsonl -o day1 --archive seen
  benzer dedup today.jsonl -o new --against articles.jsonl --save
  benzer dedup today.jsonl -o day2 --archive seen
  benzer dedup articles.jsonl -o fair --against quiz.jsonl --measure containment
  benzer dedup --image bay.png bay-small.jpg bay-part.jpg hills.png -o photos

";
const AFTER: &str = "\
Which of two duplicates is kept: --keep first (the default), last, longest, shortest, max:FIELD or \
min:FIELD; ties go to the smaller id. With --id-field the result does not depend on the order or the \
number of files.

Old documents (--against, --archive) come before all others and are never removed. An archive has \
the sketches and features of the documents that were kept, so a run reads only those that new ones \
may match: its time grows with the input, not with the archive.

Pictures (--image) are compared by their keypoints. A picture is removed only if at least 8 points of it lie \
upon points of a kept one under one move, turn and scale; kept.txt lists the others, which are copied to \
`pictures/`, or linked with --link, or left alone with --dry-run.

An interrupted run says how to go on. What took ten seconds or more is saved beside the run, and taken over if that \
was done by then; the rest is simply done again.

Object stores are read and written by their addresses: s3://bucket/folder, gs://..., az://..., and https://... to \
read single files. Credentials come from AWS_*, GOOGLE_* and AZURE_* variables. Results for a store are made in the \
work folder first (by default one in the current folder) and then sent, manifest.json last.";

/// What to deduplicate, and how.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}{AFTER}"))]
pub struct Arguments {
    /// Files, folders, globs, addresses such as s3://bucket/folder, or `-`
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<OsString>,
    /// The folder for the results, here or in a store (s3://, gs://, az://)
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// From which similarity on documents are duplicates [default: 0.8, or that of the preset]
    #[arg(long, value_name = "T")]
    threshold: Option<Threshold>,
    /// Which of two duplicates is kept: first, last, longest, shortest, max:FIELD, min:FIELD [default: first; of pictures longest, which is most pixels]
    #[arg(long, value_name = "POLICY")]
    keep: Option<Keep>,
    /// Fields that make up the text, such as `title,meta.body`
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', default_value = "text")]
    text_field: Vec<FieldPath>,
    /// The field that is the id [default: file and line]
    #[arg(long, value_name = "FIELD")]
    id_field: Option<FieldPath>,
    /// Read all inputs as this: jsonl, csv, tsv, text, parquet, arrow [default: by content and name]
    #[arg(long, value_name = "FORMAT")]
    input_format: Option<Format>,
    /// Take each file of plain text for one document, instead of each line
    #[arg(long)]
    per_file: bool,
    /// The share of pairs at the threshold that must be found [default: 0.95]; 1 finds all by an exact join, which is taken too where bands find too few
    #[arg(long, value_name = "R")]
    recall: Option<f64>,
    /// Use the shingles, registers, bands and threshold of another tool: fineweb, nemo, datasketch, lance
    #[arg(long, value_name = "NAME", value_parser = amount::preset)]
    preset: Option<Preset>,
    /// How a candidate becomes a duplicate
    #[arg(long, value_enum, default_value = "exact", value_name = "HOW")]
    verify: VerifyName,
    /// Whether every removed document must be similar to the kept one, or only connected to it
    #[arg(long, value_enum, default_value = "leaders", value_name = "HOW")]
    cluster: ClusterName,
    /// The inputs are pictures (JPEG, PNG, WebP, GIF, BMP, TIFF): find those that are crops, turns, flips, other sizes or compressions of another
    #[cfg(feature = "image")]
    #[arg(long, conflicts_with_all = [
        "threshold", "text_field", "id_field", "input_format", "per_file", "recall", "preset", "verify", "cluster", "against", "archive", "save", "annotate", "audit",
        "memory", "work_dir", "checkpoint", "resume",
    ], help_heading = "Pictures")]
    image: bool,
    /// Link the kept pictures in the output instead of copying them
    #[cfg(feature = "image")]
    #[arg(long, requires = "image", conflicts_with = "dry_run", help_heading = "Pictures")]
    link: bool,
    #[command(flatten)]
    old: old::OldArguments,
    /// Write all documents, with the fields dup_cluster_id, dup_cluster_size, dup_of, dup_similarity, is_duplicate
    #[arg(long, group = "what", help_heading = "Results")]
    annotate: bool,
    /// Write the kept documents (the default)
    #[arg(long, group = "what", help_heading = "Results")]
    remove: bool,
    /// Write the evidence only
    #[arg(long, group = "what", help_heading = "Results")]
    dry_run: bool,
    /// Replace the results of an earlier run
    #[arg(long, help_heading = "Results")]
    overwrite: bool,
    /// Measure the recall of this run on documents drawn at random: off, auto, or how many to compare with all others
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = audit, help_heading = "Results")]
    audit: Audit,
    /// Stop at the first line that cannot be read
    #[arg(long, help_heading = "Results")]
    strict: bool,
    /// Go on although more than half of the lines cannot be read
    #[arg(long, help_heading = "Results")]
    allow_rejects: bool,
    /// Worker threads [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024), help_heading = "Resources")]
    threads: Option<usize>,
    /// Stay within this memory, such as 16GiB or 900MB [default: half of it, or of what its cgroup may have]
    #[arg(long, value_name = "SIZE", value_parser = amount::bytes, help_heading = "Resources")]
    memory: Option<u64>,
    /// The folder for intermediate files [default: one inside the output; for stores, in the current folder]
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    work_dir: Option<PathBuf>,
    /// Lines, records and texts up to this size are read; longer ones are rejected
    #[arg(long, value_name = "SIZE", value_parser = amount::bytes, default_value = "256MiB", help_heading = "Resources")]
    max_line: u64,
    /// Save checkpoints for inputs of at least this size [default: of stages that took 10 seconds]
    #[arg(long, value_name = "SIZE", value_parser = amount::bytes, help_heading = "Resources")]
    checkpoint: Option<u64>,
    /// Go on with an interrupted run of the same command
    #[arg(long, help_heading = "Resources")]
    resume: bool,
    /// How progress is told
    #[arg(long, value_enum, default_value = "bar", value_name = "HOW", help_heading = "Resources")]
    log: bar::Log,
    #[command(flatten)]
    text: TextArguments,
    /// The command with everything that decides the results.
    #[arg(skip)]
    pub(crate) rerun: Vec<String>,
}

/// How a candidate becomes a duplicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum VerifyName {
    /// By the exact similarity of the shingles
    Exact,
    /// By the estimate of the sketches: faster, and some removals are wrong
    Estimate,
}

impl From<VerifyName> for Verify {
    fn from(name: VerifyName) -> Self {
        match name {
            VerifyName::Exact => Self::Exact,
            VerifyName::Estimate => Self::Estimate,
        }
    }
}

/// How clusters are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ClusterName {
    /// Every removed document is similar to the kept one
    Leaders,
    /// A chain of similar documents is enough
    Components,
}

pub fn run(arguments: &Arguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    #[cfg(feature = "image")]
    if arguments.image {
        return image::run(arguments, view, out);
    }
    let request = request(arguments)?;
    // Where memory is scarce every small page counts.
    if request.resources.memory >= AMPLE {
        pages::reserve(request.resources.memory / 4, request.resources.threads);
    }
    let bars = bar::Bars::new(arguments.log, Course::of(&request));
    let outcome = benzer_dedup::run(&request, &bars);
    bars.finish();
    let stopped = "stopped; the same command with --resume goes on where it can";
    let summary = outcome.map_err(|error| refused(error, stopped))?;
    show::show(&request, &summary, view, out)?;
    if request.compare.measure == Measure::Containment && summary.counts.against == 0 {
        bail!("nothing was looked for: the files of --against are empty");
    }
    Ok(())
}

/// An error of a run, with flags for parameters, and what to do about one that was stopped.
fn refused(error: Error, stopped: &'static str) -> anyhow::Error {
    match error {
        Error::Parameter(_) => Usage::new(flags(&error.to_string())).into(),
        Error::Cancelled => anyhow!(stopped),
        Error::Rejects { .. } => anyhow!(flags(&error.to_string())),
        other => other.into(),
    }
}

/// `off`, `auto` or a number of documents.
fn audit(text: &str) -> Result<Audit, String> {
    match text {
        "off" => Ok(Audit::Off),
        "auto" => Ok(Audit::Auto),
        _ => match text.parse() {
            Ok(n) if n > 0 => Ok(Audit::Sample(n)),
            _ => Err("expected off, auto, or a number of documents from 1 on".to_owned()),
        },
    }
}

/// The names of parameters as the flags that set them.
fn flags(message: &str) -> String {
    const NAMES: &[(&str, &str)] = &[
        ("`memory`", "--memory"),
        ("`threshold`", "--threshold"),
        ("`output`", "--output"),
        ("`keep`", "--keep"),
        ("`measure`", "--measure"),
        ("`against`", "--against"),
        ("`cluster`", "--cluster"),
        ("`verify`", "--verify"),
        ("`work_dir`", "--work-dir"),
        ("`max_line_bytes`", "--max-line"),
        ("`text_field`", "--text-field"),
        ("`id_field`", "--id-field"),
        ("`input_format`", "--input-format"),
        ("`against_text_field`", "--against-text-field"),
        ("`against_id_field`", "--against-id-field"),
        ("`allow_rejects`", "--allow-rejects"),
    ];
    NAMES.iter().fold(message.to_owned(), |message, (name, flag)| message.replace(name, flag))
}

/// What the command line calls what can be asked for.
const WORDS: Words = Words {
    recall: "--recall",
    recall_of: "--recall ",
    recall_of_all: "--recall 1",
    preset: "--preset",
    estimate: "--verify estimate",
};

fn request(arguments: &Arguments) -> anyhow::Result<Request> {
    let mut request = Request::new(
        arguments.inputs.iter().map(PathBuf::from).collect(),
        arguments.output.clone(),
        compare(arguments)?,
    );
    request.input.read = ReadOptions {
        text_fields: arguments.text_field.clone(),
        id_field: arguments.id_field.clone(),
        format: arguments.input_format,
        per_file: arguments.per_file,
        max_line_bytes: usize::try_from(arguments.max_line).unwrap_or(usize::MAX),
        ..request.input.read
    };
    request.keep = arguments.keep.clone().unwrap_or_default();
    request.cluster = match arguments.cluster {
        ClusterName::Leaders => Cluster::Leaders,
        ClusterName::Components => Cluster::Components,
    };
    request.audit = arguments.audit;
    request.strict = arguments.strict;
    request.allow_rejects = arguments.allow_rejects;
    request.results = Results {
        write: match (arguments.annotate, arguments.dry_run) {
            (true, _) => Output::Annotate,
            (_, true) => Output::DryRun,
            _ => Output::Remove,
        },
        overwrite: arguments.overwrite,
        command: std::env::args().collect(),
        rerun: arguments.rerun.clone(),
        ..request.results
    };
    request.resources = resources(arguments);
    arguments.old.set(&mut request);
    Ok(request)
}

fn compare(arguments: &Arguments) -> anyhow::Result<Comparison> {
    if arguments.text.bag {
        bail!(Usage::new("--bag counts repetitions, and dedup compares sets; leave it out"));
    }
    let measure = arguments.old.measure.into();
    let verify = arguments.verify.into();
    if measure == Measure::Jaccard && arguments.recall == Some(1.0) && verify == Verify::Estimate {
        bail!(Usage::new("--recall 1 compares exactly; leave out --verify estimate"));
    }
    let text = arguments.text.shingler()?.options().clone();
    let asked = Asked {
        preset: arguments.preset,
        threshold: arguments.threshold,
        recall: arguments.recall,
        text: (!arguments.text.is_default()).then_some(text),
        measure,
        verify,
    };
    asked.choose().map_err(|unfit| Usage::new(unfit.message(&WORDS)).into())
}

fn resources(arguments: &Arguments) -> Resources {
    Resources {
        threads: arguments
            .threads
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into)),
        memory: arguments.memory.unwrap_or_else(memory::half_of_memory),
        work_dir: arguments.work_dir.clone(),
        checkpoint: arguments.checkpoint,
        page_cache: memory::half_of_memory(),
        maps: true,
        resume: arguments.resume,
        ..Resources::default()
    }
}
