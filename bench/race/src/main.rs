//! `benzer-bench`: the ground of the race.
//!
//! - `corpus`: documents of real prose with planted similarity, the same bytes on any machine.
//! - `truth`: every pair with exact J >= 1/2, and its check by brute force.
//! - `recall`: how many of those pairs somebody found, by bin of J. `judge`: how right somebody's removals are.
//! - `sets`: flat arrays of pre-hashed sets, the input of the sketch race.
//! - `signatures`: the input of the race of indexes; `lsh`: Benzer in it.
//! - `scale`: corpora of millions of documents, made on all cores.
//! - `search`: the best, containment and recall beside brute force.
//! - `sketch`, `text`: Benzer's own heats; `families`, `bands`: time at equal error, recall by bin of J; `scan`: counting at memory speed.
//!
//! `bench/README.md` has the file formats; `bench/run` calls all of this.

mod bands;
mod benzer;
mod corpus;
mod families;
mod flat;
mod images;
mod judge;
mod lsh;
mod overlap;
mod random;
mod recall;
mod redis;
mod scale;
mod scan;
mod search;
mod store;
mod truth;
mod words;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "benzer-bench", about = "Corpus, exact truth and inputs of the race", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write a corpus as JSONL, and beside it what was planted
    Corpus(corpus::Options),
    /// Write every pair with exact J >= 1/2
    Truth(truth::Options),
    /// Compare a truth file with brute force on a subset of the corpus
    Check(truth::check::Options),
    /// Count the pairs of a truth file by bin of J, and those somebody found
    Recall(recall::Options),
    /// Compare removals, and pairs, with the exact resolve of a truth file
    Judge(judge::Options),
    /// Race: pre-hashed sets to registers
    Sketch(benzer::Options),
    /// Race: texts to registers
    Text(benzer::Options),
    /// Recall of the default bands by bin of exact J, as a Markdown table
    Bands(bands::Options),
    /// Time of each family at equal error, as a Markdown table
    Families(families::Options),
    /// Write a corpus of any size on all cores, with copies, near-copies and clusters
    Scale(scale::Options),
    /// One sketch against millions, beside reading their memory, as a Markdown table
    Scan(scan::Options),
    /// Race: signatures into an index, and similar ones out of it
    Lsh(lsh::Options),
    /// Write the signatures of the race of indexes
    Signatures(lsh::signatures::Options),
    /// The index on disk: durable batches in, similar documents out, bytes, opening again, as a Markdown table
    Store(store::Options),
    /// The index behind an address, such as redis://: batches in, similar documents out, as JSON; or the signatures of it as a file
    Redis(redis::Options),
    /// Searches beside brute force: the best, containment, recall after a history
    Search(search::Options),
    /// Race: changed photos beside the originals, as scores in JSON
    Images(images::Options),
    /// Write pre-hashed sets as flat arrays, with pairs of known J
    Sets(flat::Options),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Search(options) => search::run(&options),
        Command::Corpus(options) => corpus::run(&options),
        Command::Truth(options) => truth::run(&options),
        Command::Check(options) => truth::check::run(&options),
        Command::Recall(options) => recall::run(&options),
        Command::Judge(options) => judge::run(&options),
        Command::Sketch(options) => benzer::sketch(&options),
        Command::Text(options) => benzer::text(&options),
        Command::Bands(options) => bands::run(&options),
        Command::Families(options) => families::run(&options),
        Command::Scale(options) => scale::run(&options),
        Command::Scan(options) => scan::run(&options),
        Command::Lsh(options) => lsh::run(&options),
        Command::Signatures(options) => lsh::signatures::run(&options),
        Command::Store(options) => store::run(&options),
        Command::Redis(options) => redis::run(&options),
        Command::Sets(options) => flat::run(&options),
        Command::Images(options) => images::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
