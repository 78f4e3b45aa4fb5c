//! Lines that are read a second time instead of being held.
//!
//! A plain file of this machine can be read again wherever a document lies, mostly from memory that the system keeps of it anyway. So a batch of it gives its lines up: the next batch is read into the
//! same buffer, and a run touches little memory of its own. Where that is allowed, the memory of the system is used without reading (the module `map`). Somebody may write to the file meanwhile: what is read again is never trusted. Texts are compared with their hashes by the caller, and
//! [`Rereader::check`] tells whether a file was touched.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::SystemTime;

use benzer_core::hint::prefetch;

use super::Batch;
use crate::error::{Error, Result};
use crate::read::format::Compression;
use crate::read::input::Input;
use crate::read::json::Decoded;
use crate::read::options::Plan;
use crate::read::rows::{Found, Segment};
use crate::read::span::{Buffer, Piece, Span};
use crate::read::stream::Map;
use crate::read::{text, utf8};

/// Bytes of a text that are asked for before it is used.
const PREFETCHED: usize = 4096;
/// Files that are kept open.
const MAX_FILES: usize = 256;

/// The inputs of a run, open.
#[derive(Debug)]
pub struct Rereader {
    files: Vec<OpenFile>,
    plan: Arc<Plan>,
}

#[derive(Debug)]
struct OpenFile {
    input: Arc<Input>,
    file: File,
    start: FileState,
    map: Option<Arc<Map>>,
}

thread_local! {
    /// The bytes of a text, and the text, between calls: of as many texts as were looked at together.
    static BUFFERS: RefCell<Vec<(Vec<u8>, Decoded)>> = RefCell::default();
}

/// What changes when somebody writes to a file.
#[derive(Debug, PartialEq)]
struct FileState {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl FileState {
    fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self { bytes: metadata.len(), modified: metadata.modified().ok() })
    }
}

/// Where in its file a part of a segment begins, which stood at `range` of its batch.
fn place(segment: &Segment, range: &Range<usize>) -> u64 {
    segment.first_offset + (range.start - segment.start) as u64
}

impl Rereader {
    /// Opens the inputs; nothing if there are many, or not all are plain files. They are mapped if that is wanted and possible.
    pub(in crate::read) fn new(inputs: &[Arc<Input>], plan: &Arc<Plan>, maps: bool) -> Result<Option<Self>> {
        let is_plain = |input: &Arc<Input>| {
            let is_text = input.format().is_some_and(|format| !format.is_table());
            is_text
                && input.bytes.is_some()
                && !input.is_remote()
                && input.compression() == Some(Compression::None)
        };
        if inputs.len() > MAX_FILES || !inputs.iter().all(is_plain) {
            return Ok(None);
        }
        let open = |input: &Arc<Input>| {
            let open = File::open(&input.path).and_then(|file| Ok((FileState::of(&file)?, file)));
            let (start, file) = open.map_err(|error| Error::open(&*input.path, error))?;
            let map = maps.then(|| Map::new(&file, start.bytes).ok().map(Arc::new)).flatten();
            Ok(OpenFile { input: Arc::clone(input), file, start, map })
        };
        let files = inputs.iter().map(open).collect::<Result<_>>()?;
        Ok(Some(Self { files, plan: Arc::clone(plan) }))
    }

    /// What was asked for when the inputs were read.
    pub(super) fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The inputs as memory, by their number.
    pub(in crate::read) fn maps(&self) -> impl Iterator<Item = Option<Arc<Map>>> + '_ {
        self.files.iter().map(|open| open.map.clone())
    }

    pub(super) fn input(&self, number: u32) -> Option<&Arc<Input>> {
        self.files.get(number as usize).map(|open| &open.input)
    }

    /// Most of the inputs will not be wanted any more.
    pub fn release(&self) {
        self.files.iter().filter_map(|open| open.map.as_ref()).for_each(|map| map.release());
    }

    /// Fails if somebody wrote to a file.
    pub fn check(&self) -> Result<()> {
        match self.files.iter().all(|open| FileState::of(&open.file).is_ok_and(|now| now == open.start)) {
            true => Ok(()),
            false => Err(Error::Changed),
        }
    }

    /// The bytes of a segment that stood at `range` of its batch, if its file is mapped.
    fn in_map(&self, segment: &Segment, range: &Range<usize>) -> Result<Option<&[u8]>> {
        let Some(map) = &self.files[segment.input.number as usize].map else { return Ok(None) };
        let at = place(segment, range);
        map.get(at..at + range.len() as u64).map(Some).ok_or(Error::Changed)
    }

    /// The bytes of a segment that stood at `range` of its batch: as they are in memory, or else in a buffer, which is empty. They may change while they are looked at, so nothing is kept of them.
    fn bytes<'a>(
        &'a self,
        segment: &Segment,
        range: Range<usize>,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        if let Some(bytes) = self.in_map(segment, &range)? {
            return Ok(bytes);
        }
        self.read(segment, range, buffer)?;
        Ok(buffer)
    }

    /// Appends the bytes of a segment that stood at `range` of its batch.
    fn read(&self, segment: &Segment, range: Range<usize>, into: &mut Vec<u8>) -> Result<()> {
        if let Some(bytes) = self.in_map(segment, &range)? {
            into.extend_from_slice(bytes);
            return Ok(());
        }
        let OpenFile { input, file, .. } = &self.files[segment.input.number as usize];
        let start = into.len();
        into.resize(start + range.len(), 0);
        file.read_exact_at(&mut into[start..], place(segment, &range)).map_err(|source| match source.kind() {
            io::ErrorKind::UnexpectedEof => Error::Changed,
            _ => Error::read(&input.path, source),
        })
    }

    /// A whole segment, if it is mapped. The newline of the last line may be missing in the file; then it is not.
    fn mapped(&self, segment: &Segment) -> Option<&[u8]> {
        let map = self.files[segment.input.number as usize].map.as_ref()?;
        map.get(segment.first_offset..segment.first_offset + (segment.end - segment.start) as u64)
    }

    /// Appends a whole segment. The newline of the last line may have been added by the reader.
    fn read_all(&self, segment: &Segment, into: &mut Vec<u8>) -> Result<()> {
        let OpenFile { input, file, .. } = &self.files[segment.input.number as usize];
        let (start, n) = (into.len(), segment.end - segment.start);
        into.resize(start + n, 0);
        let mut n_read = 0;
        // Others read at places of their own meanwhile.
        while n_read < n {
            match file.read_at(&mut into[start + n_read..], segment.first_offset + n_read as u64) {
                Ok(0) => break,
                Ok(more) => n_read += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::read(&input.path, error)),
            }
        }
        if n - n_read > 1 {
            return Err(Error::Changed);
        }
        if n_read < n {
            into[start + n_read] = b'\n';
        }
        Ok(())
    }
}

impl Batch {
    /// Gives up the lines, whose buffer goes to the next batch. They must be those of inputs that are open in a [`Rereader`].
    pub fn forget_lines(&mut self) {
        self.is_forgotten = true;
        self.damaged = Vec::new();
        self.found.rows.shrink_to_fit();
        self.give_buffer();
    }

    /// Whether the lines were given up.
    pub fn is_forgotten(&self) -> bool {
        self.is_forgotten
    }

    /// The buffer of the lines goes to the next batch.
    pub fn give_buffer(&mut self) {
        if let Some(plan) = &self.plan {
            plan.give_back(std::mem::take(&mut self.data).into_bytes());
        }
    }

    /// Where a document lies will be wanted soon: asks for it.
    #[inline]
    pub fn prefetch_place(&self, index: usize) {
        prefetch(&self.found.rows, index);
    }

    /// The text of a document will be wanted soon: asks for the first of its bytes, if the file is mapped. The processor sees by itself how it goes on.
    #[inline]
    pub fn prefetch_text(&self, index: usize, rereader: &Rereader) {
        let Some(row) = self.found.rows.get(index) else { return };
        let segment = &self.segments[row.segment as usize];
        let Ok(Some(bytes)) = rereader.in_map(segment, &row.raw.range()) else { return };
        (0..bytes.len().min(PREFETCHED)).step_by(64).for_each(|i| prefetch(bytes, i));
    }

    /// Hands the text of a document to `visit`, after the lines were given up. If the file was changed this may be any text, or an error.
    pub fn reread_text(&self, index: usize, rereader: &Rereader, visit: &mut dyn FnMut(&str)) -> Result<()> {
        let Some(row) = self.found.rows.get(index) else { return Ok(()) };
        let segment = &self.segments[row.segment as usize];
        // Not there while it is used: `visit` may want another text.
        let (mut bytes, mut text) = BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
        bytes.clear();
        text.clear();
        let found = match (&self.plan, row.text) {
            (_, Piece { buffer: Buffer::Data, span }) => {
                rereader.read(segment, span.range(), &mut bytes)?;
                &bytes[..]
            }
            (Some(plan), _) if self.is_shed => {
                let quoted = row.quoted.range();
                if quoted.is_empty() {
                    rereader.read(segment, row.raw.range(), &mut bytes)?;
                    let line = utf8::check(&bytes).map_err(|_| Error::Changed)?;
                    text = Decoded::default();
                    text.extend_from_slice(&text::text_of(line, plan).ok_or(Error::Changed)?);
                } else {
                    let quoted = rereader.bytes(segment, quoted, &mut bytes)?;
                    text.unescape(quoted).ok_or(Error::Changed)?;
                }
                text.bytes()
            }
            _ => {
                visit(self.text(row.text));
                return Ok(());
            }
        };
        visit(utf8::check(found).map_err(|_| Error::Changed)?);
        BUFFERS.with_borrow_mut(|buffers| buffers.push((bytes, text)));
        Ok(())
    }

    /// Its lines as they are in memory, if they are there in one piece.
    pub fn mapped_lines<'a>(&self, rereader: &'a Rereader) -> Option<&'a [u8]> {
        match &*self.segments {
            [segment @ Segment { start: 0, .. }] => rereader.mapped(segment),
            _ => None,
        }
    }

    /// Its lines as bytes.
    pub fn reread_lines(&self, rereader: &Rereader) -> Result<Vec<u8>> {
        let mut lines =
            Vec::with_capacity(self.segments.iter().map(|segment| segment.end - segment.start).sum());
        self.segments.iter().try_for_each(|segment| rereader.read_all(segment, &mut lines))?;
        Ok(lines)
    }

    /// The same batch with its lines, read into a buffer. What had escapes is not decoded again.
    pub fn reread(&self, rereader: &Rereader, mut buffer: Vec<u8>) -> Result<Self> {
        buffer.clear();
        self.segments.iter().try_for_each(|segment| rereader.read_all(segment, &mut buffer))?;
        let data = text::into_text(buffer, &self.segments).0;
        let is_whole = |span: Span| data.get(span.range()).is_some();
        let is_there = |piece: Piece| piece.buffer != Buffer::Data || is_whole(piece.span);
        let mut rows = self.found.rows.iter();
        match rows.all(|row| is_whole(row.raw) && is_there(row.text) && row.id.is_none_or(is_there)) {
            true => Ok(Self { data, ..self.without_lines() }),
            false => Err(Error::Changed),
        }
    }

    /// The buffer of its lines.
    pub fn into_lines(self) -> Vec<u8> {
        self.data.into_bytes()
    }

    /// Its documents, for lines that are yet to be read.
    fn without_lines(&self) -> Self {
        Self {
            decoded: self.decoded.clone(),
            segments: self.segments.clone(),
            found: Found { rows: self.found.rows.clone(), ..Found::default() },
            plan: self.plan.clone(),
            is_shed: self.is_shed,
            ..Self::default()
        }
    }
}
