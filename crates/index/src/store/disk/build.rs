//! Making segments, on the heap or in a file.

use std::fs::File;
use std::path::{Path, PathBuf};

use benzer_core::hash;

use super::block::Rows;
use super::directory::{Built, Place};
use super::files::{self, Files};
use super::map::{Words, bytes};
use super::segment::{CHECKED, End, HEADER, MAGIC, Segment, Shape, id_key};
use super::trouble;
use crate::error::{Error, Result};
use crate::record::DocNo;
use crate::settings::Layout;

/// Keys that are held at a time; the records are read again for every few bands of a large segment.
const HELD: usize = 24_000_000;
/// Words of a write: two MiB, which the kernel can keep, and map, as one large page.
const WRITTEN: usize = 2 * CHECKED;
/// Words between syncs: a sync at the end of a large file would keep those of the log waiting.
const BETWEEN: usize = 4 << 20;

/// Records of which a segment is made, in the order of their numbers.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub rows: &'a Rows,
    pub numbers: &'a [DocNo],
    pub places: &'a [u64],
    /// The stretch of the log.
    pub from: usize,
    pub to: End,
}

/// How the collection of a segment is laid out, and what tells it from others.
#[derive(Debug, Clone, Copy)]
pub(super) struct SegmentFormat<'a> {
    pub layout: &'a Layout,
    pub fingerprint: u64,
}

/// Builds a segment on the heap.
pub(super) fn on_heap(source: &Source<'_>, format: SegmentFormat<'_>) -> Result<Segment> {
    let mut out = Out { words: Vec::new(), file: None };
    let shape = write(source, format, &mut out)?;
    Ok(Segment::new(shape, Words::Heap(out.words), None))
}

/// Builds a segment in a file, which is durable when it returns.
pub(super) fn in_file(
    source: &Source<'_>,
    format: SegmentFormat<'_>,
    files: &dyn Files,
    path: &Path,
) -> Result<Segment> {
    let file = files.create(path).map_err(trouble("make", path))?;
    let target = Target { files, path: path.into(), file, written: 0, synced: 0, checksums: Vec::new() };
    let mut out = Out { words: Vec::new(), file: Some(target) };
    let written = write(source, format, &mut out).and_then(|shape| out.finish(shape));
    if let Err(error) = written {
        files.remove(path).ok();
        return Err(error);
    }
    Segment::open(path, format.fingerprint, format.layout)
}

fn write(
    source: &Source<'_>,
    SegmentFormat { layout, fingerprint }: SegmentFormat<'_>,
    out: &mut Out<'_>,
) -> Result<Shape> {
    let n = source.numbers.len();
    let (first, last) = (source.numbers.first().copied(), source.numbers.last().copied());
    let (first, last) = (first.unwrap_or_default(), last.unwrap_or_default());
    let is_dense = last.places_after(first) + 1 == n;
    out.put(&[MAGIC, fingerprint])?;
    let numbers = if is_dense { None } else { Some(out.put_bytes(bytes(source.numbers))?) };
    let places = out.put(source.places)?;
    let mut directories = Vec::with_capacity(layout.bands() + 1);
    let mut built = Built::default();
    let mut soonest = 0;
    let together = (HELD / n.max(1)).clamp(1, layout.bands().max(1));
    let mut keys = vec![(Vec::<u64>::new(), Vec::<u32>::new()); together];
    for first in (0..layout.bands()).step_by(together) {
        let bands = first..layout.bands().min(first + together);
        gather(source, layout, bands.clone(), &mut keys)?;
        for (keys, locals) in &keys[..bands.len()] {
            match locals.is_empty() {
                true => built.fill(keys, 0..),
                false => built.fill(keys, locals.iter().copied()),
            }
            directories.push(out.directory(&built)?);
        }
    }
    let (keys, _) = &mut keys[0];
    keys.clear();
    for place in source.places {
        let record = source.rows.get(*place as usize).ok_or_else(out_of_log)?.record;
        keys.push(id_key(record.id));
        if record.expires > 0 && (soonest == 0 || record.expires < soonest) {
            soonest = record.expires;
        }
    }
    built.fill(keys, 0..);
    directories.push(out.directory(&built)?);
    let salt = source.rows.salt;
    let (from, to, words) = (source.from, source.to, out.at());
    let checksums = Vec::new();
    Ok(Shape { n, first, last, numbers, places, directories, salt, from, to, soonest, words, checksums })
}

/// The keys of some bands, and the local numbers of records that have them.
fn gather(
    source: &Source<'_>,
    layout: &Layout,
    bands: std::ops::Range<usize>,
    keys: &mut [(Vec<u64>, Vec<u32>)],
) -> Result<()> {
    for (keys, locals) in keys.iter_mut() {
        keys.clear();
        locals.clear();
        keys.reserve(source.places.len());
    }
    for (place, local) in source.places.iter().zip(0..) {
        let words = source.rows.words(*place as usize).ok_or_else(out_of_log)?;
        for (band, (keys, locals)) in bands.clone().zip(&mut *keys) {
            let Some(key) = layout.key(words, band) else { continue };
            keys.push(key);
            // As long as no key is missing, the place of a key is its local number.
            if keys.len() as u32 != local + 1 {
                if locals.is_empty() {
                    locals.extend(0..keys.len() as u32 - 1);
                }
                locals.push(local);
            }
        }
    }
    Ok(())
}

fn out_of_log() -> Error {
    Error::damaged("", "a place is not in the log")
}

/// Where the words of a segment go.
struct Out<'a> {
    /// All of them, or those that are not written yet.
    words: Vec<u64>,
    file: Option<Target<'a>>,
}

struct Target<'a> {
    files: &'a dyn Files,
    path: PathBuf,
    file: File,
    /// Words.
    written: usize,
    synced: usize,
    checksums: Vec<u64>,
}

impl Out<'_> {
    /// Words so far.
    fn at(&self) -> usize {
        self.words.len() + self.file.as_ref().map_or(0, |file| file.written)
    }

    /// Appends words; where they begin.
    fn put(&mut self, words: &[u64]) -> Result<usize> {
        self.put_bytes(bytes(words))
    }

    /// Appends bytes, filled up to eight; where they begin.
    fn put_bytes(&mut self, bytes: &[u8]) -> Result<usize> {
        let at = self.at();
        let (chunks, rest) = bytes.as_chunks();
        self.words.extend(chunks.iter().map(|chunk| u64::from_le_bytes(*chunk)));
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.words.push(u64::from_le_bytes(last));
        }
        self.flush(WRITTEN)?;
        Ok(at)
    }

    fn directory(&mut self, built: &Built) -> Result<Place> {
        let buckets = self.put(&built.buckets)?;
        let postings = self.put_bytes(bytes(built.postings.as_flattened()))?;
        Ok(Place { buckets, postings, n: built.postings.len(), bits: built.bits })
    }

    /// Writes whole stretches to the file, as long as there are so many words.
    fn flush(&mut self, min: usize) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let n = match min {
            WRITTEN => self.words.len() / WRITTEN * WRITTEN,
            _ => self.words.len(),
        };
        if n == 0 {
            return Ok(());
        }
        for stretch in self.words[..n].chunks(CHECKED) {
            file.checksums.push(hash::element(bytes(stretch)));
        }
        file.append(&self.words[..n])?;
        self.words.drain(..n);
        Ok(())
    }

    fn finish(mut self, mut shape: Shape) -> Result<()> {
        self.flush(0)?;
        let Some(mut file) = self.file else { return Ok(()) };
        shape.checksums = std::mem::take(&mut file.checksums);
        let mut footer = serde_json::to_vec(&shape).expect("a shape can always be written");
        let end = [footer.len() as u64, hash::element(&footer)];
        footer.resize(footer.len().next_multiple_of(8), 0);
        let (words, _) = footer.as_chunks();
        let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).chain(end).collect();
        file.append(&words)?;
        file.files.sync(&file.path, &file.file).map_err(trouble("sync", &file.path))?;
        files::sync_folder_of(file.files, &file.path).map_err(trouble("sync", &file.path))
    }
}

impl Target<'_> {
    fn append(&mut self, words: &[u64]) -> Result<()> {
        self.files
            .write(&self.path, &self.file, 8 * self.written as u64, bytes(words))
            .map_err(trouble("write", &self.path))?;
        self.written += words.len();
        if self.written - self.synced >= BETWEEN {
            self.files.sync(&self.path, &self.file).map_err(trouble("sync", &self.path))?;
            self.synced = self.written;
        }
        Ok(())
    }
}

const _: () = assert!(HEADER == 2, "the header is the magic and the fingerprint");
