//! How an archive grows: by a segment, into which small ones before it are taken.

use std::path::{Path, PathBuf};

use super::Entry;
use super::manifest::{Added, Manifest, SegmentEntry};
use super::part::is_segment_file;
use super::segment::Segment;
use super::writer::{SegmentWriter, Shape};
use crate::error::{Error, Result};
use benzer_flow::Workspace;
use benzer_storage::{Files, Stamp};

/// An archive to which documents are being added. Its folder is locked, or nobody else's.
pub(crate) struct Growth<'a> {
    folder: &'a Path,
    files: &'a Files,
    manifest: Manifest,
    /// Segments that become part of the new one.
    taken: Vec<SegmentEntry>,
    writer: Option<SegmentWriter<'a>>,
}

impl<'a> Growth<'a> {
    /// Begins a segment for `n` documents.
    pub fn begin(
        folder: &'a Path,
        mut manifest: Manifest,
        n: u64,
        shape: Shape<'a>,
        workspace: Workspace<'a>,
    ) -> Result<Self> {
        workspace.files.remove_leftovers(folder)?;
        remove_unnamed(workspace.files, folder, &manifest)?;
        let taken = manifest.segments.split_off(manifest.segments.len() - n_taken(&manifest.segments, n));
        let mut writer = None;
        if n > 0 {
            let name = format!("{:06}", manifest.next);
            let shape = Shape { banding: manifest.banding, ..shape };
            let mut new = SegmentWriter::create(folder, &name, shape, workspace)?;
            for entry in &taken {
                new.copy(&Segment::open(folder, entry, shape.spec, shape.banding)?)?;
            }
            writer = Some(new);
        }
        Ok(Self { folder, files: workspace.files, manifest, taken, writer })
    }

    /// Adds a document, of as many as were announced.
    pub fn push(&mut self, entry: &Entry<'_>) -> Result<()> {
        self.writer.as_mut().map_or(Ok(()), |writer| writer.push(entry))
    }

    /// Makes the new segment part of the archive, and gives the files that are in it now.
    pub fn finish(mut self, added: Added) -> Result<Vec<(PathBuf, Stamp)>> {
        if let Some(writer) = self.writer.take() {
            self.manifest.segments.push(writer.finish()?);
            self.manifest.next += 1;
        }
        self.manifest.runs.push(added);
        let manifest = self.manifest.save(self.files, self.folder)?;
        // Whoever reads them now has them open.
        for (name, _) in self.taken.iter().flat_map(SegmentEntry::files) {
            self.files.remove(&self.folder.join(name))?;
        }
        let files = self.manifest.segments.iter().flat_map(SegmentEntry::files);
        Ok(files.map(|(name, stamp)| (name.into(), stamp)).chain([manifest]).collect())
    }
}

/// Removes the files of segments that a run left when it was ended in the middle.
pub(crate) fn remove_unnamed(files: &Files, folder: &Path, manifest: &Manifest) -> Result<()> {
    let named: Vec<String> =
        manifest.segments.iter().flat_map(SegmentEntry::files).map(|(name, _)| name).collect();
    let entries = std::fs::read_dir(folder).map_err(|error| Error::open(folder, error))?;
    for name in entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()) {
        if is_segment_file(&name) && !named.contains(&name) {
            files.remove(&folder.join(name))?;
        }
    }
    Ok(())
}

/// How many of the last segments a new one of `n` documents takes into itself.
fn n_taken(segments: &[SegmentEntry], n: u64) -> usize {
    let mut all = n;
    let small = segments.iter().rev().take_while(|segment| {
        let is_small = u64::from(segment.documents) < 2 * all
            && all + u64::from(segment.documents) <= u64::from(u32::MAX);
        all += u64::from(segment.documents);
        is_small
    });
    small.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_stay_few_and_documents_are_copied_rarely() {
        let stamp = Stamp { bytes: 0, checksum: 0 };
        let entry = |documents| SegmentEntry {
            name: String::new(),
            documents,
            rows: stamp,
            contents: stamp,
            keys: stamp,
        };
        let (mut segments, mut max, mut copied) = (vec![entry(100_000)], 0, 0);
        for _ in 0..10_000 {
            let taken = segments.split_off(segments.len() - n_taken(&segments, 200));
            let old: u32 = taken.iter().map(|segment| segment.documents).sum();
            copied += u64::from(old);
            segments.push(entry(old + 200));
            max = max.max(segments.len());
        }
        assert_eq!(segments.iter().map(|segment| segment.documents).sum::<u32>(), 2_100_000);
        assert!(max <= 14, "{max} segments");
        assert!(copied <= 14 * 2_100_000, "{copied} documents");
        assert_eq!(n_taken(&[entry(5), entry(3)], 0), 0);
    }
}
