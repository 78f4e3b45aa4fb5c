//! `benzer eval`: the figures and tables of the papers, measured on this code.

use std::cell::RefCell;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use benzer_eval::experiments::ALL;
use benzer_eval::{Claim, Error, Experiment, Options, Progress, Report};
use clap::Args;
use indicatif::ProgressBar;
use serde::Serialize;

use crate::Usage;
use crate::output::{View, bar_style};

pub const ABOUT: &str = "\
Try the claims of the papers on this code: every figure and table, measured, beside the theory.

Each experiment has a numeric criterion, usually that a mean is within 4 standard errors of theory and \
that this error is at most 2%: that says whether this code does what theory expects. Whether the claim of the paper \
holds for what was measured is told apart from it. The folder gets a CSV table with a row for every point as it is measured, SVG \
charts, run.json (machine, commit, command, seed, verdicts) and index.html, a page with all of it. \
The exit code is 1 if code and theory disagree; a claim that does not hold is a result.";

const EXAMPLES: &str = "\
Examples:
  benzer eval list
  benzer eval li2011_storage -o storage
  benzer eval li2011_exactness li2011_rho --quick -o some

A full run takes some ten minutes on one core: benzer eval all --data DIR -o DIR. \
With --quick all ends in minutes, on synthetic data.";

/// What to try, on which data.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Names of experiments, `all`, or `list` to see what there is
    #[arg(value_name = "NAME", default_value = "list")]
    names: Vec<String>,
    /// Fewer runs and synthetic data only: all of it in minutes
    #[arg(long)]
    quick: bool,
    /// The folder of the data sets, as docs/reference/eval.md names them [default: synthetic data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The seed of everything random
    #[arg(long, value_name = "SEED", default_value_t = 42)]
    seed: u64,
    /// Where tables, charts and the page go
    #[arg(short, long, value_name = "DIR", default_value = "benzer-eval")]
    output: PathBuf,
}

/// An experiment, and what became of it if it was run, for programs.
#[derive(Debug, Serialize)]
struct Line<'a> {
    name: &'static str,
    source: &'static str,
    title: &'static str,
    #[serde(flatten)]
    run: Option<Run<'a>>,
}

#[derive(Debug, Serialize)]
struct Run<'a> {
    holds: bool,
    seconds: f64,
    checks: String,
    failures: &'a [String],
    claim: Claim,
    verdict: &'a str,
}

impl<'a> From<&'a Report> for Run<'a> {
    fn from(report: &'a Report) -> Self {
        let Report { outcome, seconds, .. } = report;
        Self {
            holds: report.holds(),
            seconds: *seconds,
            checks: outcome.checks.summary(),
            failures: &outcome.checks.failures,
            claim: outcome.claim,
            verdict: &outcome.verdict,
        }
    }
}

impl<'a> Line<'a> {
    fn new(experiment: &Experiment, run: Option<Run<'a>>) -> Self {
        let Experiment { name, source, title, .. } = *experiment;
        Self { name, source, title, run }
    }
}

pub fn run(arguments: &Arguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let Arguments { names, quick, data, seed, output } = arguments;
    if names.iter().any(|name| name == "list") {
        return list(view, out);
    }
    if let Some(folder) = data.as_ref().filter(|folder| !folder.is_dir()) {
        return Err(Usage::new(format!("--data: `{}` is not a folder", folder.display())).into());
    }
    let options = Options {
        quick: *quick,
        data: data.clone(),
        seed: *seed,
        output: output.clone(),
        command: command(arguments),
    };
    let progress = ProgressReporter { bar: RefCell::new(None), is_terminal: std::io::stderr().is_terminal() };
    let reports = benzer_eval::run(names, &options, &progress).map_err(|error| match error {
        Error::Unknown(_) => anyhow::Error::new(Usage::new(error)),
        other => other.into(),
    })?;
    show(&reports, view, out)?;
    talk!("{}", output.join("index.html").display());
    let failed: Vec<&str> = reports.iter().filter(|r| !r.holds()).map(|r| r.experiment.name).collect();
    let all = reports.len();
    match failed.len() {
        0 => Ok(()),
        n => anyhow::bail!("in {n} of {all} experiments code and theory disagree: {}", failed.join(", ")),
    }
}

/// The command as it can be given again; where the data lie is not part of it.
fn command(arguments: &Arguments) -> String {
    let mut words = vec!["benzer eval".to_owned(), arguments.names.join(" ")];
    words.extend(arguments.quick.then(|| "--quick".to_owned()));
    words.extend(arguments.data.as_ref().map(|_| "--data DIR".to_owned()));
    words.push(format!("--seed {}", arguments.seed));
    words.join(" ")
}

fn list(view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let lines: Vec<Line<'_>> = ALL.iter().map(|experiment| Line::new(experiment, None)).collect();
    let width = ALL.iter().map(|experiment| experiment.name.len()).max().unwrap_or(0);
    let text = |one: &Experiment| format!("{:width$}  {} ({})\n", one.name, one.title, one.source);
    view.show(out, &lines, || ALL.iter().map(text).collect())
}

fn show(reports: &[Report], view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let lines: Vec<Line<'_>> =
        reports.iter().map(|report| Line::new(&report.experiment, Some(report.into()))).collect();
    view.show(out, &lines, || reports.iter().map(render).collect())
}

fn render(report: &Report) -> String {
    let Report { experiment, outcome, .. } = report;
    let agrees = if report.holds() { "yes" } else { "NO" };
    let mut text = format!("{} ({})\n", experiment.name, experiment.source);
    text.push_str(&format!("  code equals theory: {agrees}; {}\n", outcome.checks.summary()));
    for failure in outcome.checks.failures.iter().take(20) {
        text.push_str(&format!("  - {failure}\n"));
    }
    text + &format!("  the claim: {}\n  {}\n", outcome.claim, outcome.verdict)
}

/// A line for each experiment, and on a terminal what is measured now.
struct ProgressReporter {
    bar: RefCell<Option<ProgressBar>>,
    is_terminal: bool,
}

impl Progress for ProgressReporter {
    fn begin(&self, name: &str, i: usize, n: usize) {
        if self.is_terminal {
            let style = bar_style("{spinner} {prefix} {elapsed}  {msg}");
            let bar = ProgressBar::new_spinner().with_style(style).with_prefix(format!("{i}/{n} {name}"));
            bar.enable_steady_tick(Duration::from_millis(200));
            *self.bar.borrow_mut() = Some(bar);
        }
    }

    fn step(&self, part: &str) {
        if let Some(bar) = &*self.bar.borrow() {
            bar.set_message(part.to_owned());
        }
    }

    fn end(&self, report: &Report) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        let holds = if report.holds() { "code equals theory" } else { "code and theory DISAGREE" };
        let (seconds, name, claim) = (report.seconds, report.experiment.name, report.outcome.claim);
        talk!("{seconds:>7.1} s  {name}: {holds}; the claim: {claim}");
    }
}
