//! Old documents: finding out what they are, and reading those that are a corpus into a segment of their own.

use std::path::{Path, PathBuf};

use benzer_core::field::text::Shingler;
use benzer_core::lsh::Banding;
use serde_json::{Value, json};

use super::fingerprint;
use super::stages::Run;
use crate::archive::{self, Archives, Segment, SegmentEntry, SegmentWriter, Shape};
use crate::error::{Error, Result};
use crate::folders::OLD_REJECTS;
use crate::ingest::Ingest;
use crate::keep::Keep;
use crate::progress::Stage;
use crate::request::{Measure, Output, Search};
use benzer_io::read::{self, Inputs, ReadOptions, Reader};
use benzer_storage::{self as files, FileWriter, Lock, Manifest};

/// What `--against` named.
#[derive(Debug)]
enum Source {
    Archive(Vec<Segment>),
    Corpus(PathBuf),
}

/// Old documents, before they are looked at.
#[derive(Debug, Default)]
pub(super) struct Sources {
    list: Vec<Source>,
    /// Names the inputs of the run in an archive, and the inputs with the settings.
    pub inputs: String,
    pub run: String,
    /// Whether the archive has the documents of this run already, because it ended between saving them and its own end.
    pub is_saved: bool,
    /// Keeps others from adding to the archive.
    lock: Option<Lock>,
}

impl Run<'_> {
    /// Opens archives and looks up corpora, before anything else is read.
    pub(super) fn open_old(&mut self, reader: &Reader) -> Result<()> {
        let (inputs, run) =
            (fingerprint::combined(&fingerprint::inputs(reader)?), fingerprint::of(self.request, reader)?);
        let mut states = vec![json!(run)];
        let mut sources = Sources { inputs, run, ..Sources::default() };
        for path in &self.request.old.paths {
            let is_growing = self.request.results.save.as_ref() == Some(path);
            if is_growing && self.request.results.write != Output::DryRun {
                check_folder(path)?;
                self.files.create_dir_all(path)?;
                sources.lock = Some(lock(path)?);
            }
            if let Some(folder) = archive::folder_of(path) {
                let (segments, state) = self.open_archive(&folder, is_growing, &mut sources)?;
                sources.list.push(Source::Archive(segments));
                states.push(state);
            } else if !is_growing {
                // Of the folder of a run that was not saved, its documents.
                let is_run = path.join(crate::results::manifest::NAME).is_file();
                let path = if is_run { path.join(crate::folders::DOCUMENTS) } else { path.clone() };
                states.push(json!(fingerprint::inputs(&self.open_corpus(&path)?)?));
                sources.list.push(Source::Corpus(path));
            }
        }
        self.fingerprint = fingerprint::combined(&states);
        self.sources = sources;
        Ok(())
    }

    fn open_archive(
        &self,
        folder: &Path,
        is_growing: bool,
        sources: &mut Sources,
    ) -> Result<(Vec<Segment>, Value)> {
        loop {
            let manifest = archive::Manifest::load(folder)?;
            let mut visible = manifest.len();
            let added = manifest.runs.iter().position(|added| added.inputs == sources.inputs);
            if let (true, Some(i)) = (is_growing, added) {
                // A run that ended before its own end, or is repeated.
                sources.is_saved =
                    i + 1 == manifest.runs.len() && manifest.runs[i].fingerprint == sources.run;
                if !sources.is_saved {
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

    fn open_corpus(&self, path: &Path) -> Result<Reader> {
        let options = ReadOptions { order_field: None, ..self.request.old.read.clone() };
        Ok(read::open(Inputs::new().path(path), options)?)
    }

    /// All old documents; those of corpora as segments in the work folder.
    pub(super) fn read_old(&mut self) -> Result<Archives> {
        let shingler = Shingler::new(&self.request.compare.text)?;
        let ids = self.request.old.read.id_field.is_some();
        let ingest = Ingest::new(shingler, &self.request.compare.spec, &Keep::First, ids)?;
        let mut made = self.saved(Stage::Against).map_or_else(Vec::new, |manifest| self.take_over(&manifest));
        let sources = std::mem::take(&mut self.sources.list);
        let n_corpora = sources.iter().filter(|source| matches!(source, Source::Corpus(_))).count();
        if made.len() != n_corpora {
            made = self.read_corpora(&sources, &ingest)?;
        }
        let (mut archives, mut made) = (Archives::default(), made.iter());
        for source in sources {
            let entry = match source {
                Source::Archive(segments) => {
                    segments.into_iter().for_each(|segment| archives.push(segment));
                    continue;
                }
                Source::Corpus(_) => made.next().expect("every corpus was read"),
            };
            archives.push(Segment::open(&self.folders.work, entry, self.ingest.spec(), self.banding())?);
        }
        if let (Search::Bands(banding), Measure::Jaccard) =
            (&self.request.compare.search, self.request.compare.measure)
        {
            archives.use_banding(banding, self.room())?;
        }
        Ok(archives)
    }

    /// What keys are made of sketches.
    pub(super) fn banding(&self) -> Option<Banding> {
        match self.request.compare.search {
            Search::Bands(banding) => Some(banding),
            Search::Exact => None,
        }
    }

    /// The segments that an interrupted run left.
    fn take_over(&mut self, manifest: &Manifest) -> Vec<SegmentEntry> {
        let count = |name: &str| manifest.counts().get(name).cloned().unwrap_or_default();
        let number = |name: &str| count(name).as_u64().unwrap_or(0);
        self.counts.against_rejected = number("rejected");
        self.counts.against_short = number("short");
        self.counts.against_empty = number("empty");
        serde_json::from_value(count("segments")).unwrap_or_default()
    }

    fn read_corpora(&mut self, sources: &[Source], ingest: &Ingest) -> Result<Vec<SegmentEntry>> {
        let mut manifest = Manifest::new(Stage::Against.name(), &self.fingerprint);
        let mut rejects = self.files.create(&self.folders.work.join(OLD_REJECTS))?;
        let mut entries: Vec<SegmentEntry> = Vec::new();
        for source in sources {
            if let Source::Corpus(path) = source {
                let name = format!("{}{}", super::output::OF_OLD, entries.len());
                entries.push(self.read_corpus(path, &name, ingest, &mut rejects)?);
            }
        }
        let rejects = rejects.commit()?;
        if self.saves && !entries.is_empty() {
            manifest.add_file(OLD_REJECTS, rejects);
            entries
                .iter()
                .flat_map(SegmentEntry::files)
                .for_each(|(name, stamp)| manifest.add_file(&name, stamp));
            manifest.set_count("segments", serde_json::to_value(&entries).unwrap_or_default());
            manifest.set_count("rejected", self.counts.against_rejected);
            manifest.set_count("short", self.counts.against_short);
            manifest.set_count("empty", self.counts.against_empty);
            manifest.save(self.files, &self.folders.work)?;
        }
        let bytes = |entry: &SegmentEntry| entry.files().map(|(_, stamp)| stamp.bytes).iter().sum::<u64>();
        self.spilled += entries.iter().map(bytes).sum::<u64>();
        Ok(entries)
    }

    fn read_corpus(
        &mut self,
        path: &Path,
        name: &str,
        ingest: &Ingest,
        rejects: &mut FileWriter,
    ) -> Result<SegmentEntry> {
        let reader = self.open_corpus(path)?;
        let shape = Shape { spec: ingest.spec(), banding: self.banding() };
        let mut rejected = 0;
        let (left, entry) = {
            let mut writer = SegmentWriter::create(&self.folders.work, name, shape, self.room())?;
            let left =
                archive::read_into(&mut writer, reader, ingest, self.request.resources.threads, |batch| {
                    if let (true, Some(reject)) = (self.request.strict, batch.rejects().first()) {
                        return Err(Error::Strict { reject: reject.to_string() });
                    }
                    rejected += batch.rejects().len() as u64;
                    let mut lines = Vec::new();
                    benzer_io::rewrite::reject_lines(batch, &mut lines);
                    rejects.append(&lines)?;
                    Self::check_cancelled(self.observer)
                })?;
            (left, writer.finish()?)
        };
        self.counts.against_rejected += rejected;
        self.counts.against_short += left.short;
        self.counts.against_empty += left.empty;
        Ok(entry)
    }
}

/// The right to add to an archive.
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
    let is_foreign = |name: &str| {
        let is_ours = name == "lock" || name.starts_with('.') || archive::is_segment_file(name);
        !is_ours
    };
    match entries.flatten().any(|entry| is_foreign(&entry.file_name().to_string_lossy())) {
        true => Err(Error::Occupied {
            path: folder.to_owned(),
            what: "other files and no archive; name a new folder for the archive",
        }),
        false => Ok(()),
    }
}
