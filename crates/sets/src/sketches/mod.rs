//! Sketch files: the sketches of a corpus, with their ids, in a file that later commands read.
//!
//! ```text
//! Reader --Recipe--> Made: records, rejects --SketchWriter--> corpus.bsk --SketchReader--> Block: records
//!        any number of threads, input order        temporary name, fsync, rename
//! ```
//!
//! To sketch a corpus, each thread takes the next batch of the reader, parses, shingles and sketches it ([`Recipe`]); `benzer_flow::pipeline::run` gives the records in the order of the input, whatever the number of threads.
//!
//! ```text
//! header  "BNZK", u16 format version 1, u32 length of the rest:
//!         spec (as in every stored sketch, pipeline id included),
//!         u8 ids (0: of a field, 1: input and row), u32 number of input names, each u32 length and UTF-8
//!         u64 checksum
//! block   u8 1, u64 number from 0, u32 records, u32 bytes of the records, the records, u64 checksum
//! footer  u8 2, u64 blocks, u64 records, u64 empty sets, u64 checksum
//!
//! record  id (u32 length and UTF-8, or u32 input and u64 row), f64 set size, words of the sketch
//! ```
//!
//! All integers little-endian. A checksum is the element hash of all bytes of its part before it. The number of words follows from the
//! spec, and for bottom-k also from the set size. A block is closed by the first record that takes it to 256 KiB or more, so the bytes
//! of a file depend on the documents and their order alone: not on threads, not on how the input was compressed.
//!
//! The reader survives any bytes: it never trusts a length with an allocation, and names the file, the block, and expected and got.
//!
//! ```
//! use benzer_core::sketch::SketchSpec;
//! use benzer_core::Features;
//! use benzer_io::read::DocumentId;
//! use benzer_sets::sketches::{Header, SketchReader, SketchWriter};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("corpus.bsk");
//! let sketcher = SketchSpec::default().sketcher()?;
//! let sketch = sketcher.sketch(&Features::set(0..900))?;
//!
//! let mut writer = SketchWriter::create(&path, Header::of_field_ids(SketchSpec::default()))?;
//! writer.push(DocumentId::Field("first"), 900.0, sketch.words())?;
//! writer.finish()?;
//!
//! let mut reader = SketchReader::open(&path)?;
//! let block = reader.next_block()?.expect("one block was written");
//! let record = block.records().next().expect("of one record");
//! assert_eq!(record.id, DocumentId::Field("first"));
//! assert_eq!(record.sketch(reader.header())?, sketch);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod format;
mod make;
mod reader;
mod writer;

pub use error::{Error, Place, Result};
pub use format::{Counts, FORMAT_VERSION, Header, Ids, MAGIC};
pub use make::{Made, Recipe};
pub use reader::{Block, Record, SketchReader, check};
pub use writer::{Records, SketchWriter};

#[cfg(test)]
mod tests;
