//! From a batch of lines to sets, on any thread.

use std::{collections::HashMap, sync::Arc};

use benzer_core::field::text::{Scratch, Shingler};
use benzer_core::hash;
use benzer_flow::pipeline::Work;
use benzer_io::read::{self, Document, DocumentId, Input, RawBatch};
use benzer_io::{Error, Strings};

use crate::format::{self, SetFormat};
use crate::rejected::Rejected;

/// What a line of `id-items` must have.
pub(crate) const NO_ID: &str = "an id at the beginning of the line";
/// What the first three lines of `docword` must have.
const HEADER: &str = "one number, as the first three lines of docword have: documents, words, entries";

/// What a document is a set of.
#[derive(Debug)]
pub enum Content {
    /// Shingles of its text.
    Texts(Box<Shingler>),
    /// The items of a set file.
    Sets(SetFormat),
}

/// How batches are read.
#[derive(Debug)]
pub(crate) struct Parser<'a> {
    pub content: &'a Content,
    /// Items as sets of lines.
    pub transpose: bool,
    pub inputs: Vec<Arc<Input>>,
}

/// What a batch says.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    /// Whole sets: their ids, their sorted elements, and where these end.
    pub ids: Strings,
    pub elements: Vec<u64>,
    pub ends: Vec<usize>,
    /// Transposed: the distinct items, and in which lines they are.
    pub items: Strings,
    pub hashes: Vec<u64>,
    pub members: Vec<(u32, u64)>,
    /// Lines of `docword`.
    pub words: Vec<WordLine>,
    pub rejected: Vec<Rejected>,
}

/// A line of `docword`.
#[derive(Debug)]
pub(crate) struct WordLine {
    pub input: u32,
    pub line: u64,
    pub says: WordLineSays,
}

#[derive(Debug)]
pub(crate) enum WordLineSays {
    /// One of the three numbers at the beginning.
    Header(u64),
    /// A word that is in a document.
    Has { document: u32, word: u32 },
}

/// What a worker keeps from batch to batch.
#[derive(Debug, Default)]
pub(crate) struct ParseBuffers {
    scratch: Scratch,
    elements: Vec<u64>,
    numbers: HashMap<u64, u32>,
}

impl Content {
    /// The elements of a document, sorted, each once, and the id that stands before them; nothing where it is missing.
    pub(crate) fn elements<'a>(
        &self,
        text: &'a str,
        buffers: &'a mut ParseBuffers,
    ) -> Option<(&'a str, &'a [u64])> {
        let ParseBuffers { scratch, elements, .. } = buffers;
        let id = match self {
            Self::Texts(shingler) => {
                let end = shingler.write_elements(text, scratch, elements, 0);
                elements.truncate(end);
                ""
            }
            Self::Sets(format) => {
                let (id, list) = format.split(text)?;
                elements.clear();
                elements.extend(format::items(list).map(|item| hash::element(item.as_bytes())));
                id
            }
        };
        elements.sort_unstable();
        elements.dedup();
        Some((id, elements))
    }
}

impl Parser<'_> {
    /// A line of an input as an id. Where a set file is the only one, the number is enough.
    pub(super) fn place(&self, input: u32, line: u64) -> String {
        match self.content {
            Content::Sets(_) if self.inputs.len() == 1 => line.to_string(),
            _ => format!("{}:{line}", self.inputs[input as usize].relative.display()),
        }
    }

    fn set(&self, document: &Document<'_>, buffers: &mut ParseBuffers, into: &mut Parsed) -> bool {
        let Some((id, elements)) = self.content.elements(document.text, buffers) else { return false };
        into.elements.extend_from_slice(elements);
        into.ends.push(into.elements.len());
        into.ids.push_with(|bytes| match document.id {
            _ if !id.is_empty() => bytes.extend_from_slice(id.as_bytes()),
            DocumentId::Field(id) => bytes.extend_from_slice(id.as_bytes()),
            DocumentId::Row { input, row } => {
                bytes.extend_from_slice(self.place(input, row).as_bytes());
            }
        });
        true
    }

    /// Adds a line to each of its items.
    fn transposed(
        &self,
        document: &Document<'_>,
        format: SetFormat,
        buffers: &mut ParseBuffers,
        into: &mut Parsed,
    ) -> bool {
        let Some((_, list)) = format.split(document.text) else { return false };
        let line = transaction(document.input, document.line);
        for item in format::items(list) {
            let hash = hash::element(item.as_bytes());
            let number = *buffers.numbers.entry(hash).or_insert_with(|| {
                into.items.push(item.as_bytes());
                into.hashes.push(hash);
                into.hashes.len() as u32 - 1
            });
            into.members.push((number, line));
        }
        true
    }

    /// Takes a document; says what it should have been if it is no set.
    fn read(
        &self,
        document: &Document<'_>,
        buffers: &mut ParseBuffers,
        into: &mut Parsed,
    ) -> Result<(), &'static str> {
        let has_id = match self.content {
            Content::Sets(SetFormat::Docword) => {
                let says = WordLineSays::of(document)?;
                let line = |says| WordLine { input: document.input, line: document.line, says };
                into.words.extend(says.map(line));
                true
            }
            Content::Sets(format) if self.transpose => self.transposed(document, *format, buffers, into),
            _ => self.set(document, buffers, into),
        };
        has_id.then_some(()).ok_or(NO_ID)
    }
}

impl WordLineSays {
    /// Nothing if the word is not in the document.
    fn of(document: &Document<'_>) -> Result<Option<Self>, &'static str> {
        if document.line <= 3 {
            let number = document.text.trim().parse().map_err(|_| HEADER)?;
            return Ok(Some(Self::Header(number)));
        }
        let entry = format::entry(document.text).ok_or("three numbers: document, word, count")?;
        let has = Self::Has { document: entry.document, word: entry.word };
        Ok((entry.count > 0).then_some(has))
    }
}

/// A line as an element.
pub(super) fn transaction(input: u32, line: u64) -> u64 {
    hash::mix((u64::from(input) << 40) ^ line)
}

impl Parsed {
    pub(super) fn sets(&self) -> impl Iterator<Item = (&[u8], &[u64])> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends);
        ranges.enumerate().map(|(i, (start, &end))| (self.ids.get(i), &self.elements[start..end]))
    }
}

impl Work for Parser<'_> {
    type Batch = RawBatch;
    type Scratch = ParseBuffers;
    type Made = Parsed;
    type Error = Error;

    fn make(&self, raw: RawBatch, buffers: &mut ParseBuffers) -> Result<Parsed, Error> {
        let batch = read::parse(raw);
        let mut parsed = Parsed { rejected: Rejected::of_batch(&batch), ..Parsed::default() };
        buffers.numbers.clear();
        for document in batch.documents() {
            if let Err(expected) = self.read(&document, buffers, &mut parsed) {
                parsed.rejected.push(Rejected::unfit(&self.inputs, &document, expected, document.text));
            }
        }
        parsed.rejected.sort_by_key(|rejected| (rejected.reject.input, rejected.reject.line));
        Ok(parsed)
    }
}
