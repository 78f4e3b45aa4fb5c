//! The arguments, and where they come from: the command line, over `BENZER_*` variables, over a `--config` file.

mod config;
mod rerun;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::{ArgAction, CommandFactory, FromArgMatches, Parser};

use crate::cmd::Command;
use crate::output::{Color, Format};

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

/// Reads all three layers. Errors: wrong arguments, or a request for help.
pub fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let mut command = with_environment(Cli::command());
    if let Some(path) = config::find(arguments) {
        command = config::apply(command, &path)?;
    }
    let mut matches = command.try_get_matches_from(arguments)?;
    let rerun = rerun::rerun(&Cli::command(), &matches);
    let mut cli = Cli::from_arg_matches_mut(&mut matches)?;
    if let Command::Dedup(arguments) = &mut cli.command {
        arguments.rerun = rerun;
    }
    Ok(cli)
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
