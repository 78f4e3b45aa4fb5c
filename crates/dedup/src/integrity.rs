//! Is what was written still what is there? Every byte of results, archives, sketch files and checkpoints is compared with its checksum.
//!
//! ```
//! use benzer_dedup::integrity;
//!
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("notes.txt"), "nothing of ours")?;
//! assert!(integrity::verify(folder.path())?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use crate::archive;
use crate::error::{Error, Result};
use crate::folders;
use crate::request::SAVED;
use crate::results::checksum_of_pairs;
use crate::results::manifest::{self, Manifest};
use benzer_storage::manifest::verify_files;
use benzer_storage::{self as files, FileEntry, Stamp};

/// What was found at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// The output folder of `benzer dedup`, or of `benzer rethreshold`.
    Results,
    /// An archive of earlier runs.
    Archive,
    /// A file of sketches.
    Sketches,
    /// The work folder of a run that goes on with `--resume`.
    Checkpoints,
}

impl Kind {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Results => "results of a deduplication",
            Self::Archive => "an archive of earlier runs",
            Self::Sketches => "a file of sketches",
            Self::Checkpoints => "checkpoints of a run",
        }
    }
}

/// What was found when every byte was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// What it is.
    pub kind: Kind,
    /// Files that have a checksum, the lists of them included.
    pub files: u64,
    /// Their bytes, as they were written.
    pub bytes: u64,
    /// What is wrong: the file, expected and got.
    pub wrong: Vec<String>,
    /// What is not wrong, and cannot be told or should be known.
    pub warnings: Vec<String>,
}

impl Report {
    fn new(kind: Kind) -> Self {
        Self { kind, files: 0, bytes: 0, wrong: Vec::new(), warnings: Vec::new() }
    }

    /// True if nothing is wrong.
    pub fn is_whole(&self) -> bool {
        self.wrong.is_empty()
    }

    fn wrong(&mut self, path: &Path, why: impl std::fmt::Display) {
        self.wrong.push(format!("`{}`: {why}", path.display()));
    }

    /// A list that is whole, and the files it names.
    fn take(&mut self, list: &Path, wrong: &[(PathBuf, String)], stamps: &[Stamp]) {
        self.files += 1 + stamps.len() as u64;
        self.bytes += fs::metadata(list).map_or(0, |list| list.len());
        self.bytes += stamps.iter().map(|stamp| stamp.bytes).sum::<u64>();
        wrong.iter().for_each(|(path, why)| self.wrong(path, why));
    }

    /// Files that are not of the run. Among the documents they would be taken for documents that were kept.
    fn foreign(&mut self, folder: &Path, files: &[FileEntry], manifest: &Value) -> Result<()> {
        let known: HashSet<PathBuf> = files.iter().map(|file| folder.join(&file.name)).collect();
        for folder in
            folders::DOCUMENT_FOLDERS.map(|name| folder.join(name)).iter().filter(|folder| folder.is_dir())
        {
            // Linked pictures are files of their owner, and not listed.
            let is_listed = known.iter().any(|file| file.starts_with(folder)) || manifest["kind"] != "images";
            for path in files_below(folder)?.iter().filter(|path| is_listed && !known.contains(*path)) {
                self.wrong(path, "it is not of this run; move it away");
            }
        }
        let own = [manifest::NAME, manifest::RUN].map(|name| folder.join(name));
        for path in entries(folder)?
            .iter()
            .filter(|path| path.is_file() && !known.contains(*path) && !own.contains(path))
        {
            self.warnings.push(format!("`{}` is not of this run", path.display()));
        }
        Ok(())
    }

    /// Results at another threshold that were made of other pairs than are beside them.
    fn stale(&mut self, manifest: &Value, below: &Path) {
        let Ok(derived) = Manifest::read(below) else { return };
        if derived.json["from"].is_null() {
            return;
        }
        match (checksum_of_pairs(manifest), &derived.json["pairs"]) {
            (now, then) if then.is_string() && now != *then => {
                self.wrong(
                    below,
                    "it was made by `benzer rethreshold` of an earlier run; make it again, or remove it",
                );
            }
            (_, Value::Null) => {
                let what = "does not say of which pairs it was made, as those of earlier versions; make it again if the run was repeated since";
                self.warnings.push(format!("`{}` {what}", below.display()));
            }
            _ => {}
        }
    }

    fn add(&mut self, part: Self) {
        self.files += part.files;
        self.bytes += part.bytes;
        self.wrong.extend(part.wrong);
        self.warnings.extend(part.warnings);
    }
}

/// Reads everything at a path: an output folder, an archive, a work folder, a sketch file, or the list of one of the folders. `None` if it is something else.
///
/// # Errors
/// A path that is not there or cannot be read.
pub fn verify(path: &Path) -> Result<Option<Report>> {
    let is_list = path.file_name().is_some_and(|name| name == manifest::NAME || name == archive::MANIFEST);
    if is_list && path.is_file() {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        return verify(folder.unwrap_or(Path::new(".")));
    }
    let is_folder = fs::metadata(path).map_err(|error| Error::open(path, error))?.is_dir();
    if !is_folder {
        return Ok(None);
    }
    let is_stage = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("stage-") && name.ends_with(".json")
    };
    let stages: Vec<PathBuf> = entries(path)?.into_iter().filter(is_stage).collect();
    Ok(if path.join(archive::MANIFEST).exists() {
        Some(archive(path))
    } else if path.join(manifest::NAME).exists() {
        Some(results(path)?)
    } else if !stages.is_empty() {
        Some(checkpoints(&stages))
    } else {
        unfinished(path)
    })
}

fn archive(folder: &Path) -> Report {
    let mut report = Report::new(Kind::Archive);
    let list = folder.join(archive::MANIFEST);
    match archive::Manifest::load(folder) {
        Ok(manifest) => {
            let files = manifest.segments.iter().flat_map(archive::SegmentEntry::files);
            let files: Vec<_> = files.map(|(name, stamp)| FileEntry { name, stamp }).collect();
            let (wrong, stamps) = verify_files(folder, &files);
            report.take(&list, &wrong, &stamps);
        }
        Err(error) => report.wrong.push(error.to_string()),
    }
    report
}

fn results(folder: &Path) -> Result<Report> {
    let mut report = Report::new(Kind::Results);
    let manifest = match Manifest::read(folder) {
        Ok(manifest) => manifest,
        Err(error) => {
            report.wrong.push(error.to_string());
            return Ok(report);
        }
    };
    if !manifest.is_sealed {
        let what = "has no checksum of its own, as those of earlier versions";
        report.warnings.push(format!("`{}` {what}", folder.join(manifest::NAME).display()));
    }
    // An archive inside of the results may have grown since; it has a list of its own.
    let saved = folder.join(SAVED);
    let in_archive = format!("{SAVED}/");
    let has_archive = saved.join(archive::MANIFEST).exists();
    let files: Vec<_> = manifest
        .files
        .into_iter()
        .filter(|file| !has_archive || !file.name.starts_with(&in_archive))
        .collect();
    let (wrong, stamps) = verify_files(folder, &files);
    report.take(&folder.join(manifest::NAME), &wrong, &stamps);
    report.foreign(folder, &files, &manifest.json)?;
    if has_archive {
        report.add(archive(&saved));
    }
    let run = folder.join(manifest::RUN);
    if run.exists() {
        let bytes = fs::read(&run).map_err(|error| Error::open(&run, error))?;
        report.files += 1;
        report.bytes += bytes.len() as u64;
        if let Err(why) = manifest::check_run(&bytes, manifest.is_sealed) {
            report.wrong(&run, why);
        }
    }
    for below in entries(folder)?.iter().filter(|below| below.join(manifest::NAME).exists()) {
        report.add(results(below)?);
        report.stale(&manifest.json, below);
    }
    Ok(report)
}

/// All files below a folder, but for hidden ones.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_shown =
        |path: &PathBuf| !path.file_name().unwrap_or_default().as_encoded_bytes().starts_with(b".");
    let mut files = Vec::new();
    for path in entries(folder)?.into_iter().filter(is_shown) {
        match path.is_dir() && !path.is_symlink() {
            true => files.extend(files_below(&path)?),
            false => files.push(path),
        }
    }
    Ok(files)
}

fn checkpoints(stages: &[PathBuf]) -> Report {
    let mut report = Report::new(Kind::Checkpoints);
    for stage in stages {
        let (wrong, stamps) = files::Manifest::verify(stage);
        report.take(stage, &wrong, &stamps);
    }
    report
}

/// What a run leaves that was interrupted, or whose manifest was removed.
fn unfinished(output: &Path) -> Option<Report> {
    let mut report = Report::new(Kind::Results);
    let remedy = if output.join(folders::WORK).is_dir() {
        "the run is not finished; give its command again with --resume"
    } else if folders::RESULTS.iter().any(|name| output.join(name).exists()) {
        "it is written last, so the results may not be whole; run again"
    } else {
        return None;
    };
    report.wrong.push(format!("there is no {}: {remedy}", manifest::NAME));
    Some(report)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let fail = |error| Error::open(folder, error);
    let entries = fs::read_dir(folder).map_err(fail)?.map(|entry| Ok(entry?.path()));
    let mut paths = entries.collect::<std::io::Result<Vec<_>>>().map_err(fail)?;
    paths.sort_unstable();
    Ok(paths)
}
