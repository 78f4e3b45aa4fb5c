//! What is read: files, folders, globs, objects of stores, standard input and injected streams.
//!
//! ```text
//! Inputs --find--> Input...   each with its Start: compression, format, header
//! ```

mod estimate;
mod field_names;
mod find;
mod objects;
mod seekable;
mod start;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::UNIX_EPOCH;

use super::format::{Compression, Format};
use super::reject::{Reject, RejectReason};
use crate::error::{Error, Result};
use crate::store::Object;
pub use estimate::estimated_documents;
pub use field_names::field_names;
pub(crate) use find::files_of;
pub(super) use find::{FoundInput, Lookup, find};
pub(crate) use seekable::Seekable;
pub(super) use start::Start;

/// What most compressors do not exceed unless they are told to.
const LARGE_WINDOW: u64 = 8 << 20;

/// The inputs of a run, before they are looked up.
#[derive(Default)]
pub struct Inputs {
    items: Vec<NamedInput>,
    except: Option<PathBuf>,
    is_lenient: bool,
}

enum NamedInput {
    Path(PathBuf),
    Stream(PathBuf, Box<dyn Read + Send>),
}

impl Inputs {
    /// No inputs yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, a folder, a glob, an address such as `s3://bucket/folder`, or `-` for standard input.
    pub fn path(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.items.push(match path.to_str() {
            Some("-") => NamedInput::Stream("stdin".into(), Box::new(std::io::stdin())),
            _ => NamedInput::Path(path),
        });
        self
    }

    /// Adds any source of bytes, under a name for messages.
    pub fn stream(mut self, name: impl Into<PathBuf>, bytes: impl Read + Send + 'static) -> Self {
        self.items.push(NamedInput::Stream(name.into(), Box::new(bytes)));
        self
    }

    /// Passes over what folders and globs have below this folder, here or in a store: the results of an earlier run.
    pub fn except(self, folder: impl Into<PathBuf>) -> Self {
        Self { except: Some(folder.into()), ..self }
    }

    /// Passes over files of another kind than most, which a folder or a glob has and in which the wanted fields are not: [`Reader::left_out`](super::Reader::left_out).
    pub fn lenient(self) -> Self {
        Self { is_lenient: true, ..self }
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
    /// Where it is, or the name of the stream. The address of an object is a path here, too.
    pub path: Arc<Path>,
    /// Its place below the folder (or below the fixed part of the glob) that led to it; else its file name.
    pub relative: PathBuf,
    /// Its size on disk; unknown for a pipe.
    pub bytes: Option<u64>,
    object: Option<Arc<Object>>,
    known: OnceLock<Known>,
}

/// What the beginning of an input tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::read) struct Known {
    compression: Compression,
    window: u64,
    format: Format,
    header: Option<Box<[u8]>>,
}

impl Input {
    /// How it is compressed; unknown for a pipe until it is read.
    pub fn compression(&self) -> Option<Compression> {
        self.known.get().map(|known| known.compression)
    }

    /// Whether whoever decompresses it holds more of it than several may at the same time.
    pub(in crate::read) fn has_large_window(&self) -> bool {
        self.known.get().is_some_and(|known| known.window > LARGE_WINDOW)
    }

    /// What its documents look like; unknown for a pipe until it is read.
    pub fn format(&self) -> Option<Format> {
        self.known.get().map(|known| known.format)
    }

    /// The header of a CSV or TSV file as it was read, without byte order mark and newline (a carriage return is still
    /// there). Nothing in other formats, for an empty file, and for a pipe until it is read.
    pub fn header(&self) -> Option<&[u8]> {
        self.known.get()?.header.as_deref()
    }

    /// Opens it to be read from its beginning.
    pub(crate) fn stream(&self) -> Result<Box<dyn Read + Send>> {
        Ok(match &self.object {
            Some(object) => object.stream(),
            None => Box::new(self.file()?),
        })
    }

    /// Opens it to be read at any place; nothing if that cannot be, because a server only gives whole files.
    pub(crate) fn open(&self) -> Result<Option<Seekable>> {
        Ok(match &self.object {
            Some(object) => object.open().map(Seekable::Object),
            None => Some(Seekable::of_file(self.file()?)),
        })
    }

    /// Whether it is in a store or behind a web server.
    pub fn is_remote(&self) -> bool {
        self.object.is_some()
    }

    /// What changes when its content does: its size, and a time or a tag.
    pub fn version(&self) -> Result<(u64, Option<String>)> {
        if let Some(object) = &self.object {
            let (bytes, version) = object.version();
            return Ok((bytes, Some(version.to_owned())));
        }
        let metadata = fs::metadata(&self.path).map_err(|error| Error::open(&*self.path, error))?;
        let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Ok((metadata.len(), changed.map(|time| time.as_nanos().to_string())))
    }

    fn file(&self) -> Result<File> {
        File::open(&self.path).map_err(|error| Error::open(&*self.path, error))
    }

    /// A reject of a line or row of it.
    pub(in crate::read) fn reject(&self, line: u64, offset: u64, reason: RejectReason) -> Reject {
        Reject { file: Arc::clone(&self.path), input: self.number, line, offset, reason }
    }

    /// Keeps what its beginning tells; the first one to look is believed.
    pub(in crate::read) fn learn(&self, known: Known) {
        self.known.get_or_init(|| known);
    }
}

/// Whether a name is a pattern.
fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Whether what has such a name is passed over in folders.
pub(crate) fn is_hidden(name: &OsStr) -> bool {
    matches!(name.as_encoded_bytes().first(), Some(b'.' | b'_'))
}
