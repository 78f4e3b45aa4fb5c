//! `benzer plan`: the sketch, bands and memory that a threshold, a recall and a budget ask for.

mod show;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use benzer_core::plan::{self, Choice, Failure, Goal, Plan, Preset, Shortfall};
use benzer_storage::Files;
use clap::Args;
use serde::Serialize;

use crate::Usage;
use crate::options::amount;
use crate::output::View;

pub const ABOUT: &str = "\
The sketch, its bands and its memory for a threshold, a recall and a budget; with everything else that \
could be kept of the registers beside it at equal error, and the curve that says which pairs are found.";

const EXAMPLES: &str = "\
Examples:
  benzer plan --threshold 0.8
  benzer plan --threshold 0.7 --recall 0.99 --docs 1e9 --memory 1.5TiB
  benzer plan --threshold 0.8 --error 0.02 --svg curve.svg
  benzer plan --preset fineweb --docs 1e8
  benzer plan --threshold 0.9 --format json

";
const PRESETS: &str = "\
Presets are the settings of other tools: fineweb, nemo, datasketch, lance. A preset is shown beside \
the plan for its own threshold (or for --threshold); it does not reproduce the other tool's hash values.";

/// What is wanted.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}{PRESETS}"))]
pub struct Arguments {
    /// The similarity from which on pairs should be found, above 0 and at most 1 [default: 0.8, or that of the preset]
    #[arg(long, value_name = "T")]
    threshold: Option<f64>,
    /// The share of pairs at the threshold that must be found, below 1
    #[arg(long, value_name = "R", default_value = "0.95")]
    recall: f64,
    /// Number of documents, such as 1000000 or 1e9
    #[arg(long, value_name = "N", default_value = "1e6", value_parser = amount::count)]
    docs: u64,
    /// Mean number of elements (shingles, items) of a document
    #[arg(long, value_name = "N", default_value = "500")]
    set_size: f64,
    /// Most memory for sketches and postings, such as 16GiB or 900MB [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = amount::bytes)]
    memory: Option<u64>,
    /// Largest standard error of a similarity at the threshold [default: that of 128 registers of 8 bits]
    #[arg(long, value_name = "E")]
    error: Option<f64>,
    /// Show the settings of another tool beside the plan
    #[arg(long, value_name = "NAME", value_parser = amount::preset)]
    preset: Option<Preset>,
    /// Draw the curves to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// A plan and what was asked to be shown beside it.
#[derive(Debug, Serialize)]
struct Answer {
    #[serde(flatten)]
    plan: Plan,
    #[serde(skip_serializing_if = "Option::is_none")]
    preset: Option<PresetChoice>,
}

/// The settings of another tool, judged by the same goal.
#[derive(Debug, Serialize)]
struct PresetChoice {
    #[serde(flatten)]
    settings: Preset,
    choice: Choice,
}

pub fn run(arguments: &Arguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let goal = goal(arguments);
    let plan = match plan::plan(&goal) {
        Ok(plan) => plan,
        Err(Failure::Parameter(error)) => bail!(Usage::new(flags(&error.to_string()))),
        Err(Failure::Shortfall(shortfall)) => return fall_short(&shortfall, view, out),
    };
    if let Some(path) = &arguments.svg {
        write_svg(path, &plan)?;
    }
    let chosen = |settings: Preset| anyhow::Ok(PresetChoice { settings, choice: settings.choice(&goal)? });
    let answer = Answer { plan, preset: arguments.preset.map(chosen).transpose()? };
    view.show(out, &answer, || show::render(&answer, view))
}

fn goal(arguments: &Arguments) -> Goal {
    let default = Goal::default();
    let of_preset = arguments.preset.map(|preset| preset.threshold);
    Goal {
        threshold: arguments.threshold.or(of_preset).unwrap_or(default.threshold),
        recall: arguments.recall,
        documents: arguments.docs,
        set_size: arguments.set_size,
        memory: arguments.memory,
        error: arguments.error,
        ..default
    }
}

/// Shows what the alternatives miss, and ends with what would have to give.
fn fall_short(shortfall: &Shortfall, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    view.show(out, shortfall, || show::render_shortfall(shortfall, view))?;
    out.flush()?;
    bail!(flags(&shortfall.to_string()))
}

/// The names of the goal's fields as the flags that set them.
fn flags(message: &str) -> String {
    let names = [
        ("`threshold`", "--threshold"),
        ("`recall`", "--recall"),
        ("`documents`", "--docs"),
        ("`set_size`", "--set-size"),
        ("`memory`", "--memory"),
        ("`error`", "--error"),
    ];
    names.iter().fold(message.to_owned(), |message, (name, flag)| message.replace(name, flag))
}

fn write_svg(path: &Path, plan: &Plan) -> anyhow::Result<()> {
    let mut file = Files::new().create(path)?;
    file.append(plan::svg(plan).as_bytes())?;
    file.commit()?;
    talk!("curves drawn to `{}`", path.display());
    Ok(())
}
