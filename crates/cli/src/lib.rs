//! # benzer-cli
//!
//! The command line: what the other crates do, for people and scripts.
//!
//! ```text
//! arguments over BENZER_* over --config --> one command --> data on stdout, talk on stderr, exit 0 / 1 / 2
//! ```
//!
//! - [`cmd`]: one file or folder per command; each is a function from its arguments to bytes on a writer.
//! - [`options`]: what several commands share: shingles, sketch names.
//! - [`table`], [`view`]: how results look on a terminal; `rows`: many of them, for programs.
//! - `rejects`, `bar`, `cut`: what is told while inputs are read.
//! - [`cli`], [`config`]: the arguments and where they come from.
//!
//! Exit codes: 0 success (a closed pipe is one), 1 the data or the wish cannot be served, 2 the arguments are wrong.
//!
//! ```
//! let mut out = Vec::new();
//! let code = benzer_cli::run_to(["benzer", "compare", "no-such-file", "neither"], &mut out);
//! assert_eq!(code, 1);
//! ```

/// A line of talk on standard error. One that cannot be written is lost: it must not turn success into failure.
macro_rules! talk {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}

mod bar;
pub mod cli;
pub mod cmd;
pub mod config;
mod cut;
mod failure;
pub mod options;
pub mod pages;
mod rejects;
mod rows;
pub mod table;
pub mod view;

use std::ffi::OsString;
use std::io::Write;

pub use failure::Usage;

/// Runs the command that the arguments name (the first is the program) and gives the exit code.
pub fn run(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> u8 {
    cut::tell();
    run_to(arguments, &mut std::io::BufWriter::new(std::io::stdout().lock()))
}

/// [`run`] with another place for the data; talk still goes to standard error.
pub fn run_to(arguments: impl IntoIterator<Item = impl Into<OsString>>, out: &mut dyn Write) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let cli = match cli::parse(&arguments) {
        Ok(cli) => cli,
        Err(refused) => return failure::arguments(&refused),
    };
    let result = cmd::run(&cli, out).and_then(|()| Ok(out.flush()?));
    result.map_or_else(|error| failure::report(&error), |()| 0)
}
