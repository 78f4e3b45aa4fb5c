//! `benzer features`: sketches as sparse vectors for linear models.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use benzer_io::read::FieldPath;
use benzer_sets::SetFormat;
use benzer_sets::features::{self, LabelFrom, Made, Recipe, RowShape};
use benzer_storage::{FileWriter, Files};
use clap::Args;
use serde::Serialize;

use crate::Usage;
use crate::options::sets::{HELP, SetArguments, usage};
use crate::options::sketches::SketchArguments;
use crate::output::{Format, View, grouped, printable, write_json};

pub const ABOUT: &str = "\
Write documents or sets as b-bit vectors for linear models, in LIBSVM format.

Each of K registers has B bits and becomes one of 2^B columns: a row has exactly K ones among K x 2^B \
columns, and the inner product of two rows is the number of equal registers, which grows with the Jaccard \
similarity. So a linear model learns what sets have in common, from a few hundred bytes of each.";

const EXAMPLES: &str = "\
Examples:
  benzer features articles.jsonl -o articles.svm
  benzer features reviews.csv --label-field verdict -n 1 -o reviews.svm
  benzer features baskets.txt --set-format id-items --label-id -o b.svm
  benzer features baskets.txt --set-format id-items --normalize -o -

";
const AFTER: &str = "\
Labels that are numbers stay as they are; texts become 0, 1, ... in the order of their first \
appearance, told on standard error and written to FILE.labels.json. A set without elements is a \
row without columns.

";

/// What to write, and how.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}{AFTER}{HELP}"))]
pub struct Arguments {
    /// Files, folders, globs, or `-`
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<OsString>,
    /// The file to write, or `-` for standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The field that is the label [default: every label is 0]
    #[arg(long, value_name = "FIELD", conflicts_with = "set_format")]
    label_field: Option<FieldPath>,
    /// Take the id that stands before the items as the label
    #[arg(long, requires = "set_format")]
    label_id: bool,
    /// Bits of each register: 1 to 16
    #[arg(long, value_name = "B", default_value = "8", value_parser = clap::value_parser!(u32).range(1..=16), help_heading = "Sketches")]
    bits: u32,
    /// Write 1/sqrt(K) instead of 1, so that every row has length one
    #[arg(long)]
    normalize: bool,
    #[command(flatten)]
    sketches: SketchArguments,
    #[command(flatten)]
    sets: SetArguments,
}

#[derive(Debug, Serialize)]
struct WrittenRows<'a> {
    file: &'a Path,
    rows: u64,
    columns: u64,
    empty: u64,
    rejected: u64,
    labels: &'a [String],
}

pub fn run(arguments: &Arguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let Arguments { inputs, sets, sketches, .. } = arguments;
    let output = Some(arguments.output.as_path()).filter(|path| *path != Path::new("-"));
    let shape = RowShape {
        registers: sketches.registers,
        bits: arguments.bits,
        seed: sketches.seed,
        normalize: arguments.normalize,
    };
    let recipe = Recipe::new(shape, label_from(arguments)?).map_err(|error| usage(error.into()))?;
    let mut source = sets.source(inputs)?;
    source.read.order_field = arguments.label_field.clone();
    let room = sets.room(output)?;
    let mut reporter = sets.reporter(&[&source], output)?;
    let mut file = output.map(|path| Files::new().create(path)).transpose()?;
    let made = features::make(&source, &recipe, &room, &mut reporter, |rows| match &mut file {
        Some(file) => Ok(file.append(rows)?),
        None => Ok(out.write_all(rows)?),
    });
    let made = made.map_err(usage)?;
    reporter.finish()?;
    if made.n_rows == 0 {
        match reporter.rejects.first() {
            Some(reject) => bail!("no line could be read, so nothing was written; the first: {reject}"),
            None => bail!("there is nothing in the input, so nothing was written"),
        }
    }
    write_labels(&made, output)?;
    file.map(FileWriter::commit).transpose()?;
    out.flush()?;
    report(&made, &recipe);
    let Made { n_rows: rows, n_empty: empty, n_rejected: rejected, labels } = &made;
    let columns = recipe.columns();
    match (view.format, output) {
        (Format::Json, Some(file)) => write_json(
            out,
            &WrittenRows { file, rows: *rows, columns, empty: *empty, rejected: *rejected, labels },
        ),
        _ => Ok(()),
    }
}

fn label_from(arguments: &Arguments) -> anyhow::Result<LabelFrom> {
    let has_ids = arguments.sets.set_format == Some(SetFormat::IdItems) && !arguments.sets.transpose;
    match (arguments.label_id, &arguments.label_field) {
        (true, _) if !has_ids => bail!(Usage::new("--label-id needs --set-format id-items, not transposed")),
        (true, _) => Ok(LabelFrom::Id),
        (false, Some(_)) => Ok(LabelFrom::Field),
        (false, None) => Ok(LabelFrom::Nothing),
    }
}

/// The numbers of labels that are texts, beside the file.
fn write_labels(made: &Made, output: Option<&Path>) -> anyhow::Result<()> {
    let Some(output) = output.filter(|_| !made.labels.is_empty()) else { return Ok(()) };
    let numbers: BTreeMap<&str, usize> = made.labels.iter().map(String::as_str).zip(0..).collect();
    let mut name = output.as_os_str().to_owned();
    name.push(".labels.json");
    let mut file = Files::new().create(Path::new(&name))?;
    file.append(&serde_json::to_vec_pretty(&numbers)?)?;
    file.append(b"\n")?;
    file.commit()?;
    Ok(())
}

fn report(made: &Made, recipe: &Recipe) {
    talk!("{} rows of {} columns", grouped(made.n_rows), grouped(recipe.columns()));
    if made.n_empty > 0 {
        talk!("{} without an element, and so without a column", grouped(made.n_empty));
    }
    const NAMED: usize = 20;
    for (label, number) in made.labels.iter().zip(0..NAMED) {
        talk!("label {number}: {}", printable(label));
    }
    if made.labels.len() > NAMED {
        talk!("and {} more labels", grouped((made.labels.len() - NAMED) as u64));
    }
}
