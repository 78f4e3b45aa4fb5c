//! The commands, one file or folder each.

pub mod check;
pub mod collections;
pub mod compare;
pub mod dedup;
pub mod eval;
pub mod explain;
pub mod features;
pub mod groups;
pub mod index;
pub mod key;
pub mod pairs;
pub mod plan;
pub mod rethreshold;
pub mod search;
pub mod serve;
pub mod sketch;

use std::io::Write;

use clap::Subcommand;

use crate::output::View;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Exact and estimated similarity of two or more files
    #[command(long_about = compare::ABOUT)]
    Compare(compare::Arguments),
    /// Remove near-duplicates from a corpus, with evidence for every removal
    #[command(long_about = dedup::ABOUT)]
    Dedup(dedup::Arguments),
    /// Resolve a finished run again at a higher threshold
    #[command(long_about = rethreshold::ABOUT)]
    Rethreshold(rethreshold::Arguments),
    /// Why a document was removed or kept
    #[command(long_about = explain::ABOUT)]
    Explain(explain::Arguments),
    /// All pairs of documents or sets that are similar
    #[command(long_about = pairs::ABOUT)]
    Pairs(pairs::Arguments),
    /// All triples of documents or sets that are similar to each other
    #[command(long_about = groups::ABOUT)]
    Groups(groups::Arguments),
    /// Documents or sets as sparse vectors for linear models
    #[command(long_about = features::ABOUT)]
    Features(features::Arguments),
    /// Which sketch and which bands to use for a threshold, a recall and a budget
    #[command(long_about = plan::ABOUT)]
    Plan(plan::Arguments),
    /// Sketch a corpus of JSON lines into a file, or show what is in one
    #[command(long_about = sketch::ABOUT)]
    Sketch(sketch::Arguments),
    /// Put documents into a collection
    #[command(long_about = index::ABOUT)]
    Index(index::Arguments),
    /// Find similar documents in a collection
    #[command(long_about = search::ABOUT)]
    Search(search::Arguments),
    /// List collections, show how large they are, compact or drop them
    #[command(long_about = collections::ABOUT)]
    Collections(collections::Arguments),
    /// Check collections: every checksum, and that what is searched agrees with the records
    #[command(long_about = check::ABOUT_VERIFY)]
    Verify(check::VerifyArguments),
    /// Make again what is derived from the records of collections
    #[command(long_about = check::ABOUT_REPAIR)]
    Repair(check::RepairArguments),
    /// Serve collections over REST, with a page to look at them
    #[command(long_about = serve::ABOUT)]
    Serve(serve::Arguments),
    /// The figures and tables of the papers, measured on this code
    #[command(long_about = eval::ABOUT)]
    Eval(eval::Arguments),
    /// Make, list and revoke the keys of a server
    #[command(long_about = key::ABOUT)]
    Key(key::Arguments),
}

/// Runs the command that was asked for; its data goes to `out`. Errors: what the command says; a [`Usage`](crate::Usage) in the chain if the arguments are to blame.
pub fn run(command: &Command, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    match command {
        Command::Compare(arguments) => compare::run(arguments, view, out),
        Command::Dedup(arguments) => dedup::run(arguments, view, out),
        Command::Eval(arguments) => eval::run(arguments, view, out),
        Command::Rethreshold(arguments) => rethreshold::run(arguments, view, out),
        Command::Explain(arguments) => explain::run(arguments, view, out),
        Command::Pairs(arguments) => pairs::run(arguments, view, out),
        Command::Groups(arguments) => groups::run(arguments, view, out),
        Command::Features(arguments) => features::run(arguments, view, out),
        Command::Plan(arguments) => plan::run(arguments, view, out),
        Command::Sketch(arguments) => sketch::run(arguments, view, out),
        Command::Index(arguments) => index::run(arguments, view, out),
        Command::Search(arguments) => search::run(arguments, view, out),
        Command::Collections(arguments) => collections::run(arguments, view, out),
        Command::Verify(arguments) => check::verify(arguments, view, out),
        Command::Repair(arguments) => check::repair(arguments, view, out),
        Command::Serve(arguments) => serve::run(arguments, view, out),
        Command::Key(arguments) => key::run(arguments, view, out),
    }
}
