//! Old documents: finding out what they are, and reading those that are a corpus into a segment of their own.

use std::path::{Path, PathBuf};
use std::time::Instant;

use benzer_core::field::text::Shingler;
use benzer_io::read::{self, Inputs, ReadOptions, Reader};
use benzer_storage::{self as files, FileWriter, Lock, Manifest};
use serde_json::{Value, json};

use super::fingerprint;
use super::folders::OF_OLD;
use super::setup::{Job, Setup};
use crate::archive::{self, Archives, Segment, SegmentEntry, SegmentWriter, Shape};
use crate::error::{Error, Result};
use crate::folders::{DOCUMENTS, OLD_REJECTS};
use crate::ingest::Ingest;
use crate::keep::Keep;
use crate::progress::Stage;
use crate::request::{Measure, Output, Request, Search};
use crate::results::manifest::NAME as MANIFEST;
use crate::summary::{Counts, Summary};

#[derive(Debug)]
pub(super) enum OldInput {
    Archive(Vec<Segment>),
    Corpus(PathBuf),
}

#[derive(Debug)]
pub(super) struct OldSources {
    pub inputs: Vec<OldInput>,
    pub growth: ArchiveGrowth,
    /// Names everything that the results depend on, the old documents included.
    pub fingerprint: String,
}

/// How this run is known to the archive that it adds to.
#[derive(Debug)]
pub(super) struct ArchiveGrowth {
    /// Names the inputs of the run, and the inputs with the settings.
    pub inputs: String,
    pub run: String,
    /// Whether the archive has the documents of this run already, because it ended between saving them and its own end.
    pub is_saved: bool,
    /// Keeps others from adding to the archive.
    lock: Option<Lock>,
}

impl Setup<'_> {
    /// Opens archives and looks up corpora, before anything else is read.
    pub fn open_old(&self, reader: &Reader) -> Result<OldSources> {
        let growth = ArchiveGrowth {
            inputs: fingerprint::combined(&fingerprint::inputs(reader)?),
            run: fingerprint::of(self.request, reader)?,
            is_saved: false,
            lock: None,
        };
        let mut states = vec![json!(growth.run)];
        let mut old = OldSources { inputs: Vec::new(), growth, fingerprint: String::new() };
        let results = &self.request.results;
        for path in &self.request.old.paths {
            let is_growing = results.save.as_ref() == Some(path);
            if is_growing && results.write != Output::DryRun {
                check_folder(path)?;
                self.files.create_dir_all(path)?;
                old.growth.lock = Some(lock(path)?);
            }
            if let Some(folder) = archive::folder_of(path) {
                let (segments, state) = self.open_archive(&folder, is_growing, &mut old.growth)?;
                old.inputs.push(OldInput::Archive(segments));
                states.push(state);
            } else if !is_growing {
                // Of the folder of a run that was not saved, its documents.
                let path = if path.join(MANIFEST).is_file() { path.join(DOCUMENTS) } else { path.clone() };
                states.push(json!(fingerprint::inputs(&open_corpus(self.request, &path)?)?));
                old.inputs.push(OldInput::Corpus(path));
            }
        }
        old.fingerprint = fingerprint::combined(&states);
        Ok(old)
    }

    fn open_archive(
        &self,
        folder: &Path,
        is_growing: bool,
        growth: &mut ArchiveGrowth,
    ) -> Result<(Vec<Segment>, Value)> {
        loop {
            let manifest = archive::Manifest::load(folder)?;
            let mut visible = manifest.len();
            let added = manifest.runs.iter().position(|added| added.inputs == growth.inputs);
            if let (true, Some(i)) = (is_growing, added) {
                // A run that ended before its own end, or is repeated.
                growth.is_saved = i + 1 == manifest.runs.len() && manifest.runs[i].fingerprint == growth.run;
                if !growth.is_saved {
                    return Err(Error::Archive {
                        path: folder.to_owned(),
                        expected: "other inputs than it has".to_owned(),
                        got: "the same ones, so that every document would be a copy of itself".to_owned(),
                        remedy: "what was kept of them is in the output folder of the run that added them",
                    });
                }
                visible = manifest.runs[i].first;
            }
            match archive::open(folder, &manifest, self.ingest.spec(), visible) {
                Ok(segments) => {
                    let runs = manifest.runs.iter().filter(|added| added.first + added.documents <= visible);
                    let runs = runs.map(|added| &added.fingerprint).collect::<Vec<_>>();
                    return Ok((segments, json!([visible, manifest.banding, runs])));
                }
                // A run that added to it has removed files since the manifest was read.
                Err(_) if archive::Manifest::load(folder)? != manifest => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Job<'_> {
    /// All old documents; those of corpora as segments in the work folder.
    pub fn read_old(&self, inputs: Vec<OldInput>, summary: &mut Summary) -> Result<Archives> {
        let shingler = Shingler::new(&self.request.compare.text)?;
        let ids = self.request.old.read.id_field.is_some();
        let ingest = Ingest::new(shingler, &self.request.compare.spec, &Keep::First, ids)?;
        let saved = self.checkpoints.load(Stage::Against);
        let mut made = saved.map_or_else(Vec::new, |manifest| take_over(&manifest, &mut summary.counts));
        let n_corpora = inputs.iter().filter(|input| matches!(input, OldInput::Corpus(_))).count();
        if made.len() != n_corpora {
            made = self.read_corpora(&inputs, &ingest, summary)?;
        }
        let (mut archives, mut made) = (Archives::default(), made.iter());
        for input in inputs {
            let entry = match input {
                OldInput::Archive(segments) => {
                    archives.segments.extend(segments);
                    continue;
                }
                OldInput::Corpus(_) => made.next().expect("every corpus was read"),
            };
            archives.segments.push(Segment::open(
                &self.folders.work,
                entry,
                self.ingest.spec(),
                self.banding(),
            )?);
        }
        if let (Search::Bands(banding), Measure::Jaccard) =
            (&self.request.compare.search, self.request.compare.measure)
        {
            archives.use_banding(banding, self.workspace())?;
        }
        Ok(archives)
    }

    fn read_corpora(
        &self,
        inputs: &[OldInput],
        ingest: &Ingest,
        summary: &mut Summary,
    ) -> Result<Vec<SegmentEntry>> {
        let (start, mut manifest) = (Instant::now(), self.checkpoints.begin(Stage::Against));
        let mut rejects = self.files.create(&self.folders.work.join(OLD_REJECTS))?;
        let mut entries: Vec<SegmentEntry> = Vec::new();
        for input in inputs {
            if let OldInput::Corpus(path) = input {
                let name = format!("{}{}", OF_OLD, entries.len());
                entries.push(self.read_corpus(path, &name, ingest, &mut rejects, &mut summary.counts)?);
            }
        }
        let rejects = rejects.commit()?;
        if self.checkpoints.saves(start.elapsed()) && !entries.is_empty() {
            manifest.add_file(OLD_REJECTS, rejects);
            entries
                .iter()
                .flat_map(SegmentEntry::files)
                .for_each(|(name, stamp)| manifest.add_file(&name, stamp));
            manifest.set_count("segments", serde_json::to_value(&entries).unwrap_or_default());
            manifest.set_count("rejected", summary.counts.against_rejected);
            manifest.set_count("short", summary.counts.against_short);
            manifest.set_count("empty", summary.counts.against_empty);
            manifest.save(self.files, &self.folders.work)?;
        }
        let bytes = |entry: &SegmentEntry| entry.files().map(|(_, stamp)| stamp.bytes).iter().sum::<u64>();
        summary.spilled_bytes += entries.iter().map(bytes).sum::<u64>();
        Ok(entries)
    }

    fn read_corpus(
        &self,
        path: &Path,
        name: &str,
        ingest: &Ingest,
        rejects: &mut FileWriter,
        counts: &mut Counts,
    ) -> Result<SegmentEntry> {
        let reader = open_corpus(self.request, path)?;
        let shape = Shape { spec: ingest.spec(), banding: self.banding() };
        let mut rejected = 0;
        let (left, entry) = {
            let mut writer = SegmentWriter::create(&self.folders.work, name, shape, self.workspace())?;
            let left =
                archive::read_into(&mut writer, reader, ingest, self.request.resources.threads, |batch| {
                    if let (true, Some(reject)) = (self.request.strict, batch.rejects().first()) {
                        return Err(Error::Strict { reject: reject.to_string() });
                    }
                    rejected += batch.rejects().len() as u64;
                    let mut lines = Vec::new();
                    benzer_io::rewrite::reject_lines(batch, &mut lines);
                    rejects.append(&lines)?;
                    self.check_cancelled()
                })?;
            (left, writer.finish()?)
        };
        counts.against_rejected += rejected;
        counts.against_short += left.short;
        counts.against_empty += left.empty;
        Ok(entry)
    }
}

/// The segments that an interrupted run left, and what it had counted of them.
fn take_over(manifest: &Manifest, counts: &mut Counts) -> Vec<SegmentEntry> {
    let count = |name: &str| manifest.counts().get(name).cloned().unwrap_or_default();
    let number = |name: &str| count(name).as_u64().unwrap_or(0);
    counts.against_rejected = number("rejected");
    counts.against_short = number("short");
    counts.against_empty = number("empty");
    serde_json::from_value(count("segments")).unwrap_or_default()
}

fn open_corpus(request: &Request, path: &Path) -> Result<Reader> {
    let options = ReadOptions { order_field: None, ..request.old.read.clone() };
    Ok(read::open(Inputs::new().path(path), options)?)
}

fn lock(folder: &Path) -> Result<Lock> {
    Lock::acquire(folder).map_err(|error| match error {
        files::Error::Locked { folder, .. } => Error::Occupied {
            path: folder,
            what: "an archive to which another run is adding documents; wait for it",
        },
        other => other.into(),
    })
}

/// Refuses a folder that holds something else than an archive.
fn check_folder(folder: &Path) -> Result<()> {
    if folder.join(archive::MANIFEST).is_file() || !folder.exists() {
        return Ok(());
    }
    let entries = std::fs::read_dir(folder).map_err(|error| Error::open(folder, error))?;
    let is_ours = |name: &str| name == "lock" || name.starts_with('.') || archive::is_segment_file(name);
    match entries.flatten().all(|entry| is_ours(&entry.file_name().to_string_lossy())) {
        false => Err(Error::Occupied {
            path: folder.to_owned(),
            what: "other files and no archive; name a new folder for the archive",
        }),
        true => Ok(()),
    }
}
