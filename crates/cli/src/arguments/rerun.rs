//! A deduplication as a command that can be given again.

use clap::{ArgAction, ArgMatches, Command};

/// Options that change nothing about the results of a run, or say where they go.
const WITHOUT_EFFECT: [&str; 8] =
    ["output", "overwrite", "threads", "memory", "work_dir", "checkpoint", "resume", "log"];

/// The command with everything that was given in any of the three layers and decides the results.
pub(super) fn rerun(definition: &Command, matches: &ArgMatches) -> Vec<String> {
    let Some((name @ "dedup", given)) = matches.subcommand() else { return Vec::new() };
    let mut command = vec!["benzer".to_owned(), name.to_owned()];
    let texts = |id: &str| -> Vec<String> {
        let values = given.get_raw(id).into_iter().flatten();
        values.map(|value| value.to_string_lossy().into_owned()).collect()
    };
    let Some(definition) = definition.find_subcommand(name) else { return Vec::new() };
    command.extend(texts("inputs"));
    command.extend(["-o".to_owned(), "OUTPUT".to_owned()]);
    for argument in definition.get_arguments() {
        let id = argument.get_id().as_str();
        let Some(long) = argument.get_long().filter(|_| !WITHOUT_EFFECT.contains(&id)) else { continue };
        let default: Vec<String> =
            argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
        match argument.get_action() {
            ArgAction::SetTrue => command.extend(given.get_flag(id).then(|| format!("--{long}"))),
            _ if texts(id) == default => {}
            _ if argument.get_value_delimiter().is_some() => {
                command.extend([format!("--{long}"), texts(id).join(",")]);
            }
            _ => texts(id).into_iter().for_each(|text| command.extend([format!("--{long}"), text])),
        }
    }
    command
}
