//! The table on disk: one flat file for each column, rows one after the other, so that row `i` is where it must be.
//!
//! ```text
//! sketches.bin   the words of each sketch
//! places.bin     hash of the text (16 bytes), line, offset (8 each), input, text bytes, shingles, minimum (4 each)
//! texts.bin      the texts, one after the other; a place's offset says where
//! batches.bin    instead of texts that can be read again: where they are in the inputs, batch by batch
//! ids.bin        the ids, one after the other         ids.end    where each ends (8 bytes)
//! keys.bin       the policy keys, one after the other keys.end   where each ends
//! ```
//!
//! All integers are little-endian. Checksums of whole files are in the manifest of the stage.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::{Chunk, DocumentPlace, Layout, Row, RowTable};
use benzer_flow::workers::in_parallel;
use benzer_io::Strings;
use benzer_io::read::Batch;
use benzer_storage::{self as files, FileWriter, Files, Manifest};

type Result<T> = files::Result<T>;

const PLACE: usize = 48;
/// The file of the texts, and what is there instead of it.
pub(crate) const TEXTS: &str = "texts.bin";
pub(crate) const BATCHES: &str = "batches.bin";
/// Rows that are read ahead when all are wanted.
const AHEAD: usize = 4096;

#[derive(Debug)]
pub(crate) struct DiskRowWriter {
    sketches: FileWriter,
    places: FileWriter,
    /// Texts or batches.
    contents: FileWriter,
    ids: Option<StringsWriter>,
    keys: Option<StringsWriter>,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct StringsWriter {
    bytes: FileWriter,
    ends: FileWriter,
}

impl DiskRowWriter {
    /// `contents` is the file of the texts, or that of the batches.
    pub fn create(files: &Files, folder: &Path, layout: Layout, contents: &str) -> Result<Self> {
        let create = |name: &str| files.create(&folder.join(name));
        let strings = |name: &str| -> Result<_> {
            Ok(StringsWriter {
                bytes: create(&format!("{name}.bin"))?,
                ends: create(&format!("{name}.end"))?,
            })
        };
        Ok(Self {
            sketches: create("sketches.bin")?,
            places: create("places.bin")?,
            contents: create(contents)?,
            ids: layout.ids.then(|| strings("ids")).transpose()?,
            keys: layout.keys.then(|| strings("keys")).transpose()?,
            buffer: Vec::new(),
        })
    }

    /// Appends rows, before their texts, which go separately.
    pub fn append(&mut self, rows: &Chunk) -> Result<()> {
        let (buffer, first_text) = (&mut self.buffer, self.contents.bytes());
        buffer.resize(8 * rows.words.len(), 0);
        let words = buffer.as_chunks_mut().0.iter_mut().zip(&rows.words);
        words.for_each(|(bytes, word)| *bytes = word.to_le_bytes());
        self.sketches.append(buffer)?;
        buffer.clear();
        for (hash, place) in rows.hashes.iter().zip(&rows.places) {
            buffer.extend(hash.to_le_bytes());
            [place.line, first_text + place.offset]
                .iter()
                .for_each(|number| buffer.extend(number.to_le_bytes()));
            [place.input, place.text_bytes, place.shingles, place.minimum]
                .iter()
                .for_each(|number| buffer.extend(number.to_le_bytes()));
        }
        self.places.append(buffer)?;
        for (writer, strings) in [(&mut self.ids, &rows.ids), (&mut self.keys, &rows.keys)] {
            if let Some(writer) = writer {
                writer.append(strings, buffer)?;
            }
        }
        Ok(())
    }

    /// Appends the texts of a batch that has its lines.
    pub fn append_texts(&mut self, batch: &Batch) -> Result<()> {
        for i in 0..batch.n_documents() {
            let mut outcome = Ok(());
            batch.with_text(i, &mut |text| outcome = self.contents.append(text.as_bytes()));
            outcome?;
        }
        Ok(())
    }

    /// Appends a batch whose lines can be read again.
    pub fn append_batch(&mut self, batch: &Batch) -> Result<()> {
        self.buffer.clear();
        batch.save(&mut self.buffer);
        self.contents.append(&self.buffer)
    }

    /// Puts all files in their places and names them in the manifest; false if nobody wants that any more, which is asked before each.
    pub fn commit(self, manifest: &mut Manifest, is_wanted: impl Fn() -> bool) -> Result<bool> {
        let Self { sketches, places, contents, ids, keys, .. } = self;
        let strings = ids.into_iter().chain(keys).flat_map(|strings| [strings.bytes, strings.ends]);
        for file in [sketches, places, contents].into_iter().chain(strings) {
            if !is_wanted() {
                return Ok(false);
            }
            let name = file.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
            manifest.add_file(&name, file.commit()?);
        }
        Ok(true)
    }
}

impl StringsWriter {
    fn append(&mut self, strings: &Strings, buffer: &mut Vec<u8>) -> Result<()> {
        let start = self.bytes.bytes();
        buffer.clear();
        strings.ends.iter().for_each(|end| buffer.extend((start + u64::from(*end)).to_le_bytes()));
        self.ends.append(buffer)?;
        self.bytes.append(&strings.bytes)
    }
}

#[derive(Debug)]
pub(crate) struct DiskRowTable {
    layout: Layout,
    sketches: Column,
    places: Column,
    ids: Option<StringsColumn>,
    keys: Option<StringsColumn>,
    pub n: u32,
}

#[derive(Debug)]
struct Column {
    file: File,
    path: PathBuf,
}

impl Column {
    fn open(folder: &Path, name: &str) -> Result<Self> {
        let path = folder.join(name);
        match File::open(&path) {
            Ok(file) => Ok(Self { file, path }),
            Err(error) => Err(files::Error::disk("read", path, error)),
        }
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(into, offset).map_err(|error| files::Error::disk("read", &self.path, error))
    }
}

/// Strings of all rows one after the other, and where each ends.
#[derive(Debug)]
struct StringsColumn {
    bytes: Column,
    ends: Column,
}

impl DiskRowTable {
    pub fn open(folder: &Path, layout: Layout) -> Result<Self> {
        let open = |name: &str| Column::open(folder, name);
        let strings = |name: &str| -> Result<_> {
            Ok(StringsColumn { bytes: open(&format!("{name}.bin"))?, ends: open(&format!("{name}.end"))? })
        };
        let places = open("places.bin")?;
        let bytes =
            places.file.metadata().map_err(|error| files::Error::disk("read", &places.path, error))?.len();
        Ok(Self {
            layout,
            sketches: open("sketches.bin")?,
            ids: layout.ids.then(|| strings("ids")).transpose()?,
            keys: layout.keys.then(|| strings("keys")).transpose()?,
            n: (bytes / PLACE as u64) as u32,
            places,
        })
    }

    pub fn words(&self, rows: Range<Row>, words: &mut Vec<u64>) -> Result<()> {
        let rows = rows.start.0..rows.end.0;
        let row_bytes = 8 * self.layout.words;
        let mut bytes = vec![0; AHEAD.min(rows.len()) * row_bytes];
        words.clear();
        for start in rows.clone().step_by(AHEAD) {
            let bytes = &mut bytes[..(rows.end - start).min(AHEAD as u32) as usize * row_bytes];
            self.sketches.read_at(u64::from(start) * row_bytes as u64, bytes)?;
            words.extend(bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)));
        }
        Ok(())
    }

    pub fn row(&self, row: Row) -> Result<(u128, DocumentPlace)> {
        let mut bytes = [0; PLACE];
        self.places.read_at(u64::from(row.0) * PLACE as u64, &mut bytes)?;
        Ok(decode(&bytes))
    }

    pub fn rows(&self) -> Result<impl Iterator<Item = Result<(u128, DocumentPlace)>> + use<'_>> {
        let file = File::open(&self.places.path)
            .map_err(|error| files::Error::disk("read", &self.places.path, error))?;
        let mut file = std::io::BufReader::with_capacity(AHEAD * PLACE, file);
        Ok((0..self.n).map(move |_| {
            let mut bytes = [0; PLACE];
            file.read_exact(&mut bytes)
                .map_err(|error| files::Error::disk("read", &self.places.path, error))?;
            Ok(decode(&bytes))
        }))
    }

    /// All rows into memory, in chunks of so many.
    pub fn load(&self, lengths: &[u32], threads: usize) -> Result<RowTable> {
        let ends = lengths.iter().scan(0, |end, n| {
            *end += n;
            Some(*end)
        });
        let ends: Vec<u32> = ends.collect();
        let chunk =
            |i: usize, bytes: &mut Vec<u8>| self.chunk(Row(ends[i] - lengths[i])..Row(ends[i]), bytes);
        let mut table = RowTable::new(self.layout);
        for chunk in in_parallel(lengths.len(), threads, Vec::new, chunk) {
            table.push(chunk?);
        }
        Ok(table)
    }

    fn chunk(&self, rows: Range<Row>, bytes: &mut Vec<u8>) -> Result<Chunk> {
        let n = (rows.end.0 - rows.start.0) as usize;
        let mut chunk = Chunk::with_capacity(n, self.layout);
        chunk.words.reserve_exact(n * self.layout.words);
        self.words(rows.clone(), &mut chunk.words)?;
        bytes.resize(n * PLACE, 0);
        self.places.read_at(u64::from(rows.start.0) * PLACE as u64, bytes)?;
        for (hash, place) in bytes.as_chunks().0.iter().map(decode) {
            chunk.hashes.push(hash);
            chunk.places.push(place);
        }
        if let Some(ids) = &self.ids {
            chunk.ids = ids.load(rows.clone())?;
        }
        if let Some(keys) = &self.keys {
            chunk.keys = keys.load(rows)?;
        }
        Ok(chunk)
    }

    pub fn id(&self, row: Row) -> Result<Option<Vec<u8>>> {
        self.ids.as_ref().map(|ids| ids.get(row)).transpose()
    }

    pub fn key(&self, row: Row) -> Result<Vec<u8>> {
        self.keys.as_ref().map_or(Ok(Vec::new()), |keys| keys.get(row))
    }
}

/// The texts on disk.
#[derive(Debug)]
pub(crate) struct SavedTexts(Column);

impl SavedTexts {
    pub fn open(folder: &Path) -> Result<Self> {
        Column::open(folder, TEXTS).map(Self)
    }

    pub fn text(&self, place: &DocumentPlace) -> Result<Vec<u8>> {
        let mut bytes = vec![0; place.text_bytes as usize];
        self.0.read_at(place.offset, &mut bytes)?;
        Ok(bytes)
    }
}

impl StringsColumn {
    fn get(&self, row: Row) -> Result<Vec<u8>> {
        let mut both = [0; 16];
        // The first row begins at zero, which is not written anywhere.
        let (from, first) = if row == Row(0) { (8, 0) } else { (0, u64::from(row.0 - 1) * 8) };
        self.ends.read_at(first, &mut both[from..])?;
        let [start, end] =
            [0, 8].map(|i: usize| u64::from_le_bytes(both[i..i + 8].try_into().expect("eight bytes")));
        let mut string = vec![0; end.saturating_sub(start) as usize];
        self.bytes.read_at(start, &mut string)?;
        Ok(string)
    }

    fn load(&self, rows: Range<Row>) -> Result<Strings> {
        // The first row begins at zero, which is not written anywhere.
        let n_before = usize::from(rows.start != Row(0));
        let mut ends = vec![0; 8 * (n_before + (rows.end.0 - rows.start.0) as usize)];
        self.ends.read_at(8 * (u64::from(rows.start.0) - n_before as u64), &mut ends)?;
        let ends: Vec<u64> = ends.as_chunks().0.iter().map(|end| u64::from_le_bytes(*end)).collect();
        let start = if n_before == 1 { ends[0] } else { 0 };
        let mut bytes = vec![0; (ends.last().unwrap_or(&start) - start) as usize];
        self.bytes.read_at(start, &mut bytes)?;
        Ok(Strings { bytes, ends: ends[n_before..].iter().map(|end| (end - start) as u32).collect() })
    }
}

fn decode(bytes: &[u8; PLACE]) -> (u128, DocumentPlace) {
    let long = |i: usize| u64::from_le_bytes(bytes[i..i + 8].try_into().expect("eight bytes"));
    let short = |i: usize| u32::from_le_bytes(bytes[i..i + 4].try_into().expect("four bytes"));
    let hash = u128::from(long(8)) << 64 | u128::from(long(0));
    (
        hash,
        DocumentPlace {
            line: long(16),
            offset: long(24),
            input: short(32),
            text_bytes: short(36),
            shingles: short(40),
            minimum: short(44),
        },
    )
}
