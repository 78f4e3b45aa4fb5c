//! From inputs to a store of sets.

use std::path::PathBuf;

use benzer_core::hash;
use benzer_flow::pipeline;
use benzer_io::read::estimated_documents;
use benzer_io::read::{self, Format, Inputs, Progress, ReadOptions, Reader};
use benzer_io::{Error, Result};

use crate::format::SetFormat;
use crate::grouped::Grouped;
use crate::parse::{Content, Parsed, Parser};
use crate::rejected::Rejected;
use crate::resources::Resources;
use crate::store::{SetStore, SetWriter};

/// Sets that are read between two looks at the memory.
const CHECKED: u32 = 1 << 12;

/// What to read.
#[derive(Debug)]
pub struct Source {
    /// Files, folders, globs, or `-`.
    pub inputs: Vec<PathBuf>,
    /// What to read of each document; of set files only how much at a time.
    pub read: ReadOptions,
    /// What a document is a set of.
    pub content: Content,
    /// Items become sets of lines. Only of set files.
    pub transpose: bool,
}

/// What was read.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// Sets.
    pub n_sets: u64,
    /// Sets without an element; they are similar to nothing.
    pub n_empty: u64,
    /// Lines that are no sets.
    pub n_rejected: u64,
    /// Sets whose id another set has.
    pub repeated_ids: u64,
    /// Anything odd, as sentences.
    pub warnings: Vec<String>,
}

/// Who is told what happens while inputs are read.
pub trait ReadListener<E> {
    /// The reading begins.
    fn begin(&mut self, progress: &Progress);
    /// A line is no set.
    ///
    /// # Errors
    /// What ends the reading.
    fn rejected(&mut self, rejected: &Rejected) -> Result<(), E>;
    /// A batch was read.
    fn read(&mut self);
}

impl Source {
    /// Looks up the inputs.
    ///
    /// # Errors
    /// Inputs that cannot be read; options that do not fit together.
    pub fn open(&self) -> Result<Reader> {
        self.open_with(self.read.clone())
    }

    pub(crate) fn open_with(&self, read: ReadOptions) -> Result<Reader> {
        let is_sets = matches!(self.content, Content::Sets(_));
        if self.transpose && !is_sets {
            return Err(Error::parameter("--transpose", "left out, or used with --set-format", "documents"));
        }
        let read = match is_sets {
            true => ReadOptions { format: Some(Format::Lines), per_file: false, ..read },
            false => read,
        };
        read::open(self.inputs.iter().cloned().collect::<Inputs>(), read)
    }
}

/// Puts the sets of all sources into one store, one source after the other, and says what was read of each.
///
/// # Errors
/// Inputs that cannot be read to their end, too little memory, what the listener says.
pub fn load<E: From<Error>>(
    sources: &[&Source],
    resources: &Resources,
    listener: &mut impl ReadListener<E>,
) -> Result<(SetStore, Vec<Loaded>), E> {
    let mut store = SetWriter::new(resources.workspace(0)?);
    let (mut loaded, mut starts) = (Vec::new(), Vec::new());
    for source in sources {
        starts.push(store.len());
        loaded.push(fill(source, &mut store, resources, listener)?);
    }
    let store = store.finish()?;
    let ends = starts.iter().skip(1).copied().chain([store.len()]);
    for ((start, end), loaded) in starts.iter().zip(ends).zip(&mut loaded) {
        loaded.n_sets = (end - start).into();
        loaded.n_empty = (*start..end).filter(|&set| store.size(set) == 0).count() as u64;
        count_repeated(&store, *start..end, loaded);
    }
    Ok((store, loaded))
}

fn fill<E: From<Error>>(
    source: &Source,
    store: &mut SetWriter<'_>,
    resources: &Resources,
    listener: &mut impl ReadListener<E>,
) -> Result<Loaded, E> {
    let reader = source.open()?;
    listener.begin(reader.progress());
    let Source { content, transpose, .. } = source;
    let parser = Parser { content, transpose: *transpose, inputs: reader.inputs().to_vec() };
    let scattered = *transpose || matches!(content, Content::Sets(SetFormat::Docword));
    if !scattered && !source.read.per_file {
        // Better now than after hours. What is read is counted too.
        resources.budget(u64::from(store.len()) + estimated_documents(reader.inputs()))?;
    }
    let mut grouped = scattered.then(|| Grouped::new(&parser, resources)).transpose()?;
    let mut loaded = Loaded::default();
    pipeline::run(reader, &parser, resources.threads(), |parsed: Parsed| -> Result<(), E> {
        resources.check()?;
        let more = match &mut grouped {
            Some(grouped) => grouped.add(&parsed)?,
            None => add(&parsed, store, resources).map(|()| Vec::new())?,
        };
        for rejected in parsed.rejected.iter().chain(&more) {
            loaded.n_rejected += 1;
            listener.rejected(rejected)?;
        }
        listener.read();
        Ok(())
    })?;
    if let Some(grouped) = grouped {
        loaded.warnings = grouped.finish(store)?;
        resources.budget(store.len().into())?;
    }
    Ok(loaded)
}

fn add(parsed: &Parsed, store: &mut SetWriter<'_>, resources: &Resources) -> Result<()> {
    for (id, elements) in parsed.sets() {
        store.push(id, elements)?;
        if store.len().is_multiple_of(CHECKED) {
            resources.budget(store.len().into())?;
        }
    }
    Ok(())
}

/// Ids that come again make the results hard to read.
fn count_repeated(store: &SetStore, sets: std::ops::Range<u32>, loaded: &mut Loaded) {
    let mut ids: Vec<(u64, u32)> = sets.map(|set| (hash::element(store.id(set).as_bytes()), set)).collect();
    ids.sort_unstable();
    let repeated: Vec<u32> = ids.windows(2).filter(|two| two[0].0 == two[1].0).map(|two| two[1].1).collect();
    loaded.repeated_ids = repeated.len() as u64;
    if let Some(&example) = repeated.iter().min() {
        let example = store.id(example);
        let (n, s, have) = if repeated.len() == 1 { (1, "", "has") } else { (repeated.len(), "s", "have") };
        loaded.warnings.push(format!("{n} set{s} {have} an id that an earlier one has, such as `{example}`"));
    }
}
