//! Writing a sketch file.

use std::{fs::File, io::Read, path::Path};

use benzer_io::read::DocumentId;
use benzer_storage::{FileWriter, Files};

use super::error::{Error, Result};
use super::format::{self, Counts, Header, Ids, MAGIC};

/// A block is closed when it holds this many bytes.
const BLOCK_BYTES: usize = 256 << 10;

/// Writes a sketch file. Until [`SketchWriter::finish`] there is no file under its name, or still the old one.
#[derive(Debug)]
pub struct SketchWriter {
    file: FileWriter,
    header: Header,
    block: Vec<u8>,
    in_block: u32,
    counts: Counts,
}

/// Records as bytes, made on any thread and appended to the file on one.
#[derive(Debug, Default)]
pub struct Records {
    bytes: Vec<u8>,
    /// Where each record ends, and whether its set is empty.
    ends: Vec<(usize, bool)>,
}

impl Records {
    /// Adds a record: `words` are those of the document's sketch.
    pub fn push(&mut self, id: DocumentId<'_>, size: f64, words: &[u64]) {
        // An empty sum of weights is -0, which is not the one encoding of zero.
        format::push_record(&mut self.bytes, id, size + 0.0, words);
        self.ends.push((self.bytes.len(), size == 0.0));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

impl SketchWriter {
    /// Begins a sketch file that will be at `path`. An older sketch file there is replaced in the end; anything else there is refused.
    ///
    /// # Errors
    /// A spec out of range; something else at `path`; a folder that does not exist or cannot be written to.
    pub fn create(path: &Path, header: Header) -> Result<Self> {
        header.spec.validate()?;
        if path.exists() && !path.is_dir() && !starts_with_magic(path) {
            return Err(Error::Occupied { path: path.into() });
        }
        let mut file = Files::new().create(path)?;
        file.append(&header.encode())?;
        Ok(Self { file, header, block: Vec::new(), in_block: 0, counts: Counts::default() })
    }

    /// Adds one record.
    ///
    /// # Errors
    /// Words, size or id that the header does not allow; a failed write.
    pub fn push(&mut self, id: DocumentId<'_>, size: f64, words: &[u64]) -> Result<()> {
        let mut records = Records::default();
        records.push(id, size, words);
        let expected = self.header.words(size);
        if words.len() != expected || !(size.is_finite() && size >= 0.0) {
            let expected = format!("{expected} and a finite size");
            return Err(benzer_core::Error::parameter("words", expected, words.len()).into());
        }
        let suits = matches!(
            (id, &self.header.ids),
            (DocumentId::Field(_), Ids::Field) | (DocumentId::Row { .. }, Ids::Rows(_))
        );
        if !suits {
            let expected = "of the kind that the header says";
            return Err(benzer_core::Error::parameter("id", expected, self.header.name(id)).into());
        }
        self.append(&records)
    }

    /// Adds records made elsewhere, under the same header.
    ///
    /// # Errors
    /// A failed write.
    pub fn append(&mut self, records: &Records) -> Result<()> {
        let mut start = 0;
        for &(end, empty) in &records.ends {
            self.block.extend_from_slice(&records.bytes[start..end]);
            start = end;
            self.in_block += 1;
            self.counts.records += 1;
            self.counts.empty += u64::from(empty);
            if self.block.len() >= BLOCK_BYTES {
                self.close_block()?;
            }
        }
        Ok(())
    }

    /// What was added so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Writes what is left and puts the file in its place.
    ///
    /// # Errors
    /// A failed write; then there is no new file.
    pub fn finish(mut self) -> Result<Counts> {
        if self.in_block > 0 {
            self.close_block()?;
        }
        self.file.append(&self.counts.encode())?;
        self.file.commit()?;
        Ok(self.counts)
    }

    fn close_block(&mut self) -> Result<()> {
        self.file.append(&format::block(self.counts.blocks, self.in_block, &self.block))?;
        self.counts.blocks += 1;
        self.in_block = 0;
        self.block.clear();
        Ok(())
    }
}

fn starts_with_magic(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *MAGIC
}
