//! The `benzer` command.

use std::process::ExitCode;

use benzer_cli::pages::LargePages;

#[global_allocator]
static ALLOCATOR: LargePages = LargePages;

fn main() -> ExitCode {
    ExitCode::from(benzer_cli::run(std::env::args_os()))
}
