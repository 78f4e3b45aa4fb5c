//! Which files are pictures.
//!
//! Inputs come in the order given; a folder gives its files recursively and a glob its matches, sorted by the bytes of the path. In a folder only names with the extension of a
//! picture count, and nothing hidden; a file that is named is read whatever it is called. Nothing below the output folder is read, and no file twice.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use benzer_io::{Error, Result};

const EXTENSIONS: [&str; 9] = ["jpg", "jpeg", "jpe", "png", "webp", "gif", "bmp", "tif", "tiff"];

#[derive(Debug, Clone)]
pub(super) struct Input {
    pub path: PathBuf,
    /// Its name in the results: below the folder that was named.
    pub relative: PathBuf,
    pub bytes: u64,
}

pub(super) fn find(inputs: &[PathBuf], output: &Path) -> Result<Vec<Input>> {
    let mut found = Found { output: fs::canonicalize(output).ok(), seen: HashSet::new(), inputs: Vec::new() };
    for path in inputs {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => found.add_folder(path)?,
            Ok(_) => found.add(path.clone(), Path::new(path.file_name().unwrap_or_default()))?,
            Err(error) => match path.to_str() {
                Some(pattern) if pattern.contains(['*', '?', '[']) => found.add_glob(pattern)?,
                _ => return Err(Error::open(path, error)),
            },
        }
    }
    if found.inputs.is_empty() {
        return Err(Error::parameter("input", "at least one picture, folder or glob", "none"));
    }
    Ok(found.inputs)
}

struct Found {
    output: Option<PathBuf>,
    seen: HashSet<PathBuf>,
    inputs: Vec<Input>,
}

impl Found {
    fn add(&mut self, path: PathBuf, relative: &Path) -> Result<()> {
        let real = fs::canonicalize(&path).map_err(|error| Error::open(&path, error))?;
        if self.output.as_ref().is_some_and(|output| real.starts_with(output)) || !self.seen.insert(real) {
            return Ok(());
        }
        let bytes = fs::metadata(&path).map_err(|error| Error::open(&path, error))?.len();
        self.inputs.push(Input { path, relative: relative.to_owned(), bytes });
        Ok(())
    }

    fn add_folder(&mut self, folder: &Path) -> Result<()> {
        let files = pictures_below(folder)?;
        if files.is_empty() {
            return Err(Error::EmptyFolder { path: folder.into(), extensions: EXTENSIONS.join(", ") });
        }
        for path in files {
            let relative = path.strip_prefix(folder).unwrap_or(&path).to_owned();
            self.add(path, &relative)?;
        }
        Ok(())
    }

    fn add_glob(&mut self, pattern: &str) -> Result<()> {
        let wrong = |error: &dyn std::fmt::Display| {
            Error::parameter("input", "a path or a glob", format!("`{pattern}` ({error})"))
        };
        let mut paths = Vec::new();
        for path in glob::glob(pattern).map_err(|error| wrong(&error))? {
            let path = path.map_err(|error| Error::open(error.path().to_owned(), error.into()))?;
            if path.is_dir() { paths.extend(pictures_below(&path)?) } else { paths.push(path) }
        }
        if paths.is_empty() {
            return Err(Error::NoMatch { pattern: pattern.into() });
        }
        sort(&mut paths);
        let fixed: PathBuf = Path::new(pattern)
            .components()
            .take_while(|part| !part.as_os_str().to_string_lossy().contains(['*', '?', '[']))
            .collect();
        for path in paths {
            let relative = path.strip_prefix(&fixed).unwrap_or(&path).to_owned();
            self.add(path, &relative)?;
        }
        Ok(())
    }
}

fn pictures_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_hidden = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(b".");
    let visible = |entry: &walkdir::DirEntry| entry.depth() == 0 || !is_hidden(entry.file_name());
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(folder).follow_links(true).into_iter().filter_entry(visible) {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(folder).to_owned();
            Error::open(path, error.into())
        })?;
        let extension = entry.path().extension().unwrap_or_default().to_ascii_lowercase();
        if entry.file_type().is_file() && EXTENSIONS.iter().any(|known| extension == *known) {
            files.push(entry.into_path());
        }
    }
    sort(&mut files);
    Ok(files)
}

fn sort(paths: &mut [PathBuf]) {
    paths.sort_by(|a, b| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
}
