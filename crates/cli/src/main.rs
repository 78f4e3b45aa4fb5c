//! The `benzer` command.

use std::process::ExitCode;

/// Batches come and go by the megabyte; this allocator keeps their pages instead of asking for them again.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(benzer_cli::run(std::env::args_os()))
}
