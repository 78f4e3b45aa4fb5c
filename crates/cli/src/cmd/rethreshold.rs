//! `benzer rethreshold`: a finished run at a higher threshold, from its pairs.

use std::io::Write;
use std::path::PathBuf;

use benzer_core::Threshold;
use benzer_dedup::results;
use clap::Args;
use serde_json::json;

use crate::failure;
use crate::output::{Format, View, grouped, printable, write_json};

pub const ABOUT: &str = "\
Resolve a finished run of `benzer dedup` again at a higher threshold, from its pairs.parquet: nothing is read or \
sketched again. Writes the tables of a run, report.html and manifest.json to a folder inside the run's, or to \
--output; documents are not written.";

const EXAMPLES: &str = "\
Examples:
  benzer rethreshold clean 0.9
  benzer rethreshold clean 0.95 -o strict --format json
";

/// Which run, and which threshold.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The output folder of a run
    #[arg(value_name = "DIR")]
    run: PathBuf,
    /// The new threshold, at least that of the run
    #[arg(value_name = "T")]
    threshold: Threshold,
    /// The folder for the new results [default: DIR/at-T]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub fn run(arguments: &Arguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let Arguments { run, threshold, output } = arguments;
    let folder = output.clone().unwrap_or_else(|| run.join(format!("at-{threshold}")));
    let found = results::rethreshold(run, *threshold, &folder).map_err(failure::of_engine)?;
    let summary = &found.summary;
    if view.format == Format::Json {
        let all = json!({
            "output": folder,
            "threshold": threshold.value(),
            "was": found.was,
            "removed_before": found.removed_before,
            "removed": found.removed,
            "restored": found.restored,
            "newly_removed": found.newly_removed,
            "counts": summary.counts,
            "similarities": summary.histogram,
            "warnings": summary.warnings,
            "notes": summary.notes,
        });
        return write_json(out, &all);
    }
    summary.notes.iter().for_each(|note| talk!("note: {}", printable(note)));
    summary.warnings.iter().for_each(|warning| talk!("warning: {}", printable(warning)));
    let newly = match found.newly_removed {
        0 => String::new(),
        n => format!(", {} that stayed before are removed", grouped(n)),
    };
    writeln!(
        out,
        "threshold {} -> {threshold}: {} documents removed instead of {}, {} come back{newly}\nresults: {folder}; to look at: {folder}/report.html",
        found.was,
        grouped(found.removed),
        grouped(found.removed_before),
        grouped(found.restored),
        folder = folder.display(),
    )?;
    Ok(())
}
