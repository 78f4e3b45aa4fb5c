//! Corpora of any size, made on all cores: files of documents of which many are copies, near-copies, or in clusters.
//!
//! Documents are dealt from passages of twelve words; document `i` is the same whatever the number of files. 72.5% are new; 20% are near-copies of any earlier document; 4% are in clusters by Zipf's law, of
//! which the largest have 2, 0.7 and 0.3% of all documents, and 0.5% in one more; 3% are copies.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use clap::{Args, ValueEnum};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::random::Random;

/// Words of a passage.
const PASSAGE: usize = 12;
/// Rows of a batch of a table.
const ROWS: usize = 1 << 16;

/// Options of `benzer-bench scale`.
#[derive(Debug, Args)]
pub struct Options {
    /// Documents of a file
    #[arg(long, default_value_t = 1_000_000)]
    docs: u64,
    /// Number of files
    #[arg(long, default_value_t = 1)]
    files: usize,
    /// What the files are
    #[arg(long, value_enum, default_value_t = Form::Plain)]
    form: Form,
    /// JSON lines whose `text` the passages are cut from, without quotes and backslashes; words are invented without it
    #[arg(long)]
    pool: Option<PathBuf>,
    /// The folder of the files
    #[arg(long)]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// JSON lines
    Plain,
    /// JSON lines in gzip
    Gzip,
    /// JSON lines in zstd
    Zstd,
    /// Parquet, compressed with zstd
    Parquet,
}

impl Form {
    fn extension(self) -> &'static str {
        match self {
            Self::Plain => "jsonl",
            Self::Gzip => "jsonl.gz",
            Self::Zstd => "jsonl.zst",
            Self::Parquet => "parquet",
        }
    }
}

/// Writes the files.
pub fn run(options: &Options) -> Result<()> {
    let passages = match &options.pool {
        Some(pool) => cut(pool).with_context(|| format!("cannot read `{}`", pool.display()))?,
        None => invent(),
    };
    fs::create_dir_all(&options.out)?;
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        loop {
            let file = next.fetch_add(1, Ordering::Relaxed);
            if file >= options.files {
                return Ok(());
            }
            let path = options.out.join(format!("part-{file:03}.{}", options.form.extension()));
            write(&path, options, file as u64 * options.docs, &passages)?;
        }
    };
    let threads = std::thread::available_parallelism()?.get().min(options.files);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        all.into_iter().try_for_each(|one| one.join().expect("a panic has spoken for itself"))
    })
}

/// The passages of a pool.
fn cut(pool: &Path) -> Result<Vec<String>> {
    let mut passages = Vec::new();
    for line in BufReader::new(File::open(pool)?).lines() {
        let line: serde_json::Value = serde_json::from_str(&line?)?;
        let text = line["text"].as_str().unwrap_or_default().to_owned();
        ensure!(
            !text.contains(['"', '\\', '\n']),
            "a text of the pool has a quote, a backslash or a newline"
        );
        let words: Vec<&str> = text.split_whitespace().collect();
        passages.extend(words.chunks_exact(PASSAGE).map(|words| words.join(" ")));
    }
    ensure!(!passages.is_empty(), "no text has {PASSAGE} words");
    Ok(passages)
}

/// Passages of invented words, frequent ones and rare ones.
fn invent() -> Vec<String> {
    const SYLLABLES: [&str; 16] =
        ["ba", "den", "ko", "ri", "sta", "mel", "o", "tu", "va", "ing", "er", "lo", "pre", "sa", "nu", "ti"];
    let mut random = Random::new(7, 0);
    let mut word = || {
        // The smaller, the more frequent.
        let rank = (1.0 / random.between(1e-5, 1.0)) as u64;
        let mut letters = Random::new(8, rank);
        (0..1 + letters.below(4)).map(|_| SYLLABLES[letters.below(16)]).collect::<String>()
    };
    (0..200_000).map(|_| (0..PASSAGE).map(|_| word()).collect::<Vec<_>>().join(" ")).collect()
}

fn write(path: &Path, options: &Options, first: u64, passages: &[String]) -> Result<()> {
    let documents = (first..first + options.docs).map(|i| (i, document(i, passages)));
    let file = File::create(path)?;
    match options.form {
        Form::Plain => lines(documents, file)?.sync_all()?,
        Form::Gzip => {
            let level = flate2::Compression::default();
            lines(documents, flate2::write::GzEncoder::new(file, level))?.finish()?.sync_all()?;
        }
        Form::Zstd => lines(documents, zstd::Encoder::new(file, 3)?)?.finish()?.sync_all()?,
        Form::Parquet => table(documents, file)?,
    }
    Ok(())
}

fn lines<W: Write>(documents: impl Iterator<Item = (u64, String)>, to: W) -> Result<W> {
    let mut to = BufWriter::with_capacity(1 << 20, to);
    for (i, text) in documents {
        writeln!(to, r#"{{"id": "{i:010}", "url": "https://example.org/{i}", "text": "{text}"}}"#)?;
    }
    to.into_inner().map_err(|error| error.into_error().into())
}

fn table(mut documents: impl Iterator<Item = (u64, String)>, file: File) -> Result<()> {
    let compression = Compression::ZSTD(ZstdLevel::try_new(3)?);
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut writer: Option<ArrowWriter<File>> = None;
    loop {
        let rows: Vec<(u64, String)> = documents.by_ref().take(ROWS).collect();
        if rows.is_empty() {
            break;
        }
        let column = |value: &dyn Fn(&(u64, String)) -> String| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(rows.iter().map(value)))
        };
        let batch = RecordBatch::try_from_iter([
            ("id", column(&|(i, _)| format!("{i:010}"))),
            ("url", column(&|(i, _)| format!("https://example.org/{i}"))),
            ("text", column(&|(_, text)| text.clone())),
        ])?;
        let writer = match &mut writer {
            Some(writer) => writer,
            none => none.insert(ArrowWriter::try_new(
                file.try_clone()?,
                batch.schema(),
                Some(properties.clone()),
            )?),
        };
        writer.write(&batch)?;
        writer.flush()?;
    }
    writer.map(ArrowWriter::close).transpose()?;
    Ok(file.sync_all()?)
}

/// The stream of the passages of a new document, and that of what is done to it.
const PASSAGES: u64 = 1;
const KIND: u64 = 2;
/// Clusters, whose first documents are numbered behind all others.
const CLUSTERS: u64 = 100_000;

fn document(i: u64, passages: &[String]) -> String {
    let mut random = Random::new(i, KIND);
    let kind = random.between(0.0, 1.0);
    let (base, changed) = match kind {
        kind if kind < 0.725 || i < 100 => (i, 0.0),
        kind if kind < 0.925 => (random.below(i as usize) as u64, random.between(0.0, 0.06)),
        kind if kind < 0.965 => {
            let cluster = (1.0 / random.between(1e-6, 1.0)) as u64 % CLUSTERS;
            (u64::MAX - cluster, random.between(0.0, 0.05))
        }
        kind if kind < 0.97 => (u64::MAX - CLUSTERS, random.between(0.0, 0.04)),
        _ => (random.below(i as usize) as u64, 0.0),
    };
    let text = new(base, passages);
    if changed == 0.0 {
        return text;
    }
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for _ in 0..(changed * words.len() as f64).round() as usize {
        let at = random.below(words.len());
        words[at] = format!("zq{}", random.below(1_000_000));
    }
    words.join(" ")
}

/// A document of its own: 2 to 80 passages, 9 in the middle.
fn new(i: u64, passages: &[String]) -> String {
    let mut random = Random::new(i, PASSAGES);
    let n = libm::exp(2.2 + 0.7 * random.normal()).clamp(2.0, 80.0) as usize;
    let mut text = String::new();
    for _ in 0..n {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&passages[random.below(passages.len())]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn documents_are_the_same_in_any_files_and_forms_and_some_are_copies() {
        let folder = tempfile::tempdir().unwrap();
        let texts = |files, docs, form: Form| {
            let out = folder.path().join(format!("{files}-{form:?}"));
            run(&Options { docs, files, form, pool: None, out: out.clone() }).unwrap();
            let inputs: benzer_io::read::Inputs = [out].into_iter().collect();
            let reader = benzer_io::read::open(inputs, benzer_io::read::ReadOptions::default()).unwrap();
            let batches = reader.map(|raw| benzer_io::read::parse(raw.unwrap()));
            let texts = batches.flat_map(|batch| {
                batch.documents().map(|document| document.text.to_owned()).collect::<Vec<_>>()
            });
            texts.collect::<Vec<String>>()
        };
        let expected = texts(1, 3_000, Form::Plain);
        assert_eq!(expected.len(), 3_000);
        let distinct: HashSet<&String> = expected.iter().collect();
        assert!((2_800..2_980).contains(&distinct.len()), "{}", distinct.len());
        for form in [Form::Plain, Form::Gzip, Form::Zstd, Form::Parquet] {
            assert!(texts(3, 1_000, form) == expected, "{form:?}");
        }
    }
}
