//! Where results may go: never over an input, never to where they would be read as one. Links and relative paths are resolved.

use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};
use crate::read::{self, Format};

/// How results and an input lie upon each other.
const IS: &str = "is also an input,";
/// That of a folder of results around an input.
pub const HOLDS: &str = "holds an input, which would be replaced,";
/// That of results in a folder of inputs.
const LIES: &str = "lies in an input folder, where it would be read,";

/// The place that a path leads to. Of what is not there yet, the folder above it counts.
pub fn real(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (mut there, mut missing) = (absolute.as_path(), Vec::new());
    loop {
        if let Ok(real) = there.canonicalize() {
            let parts = missing.into_iter().rev();
            return parts.fold(real, |path, part: Component<'_>| match part {
                Component::ParentDir => path.parent().unwrap_or(&path).to_owned(),
                part => path.join(part),
            });
        }
        let Some((parent, last)) = there.parent().zip(there.components().next_back()) else {
            return absolute;
        };
        missing.push(last);
        there = parent;
    }
}

/// Refuses a file of results that is an input, or that lies where an input folder or glob would read it.
pub fn check_file(output: &Path, inputs: &[PathBuf]) -> Result<()> {
    if is_elsewhere(output) {
        return Ok(());
    }
    let place = real(output);
    let refuse = |how, input: &Path| Err(Error::overlap(output, how, input));
    for input in inputs.iter().filter(|input| !is_elsewhere(input)) {
        let below = real(input);
        if below == place {
            return refuse(IS, input);
        }
        if input.is_dir() && place.starts_with(&below) && is_read(&place, &below) {
            return refuse(LIES, input);
        }
        // What links inside of a folder, and globs, lead to.
        if let Some(found) = read::files_of(input).into_iter().find(|found| real(found) == place) {
            return refuse(IS, &found);
        }
        if !input.exists() && is_matched(&place, input) {
            return refuse(LIES, input);
        }
    }
    Ok(())
}

/// Refuses a folder of results that holds inputs, which would be replaced.
pub fn check_folder<'a>(output: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    if is_elsewhere(output) {
        return Ok(());
    }
    let place = real(output);
    let inside = inputs.into_iter().find(|input| !is_elsewhere(input) && real(input).starts_with(&place));
    inside.map_or(Ok(()), |input| Err(Error::overlap(output, HOLDS, input)))
}

/// Refuses a folder of results inside of a folder that is read.
pub fn check_outside<'a>(output: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    if is_elsewhere(output) {
        return Ok(());
    }
    let place = real(output);
    let around = inputs.into_iter().find(|input| input.is_dir() && place.starts_with(real(input)));
    around.map_or(Ok(()), |input| Err(Error::overlap(output, LIES, input)))
}

/// In a store, or a stream.
fn is_elsewhere(path: &Path) -> bool {
    path == Path::new("-") || path.to_string_lossy().contains("://")
}

/// Whether a folder that is read gives a file of this name.
fn is_read(file: &Path, folder: &Path) -> bool {
    let below = file.strip_prefix(folder).unwrap_or(file);
    Format::of_name(file).is_some() && !below.iter().any(read::is_hidden)
}

/// Whether a glob matches a place.
fn is_matched(place: &Path, pattern: &Path) -> bool {
    let pattern = std::path::absolute(pattern).unwrap_or_else(|_| pattern.to_owned());
    let options = glob::MatchOptions { require_literal_separator: true, ..Default::default() };
    let pattern = pattern.to_str().and_then(|pattern| glob::Pattern::new(pattern).ok());
    pattern.is_some_and(|pattern| pattern.matches_path_with(place, options))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_of_results_is_no_input_whatever_it_is_called() {
        let lab = tempfile::tempdir().unwrap();
        let path = |name: &str| lab.path().join(name);
        fs::create_dir_all(path("in/deep")).unwrap();
        fs::write(path("in/a.jsonl"), "{}").unwrap();
        fs::write(path("elsewhere.txt"), "").unwrap();
        std::os::unix::fs::symlink(path("in"), path("link")).unwrap();
        std::os::unix::fs::symlink(path("elsewhere.txt"), path("in/deep/b.txt")).unwrap();
        let refused = |output: &str, input: &str| check_file(&path(output), &[path(input)]).is_err();
        for (output, input) in [
            ("in/a.jsonl", "in/a.jsonl"),
            ("link/a.jsonl", "in/../in/a.jsonl"),
            ("in/new.parquet", "in"),
            ("link/deep/new.csv.gz", "in"),
            ("elsewhere.txt", "in"),
            ("in/a.jsonl", "in/*.jsonl"),
            ("in/later.jsonl", "in/*.jsonl"),
        ] {
            assert!(refused(output, input), "{output} of {input}");
        }
        for (output, input) in [
            ("out.jsonl", "in"),
            ("in/a.bsk", "in"),
            ("in/_new.jsonl", "in"),
            ("in/b.jsonl", "in/a.jsonl"),
            ("in/b.csv", "in/*.jsonl"),
            ("-", "in"),
        ] {
            assert!(!refused(output, input), "{output} of {input}");
        }
    }

    #[test]
    fn a_folder_of_results_holds_no_input() {
        let lab = tempfile::tempdir().unwrap();
        let path = |name: &str| lab.path().join(name);
        fs::create_dir_all(path("in/deep")).unwrap();
        std::os::unix::fs::symlink(path("in"), path("link")).unwrap();
        let input = path("in/deep");
        for output in ["in", "link", "in/deep", "link/../in/."] {
            let error = check_folder(&path(output), [input.as_path()]).unwrap_err().to_string();
            assert!(error.contains("holds an input") && error.contains("outside of the inputs"), "{error}");
        }
        check_folder(&path("out"), [input.as_path()]).unwrap();
        check_folder(&path("in/deep/out"), [input.as_path()]).unwrap();
        check_outside(&path("link/deep/out"), [input.as_path()]).unwrap_err();
        check_outside(&path("in/out"), [input.as_path()]).unwrap();
    }
}
