//! The `benzer` command.

use std::process::ExitCode;

use benzer_cli::process::pages::{self, LargePages};

#[global_allocator]
static ALLOCATOR: LargePages = LargePages;

fn main() -> ExitCode {
    pages::keep_memory();
    ExitCode::from(benzer_cli::run(std::env::args_os()))
}
