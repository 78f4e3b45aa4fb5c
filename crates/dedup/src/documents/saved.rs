//! Rows in the work folder: one flat file for each column, rows one after the other, so that row `i` is where it must be. They are mapped, or loaded by a run that has room for them.
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
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::{Chunk, DocumentPlace, HeldRows, Layout, Row};
use benzer_core::hint::prefetch;
use benzer_flow::workers::in_parallel;
use benzer_io::Strings;
use benzer_io::read::Batch;
use benzer_storage::{self as files, FileWriter, Files, Manifest, MappedFile};

type Result<T> = files::Result<T>;

const PLACE: usize = 48;
/// The file of the texts, and what is there instead of it.
pub(crate) const TEXTS: &str = "texts.bin";
pub(crate) const BATCHES: &str = "batches.bin";
/// The other files.
const SKETCHES: &str = "sketches.bin";
const PLACES: &str = "places.bin";
const IDS: &str = "ids";
const KEYS: &str = "keys";

/// Rows that are together where they are loaded.
const CHUNK: u32 = 4096;

#[derive(Debug)]
pub(crate) struct RowsWriter {
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

impl RowsWriter {
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
            sketches: create(SKETCHES)?,
            places: create(PLACES)?,
            contents: create(contents)?,
            ids: layout.ids.then(|| strings(IDS)).transpose()?,
            keys: layout.keys.then(|| strings(KEYS)).transpose()?,
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

    /// Appends a batch that gave up its lines, or the texts of one that has them.
    pub fn append_contents(&mut self, batch: &Batch) -> Result<()> {
        if !batch.is_forgotten() {
            return self.append_texts(batch);
        }
        self.buffer.clear();
        batch.save(&mut self.buffer);
        self.contents.append(&self.buffer)
    }

    fn append_texts(&mut self, batch: &Batch) -> Result<()> {
        for i in 0..batch.n_documents() {
            let mut outcome = Ok(());
            batch.with_text(i, &mut |text| outcome = self.contents.append(text.as_bytes()));
            outcome?;
        }
        Ok(())
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

/// Rows that are memory of the system.
#[derive(Debug)]
pub(crate) struct SavedRows {
    pub layout: Layout,
    sketches: MappedFile,
    places: MappedFile,
    ids: SavedStrings,
    keys: SavedStrings,
    pub n: u32,
}

/// Strings of all rows one after the other, and where each ends; nothing where there are none.
#[derive(Debug)]
struct SavedStrings(Option<(MappedFile, MappedFile)>);

impl SavedRows {
    /// Maps the files of a manifest, after their checksums were compared unless that was done.
    pub fn open(folder: &Path, layout: Layout, manifest: &Manifest, threads: usize) -> Result<Self> {
        let strings = |name: &'static str, is_there: bool| {
            let names = [format!("{name}.bin"), format!("{name}.end")];
            names.into_iter().filter(move |_| is_there)
        };
        let names: Vec<String> = [SKETCHES, PLACES]
            .map(String::from)
            .into_iter()
            .chain(strings(IDS, layout.ids))
            .chain(strings(KEYS, layout.keys))
            .collect();
        let open = |i: usize, (): &mut ()| {
            let path = folder.join(&names[i]);
            match manifest.files().iter().find(|file| file.name == names[i]) {
                Some(file) => MappedFile::open_checked(&path, &file.stamp),
                None => Err(files::Error::damaged(path, "a file that the manifest names", "another")),
            }
        };
        let files: Result<Vec<_>> = in_parallel(names.len(), threads, || (), open).into_iter().collect();
        let mut files = files?.into_iter();
        let mut next = || files.next().expect("a file for each name");
        let (sketches, places) = (next(), next());
        let mut strings = |is_there: bool| SavedStrings(is_there.then(|| (next(), next())));
        let (ids, keys) = (strings(layout.ids), strings(layout.keys));
        Ok(Self { layout, n: (places.bytes().len() / PLACE) as u32, sketches, places, ids, keys })
    }

    #[inline]
    pub fn words(&self, row: Row) -> &[u64] {
        &self.sketches.words()[self.word(row)..][..self.layout.words]
    }

    #[inline]
    fn word(&self, row: Row) -> usize {
        row.index() * self.layout.words
    }

    #[inline]
    fn row(&self, row: Row) -> (u128, DocumentPlace) {
        decode(&self.places.bytes().as_chunks().0[row.index()])
    }

    #[inline]
    pub fn place(&self, row: Row) -> DocumentPlace {
        self.row(row).1
    }

    #[inline]
    pub fn hash(&self, row: Row) -> u128 {
        self.row(row).0
    }

    #[inline]
    pub fn prefetch_place(&self, row: Row) {
        prefetch(self.places.bytes(), row.index() * PLACE);
    }

    #[inline]
    pub fn prefetch_words(&self, row: Row) {
        let words = self.word(row)..self.word(row) + self.layout.words;
        words.step_by(8).for_each(|word| prefetch(self.sketches.words(), word));
    }

    #[inline]
    pub fn id(&self, row: Row) -> &[u8] {
        self.ids.get(row)
    }

    #[inline]
    pub fn key(&self, row: Row) -> &[u8] {
        self.keys.get(row)
    }

    /// Bytes of memory that they would take, about.
    pub fn bytes(&self) -> u64 {
        let strings = [&self.ids, &self.keys].into_iter().filter_map(|strings| strings.0.as_ref());
        let files = strings.flat_map(|(bytes, ends)| [bytes, ends]).chain([&self.sketches, &self.places]);
        files.map(|file| file.bytes().len() as u64).sum()
    }

    /// All of them into memory.
    pub fn load(&self, threads: usize) -> HeldRows {
        let n_chunks = self.n.div_ceil(CHUNK) as usize;
        let chunk = |i: usize, (): &mut ()| {
            let start = i as u32 * CHUNK;
            self.chunk(Row(start)..Row(self.n.min(start + CHUNK)))
        };
        let mut rows = HeldRows::new(self.layout);
        in_parallel(n_chunks, threads, || (), chunk).into_iter().for_each(|chunk| rows.push(chunk));
        rows
    }

    fn chunk(&self, rows: Range<Row>) -> Chunk {
        let words = self.word(rows.start)..self.word(rows.end);
        let all = (rows.start.0..rows.end.0).map(|row| self.row(Row(row)));
        let (hashes, places) = all.unzip();
        Chunk {
            words: self.sketches.words()[words].to_vec(),
            hashes,
            places,
            ids: self.ids.load(rows.clone()),
            keys: self.keys.load(rows),
        }
    }
}

impl SavedStrings {
    fn get(&self, row: Row) -> &[u8] {
        let Some((bytes, ends)) = &self.0 else { return &[] };
        let ends = ends.words();
        // The first row begins at zero, which is not written anywhere.
        let start = row.index().checked_sub(1).map_or(0, |before| ends[before]);
        &bytes.bytes()[start as usize..ends[row.index()] as usize]
    }

    fn load(&self, rows: Range<Row>) -> Strings {
        let mut strings = Strings::default();
        if self.0.is_some() {
            (rows.start.0..rows.end.0).for_each(|row| strings.push(self.get(Row(row))));
            strings.shrink_to_fit();
        }
        strings
    }
}

/// The texts on disk.
#[derive(Debug)]
pub(crate) struct SavedTexts {
    file: File,
    path: PathBuf,
}

impl SavedTexts {
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(TEXTS);
        match File::open(&path) {
            Ok(file) => Ok(Self { file, path }),
            Err(error) => Err(files::Error::disk("read", path, error)),
        }
    }

    pub fn text(&self, place: &DocumentPlace) -> Result<Vec<u8>> {
        let mut bytes = vec![0; place.text_bytes as usize];
        let read = self.file.read_exact_at(&mut bytes, place.offset);
        read.map(|()| bytes).map_err(|error| files::Error::disk("read", &self.path, error))
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
