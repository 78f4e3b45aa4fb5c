//! What `pairs`, `groups` and `features` read, and what they may use.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use benzer_dedup::request::BATCH_BYTES;
use benzer_io::read::ReadOptions;
use benzer_sets::{self as sets, Content, Loaded, Resources, SetFormat, SetStore, Source};
use clap::Args;
use clap::builder::RangedU64ValueParser;

use super::input::InputArguments;
use super::text::TextArguments;
use super::{amount, memory};
use crate::Usage;
use crate::process::stop_flag;
use crate::reading::{ReadReporter, check_places};

/// What every command says about set files.
pub const HELP: &str = "\
Set files, one set on each line unless said otherwise:
  id-items  an id, then items. The id ends at the first tab, else at the first
            comma, else at the first space; the items are separated by tabs if
            there are any, else by commas, else by spaces
  items     items only, as FIMI transactions are; the id is the line
  docword   UCI bag of words: three lines with the numbers of documents, words
            and entries, then `document word count` on each line
Without --set-format inputs are documents, and their shingles are the items.";

/// The options of reading.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Input")]
pub struct SetArguments {
    /// Read set files of this kind: id-items, items, docword [default: documents]
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["text_field", "id_field", "input_format", "per_file", "unit", "ngram", "strip_diacritics", "stop_words"])]
    pub set_format: Option<SetFormat>,
    /// Take each item of a set file as the set of lines it is in
    #[arg(long, requires = "set_format")]
    pub transpose: bool,
    #[command(flatten)]
    input: InputArguments,
    /// Write the lines that cannot be read to this file, as JSON lines with file, line and reason
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,
    /// Stop at the first line that cannot be read
    #[arg(long)]
    pub strict: bool,
    /// Worker threads [default: all cores]; the output does not depend on it
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024), help_heading = "Resources")]
    pub threads: Option<usize>,
    /// Stay within this memory, such as 16GiB or 900MB [default: half of it, or of what its cgroup may have]
    #[arg(long, value_name = "SIZE", value_parser = amount::bytes, help_heading = "Resources")]
    pub memory: Option<u64>,
    /// The folder for temporary files [default: that of the output, else the system's]
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    pub work_dir: Option<PathBuf>,
    /// How text is cut into shingles.
    #[command(flatten)]
    pub text: TextArguments,
}

impl SetArguments {
    /// What to read of these inputs. Errors: options that do not fit together.
    pub fn source(&self, inputs: &[OsString]) -> anyhow::Result<Source> {
        if self.text.bag {
            bail!(Usage::new("--bag counts repetitions, and sets have none; leave it out"));
        }
        let content = match self.set_format {
            Some(format) => Content::Sets(format),
            None => Content::Texts(Box::new(self.text.shingler()?)),
        };
        let read = ReadOptions { batch_bytes: BATCH_BYTES, ..self.input.read_options() };
        let inputs = inputs.iter().map(PathBuf::from).collect();
        Ok(Source { inputs, read, content, transpose: self.transpose })
    }

    /// Memory, threads and a folder; Ctrl-C ends what runs in it from here on. Errors: too little memory, a folder that cannot be made.
    pub fn room(&self, output: Option<&Path>) -> anyhow::Result<Resources> {
        if let Some(address) = output.filter(|path| path.to_string_lossy().contains("://")) {
            bail!(
                "cannot write `{}`: only `benzer dedup -o` writes to object stores; write to this machine, and copy it",
                address.display()
            );
        }
        let threads = amount::threads(self.threads);
        let beside = output.and_then(Path::parent).map(|folder| match folder.as_os_str().is_empty() {
            true => PathBuf::from("."),
            false => folder.to_owned(),
        });
        let work_dir = self.work_dir.clone().or(beside).unwrap_or_else(std::env::temp_dir);
        let memory = self.memory.unwrap_or_else(memory::half_of_memory);
        Resources::new(memory, threads, &work_dir, stop_flag()).map_err(failed)
    }

    /// What reports how far the reading is, and bad lines. Refuses places for results that are inputs. Errors: results that would replace an input or each other; rejects that cannot be written.
    pub fn reporter(&self, sources: &[&Source], output: Option<&Path>) -> anyhow::Result<ReadReporter> {
        let rejects = self.rejects.as_deref();
        let inputs: Vec<PathBuf> = sources.iter().flat_map(|source| source.inputs.clone()).collect();
        check_places(output, rejects, &inputs)?;
        ReadReporter::new(rejects, self.strict)
    }
}

/// Reads all sources onto one shelf, and says what is odd about them. Errors: inputs that cannot be read, or that have no sets.
pub fn load(
    sources: &[&Source],
    resources: &Resources,
    reporter: &mut ReadReporter,
) -> anyhow::Result<(SetStore, Vec<Loaded>)> {
    let (shelf, loaded) = sets::load(sources, resources, reporter).map_err(usage)?;
    reporter.finish()?;
    for warning in loaded.iter().flat_map(|loaded| &loaded.warnings) {
        talk!("warning: {warning}");
    }
    if loaded.iter().any(|loaded| loaded.n_sets == 0) {
        match reporter.rejects.first() {
            Some(reject) => bail!("no line could be read; the first: {reject}"),
            None => bail!("there is nothing to compare in the input"),
        }
    }
    Ok((shelf, loaded))
}

/// An error of the engine, with blame where it belongs.
pub fn usage(error: anyhow::Error) -> anyhow::Error {
    error.downcast::<benzer_io::Error>().map_or_else(|other| other, failed)
}

fn failed(error: benzer_io::Error) -> anyhow::Error {
    match error {
        benzer_io::Error::Parameter(_) => {
            Usage::new(error.to_string().replace("`memory`", "--memory").replace("`label`", "--label-field"))
                .into()
        }
        benzer_io::Error::Cancelled => anyhow!("stopped; nothing was written"),
        other => other.into(),
    }
}
