//! From an error to one line on standard error and an exit code.

use std::error::Error;
use std::fmt;
use std::io;

/// An error that the arguments are to blame for: exit code 2 instead of 1.
#[derive(Debug)]
pub struct Usage(String);

impl Usage {
    /// The message names the argument and the remedy.
    pub fn new(message: impl fmt::Display) -> Self {
        Self(message.to_string())
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Usage {}

/// An error of the engine, with blame where it belongs.
pub(crate) fn of_engine(error: impl Into<benzer_dedup::Error>) -> anyhow::Error {
    match error.into() {
        error @ benzer_dedup::Error::Parameter(_) => Usage::new(error).into(),
        other => other.into(),
    }
}

/// Prints what the argument parser says, which may also be the help that was asked for.
pub(crate) fn arguments(refused: &clap::Error) -> u8 {
    // A closed pipe after `--help` is no failure.
    let _ = refused.print();
    u8::try_from(refused.exit_code()).unwrap_or(2)
}

/// Prints one line and gives the exit code.
pub(crate) fn report(error: &anyhow::Error) -> u8 {
    if error.chain().any(is_closed_pipe) {
        return 0;
    }
    talk!("error: {}", line(error));
    if error.chain().any(|cause| cause.is::<Usage>()) { 2 } else { 1 }
}

/// The error and its causes on one line; a cause that a message repeats is said once.
fn line(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |line, cause| {
        let said = line.contains(&cause);
        if line.is_empty() {
            cause
        } else if said {
            line
        } else {
            format!("{line}: {cause}")
        }
    })
}

fn is_closed_pipe(cause: &(dyn Error + 'static)) -> bool {
    cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_cause_is_said_once() {
        let cause = io::Error::other("the disk is gone");
        let error = anyhow::Error::new(cause)
            .context("cannot read `a`: the disk is gone; check the disk")
            .context("while comparing");
        assert_eq!(line(&error), "while comparing: cannot read `a`: the disk is gone; check the disk");
    }

    #[test]
    fn the_exit_code_tells_who_is_to_blame() {
        assert_eq!(report(&anyhow::anyhow!("the data")), 1);
        assert_eq!(report(&anyhow::Error::new(Usage::new("the arguments"))), 2);
        let closed = Err::<(), _>(io::Error::from(io::ErrorKind::BrokenPipe)).context("writing");
        assert_eq!(report(&closed.unwrap_err()), 0);
    }
}
