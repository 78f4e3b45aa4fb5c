//! Reading a sketch file, one checked block at a time.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use benzer_core::{hash::element, sketch::Sketch};
use benzer_io::read::DocumentId;

use super::error::{Error, Place, Result};
use super::format::{
    BLOCK, BLOCK_START, Bytes, CHECKSUM, Counts, FOOTER, FOOTER_REST, FORMAT_VERSION, Header, Ids, MAGIC,
    Refusal, refuse,
};

/// Reads a sketch file from front to back. It is whole if and only if [`SketchReader::next_block`] comes to `None`.
#[derive(Debug)]
pub struct SketchReader<R> {
    path: PathBuf,
    source: R,
    header: Header,
    counts: Counts,
    done: bool,
}

/// Consecutive records, all of them checked.
#[derive(Debug)]
pub struct Block {
    bytes: Vec<u8>,
    rows: Vec<Row>,
}

/// A record, as offsets.
#[derive(Debug)]
struct Row {
    id: RowId,
    size: f64,
    words: std::ops::Range<usize>,
}

#[derive(Debug)]
enum RowId {
    Field(std::ops::Range<usize>),
    Row { input: u32, row: u64 },
}

/// One document of a sketch file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Record<'a> {
    /// Its id; [`Header::name`] says it in words.
    pub id: DocumentId<'a>,
    /// The size of its set.
    pub size: f64,
    words: &'a [u8],
}

impl SketchReader<BufReader<File>> {
    /// Opens a sketch file.
    ///
    /// # Errors
    /// A file that cannot be read, is not a sketch file, of another version, or damaged in its header.
    pub fn open(path: &Path) -> Result<Self> {
        if path.is_dir() {
            return Err(Error::read(path, std::io::ErrorKind::IsADirectory.into()));
        }
        let file = File::open(path).map_err(|error| Error::read(path, error))?;
        Self::new(path, BufReader::with_capacity(1 << 16, file))
    }
}

impl<R: Read> SketchReader<R> {
    /// Reads a sketch file from any source of bytes; `path` is its name in messages.
    ///
    /// # Errors
    /// As [`SketchReader::open`].
    pub fn new(path: &Path, mut source: R) -> Result<Self> {
        let header = read_header(path, &mut source)?;
        Ok(Self { path: path.into(), source, header, counts: Counts::default(), done: false })
    }

    /// Spec and kind of ids.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What was read so far; after the last block, what the file holds.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The next block, or `None` after the last one of a whole file. After an error there is nothing more to read.
    ///
    /// # Errors
    /// A file that is truncated or damaged, or cannot be read.
    pub fn next_block(&mut self) -> Result<Option<Block>> {
        if self.done {
            return Ok(None);
        }
        self.done = true;
        let place = Place::Block(self.counts.blocks);
        let tag = self.take(1, place)?;
        match tag[0] {
            BLOCK => {
                let block = self.block(place)?;
                self.done = false;
                Ok(Some(block))
            }
            FOOTER => self.footer().map(|()| None),
            other => Err(self.damaged(place)(("a block (1) or the footer (2)".into(), other.to_string()))),
        }
    }

    fn block(&mut self, place: Place) -> Result<Block> {
        let mut bytes = vec![BLOCK];
        bytes.extend(self.take(BLOCK_START - 1, place)?);
        let mut start = Bytes(&bytes[1..]);
        let numbers = (start.u64(), start.u32(), start.u32());
        let (Ok(number), Ok(n_records), Ok(n_bytes)) = numbers else {
            unreachable!("the start of a block was taken whole")
        };
        bytes.extend(self.take(n_bytes as usize, place)?);
        self.check(&bytes, place)?;
        if number != self.counts.blocks {
            let expected = format!("block number {}", self.counts.blocks);
            return Err(self.damaged(place)((expected, number.to_string())));
        }
        let block = rows(&self.header, bytes, n_records).map_err(self.damaged(place))?;
        self.counts.blocks += 1;
        self.counts.records += u64::from(n_records);
        self.counts.empty += block.rows.iter().filter(|row| row.size == 0.0).count() as u64;
        Ok(block)
    }

    fn footer(&mut self) -> Result<()> {
        let mut bytes = vec![FOOTER];
        bytes.extend(self.take(FOOTER_REST - CHECKSUM, Place::Footer)?);
        self.check(&bytes, Place::Footer)?;
        let expected = self.counts.encode();
        if bytes != expected[..bytes.len()] {
            let seen = self.counts;
            let expected = format!("{} blocks with {} records", seen.blocks, seen.records);
            return Err(self.damaged(Place::Footer)((expected, "other counts".into())));
        }
        match self.read(1)?.len() {
            0 => Ok(()),
            _ => Err(self.damaged(Place::Footer)(("the end of the file".into(), "more bytes".into()))),
        }
    }

    /// Reads the checksum of a part and compares it.
    fn check(&mut self, part: &[u8], place: Place) -> Result<()> {
        let stored = self.take(CHECKSUM, place)?;
        checked(part, &stored).map_err(self.damaged(place))
    }

    fn take(&mut self, n: usize, place: Place) -> Result<Vec<u8>> {
        let bytes = self.read(n)?;
        if bytes.len() < n {
            let got = format!("the end of the file after {} of them", bytes.len());
            return Err(self.damaged(place)((format!("{n} more bytes"), got)));
        }
        Ok(bytes)
    }

    fn read(&mut self, n: usize) -> Result<Vec<u8>> {
        read(&mut self.source, n).map_err(|error| Error::read(&self.path, error))
    }

    fn damaged(&self, place: Place) -> impl Fn(Refusal) -> Error + use<R> {
        damaged(&self.path, place)
    }
}

impl Block {
    /// Its records, in the order of the documents.
    pub fn records(&self) -> impl ExactSizeIterator<Item = Record<'_>> {
        self.rows.iter().map(|row| {
            let id = match &row.id {
                RowId::Field(range) => {
                    let id = std::str::from_utf8(&self.bytes[range.clone()]);
                    DocumentId::Field(id.expect("it was checked when the block was read"))
                }
                &RowId::Row { input, row } => DocumentId::Row { input, row },
            };
            Record { id, size: row.size, words: &self.bytes[row.words.clone()] }
        })
    }
}

impl<'a> Record<'a> {
    /// The words of the sketch.
    pub fn words(&self) -> impl ExactSizeIterator<Item = u64> + use<'a> {
        self.words.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word))
    }

    /// The sketch.
    ///
    /// # Errors
    /// Words that no sketch of this spec can have.
    pub fn sketch(&self, header: &Header) -> Result<Sketch> {
        Ok(Sketch::from_parts(Arc::new(header.spec.clone()), self.size, self.words().collect())?)
    }
}

/// Reads a whole sketch file and says what is wrong with it, if anything; nothing if the file is something else.
///
/// # Errors
/// A file that cannot be opened.
pub fn check(path: &Path) -> benzer_io::Result<Option<Result<()>>> {
    let mut start = Vec::new();
    let file = File::open(path).map_err(|error| benzer_io::Error::open(path, error))?;
    let read = file.take(MAGIC.len() as u64).read_to_end(&mut start);
    read.map_err(|error| benzer_io::Error::open(path, error))?;
    if start != MAGIC {
        return Ok(None);
    }
    let read = || -> Result<()> {
        let mut reader = SketchReader::open(path)?;
        while let Some(block) = reader.next_block()? {
            block.records().try_for_each(|record| record.sketch(reader.header()).map(drop))?;
        }
        Ok(())
    };
    Ok(Some(read()))
}

fn read_header(path: &Path, source: &mut impl Read) -> Result<Header> {
    let mut take = |n: usize| read(source, n).map_err(|error| Error::read(path, error));
    let mut bytes = take(MAGIC.len() + 2 + 4)?;
    if !bytes.starts_with(MAGIC) {
        return Err(Error::Foreign { path: path.into(), got: describe(&bytes) });
    }
    let mut start = Bytes(&bytes[MAGIC.len()..]);
    let cut = || damaged(path, Place::Header)(("a header".into(), "the end of the file".into()));
    let (Ok([low, high]), Ok(length)) = (start.take(2).map(|v| [v[0], v[1]]), start.u32()) else {
        return Err(cut());
    };
    let version = u16::from_le_bytes([low, high]);
    if version != FORMAT_VERSION {
        return Err(Error::Version { path: path.into(), got: version });
    }
    let body = take(length as usize)?;
    let stored = take(CHECKSUM)?;
    bytes.extend(&body);
    checked(&bytes, &stored).map_err(damaged(path, Place::Header))?;
    Header::decode(&body).map_err(damaged(path, Place::Header))
}

/// Reads `n` bytes, or fewer at the end. Memory grows with the bytes that are there, not with the number asked for.
fn read(source: &mut impl Read, n: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(n.min(1 << 16));
    source.by_ref().take(n as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn checked(part: &[u8], stored: &[u8]) -> Result<(), Refusal> {
    let expected = element(part);
    if stored == expected.to_le_bytes() {
        return Ok(());
    }
    let got: String = stored.iter().rev().map(|byte| format!("{byte:02x}")).collect();
    let got = if got.is_empty() { "the end of the file".into() } else { got };
    refuse(format!("checksum {expected:016x}"), got)
}

/// Finds the records of a block whose checksum is right.
fn rows(header: &Header, bytes: Vec<u8>, n_records: u32) -> Result<Block, Refusal> {
    let all = bytes.len();
    let mut input = Bytes(&bytes[BLOCK_START..]);
    let mut rows = Vec::new();
    for _ in 0..n_records {
        let id = match &header.ids {
            Ids::Field => {
                let id = input.text()?;
                let end = all - input.0.len();
                RowId::Field(end - id.len()..end)
            }
            Ids::Rows(names) => {
                let (input, row) = (input.u32()?, input.u64()?);
                if input as usize >= names.len() {
                    return refuse(format!("an input below {}", names.len()), input);
                }
                RowId::Row { input, row }
            }
        };
        let size = f64::from_bits(input.u64()?);
        if !(size.is_finite() && size.is_sign_positive()) {
            return refuse("a finite set size", size);
        }
        input.take(8 * header.words(size))?;
        let end = all - input.0.len();
        rows.push(Row { id, size, words: end - 8 * header.words(size)..end });
    }
    if !input.0.is_empty() {
        return refuse(format!("{n_records} records"), format!("{} bytes after them", input.0.len()));
    }
    Ok(Block { bytes, rows })
}

fn damaged(path: &Path, place: Place) -> impl Fn(Refusal) -> Error + use<> {
    let path = path.to_owned();
    move |(expected, got)| Error::Damaged { path: path.clone(), place, expected, got }
}

fn describe(start: &[u8]) -> String {
    match start {
        [] => "an empty file".into(),
        _ if std::str::from_utf8(start).is_ok() => "text".into(),
        _ => format!("bytes {:02x?}", &start[..start.len().min(4)]),
    }
}
