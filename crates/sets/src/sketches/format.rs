//! The bytes of the three parts of a sketch file. Pure: bytes in, bytes out.

use benzer_core::hash::element;
use benzer_core::sketch::{Family, SketchSpec};
use benzer_io::read::DocumentId;

/// The first four bytes of a sketch file.
pub const MAGIC: &[u8; 4] = b"BNZK";
/// The version of the file format.
pub const FORMAT_VERSION: u16 = 1;
pub(super) const BLOCK: u8 = 1;
pub(super) const FOOTER: u8 = 2;
/// Tag, number, records, bytes.
pub(super) const BLOCK_START: usize = 1 + 8 + 4 + 4;
/// Counts and checksum, without the tag.
pub(super) const FOOTER_REST: usize = 4 * 8;
pub(super) const CHECKSUM: usize = 8;

/// What the whole file has in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// The spec of every sketch.
    pub spec: SketchSpec,
    /// What the ids are.
    pub ids: Ids,
}

/// What identifies a document of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ids {
    /// A field of the document.
    Field,
    /// Its place in these inputs.
    Rows(Vec<String>),
}

/// What a finished file holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Blocks.
    pub blocks: u64,
    /// Records, one for each document.
    pub records: u64,
    /// Records of documents without any element, which match nothing.
    pub empty: u64,
}

/// Why bytes were refused: expected and got.
pub(super) type Refusal = (String, String);

pub(super) fn refuse<T>(expected: impl Into<String>, got: impl ToString) -> Result<T, Refusal> {
    Err((expected.into(), got.to_string()))
}

impl Header {
    /// A file whose ids are a field of the documents.
    pub fn of_field_ids(spec: SketchSpec) -> Self {
        Self { spec, ids: Ids::Field }
    }

    /// An id in words: itself, or `input:row`.
    pub fn name(&self, id: DocumentId<'_>) -> String {
        match (id, &self.ids) {
            (DocumentId::Field(id), _) => id.to_owned(),
            (DocumentId::Row { input, row }, Ids::Rows(names)) if (input as usize) < names.len() => {
                format!("{}:{row}", names[input as usize])
            }
            (DocumentId::Row { input, row }, _) => format!("{input}:{row}"),
        }
    }

    /// How many words the sketch of a set of this size has.
    pub(super) fn words(&self, size: f64) -> usize {
        match self.spec.family {
            Family::BottomK => size.min(f64::from(self.spec.registers)) as usize,
            _ => self.spec.words(),
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut body = Vec::new();
        self.spec.encode_into(&mut body);
        let names: &[String] = match &self.ids {
            Ids::Field => &[],
            Ids::Rows(names) => names,
        };
        body.push(u8::from(matches!(self.ids, Ids::Rows(_))));
        body.extend((names.len() as u32).to_le_bytes());
        names.iter().for_each(|name| push_text(&mut body, name));
        let mut out = MAGIC.to_vec();
        out.extend(FORMAT_VERSION.to_le_bytes());
        out.extend((body.len() as u32).to_le_bytes());
        out.extend(body);
        sealed(out)
    }

    /// Reads the part between the length and the checksum.
    pub(super) fn decode(body: &[u8]) -> Result<Self, Refusal> {
        let (spec, rest) =
            SketchSpec::decode_prefix(body).map_err(|e| ("a spec".to_owned(), e.to_string()))?;
        let mut input = Bytes(rest);
        let (kind, n_names) = (input.u8()?, input.u32()?);
        let mut names = Vec::new();
        for _ in 0..n_names {
            names.push(input.text()?.to_owned());
        }
        let ids = match kind {
            0 if names.is_empty() => Ids::Field,
            1 => Ids::Rows(names),
            _ => return refuse("ids of kind 0 without input names, or 1", kind),
        };
        if !input.0.is_empty() {
            return refuse("the end of the header", format!("{} more bytes", input.0.len()));
        }
        Ok(Self { spec, ids })
    }
}

impl Counts {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = vec![FOOTER];
        for count in [self.blocks, self.records, self.empty] {
            out.extend(count.to_le_bytes());
        }
        sealed(out)
    }
}

/// A whole block of encoded records.
pub(super) fn block(number: u64, n_records: u32, records: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(BLOCK_START + records.len() + CHECKSUM);
    out.push(BLOCK);
    out.extend(number.to_le_bytes());
    out.extend(n_records.to_le_bytes());
    out.extend((records.len() as u32).to_le_bytes());
    out.extend(records);
    sealed(out)
}

/// Appends one record.
pub(super) fn push_record(out: &mut Vec<u8>, id: DocumentId<'_>, size: f64, words: &[u64]) {
    match id {
        DocumentId::Field(id) => push_text(out, id),
        DocumentId::Row { input, row } => {
            out.extend(input.to_le_bytes());
            out.extend(row.to_le_bytes());
        }
    }
    out.extend(size.to_le_bytes());
    out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(text.as_bytes());
}

fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let checksum = element(&bytes);
    bytes.extend(checksum.to_le_bytes());
    bytes
}

/// Bytes that are cut from the front; every cut is checked.
pub(super) struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], Refusal> {
        let Some((taken, rest)) = self.0.split_at_checked(n) else {
            return refuse(format!("{n} more bytes"), self.0.len());
        };
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        self.take(N).map(|bytes| bytes.try_into().expect("as many bytes were taken"))
    }

    pub fn u8(&mut self) -> Result<u8, Refusal> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub fn u32(&mut self) -> Result<u32, Refusal> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, Refusal> {
        self.array().map(u64::from_le_bytes)
    }

    pub fn text(&mut self) -> Result<&'a str, Refusal> {
        let length = self.u32()? as usize;
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).or_else(|_| refuse("text in UTF-8", "other bytes"))
    }
}
