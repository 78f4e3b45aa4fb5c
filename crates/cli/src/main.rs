//! The `benzer` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(benzer_cli::run(std::env::args_os()))
}
