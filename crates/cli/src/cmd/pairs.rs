//! `benzer pairs`: all pairs of documents or sets that are similar, none missed.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use benzer_core::Threshold;
use benzer_io::result_table::{Cell, Kind};
use benzer_join::exact::Measure;
use benzer_sets::SetStore;
use benzer_sets::pairs::{self, Pair, Wanted};
use clap::{Args, ValueEnum};

use crate::options::sets::{HELP, SetArguments, load, usage};
use crate::output::{RowFormat, Rows, View, grouped};

pub const ABOUT: &str = "\
Find all pairs of documents or sets whose similarity reaches a threshold.

Every pair is found and measured exactly; there are no sketches in it. A row has both ids, the \
elements in both and in either, the sizes of both sets, and the similarity. Rows come in the order of the \
input, the same for any number of threads.";

const EXAMPLES: &str = "\
Examples:
  benzer pairs articles.jsonl --id-field id --threshold 0.7
  benzer pairs articles.jsonl -n 3 -o pairs.parquet
  benzer pairs baskets.txt --set-format id-items --threshold 0.4
  benzer pairs baskets.txt --set-format id-items --transpose --threshold 0.5
  benzer pairs baskets.txt --set-format id-items --measure containment
  benzer pairs monday.txt --with tuesday.txt -n 1 --format json

";

/// What to compare, and how.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}{HELP}"))]
pub struct Arguments {
    /// Files, folders, globs, or `-`
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<OsString>,
    /// Pair each set of INPUT with the sets of this file or folder only; may be repeated
    #[arg(long, value_name = "OTHER")]
    with: Vec<OsString>,
    /// From which similarity on a pair is told
    #[arg(long, value_name = "T", default_value = "0.8")]
    threshold: Threshold,
    /// What must reach the threshold
    #[arg(long, value_enum, default_value = "jaccard", value_name = "MEASURE")]
    measure: MeasureName,
    /// Write the pairs to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How pairs are written [default: by the name of FILE; jsonl with --format json; else tsv]
    #[arg(long, value_enum, value_name = "FORMAT")]
    output_format: Option<RowFormat>,
    #[command(flatten)]
    sets: SetArguments,
}

/// The names of the measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MeasureName {
    /// Elements in both over elements in either
    Jaccard,
    /// Elements in both over elements of the first: how much of it is in the second. Both directions are
    /// told where both reach the threshold; with --with, those of INPUT in OTHER
    Containment,
}

pub fn run(arguments: &Arguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let Arguments { inputs, with, output, sets, .. } = arguments;
    let format = RowFormat::choose(arguments.output_format, output.as_deref(), view.format);
    let measure = match arguments.measure {
        MeasureName::Jaccard => Measure::Jaccard,
        MeasureName::Containment => Measure::Containment,
    };
    let (own, others) = (sets.source(inputs)?, sets.source(with)?);
    let mut sources = vec![&own];
    if !with.is_empty() {
        sources.push(&others);
    }
    let room = sets.room(output.as_deref())?;
    let mut reporter = sets.reporter(&sources, output.as_deref())?;
    let (shelf, loaded) = load(&sources, &room, &mut reporter)?;
    let split = (!with.is_empty()).then(|| loaded[0].n_sets as u32);
    let wanted = Wanted { measure, threshold: arguments.threshold, split };
    let mut rows = Rows::new(&COLUMNS, format, output.as_deref(), out)?;
    let found = pairs::find(&shelf, &wanted, &room, |some| {
        some.iter().try_for_each(|pair| push(&mut rows, pair, &shelf, measure))
    });
    let found = found.map_err(usage)?;
    rows.finish()?;
    let n_empty: u64 = loaded.iter().map(|loaded| loaded.n_empty).sum();
    let counts: Vec<String> = loaded.iter().map(|loaded| grouped(loaded.n_sets)).collect();
    let (n, pairs) = (grouped(found.n_pairs), if found.n_pairs == 1 { "pair" } else { "pairs" });
    talk!("{n} {pairs} of {} sets; {} compared", counts.join(" x "), grouped(found.n_candidates));
    if n_empty > 0 {
        talk!("{} without an element, similar to nothing", grouped(n_empty));
    }
    Ok(())
}

const COLUMNS: [(&str, Kind); 7] = [
    ("id_a", Kind::Text),
    ("id_b", Kind::Text),
    ("intersection", Kind::Number),
    ("union", Kind::Row),
    ("size_a", Kind::Number),
    ("size_b", Kind::Number),
    ("similarity", Kind::Share),
];

fn push(rows: &mut Rows<'_>, pair: &Pair, shelf: &SetStore, measure: Measure) -> anyhow::Result<()> {
    rows.push(&[
        Cell::Text(&shelf.id(pair.a)),
        Cell::Text(&shelf.id(pair.b)),
        Cell::Number(pair.intersection),
        Cell::Row(pair.union()),
        Cell::Number(pair.size_a),
        Cell::Number(pair.size_b),
        Cell::Share(pair.similarity(measure)),
    ])
}
