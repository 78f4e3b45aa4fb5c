//! The commands, one file or folder each.

pub mod check;
pub mod collections;
pub mod compare;
pub mod dedup;
pub mod duplicates;
pub mod eval;
pub mod explain;
pub mod features;
pub mod groups;
pub mod index;
pub mod key;
pub mod pairs;
pub mod plan;
pub mod rethreshold;
pub mod search;
pub mod serve;
pub mod sketch;

use std::io::Write;

use serde::Serialize;

use crate::cli::{Cli, Command};
use crate::view::View;

/// Runs the command that was asked for; its data goes to `out`.
///
/// # Errors
/// What the command says; a [`Usage`](crate::Usage) in the chain if the arguments are to blame.
pub fn run(cli: &Cli, out: &mut dyn Write) -> anyhow::Result<()> {
    let view = View::new(cli.format, cli.color);
    match &cli.command {
        Command::Compare(arguments) => compare::run(arguments, &view, out),
        Command::Dedup(arguments) => dedup::run(arguments, &view, out),
        Command::Eval(arguments) => eval::run(arguments, &view, out),
        Command::Rethreshold(arguments) => rethreshold::run(arguments, &view, out),
        Command::Explain(arguments) => explain::run(arguments, &view, out),
        Command::Pairs(arguments) => pairs::run(arguments, &view, out),
        Command::Groups(arguments) => groups::run(arguments, &view, out),
        Command::Features(arguments) => features::run(arguments, &view, out),
        Command::Plan(arguments) => plan::run(arguments, &view, out),
        Command::Sketch(arguments) => sketch::run(arguments, &view, out),
        Command::Index(arguments) => index::run(arguments, &view, out),
        Command::Search(arguments) => search::run(arguments, &view, out),
        Command::Collections(arguments) => collections::run(arguments, &view, out),
        Command::Verify(arguments) => check::verify(arguments, &view, out),
        Command::Repair(arguments) => check::repair(arguments, &view, out),
        Command::Serve(arguments) => serve::run(arguments, &view, out),
        Command::Key(arguments) => key::run(arguments, &view, out),
    }
}

/// A result as indented JSON with a newline at its end.
fn write_json(out: &mut dyn Write, result: &impl Serialize) -> anyhow::Result<()> {
    serde_json::to_writer_pretty(&mut *out, result).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}

/// A size or count as JSON shows it: whole if it is whole.
fn number(value: f64) -> serde_json::Number {
    if value.fract() == 0.0 && (0.0..9e15).contains(&value) {
        (value as u64).into()
    } else {
        serde_json::Number::from_f64(value).unwrap_or_else(|| 0.into())
    }
}
