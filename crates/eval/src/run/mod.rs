//! Runs experiments into a folder: tables as they grow, then charts, `run.json`, and the gallery.

mod gallery;
mod machine;

use std::fs;
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::experiments::ALL;
use crate::{Claim, Context, Error, Experiment, Options, Outcome, Result};

/// What became of one experiment.
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
    /// True if every check holds: this code does what theory expects.
    pub fn holds(&self) -> bool {
        self.outcome.checks.all_hold()
    }
}

/// Who is told how far a run is.
pub trait Progress {
    /// An experiment begins: number `i` of `n`.
    fn begin(&self, name: &str, i: usize, n: usize);
    /// An experiment goes on with a part of it.
    fn step(&self, part: &str);
    /// An experiment ended.
    fn end(&self, report: &Report);
}

/// `run.json`: what made the tables beside it, experiment by experiment.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    experiments: Vec<Line>,
}

/// One experiment: what it found, and with what. Experiments that are run one by one into a folder may differ in that.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Line {
    name: String,
    holds: bool,
    checks: String,
    /// Nothing in records of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    claim: Option<Claim>,
    verdict: String,
    command: String,
    seed: u64,
    quick: bool,
    version: String,
    #[serde(flatten)]
    machine: machine::Machine,
    seconds: f64,
}

/// Runs the experiments of these names, or all for `all`, and writes everything to the output folder.
///
/// # Errors
/// A name that there is not, data that cannot be read, a folder that cannot be written. An experiment that does not hold is no error.
pub fn run(names: &[String], options: &Options, progress: &dyn Progress) -> Result<Vec<Report>> {
    let chosen = choose(names)?;
    let output = &options.output;
    fs::create_dir_all(output).map_err(Error::write(output))?;
    // Before anything runs: whoever works in the folder meanwhile does not change what the tables were made with.
    let machine = machine::describe();
    let mut reports: Vec<Report> = Vec::new();
    for (i, experiment) in chosen.iter().enumerate() {
        progress.begin(experiment.name, i + 1, chosen.len());
        let context = Context { options, name: experiment.name, on_step: &|part| progress.step(part) };
        let started = Instant::now();
        let mut outcome = (experiment.run)(&context)?;
        if !outcome.checks.all_hold() {
            // What a code measures that is not as it should be says nothing about a paper.
            outcome.claim = Claim::Open;
            outcome.verdict = format!("Code and theory disagree here: {}.", outcome.checks.summary());
        }
        let seconds = started.elapsed().as_secs_f64();
        let pictures = draw(experiment, &outcome, output)?;
        reports.push(Report { experiment: *experiment, outcome, pictures, seconds });
        progress.end(&reports[i]);
        // After each, so that a run that is stopped has a gallery of what is done.
        record(&reports, options, &machine)?;
    }
    Ok(reports)
}

fn choose(names: &[String]) -> Result<Vec<Experiment>> {
    if names.iter().any(|name| name == "all") {
        return Ok(ALL.to_vec());
    }
    let find = |name: &String| {
        let found = ALL.iter().find(|experiment| experiment.name == name);
        found.copied().ok_or_else(|| Error::Unknown(name.clone()))
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

fn record(reports: &[Report], options: &Options, machine: &machine::Machine) -> Result<()> {
    let path = options.output.join("run.json");
    let line = |report: &Report| Line {
        name: report.experiment.name.to_owned(),
        holds: report.holds(),
        checks: report.outcome.checks.summary(),
        claim: Some(report.outcome.claim),
        verdict: report.outcome.verdict.clone(),
        command: options.command.clone(),
        seed: options.seed,
        quick: options.quick,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine: machine.clone(),
        seconds: (report.seconds * 100.0).round() / 100.0,
    };
    let mut lines: Vec<Line> = reports.iter().map(line).collect();
    // The tables of earlier runs are still in the folder, and so is what made them.
    let earlier = fs::read(&path).ok().and_then(|json| serde_json::from_slice::<Record>(&json).ok());
    for line in earlier.unwrap_or_default().experiments {
        if lines.iter().all(|new| new.name != line.name) {
            lines.push(line);
        }
    }
    lines.sort_by_key(|line| ALL.iter().position(|experiment| experiment.name == line.name));
    let record = Record { experiments: lines };
    let json = serde_json::to_string_pretty(&record).expect("texts and numbers are JSON");
    write(&path, &(json + "\n"))?;
    write(&options.output.join("index.html"), &gallery::page(reports, options, machine))
}

fn write(path: &Path, text: &str) -> Result<()> {
    // A reader never sees half of a file: it is renamed when it is whole.
    let part = path.with_extension("part");
    fs::write(&part, text).and_then(|()| fs::rename(&part, path)).map_err(Error::write(path))
}
