//! What to read: files, folders, globs, standard input and injected streams, in one defined order.
//!
//! - Inputs come in the order given. A folder gives its files recursively, a glob its matches, both sorted by the bytes of
//!   the path, so that the numbering does not depend on the file system. Links are followed.
//! - In a folder only [`EXTENSIONS`] are read, hidden files and folders are not; a file that is named is read whatever
//!   it is called.
//! - A file that is reached twice is read once, at its first place: otherwise `data data/a.jsonl` would make every
//!   document of `a.jsonl` a duplicate of itself.
//! - Every file is opened once before the first line is read, so that a missing permission shows now and not after hours.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::stream::{Compression, sniff};
use crate::error::{Error, Result};

/// What is read in folders, each also with `.gz`, `.gzip`, `.zst` or `.zstd` after it; upper case counts as lower.
pub const EXTENSIONS: [&str; 3] = [".jsonl", ".ndjson", ".json"];
const COMPRESSED: [&str; 4] = [".gz", ".gzip", ".zst", ".zstd"];

/// The inputs of a run, before they are looked up.
#[derive(Default)]
pub struct Inputs {
    items: Vec<Item>,
}

enum Item {
    Path(PathBuf),
    Stream(PathBuf, Box<dyn Read + Send>),
}

impl Inputs {
    /// No inputs yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, a folder, a glob, or `-` for standard input.
    pub fn path(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.items.push(match path.to_str() {
            Some("-") => Item::Stream("stdin".into(), Box::new(std::io::stdin())),
            _ => Item::Path(path),
        });
        self
    }

    /// Adds any source of bytes, under a name for messages.
    pub fn stream(mut self, name: impl Into<PathBuf>, bytes: impl Read + Send + 'static) -> Self {
        self.items.push(Item::Stream(name.into(), Box::new(bytes)));
        self
    }
}

impl<P: Into<PathBuf>> FromIterator<P> for Inputs {
    fn from_iter<I: IntoIterator<Item = P>>(paths: I) -> Self {
        paths.into_iter().fold(Self::new(), Self::path)
    }
}

/// One file or stream of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Its number, counted from 0 in reading order.
    pub number: u32,
    /// Where it is, or the name of the stream.
    pub path: Arc<Path>,
    /// Its place below the folder (or below the fixed part of the glob) that led to it; else its file name.
    pub relative: PathBuf,
    /// Its size on disk; unknown for a pipe.
    pub bytes: Option<u64>,
    /// How it is compressed; unknown for a pipe until it is read.
    pub compression: Option<Compression>,
}

/// An input and, if it is not a file to be opened, where its bytes come from.
pub(super) type Source = (Arc<Input>, Option<Box<dyn Read + Send>>);

/// Looks up every input: expands folders and globs, drops repetitions, checks that files can be read.
pub(super) fn find(inputs: Inputs) -> Result<Vec<Source>> {
    let mut found = Found::default();
    for item in inputs.items {
        match item {
            Item::Stream(name, bytes) => found.add_stream(name, bytes)?,
            Item::Path(path) => match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() => found.add_folder(&path)?,
                Ok(_) => found.add_file(&path, Path::new(path.file_name().unwrap_or_default()))?,
                Err(error) => match path.to_str() {
                    Some(pattern) if is_glob(pattern) => found.add_glob(pattern)?,
                    _ => return Err(Error::open(path, error)),
                },
            },
        }
    }
    if found.sources.is_empty() {
        return Err(Error::parameter("input", "at least one file, folder, glob or `-`", "none"));
    }
    Ok(found.sources)
}

#[derive(Default)]
struct Found {
    sources: Vec<Source>,
    seen: HashSet<PathBuf>,
}

impl Found {
    fn add_stream(&mut self, name: PathBuf, bytes: Box<dyn Read + Send>) -> Result<()> {
        if !self.seen.insert(Path::new("-").join(&name)) {
            return Err(Error::parameter(
                "input",
                "different streams",
                format!("`{}` twice", name.display()),
            ));
        }
        self.push(Arc::from(name.as_path()), name, None, Some(bytes));
        Ok(())
    }

    fn add_file(&mut self, path: &Path, relative: &Path) -> Result<()> {
        // What has no canonical name, such as `/dev/fd/63`, stands for itself.
        if self.seen.insert(fs::canonicalize(path).unwrap_or_else(|_| path.into())) {
            self.push(path.into(), relative.into(), probe(path)?, None);
        }
        Ok(())
    }

    fn add_folder(&mut self, folder: &Path) -> Result<()> {
        let files = files_below(folder)?;
        if files.is_empty() {
            return Err(Error::EmptyFolder { path: folder.into(), extensions: extensions() });
        }
        for path in files {
            self.add_file(&path, path.strip_prefix(folder).unwrap_or(&path))?;
        }
        Ok(())
    }

    fn add_glob(&mut self, pattern: &str) -> Result<()> {
        let fixed: PathBuf = Path::new(pattern)
            .components()
            .take_while(|c| !c.as_os_str().to_str().is_some_and(is_glob))
            .collect();
        let mut files = Vec::new();
        for path in matches(pattern)? {
            if path.is_dir() { files.extend(files_below(&path)?) } else { files.push(path) }
        }
        if files.is_empty() {
            return Err(Error::NoMatch { pattern: pattern.into() });
        }
        sort(&mut files);
        for path in files {
            self.add_file(&path, path.strip_prefix(&fixed).unwrap_or(&path))?;
        }
        Ok(())
    }

    fn push(
        &mut self,
        path: Arc<Path>,
        relative: PathBuf,
        probed: Option<(u64, Compression)>,
        bytes: Option<Box<dyn Read + Send>>,
    ) {
        let input = Input {
            number: u32::try_from(self.sources.len()).expect("fewer than 2^32 inputs"),
            path,
            relative,
            bytes: probed.map(|(bytes, _)| bytes),
            compression: probed.map(|(_, compression)| compression),
        };
        self.sources.push((Arc::new(input), bytes));
    }
}

/// Size and compression of a file that can be read; nothing for a pipe, which must not be touched twice.
fn probe(path: &Path) -> Result<Option<(u64, Compression)>> {
    let fail = |error| Error::open(path, error);
    let metadata = fs::metadata(path).map_err(fail)?;
    if !metadata.is_file() {
        return Ok(None);
    }
    let mut start = Vec::new();
    File::open(path).map_err(fail)?.take(8).read_to_end(&mut start).map_err(fail)?;
    Ok(Some((metadata.len(), sniff(&start, path)?)))
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let visible = |entry: &walkdir::DirEntry| entry.depth() == 0 || !is_hidden(entry.file_name());
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(folder).follow_links(true).into_iter().filter_entry(visible) {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(folder).to_owned();
            Error::open(path, error.into())
        })?;
        if !entry.file_type().is_dir() && is_input(entry.path()) {
            files.push(entry.into_path());
        }
    }
    sort(&mut files);
    Ok(files)
}

fn matches(pattern: &str) -> Result<Vec<PathBuf>> {
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..Default::default() };
    let paths = glob::glob_with(pattern, options)
        .map_err(|error| Error::parameter("input", "a path or a glob", format!("`{pattern}` ({error})")))?;
    paths.map(|path| path.map_err(|error| Error::open(error.path().to_owned(), error.into()))).collect()
}

fn sort(paths: &mut [PathBuf]) {
    paths.sort_by(|a, b| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

fn is_hidden(name: &std::ffi::OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn is_input(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = COMPRESSED.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    EXTENSIONS.iter().any(|end| name.ends_with(end))
}

fn extensions() -> String {
    format!("{} (also with {})", EXTENSIONS.join(", "), COMPRESSED.join(", "))
}
