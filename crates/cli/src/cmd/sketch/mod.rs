//! `benzer sketch`: a corpus becomes a sketch file; `--show` says what is in one.

mod make;
mod show;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use clap::builder::RangedU64ValueParser;

use crate::options::input::InputArguments;
use crate::options::sketches::{HELP, SketchArguments, SketchName};
use crate::options::text::TextArguments;
use crate::output::View;

pub const ABOUT: &str = "\
Sketch a corpus into a file, or show what is in such a file.

Inputs are JSON lines, CSV, TSV, plain text, Parquet and Arrow files (text also .gz and .zst), \
folders, globs, `-` for standard input, also in object stores (s3://, gs://, az://, https://). The output has \
one sketch for each document in the order of the input, the same bytes for any number of threads. \
Lines that cannot be read are counted, reported and left out. `benzer compare` reads the file.";

const EXAMPLES: &str = "\
Examples:
  benzer sketch articles.jsonl -o articles.bsk
  benzer sketch articles.jsonl --text-field title,text --id-field id -o t.bsk
  benzer sketch articles.jsonl --rejects bad.jsonl -o articles.bsk
  benzer sketch . --sketch b1 --registers 512 --threads 2 -o all.bsk
  benzer sketch a.txt b.txt c.txt --per-file -o files.bsk
  benzer sketch --show articles.bsk
  benzer sketch --show t.bsk --ids tides-1 tides-2 --format json

";

/// What to sketch, and how; or what to show.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}{HELP}"), override_usage = "\
benzer sketch [OPTIONS] --output <FILE> <INPUT>...\n       benzer sketch [OPTIONS] --show <FILE>")]
pub struct Arguments {
    /// Files, folders, globs, addresses such as s3://bucket/folder, or `-`
    #[arg(value_name = "INPUT", required_unless_present = "show")]
    inputs: Vec<OsString>,
    /// The sketch file to write; an older sketch file of that name is replaced
    #[arg(short, long, value_name = "FILE", required_unless_present = "show")]
    output: Option<PathBuf>,
    #[command(flatten)]
    input: InputArguments,
    /// Write the lines that cannot be read to this file, as JSON lines with file, line and reason
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    /// Stop at the first line that cannot be read, and write nothing
    #[arg(long)]
    strict: bool,
    /// Worker threads [default: all cores]; the output does not depend on it
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    threads: Option<usize>,
    /// Show what is in a sketch file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["inputs", "output", "rejects", "strict", "input_format", "per_file"], help_heading = "Showing")]
    show: Option<PathBuf>,
    /// Show only the documents with these ids
    #[arg(long, value_name = "ID", num_args = 1.., requires = "show", help_heading = "Showing")]
    ids: Vec<String>,
    /// Show at most so many documents; 0 shows all
    #[arg(long, value_name = "N", default_value = "10", help_heading = "Showing")]
    limit: usize,
    /// The kind of sketch [default: b8, with --bag weighted:b8]
    #[arg(long, value_name = "NAME", help_heading = "Sketches")]
    sketch: Option<SketchName>,
    #[command(flatten)]
    sketches: SketchArguments,
    #[command(flatten)]
    text: TextArguments,
}

pub fn run(arguments: &Arguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    match (&arguments.show, &arguments.output) {
        (Some(file), _) => show::run(file, arguments, view, out),
        (None, Some(output)) => make::run(output, arguments, view, out),
        (None, None) => unreachable!("one of the two is required"),
    }
}
