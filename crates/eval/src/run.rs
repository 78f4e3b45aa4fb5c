//! Runs experiments into a folder: tables as they grow, then charts, `run.json`, and the gallery.

use std::fs;
use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use crate::experiments::ALL;
use crate::{Context, Error, Experiment, Options, Outcome, Progress, Result, gallery, machine};

/// What became of one experiment.
#[derive(Debug)]
pub struct Report {
    /// Which one.
    pub experiment: Experiment,
    /// What it found.
    pub outcome: Outcome,
    /// The charts of the outcome as pictures, in its order.
    pub pictures: Vec<String>,
    /// How long it took.
    pub seconds: f64,
}

impl Report {
    /// True if every check holds.
    pub fn holds(&self) -> bool {
        self.outcome.checks.all_hold()
    }
}

/// `run.json`: what made the tables beside it.
#[derive(Debug, Serialize)]
struct Record<'a> {
    command: &'a str,
    seed: u64,
    quick: bool,
    version: &'static str,
    #[serde(flatten)]
    machine: machine::Machine,
    experiments: Vec<Line<'a>>,
}

#[derive(Debug, Serialize)]
struct Line<'a> {
    name: &'static str,
    holds: bool,
    seconds: f64,
    checks: String,
    verdict: &'a str,
}

/// Runs the experiments of these names, or all for `all`, and writes everything to the output folder.
///
/// # Errors
/// A name that there is not, data that cannot be read, a folder that cannot be written. An experiment that does not hold is no error.
pub fn run(names: &[String], options: &Options, progress: &dyn Progress) -> Result<Vec<Report>> {
    let chosen = choose(names)?;
    let output = &options.output;
    fs::create_dir_all(output).map_err(Error::write(output))?;
    let mut reports: Vec<Report> = Vec::new();
    for (i, experiment) in chosen.iter().enumerate() {
        progress.begin(experiment.name, i + 1, chosen.len());
        let context = Context { options, name: experiment.name, progress };
        let started = Instant::now();
        let mut outcome = (experiment.run)(&context)?;
        if !outcome.checks.all_hold() {
            outcome.verdict = format!("Does not hold here: {}.", outcome.checks.summary());
        }
        let seconds = started.elapsed().as_secs_f64();
        let pictures = draw(experiment, &outcome, output)?;
        reports.push(Report { experiment: *experiment, outcome, pictures, seconds });
        progress.end(&reports[i]);
        // After each, so that a run that is stopped has a gallery of what is done.
        record(&reports, options)?;
    }
    Ok(reports)
}

fn choose(names: &[String]) -> Result<Vec<Experiment>> {
    if names.iter().any(|name| name == "all") {
        return Ok(ALL.to_vec());
    }
    let find = |name: &String| {
        let found = ALL.iter().find(|experiment| experiment.name == name);
        found.copied().ok_or_else(|| Error::Unknown { name: name.clone() })
    };
    names.iter().map(find).collect()
}

fn draw(experiment: &Experiment, outcome: &Outcome, output: &Path) -> Result<Vec<String>> {
    let pictures = outcome.charts.iter().map(crate::Chart::svg).collect::<Result<Vec<_>>>()?;
    for (i, picture) in pictures.iter().enumerate() {
        write(&output.join(format!("{}_{}.svg", experiment.name, i + 1)), picture)?;
    }
    Ok(pictures)
}

fn record(reports: &[Report], options: &Options) -> Result<()> {
    let lines = reports.iter().map(|report| Line {
        name: report.experiment.name,
        holds: report.holds(),
        seconds: (report.seconds * 100.0).round() / 100.0,
        checks: report.outcome.checks.summary(),
        verdict: &report.outcome.verdict,
    });
    let record = Record {
        command: &options.command,
        seed: options.seed,
        quick: options.quick,
        version: env!("CARGO_PKG_VERSION"),
        machine: machine::describe(),
        experiments: lines.collect(),
    };
    let json = serde_json::to_string_pretty(&record).expect("texts and numbers are JSON");
    write(&options.output.join("run.json"), &(json + "\n"))?;
    write(&options.output.join("index.html"), &gallery::page(reports, options))
}

fn write(path: &Path, text: &str) -> Result<()> {
    // A reader never sees half of a file: it is renamed when it is whole.
    let part = path.with_extension("part");
    fs::write(&part, text).and_then(|()| fs::rename(&part, path)).map_err(Error::write(path))
}
