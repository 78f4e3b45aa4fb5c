//! The corpus: real prose, with similarity planted where it is known.
//!
//! Prose comes from Debian packages (`bench/corpus/` fetches and cleans it); everything else is decided here by one seed. The
//! shares of each kind (`compose.rs`) hold at any size. What was planted is written beside the corpus, one line per document that has a
//! relative: `row kind group base intersection union`, the overlap being exact under [`Words::Ascii`](crate::words::Words).

mod compose;
mod edit;
mod pool;
mod zipf;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use crate::overlap::Overlap;
use crate::random::Random;
use pool::Pool;

/// Streams of the seed, one for each purpose.
mod streams {
    pub const COMPOSE: u64 = 1;
    pub const ORDER: u64 = 2;
    pub const ENGLISH: u64 = 3;
    pub const FOREIGN: u64 = 4;
}

/// Options of `benzer-bench corpus`.
#[derive(Debug, Args)]
pub struct Options {
    /// Number of documents
    #[arg(long, default_value_t = 100_000)]
    pub docs: usize,
    /// English sentences, one per line, an empty line between paragraphs
    #[arg(long)]
    pub english: PathBuf,
    /// Sentences in other languages
    #[arg(long)]
    pub foreign: PathBuf,
    /// The JSONL file to write; `.planted.tsv` is written beside it
    #[arg(long)]
    pub out: PathBuf,
    /// Seed of every choice
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
}

/// What a document is in the corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A document like no other
    Single,
    /// One of two documents whose J was drawn uniformly from [1/2, 1]
    Pair,
    /// A member of a cluster of edited copies
    Cluster,
    /// A version in a chain: similar to the one before and the one after it
    Chain,
    /// An exact copy of a single document
    Copy,
    /// Own text with the template around it
    Template,
    /// Text in another language
    Foreign,
}

impl Kind {
    const ALL: [Self; 7] =
        [Self::Single, Self::Pair, Self::Cluster, Self::Chain, Self::Copy, Self::Template, Self::Foreign];

    fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Pair => "pair",
            Self::Cluster => "cluster",
            Self::Chain => "chain",
            Self::Copy => "copy",
            Self::Template => "template",
            Self::Foreign => "foreign",
        }
    }
}

/// A document and what it was made from.
#[derive(Debug)]
pub struct Document {
    text: String,
    kind: Kind,
    /// Number of the pair, cluster, chain or set of copies, counted over the corpus.
    group: Option<u32>,
    /// The document this one was edited from, as its number in order of creation, and their exact overlap.
    base: Option<(usize, Overlap)>,
}

/// Makes the corpus and writes it.
pub fn run(options: &Options) -> Result<()> {
    let english = Pool::read(&options.english, Random::new(options.seed, streams::ENGLISH))?;
    let foreign = Pool::read(&options.foreign, Random::new(options.seed, streams::FOREIGN))?;
    let mut random = Random::new(options.seed, streams::COMPOSE);
    let documents = compose::compose(options.docs, &mut random, english, foreign);
    let mut order: Vec<usize> = (0..documents.len()).collect();
    Random::new(options.seed, streams::ORDER).shuffle(&mut order);
    write_corpus(&options.out, &documents, &order)?;
    write_planted(&options.out.with_extension("planted.tsv"), &documents, &order)?;
    describe(&documents);
    Ok(())
}

fn write_corpus(path: &Path, documents: &[Document], order: &[usize]) -> Result<()> {
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    for (row, &number) in order.iter().enumerate() {
        write!(out, "{{\"id\":\"{row:07}\",\"text\":")?;
        serde_json::to_writer(&mut out, &documents[number].text)?;
        out.write_all(b"}\n")?;
    }
    out.flush().with_context(|| format!("cannot write {}", path.display()))
}

fn write_planted(path: &Path, documents: &[Document], order: &[usize]) -> Result<()> {
    let mut row_of = vec![0; order.len()];
    order.iter().enumerate().for_each(|(row, &number)| row_of[number] = row);
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    let mut out = BufWriter::new(file);
    writeln!(out, "row\tkind\tgroup\tbase\tintersection\tunion")?;
    for (row, &number) in order.iter().enumerate() {
        let document = &documents[number];
        if document.kind == Kind::Single && document.group.is_none() {
            continue;
        }
        let group = document.group.map_or("-".to_string(), |group| group.to_string());
        write!(out, "{row}\t{}\t{group}\t", document.kind.name())?;
        match document.base {
            Some((base, Overlap { intersection, union })) => {
                writeln!(out, "{}\t{intersection}\t{union}", row_of[base])?
            }
            None => writeln!(out, "-\t-\t-")?,
        }
    }
    out.flush().with_context(|| format!("cannot write {}", path.display()))
}

fn describe(documents: &[Document]) {
    let mut lengths: Vec<usize> = documents.iter().map(|document| document.text.len()).collect();
    lengths.sort_unstable();
    let total: usize = lengths.iter().sum();
    let at = |share: f64| lengths[((lengths.len() - 1) as f64 * share) as usize];
    eprintln!(
        "{} documents, {:.1} MB of text, mean {} bytes; 1% {}, 25% {}, median {}, 75% {}, 99% {}, longest {}",
        documents.len(),
        total as f64 / 1e6,
        total / documents.len(),
        at(0.01),
        at(0.25),
        at(0.5),
        at(0.75),
        at(0.99),
        at(1.0)
    );
    for kind in Kind::ALL {
        eprintln!("  {:9}{}", kind.name(), documents.iter().filter(|document| document.kind == kind).count());
    }
}
