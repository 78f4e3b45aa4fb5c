//! From what was named to files and objects, in one defined order.
//!
//! - Inputs come in the order given. A folder gives its files recursively, a glob its matches, both sorted by the bytes of
//!   the path, so that the numbering does not depend on the file system. Links are followed.
//! - In a folder only files of known extensions ([`Format::of_name`]) are read, and nothing whose name (or whose folder's name) begins
//!   with `.` or `_`, such as `_SUCCESS`; a file that is named is read whatever it is called.
//! - A file that is reached twice is read once, at its first place: otherwise `data data/a.jsonl` would make every
//!   document of `a.jsonl` a duplicate of itself.
//! - Files of other extensions are counted. Where the caller wants it, a file of another kind than most, which has not the wanted fields
//!   (a table of labels among JSON lines), is passed over and listed; else it is an error, as one that is named is.
//! - Every file is opened once before the first line is read, so that a missing permission or column shows now and not
//!   after hours. A pipe is not touched before its turn.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use benzer_core::Parameter;

use super::objects::{self, FoundObject};
use super::start::{NO_FIELDS, Start};
use super::{Input, Inputs, NamedInput, is_glob, is_hidden};
use crate::error::{Error, Result};
use crate::read::format::Format;
use crate::read::options::Plan;
use crate::read::stream::Stream;
use crate::store::Address;

/// An input and, if it is not a file to be opened, where its bytes come from.
pub(in crate::read) struct FoundInput {
    pub(in crate::read) input: Arc<Input>,
    pub(in crate::read) bytes: Option<Box<dyn Read + Send>>,
}

/// What was found.
pub(in crate::read) struct Lookup {
    pub(in crate::read) inputs: Vec<FoundInput>,
    /// Files that were passed over, because they are results.
    pub(in crate::read) n_excepted: u64,
    /// Files of another kind than most, and what is wrong with each.
    pub(in crate::read) left_out: Vec<Error>,
    /// Files of folders whose extensions are not read.
    pub(in crate::read) unread: Vec<PathBuf>,
}

/// Looks up every input: expands folders and globs, drops repetitions, checks that files can be read.
pub(in crate::read) fn find(inputs: Inputs, plan: &Plan) -> Result<Lookup> {
    let except = inputs.except.map(Except::new).transpose()?;
    let lookup = Lookup { inputs: Vec::new(), n_excepted: 0, left_out: Vec::new(), unread: Vec::new() };
    let mut finder = Finder { plan, except, is_lenient: inputs.is_lenient, lookup, seen: HashSet::new() };
    for item in inputs.items {
        match item {
            NamedInput::Stream(name, bytes) => finder.add_stream(name, bytes)?,
            NamedInput::Path(path) => match Address::parse(&path)? {
                Some(address) => finder.add_address(&address)?,
                None => finder.add_path(path)?,
            },
        }
    }
    let mut lookup = finder.lookup;
    if lookup.left_out.len() >= lookup.inputs.len() && !lookup.left_out.is_empty() {
        // What most files are is no exception.
        return Err(lookup.left_out.swap_remove(0));
    }
    if lookup.inputs.is_empty() {
        return Err(Error::parameter("input", "at least one file, folder, glob, address or `-`", "none"));
    }
    Ok(lookup)
}

struct Finder<'a> {
    plan: &'a Plan,
    except: Option<Except>,
    is_lenient: bool,
    lookup: Lookup,
    seen: HashSet<PathBuf>,
}

/// A folder that is passed over where it lies inside of another one that is read.
enum Except {
    Folder(PathBuf),
    Address(Address),
}

impl Except {
    fn new(folder: PathBuf) -> Result<Self> {
        Ok(match Address::parse(&folder)? {
            Some(address) => Self::Address(address.with_key(address.prefix())),
            None => Self::Folder(real(&folder)),
        })
    }

    /// Whether it lies inside of a folder, and is not that folder itself.
    fn is_inside(&self, folder: &Path) -> bool {
        match self {
            Self::Folder(own) => {
                let folder = real(folder);
                own.starts_with(&folder) && *own != folder
            }
            Self::Address(own) => {
                let own = own.url();
                folder.to_str().is_some_and(|url| own.starts_with(url) && own != url)
            }
        }
    }

    fn holds(&self, path: &Path) -> bool {
        match self {
            Self::Folder(own) => real(path).starts_with(own),
            Self::Address(own) => path.to_str().is_some_and(|url| own.holds(url)),
        }
    }
}

/// What has no canonical name, such as `/dev/fd/63`, stands for itself.
fn real(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    fs::canonicalize(path).unwrap_or_else(|_| path.into())
}

impl Finder<'_> {
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

    fn add_path(&mut self, path: PathBuf) -> Result<()> {
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => self.add_folder(&path),
            Ok(_) => self.add_file(&path, Path::new(path.file_name().unwrap_or_default())),
            Err(error) => match path.to_str() {
                Some(pattern) if is_glob(pattern) => self.add_glob(pattern),
                _ => Err(Error::open(path, error)),
            },
        }
    }

    fn add_address(&mut self, address: &Address) -> Result<()> {
        let mut found = objects::find(address)?;
        let is_named = found.iter().any(|found| found.object.address == *address);
        if !is_named {
            let fixed = address.with_key(objects::fixed(address)).url();
            found = self.without_excepted(found, Path::new(&fixed), |found| Path::new(&found.object.url));
        }
        found.retain(|found| self.seen.insert(found.object.url.clone().into()));
        for (start, FoundObject { object, relative }) in
            objects::probe(&found, self.plan)?.into_iter().zip(found)
        {
            let input = Input {
                number: self.number(),
                path: Arc::from(Path::new(&object.url)),
                relative,
                bytes: Some(object.bytes),
                object: Some(object),
                known: OnceLock::new(),
            };
            input.learn(start.known());
            self.lookup.inputs.push(FoundInput { input: Arc::new(input), bytes: None });
        }
        Ok(())
    }

    fn add_file(&mut self, path: &Path, relative: &Path) -> Result<()> {
        if self.seen.insert(real(path)) {
            self.push(path.into(), relative.into(), probe(path, self.plan)?, None);
        }
        Ok(())
    }

    /// A file that a folder or a glob has.
    fn add_found(&mut self, path: &Path, relative: &Path) -> Result<()> {
        match self.add_file(path, relative) {
            Err(
                error @ (Error::Column { .. }
                | Error::Header { .. }
                | Error::Parameter(Parameter { name: NO_FIELDS, .. })),
            ) if self.is_lenient => {
                self.lookup.left_out.push(error);
                Ok(())
            }
            added => added,
        }
    }

    fn add_folder(&mut self, folder: &Path) -> Result<()> {
        let (files, unread) = sorted_below(folder)?;
        let files = self.without_excepted(files, folder, PathBuf::as_path);
        let is_excepted = |path: &PathBuf| self.except.as_ref().is_some_and(|except| except.holds(path));
        let unread: Vec<PathBuf> = unread.into_iter().filter(|path| !is_excepted(path)).collect();
        self.lookup.unread.extend(unread);
        if files.is_empty() {
            return Err(Error::EmptyFolder { path: folder.into(), extensions: Format::extensions() });
        }
        for path in files {
            self.add_found(&path, path.strip_prefix(folder).unwrap_or(&path))?;
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
        for path in self.without_excepted(files, &fixed, PathBuf::as_path) {
            self.add_found(&path, path.strip_prefix(&fixed).unwrap_or(&path))?;
        }
        Ok(())
    }

    /// What was found below a folder, without what is to be passed over.
    fn without_excepted<T>(&mut self, mut found: Vec<T>, below: &Path, path: impl Fn(&T) -> &Path) -> Vec<T> {
        let Some(except) = self.except.as_ref().filter(|except| except.is_inside(below)) else {
            return found;
        };
        let before = found.len();
        found.retain(|item| !except.holds(path(item)));
        self.lookup.n_excepted += (before - found.len()) as u64;
        found
    }

    /// The number of the next input.
    fn number(&self) -> u32 {
        u32::try_from(self.lookup.inputs.len()).expect("fewer than 2^32 inputs")
    }

    fn push(
        &mut self,
        path: Arc<Path>,
        relative: PathBuf,
        probed: Option<(u64, Start)>,
        bytes: Option<Box<dyn Read + Send>>,
    ) {
        let input = Input {
            number: self.number(),
            path,
            relative,
            bytes: probed.as_ref().map(|(bytes, _)| *bytes),
            object: None,
            known: OnceLock::new(),
        };
        if let Some((_, start)) = probed {
            input.learn(start.known());
        }
        self.lookup.inputs.push(FoundInput { input: Arc::new(input), bytes });
    }
}

/// Size and beginning of a file that can be read; nothing for a pipe, which must not be touched twice.
fn probe(path: &Path, plan: &Plan) -> Result<Option<(u64, Start)>> {
    let fail = |error| Error::open(path, error);
    let metadata = fs::metadata(path).map_err(fail)?;
    if !metadata.is_file() {
        return Ok(None);
    }
    let mut stream = Stream::glance(Box::new(File::open(path).map_err(fail)?), path)?;
    Ok(Some((metadata.len(), Start::read(&mut stream, path, plan)?)))
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    Ok(sorted_below(folder)?.0)
}

/// The files of a folder that are read, and those of other extensions.
fn sorted_below(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let visible = |entry: &walkdir::DirEntry| entry.depth() == 0 || !is_hidden(entry.file_name());
    let (mut files, mut unread) = (Vec::new(), Vec::new());
    for entry in walkdir::WalkDir::new(folder).follow_links(true).into_iter().filter_entry(visible) {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(folder).to_owned();
            Error::open(path, error.into())
        })?;
        match Format::of_name(entry.path()) {
            _ if entry.file_type().is_dir() => {}
            Some(_) => files.push(entry.into_path()),
            None => unread.push(entry.into_path()),
        }
    }
    sort(&mut files);
    sort(&mut unread);
    Ok((files, unread))
}

/// The files that a folder or a glob leads to, as far as they can be looked up; nothing of anything else.
pub(crate) fn files_of(input: &Path) -> Vec<PathBuf> {
    if input.is_dir() {
        return files_below(input).unwrap_or_default();
    }
    let pattern = input.to_str().filter(|pattern| !input.exists() && is_glob(pattern));
    let found = pattern.map(|pattern| matches(pattern).unwrap_or_default()).unwrap_or_default();
    let below =
        |path: PathBuf| if path.is_dir() { files_below(&path).unwrap_or_default() } else { vec![path] };
    found.into_iter().flat_map(below).collect()
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
