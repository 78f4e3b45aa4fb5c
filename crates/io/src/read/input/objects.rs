//! Inputs in object stores and behind web servers: which objects an address stands for, and how they begin.
//!
//! A key that exists is that object. Else `*`, `?` and `[` make it a glob, and anything else is a folder. What is read of a folder
//! is the same as on disk. Web servers have neither globs nor folders: they cannot be asked what they have.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::start::Start;
use super::{is_glob, is_hidden};
use crate::error::{Error, Result};
use crate::read::format::Format;
use crate::read::options::Plan;
use crate::read::stream::Stream;
use crate::store::{self, Address, Object};

/// So many objects are looked at at a time: each is a request that takes its time.
const AT_ONCE: usize = 16;

/// An object and its place below the folder or the fixed part of the glob that led to it.
pub(super) struct FoundObject {
    pub(super) object: Arc<Object>,
    pub(super) relative: PathBuf,
}

/// The objects that an address stands for, sorted by the bytes of their keys.
pub(super) fn find(address: &Address) -> Result<Vec<FoundObject>> {
    let is_folder = address.key.is_empty() || address.key.ends_with('/');
    if address.is_http() && is_folder {
        let got = format!("`{}`", address.url());
        return Err(Error::parameter("input", "a file; over http there are no folders", got));
    }
    if !is_folder && let Some(object) = store::stat(address)? {
        let name = object.name();
        return Ok(vec![FoundObject { object: Arc::new(object), relative: name.into() }]);
    }
    if address.is_http() {
        return Err(address.not_found());
    }
    if is_glob(&address.key) { glob(address) } else { below(address) }
}

fn below(folder: &Address) -> Result<Vec<FoundObject>> {
    let prefix = folder.prefix();
    let all = store::list(folder)?;
    if all.is_empty() && !prefix.is_empty() {
        return Err(folder.not_found());
    }
    let found: Vec<FoundObject> =
        all.into_iter().filter_map(|object| relative(object, &prefix)).filter(is_readable).collect();
    match found.is_empty() {
        true => Err(Error::EmptyFolder { path: folder.url().into(), extensions: Format::extensions() }),
        false => Ok(found),
    }
}

fn glob(address: &Address) -> Result<Vec<FoundObject>> {
    let fixed = fixed(address);
    let bad = |error: glob::PatternError| {
        Error::parameter("input", "an address or a glob", format!("`{}` ({error})", address.url()))
    };
    let pattern = glob::Pattern::new(&address.key).map_err(bad)?;
    let options = glob::MatchOptions {
        require_literal_separator: true,
        require_literal_leading_dot: true,
        ..Default::default()
    };
    let all = store::list(&address.with_key(fixed.clone()))?.into_iter();
    let matching = all.filter(|object| pattern.matches_with(&object.address.key, options));
    let found: Vec<FoundObject> = matching.filter_map(|object| relative(object, &fixed)).collect();
    if found.is_empty() { Err(Error::NoMatch { pattern: address.url() }) } else { Ok(found) }
}

/// The folder that is looked through for an address: the part before a glob, or all of it.
pub(super) fn fixed(address: &Address) -> String {
    match is_glob(&address.key) {
        true => address.key.split_inclusive('/').take_while(|part| !is_glob(part)).collect(),
        false => address.prefix(),
    }
}

fn relative(object: Object, prefix: &str) -> Option<FoundObject> {
    let relative = object.address.key.strip_prefix(prefix)?.to_owned();
    Some(FoundObject { object: Arc::new(object), relative: relative.into() })
}

fn is_readable(found: &FoundObject) -> bool {
    Format::of_name(&found.relative).is_some() && !found.relative.iter().any(is_hidden)
}

/// How each of the objects begins.
pub(super) fn probe(objects: &[FoundObject], plan: &Plan) -> Result<Vec<Start>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(found) = objects.get(i) else { return done };
            done.push((i, start(&found.object, plan)));
        }
    };
    let mut all = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE.min(objects.len())).map(|_| scope.spawn(work)).collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, Vec<_>>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().flat_map(join).collect::<Vec<_>>()
    });
    all.sort_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, start)| start).collect()
}

fn start(object: &Arc<Object>, plan: &Plan) -> Result<Start> {
    let path = Path::new(&object.url);
    let mut stream = Stream::glance(object.stream(), path)?;
    let start = Start::read(&mut stream, path, plan)?;
    if start.format == Format::Parquet && object.open().is_none() {
        return Err(Error::without_ranges(path, "a parquet file"));
    }
    Ok(start)
}
