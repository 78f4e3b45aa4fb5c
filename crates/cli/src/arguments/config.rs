//! The `--config` file: TOML keys named like the long options, at the top for all commands or in a table for one.
//!
//! ```toml
//! seed = 7
//! [sketch]
//! text-field = ["title", "body"]
//! ```
//!
//! Its values become the defaults of the arguments, so anything given elsewhere wins.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command};
use toml::{Table, Value};

/// The file named by `--config` or `BENZER_CONFIG`. The arguments cannot be parsed before its defaults are known.
pub fn find(arguments: &[OsString]) -> Option<PathBuf> {
    let mut rest = arguments.iter().take_while(|argument| *argument != "--");
    while let Some(argument) = rest.next() {
        if argument == "--config" {
            return rest.next().map(Into::into);
        }
        if let Some(path) = argument.to_str().and_then(|text| text.strip_prefix("--config=")) {
            return Some(path.into());
        }
    }
    std::env::var_os("BENZER_CONFIG").filter(|path| !path.is_empty()).map(Into::into)
}

/// Makes the values of the file the defaults of the arguments. Errors: a file that cannot be read, is not TOML, or has a key that is no option.
pub fn apply(mut command: Command, path: &Path) -> Result<Command, clap::Error> {
    let fail = |message: String| {
        let message = format!("--config `{}`: {message}\n", path.display());
        clap::Error::raw(ErrorKind::InvalidValue, message)
    };
    let text = std::fs::read_to_string(path).map_err(|error| fail(error.to_string()))?;
    let table: Table = text.parse().map_err(|error: toml::de::Error| fail(error.to_string()))?;
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    for (key, value) in &table {
        let of_command = value.as_table().filter(|_| names.contains(key));
        let one = [(key.clone(), value.clone())].into_iter().collect();
        let (targets, values) = match of_command {
            Some(values) => (std::slice::from_ref(key), values),
            None => (&names[..], &one),
        };
        for (key, value) in values {
            let values = texts(value).ok_or_else(|| {
                fail(format!("`{key}` must be text, a number, true or false, or a list of these"))
            })?;
            if !set(&mut command, targets, key, &values) {
                return Err(fail(format!(
                    "unknown option `{key}`; keys are named like the long options (`--help`)"
                )));
            }
        }
    }
    Ok(command)
}

/// Sets the default of an option wherever it is among the targets; false if it is nowhere.
fn set(command: &mut Command, targets: &[String], key: &str, values: &[String]) -> bool {
    let mut found = false;
    let mut with_default = |arg: Arg| {
        if arg.get_long() != Some(key) {
            return arg;
        }
        found = true;
        match arg.get_action() {
            ArgAction::Append => arg.default_values(values.to_vec()),
            _ => arg.default_value(values.join(",")),
        }
    };
    let mut changed = std::mem::take(command).mut_args(&mut with_default);
    for target in targets {
        changed = changed.mut_subcommand(target, |sub| sub.mut_args(&mut with_default));
    }
    *command = changed;
    found
}

fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Integer(number) => Some(vec![number.to_string()]),
        Value::Float(number) => Some(vec![number.to_string()]),
        Value::Boolean(truth) => Some(vec![truth.to_string()]),
        Value::Array(values) => {
            let texts: Option<Vec<Vec<String>>> = values.iter().map(texts).collect();
            Some(texts?.concat())
        }
        Value::Datetime(_) | Value::Table(_) => None,
    }
}
