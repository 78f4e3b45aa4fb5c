//! # benzer-cli
//!
//! The command line: what the other crates do, for people and scripts.
//!
//! ```text
//! arguments over BENZER_* over --config --> one command --> data on stdout, talk on stderr, exit 0 / 1 / 2
//! ```
//!
//! **The way through**, from `main` to a command: `main` sets up the memory of `process` and calls [`run`]; `arguments` reads the three layers into a `cmd::Command`; `cmd::run` calls the function of that command, one
//! file or folder of `cmd` each, from its arguments to bytes on a writer. What several commands take is in `options`, what is said while inputs are read in `reading`, how results look in `output`: on a
//! terminal, and as rows for programs. `failure` makes one line and an exit code of an error.
//!
//! **What it must not know**: how anything is found out. It knows how people ask and what they see, and asks the other crates. None of them knows a flag: their messages name parameters, and here these
//! become flags.
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

mod arguments;
mod cmd;
mod failure;
pub mod options;
mod output;
pub mod process;
mod reading;

use std::ffi::OsString;
use std::io::Write;

use failure::Usage;
use output::View;

/// Runs the command that the arguments name (the first is the program) and gives the exit code.
pub fn run(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> u8 {
    process::report_truncated_files();
    run_to(arguments, &mut std::io::BufWriter::new(std::io::stdout().lock()))
}

/// [`run`] with another place for the data; talk still goes to standard error.
pub fn run_to(arguments: impl IntoIterator<Item = impl Into<OsString>>, out: &mut dyn Write) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let cli = match arguments::parse(&arguments) {
        Ok(cli) => cli,
        Err(refused) => return failure::arguments(&refused),
    };
    let view = View::new(cli.format, cli.color);
    let result = cmd::run(&cli.command, &view, out).and_then(|()| Ok(out.flush()?));
    result.map_or_else(|error| failure::report(&error), |()| 0)
}
