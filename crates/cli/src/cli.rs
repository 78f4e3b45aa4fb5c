//! The arguments, and where they come from: the command line, over `BENZER_*` variables, over a `--config` file.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::cmd;
use crate::config;
use crate::view::{Color, Format};

const ABOUT: &str = "Finds similar sets and documents, and says how sure it is";
const AFTER: &str = "\
Every option --some-name can also be given as the variable BENZER_SOME_NAME, or as `some-name = ...` \
in the TOML file of --config (at its top, or under [COMMAND]). Flags win over the environment, which \
wins over the file.

Data goes to standard output, everything else to standard error.
Exit codes: 0 success, 1 the data or the wish cannot be served, 2 wrong arguments.";

/// All arguments of a call.
#[derive(Debug, Parser)]
#[command(name = "benzer", version, about = ABOUT, after_help = AFTER, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// `table` for people, or `json` with every number at full precision
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "table",
        value_name = "FORMAT",
        hide_possible_values = true,
        help_heading = "General"
    )]
    pub format: Format,
    /// `always`, `never`, or `auto`: on a terminal, unless NO_COLOR is set
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "auto",
        value_name = "WHEN",
        hide_possible_values = true,
        help_heading = "General"
    )]
    pub color: Color,
    /// Take options that are not given from this TOML file
    #[arg(long, global = true, value_name = "FILE", help_heading = "General")]
    pub config: Option<PathBuf>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Exact and estimated similarity of two or more files
    #[command(long_about = cmd::compare::ABOUT)]
    Compare(cmd::compare::Arguments),
    /// Remove near-duplicates from a corpus, with evidence for every removal
    #[command(long_about = cmd::dedup::ABOUT)]
    Dedup(cmd::dedup::Arguments),
    /// Resolve a finished run again at a higher threshold
    #[command(long_about = cmd::rethreshold::ABOUT)]
    Rethreshold(cmd::rethreshold::Arguments),
    /// Why a document was removed or kept
    #[command(long_about = cmd::explain::ABOUT)]
    Explain(cmd::explain::Arguments),
    /// All pairs of documents or sets that are similar
    #[command(long_about = cmd::pairs::ABOUT)]
    Pairs(cmd::pairs::Arguments),
    /// All triples of documents or sets that are similar to each other
    #[command(long_about = cmd::groups::ABOUT)]
    Groups(cmd::groups::Arguments),
    /// Documents or sets as sparse vectors for linear models
    #[command(long_about = cmd::features::ABOUT)]
    Features(cmd::features::Arguments),
    /// Which sketch and which bands to use for a threshold, a recall and a budget
    #[command(long_about = cmd::plan::ABOUT)]
    Plan(cmd::plan::Arguments),
    /// Sketch a corpus of JSON lines into a file, or show what is in one
    #[command(long_about = cmd::sketch::ABOUT)]
    Sketch(cmd::sketch::Arguments),
    /// Put documents into a collection
    #[command(long_about = cmd::index::ABOUT)]
    Index(cmd::index::Arguments),
    /// Find similar documents in a collection
    #[command(long_about = cmd::search::ABOUT)]
    Search(cmd::search::Arguments),
    /// List collections, show how large they are, compact or drop them
    #[command(long_about = cmd::collections::ABOUT)]
    Collections(cmd::collections::Arguments),
    /// Check collections: every checksum, and that what is searched agrees with the records
    #[command(long_about = cmd::check::ABOUT_VERIFY)]
    Verify(cmd::check::VerifyArguments),
    /// Make again what is derived from the records of collections
    #[command(long_about = cmd::check::ABOUT_REPAIR)]
    Repair(cmd::check::RepairArguments),
    /// Serve collections over REST, with a page to look at them
    #[command(long_about = cmd::serve::ABOUT)]
    Serve(cmd::serve::Arguments),
    /// The figures and tables of the papers, measured on this code
    #[command(long_about = cmd::eval::ABOUT)]
    Eval(cmd::eval::Arguments),
    /// Make, list and revoke the keys of a server
    #[command(long_about = cmd::key::ABOUT)]
    Key(cmd::key::Arguments),
}

/// Reads all three layers.
///
/// # Errors
/// Wrong arguments, or a request for help.
pub fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let mut command = with_environment(Cli::command());
    if let Some(path) = config::find(arguments) {
        command = config::apply(command, &path)?;
    }
    let mut matches = command.try_get_matches_from(arguments)?;
    let rerun = rerun(&matches);
    let mut cli = Cli::from_arg_matches_mut(&mut matches)?;
    if let Command::Dedup(arguments) = &mut cli.command {
        arguments.rerun = rerun;
    }
    Ok(cli)
}

/// Options that change nothing about the results of a run, or say where they go.
const WITHOUT_EFFECT: [&str; 8] =
    ["output", "overwrite", "threads", "memory", "work_dir", "checkpoint", "resume", "log"];

/// The command with everything that was given in any of the three layers and decides the results.
fn rerun(matches: &clap::ArgMatches) -> Vec<String> {
    let Some((name @ "dedup", given)) = matches.subcommand() else { return Vec::new() };
    let mut command = vec!["benzer".to_owned(), name.to_owned()];
    let texts = |id: &str| -> Vec<String> {
        let values = given.get_raw(id).into_iter().flatten();
        values.map(|value| value.to_string_lossy().into_owned()).collect()
    };
    let definition = Cli::command();
    let Some(definition) = definition.find_subcommand(name) else { return Vec::new() };
    command.extend(texts("inputs"));
    command.extend(["-o".to_owned(), "OUTPUT".to_owned()]);
    for argument in definition.get_arguments() {
        let id = argument.get_id().as_str();
        let Some(long) = argument.get_long().filter(|_| !WITHOUT_EFFECT.contains(&id)) else { continue };
        let usual: Vec<String> =
            argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
        match argument.get_action() {
            ArgAction::SetTrue => command.extend(given.get_flag(id).then(|| format!("--{long}"))),
            _ if texts(id) == usual => {}
            _ if argument.get_value_delimiter().is_some() => {
                command.extend([format!("--{long}"), texts(id).join(",")]);
            }
            _ => texts(id).into_iter().for_each(|text| command.extend([format!("--{long}"), text])),
        }
    }
    command
}

/// Lets every option be given as a variable.
fn with_environment(command: clap::Command) -> clap::Command {
    command.mut_args(variable).mut_subcommands(with_environment)
}

fn variable(argument: clap::Arg) -> clap::Arg {
    let Some(name) = argument.get_long().filter(|&name| name != "help" && name != "version") else {
        return argument;
    };
    let variable = format!("BENZER_{}", name.to_uppercase().replace('-', "_"));
    let argument = argument.env(variable).hide_env(true);
    match argument.get_action() {
        ArgAction::SetTrue => argument.value_parser(FalseyValueParser::new()),
        _ => argument,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_arguments_is_consistent() {
        with_environment(Cli::command()).debug_assert();
    }

    #[test]
    fn every_command_has_examples() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with("Examples:\n"), "{}", command.get_name());
        }
    }
}
