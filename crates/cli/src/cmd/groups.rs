//! `benzer groups`: all triples of documents or sets that are similar to each other.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use benzer_core::Threshold;
use benzer_core::sketch::{Packing, SketchSpec};
use benzer_io::result_table::{Cell, Kind};
use benzer_sets::SetStore;
use benzer_sets::triples::{self, Found, Triple, Verify, Wanted};
use clap::{Args, ValueEnum};

use crate::Usage;
use crate::options::sets::{HELP, SetArguments, load, usage};
use crate::options::sketches::SketchArguments;
use crate::output::{RowFormat, Rows, View, grouped};

pub const ABOUT: &str = "\
Find all triples of documents or sets whose three-way resemblance reaches a threshold: the elements \
in all three over the elements in any.

Every triple is found and measured exactly, unless --verify says otherwise. A row has the three ids, \
the elements in all and in any, and the similarity; rows come in the order of the input.";

const EXAMPLES: &str = "\
Examples:
  benzer groups articles.jsonl --id-field id --threshold 0.6
  benzer groups baskets.txt --set-format id-items --threshold 0.2
  benzer groups baskets.txt --set-format id-items --transpose --threshold 0.3
  benzer groups articles.jsonl --verify filter --bits 4 -o t.parquet
  benzer groups articles.jsonl --verify estimate --registers 512 --format json

";
const AFTER: &str = "\
--verify exact misses nothing and guesses nothing. filter drops a triple before it is measured when \
its sketches put it 4 standard deviations below the threshold, which loses less than 1 in 1,000 of \
the triples right at the threshold and almost none above. estimate decides by the sketches alone \
and tells their 95% interval. In all three the pairs come from the exact join.

";

/// What to compare, and how.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}{AFTER}{HELP}"))]
pub struct Arguments {
    /// Files, folders, globs, or `-`
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<OsString>,
    /// From which three-way resemblance on a triple is told
    #[arg(long, value_name = "T", default_value = "0.8")]
    threshold: Threshold,
    /// How triples are measured: exact, filter, estimate
    #[arg(long, value_enum, default_value = "exact", value_name = "HOW", hide_possible_values = true)]
    verify: VerifyName,
    /// Write the triples to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How triples are written [default: by the name of FILE; jsonl with --format json; else tsv]
    #[arg(long, value_enum, value_name = "FORMAT")]
    output_format: Option<RowFormat>,
    /// Bits kept of each register of the sketches: 2 to 16, 32 or 64
    #[arg(long, value_name = "B", default_value = "8", help_heading = "Sketches")]
    bits: u32,
    #[command(flatten)]
    sketches: SketchArguments,
    #[command(flatten)]
    sets: SetArguments,
}

/// The names of the ways to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum VerifyName {
    /// By the elements
    Exact,
    /// By the elements, where sketches do not rule it out
    Filter,
    /// By the sketches
    Estimate,
}

pub fn run(arguments: &Arguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let Arguments { inputs, output, sets, .. } = arguments;
    let format = RowFormat::choose(arguments.output_format, output.as_deref(), view.format);
    let wanted = wanted(arguments)?;
    let source = sets.source(inputs)?;
    let room = sets.room(output.as_deref())?;
    let mut reporter = sets.reporter(&[&source], output.as_deref())?;
    let (shelf, loaded) = load(&[&source], &room, &mut reporter)?;
    let mut rows = Rows::new(&columns(wanted.verify), format, output.as_deref(), out)?;
    let found = triples::find(&shelf, &wanted, &room, |some| {
        some.iter().try_for_each(|triple| push(&mut rows, triple, &shelf))
    });
    let found = found.map_err(usage)?;
    rows.finish()?;
    let (n, triples) = (grouped(found.n_triples), if found.n_triples == 1 { "triple" } else { "triples" });
    talk!("{n} {triples} of {} sets", grouped(shelf.len().into()));
    let Found { n_pairs, n_triangles, n_candidates, n_sketched, n_verified, .. } = found;
    talk!("{} similar pairs make {} triangles", grouped(n_pairs), grouped(n_triangles));
    let sketches = match wanted.verify {
        Verify::Filter => format!(", their sketches {}", grouped(n_sketched)),
        _ => String::new(),
    };
    let [candidates, verified] = [n_candidates, n_verified].map(grouped);
    talk!("the pairs' intersections leave {candidates}{sketches}; {verified} measured exactly");
    if loaded[0].n_empty > 0 {
        talk!("{} without an element, similar to nothing", grouped(loaded[0].n_empty));
    }
    Ok(())
}

fn wanted(arguments: &Arguments) -> anyhow::Result<Wanted> {
    let verify = match arguments.verify {
        VerifyName::Exact => Verify::Exact,
        VerifyName::Filter => Verify::Filter,
        VerifyName::Estimate => Verify::Estimate,
    };
    let bits = arguments.bits;
    let packing = Packing::bits(bits).ok().filter(|_| bits > 1);
    let packing = packing.ok_or_else(|| {
        Usage::new(format!(
            "--bits must be 2 to 16, 32 or 64, got {bits}; one bit carries no three-way information"
        ))
    })?;
    let SketchArguments { registers, seed } = arguments.sketches;
    let spec = SketchSpec { registers, packing, seed, ..SketchSpec::default() };
    Ok(Wanted { threshold: arguments.threshold, verify, spec })
}

fn columns(verify: Verify) -> Vec<(&'static str, Kind)> {
    let ids = [("id_a", Kind::Text), ("id_b", Kind::Text), ("id_c", Kind::Text)];
    let exact = [("intersection", Kind::Number), ("union", Kind::Row), ("similarity", Kind::Share)];
    let estimate = [("estimate", Kind::Share), ("low", Kind::Share), ("high", Kind::Share)];
    match verify {
        Verify::Exact | Verify::Filter => [ids, exact].concat(),
        Verify::Estimate => [ids, estimate].concat(),
    }
}

fn push(rows: &mut Rows<'_>, triple: &Triple, shelf: &SetStore) -> anyhow::Result<()> {
    let [a, b, c] = triple.sets;
    let ids = [a, b, c].map(|set| shelf.id(set));
    let mut cells: Vec<Cell<'_>> = ids.iter().map(|id| Cell::Text(id)).collect();
    if let Some((all, union)) = triple.exact {
        cells.extend([Cell::Number(all), Cell::Row(union), Cell::Share(f64::from(all) / union as f64)]);
    }
    if let Some(estimate) = triple.estimate {
        cells.extend([estimate.value, estimate.low, estimate.high].map(Cell::Share));
    }
    rows.push(&cells)
}
