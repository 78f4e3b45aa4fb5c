//! Pages on their way into the file. They are in it before the encoder of the format hears of their column, whose sizes are known then.

use std::io::{self, Read, Repeat, Take, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use parquet::basic::{Compression, PageType};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::TypePtr;

use super::marks;
use super::page::PageBytes;
use super::source::{GroupEnd, about};
use crate::error::Result;
use crate::read::{Format, Input, Seekable};
use crate::rewrite::table::sink::Sink;
use crate::rewrite::table::{damaged, decoded};

/// What is next in the file.
pub(super) enum Placed {
    Page(PageBytes),
    Column(Box<ColumnCloseResult>, Compression),
    Group(Box<GroupEnd>),
}

pub(super) struct Placer<'a, 's, 'o> {
    input: &'a Input,
    file: &'a Seekable,
    writer: SerializedFileWriter<SharedSink<'s, 'o>>,
    sink: SharedSink<'s, 'o>,
    /// The columns of the row group that are written, and the pages of the next one.
    columns: Vec<ColumnCloseResult>,
    sizes: Sizes,
    n_written: u64,
}

/// What is known of the pages of a column once they are written.
#[derive(Default)]
struct Sizes {
    compressed: u64,
    uncompressed: u64,
    dictionary: Option<u64>,
    data: Option<u64>,
}

impl<'a, 's, 'o> Placer<'a, 's, 'o> {
    pub fn new(
        input: &'a Input,
        file: &'a Seekable,
        sink: &'s mut Sink<'o>,
        schema: &TypePtr,
        properties: WriterProperties,
    ) -> Result<Self> {
        let sink = SharedSink(Arc::new(Mutex::new(sink)));
        let fail = |error: ParquetError| damaged(input, error);
        let mut writer = SerializedFileWriter::new(sink.clone(), Arc::clone(schema), Arc::new(properties))
            .map_err(fail)?;
        // Pages come behind what the writer has in its buffer.
        writer.flush().map_err(|error| fail(error.into()))?;
        let (columns, sizes) = (Vec::new(), Sizes::default());
        Ok(Self { input, file, writer, sink, columns, sizes, n_written: 0 })
    }

    pub fn place(&mut self, placed: Placed) -> Result<()> {
        let input = self.input;
        match placed {
            Placed::Page(page) => self.page(&page).map_err(|error| damaged(input, error)),
            Placed::Column(closed, codec) => {
                self.column(*closed, codec).map_err(|error| damaged(input, error))
            }
            Placed::Group(end) => decoded(input, Format::Parquet, || self.group(&end)),
        }
    }

    fn page(&mut self, PageBytes { bytes, spec }: &PageBytes) -> std::result::Result<(), ParquetError> {
        self.sink.lock().write_ahead(bytes)?;
        let sizes = &mut self.sizes;
        let place = match spec.page_type {
            PageType::DICTIONARY_PAGE => &mut sizes.dictionary,
            _ => &mut sizes.data,
        };
        place.get_or_insert(sizes.compressed);
        sizes.compressed += spec.compressed_size as u64;
        sizes.uncompressed += spec.uncompressed_size as u64;
        Ok(())
    }

    fn column(
        &mut self,
        closed: ColumnCloseResult,
        codec: Compression,
    ) -> std::result::Result<(), ParquetError> {
        let Sizes { compressed, uncompressed, dictionary, data } = std::mem::take(&mut self.sizes);
        let metadata = closed.metadata.into_builder();
        let metadata = metadata
            .set_compression(codec)
            .set_total_compressed_size(compressed as i64)
            .set_total_uncompressed_size(uncompressed as i64)
            .set_dictionary_page_offset(dictionary.map(|at| at as i64))
            .set_data_page_offset(data.unwrap_or(0) as i64)
            .build()?;
        self.columns.push(ColumnCloseResult { metadata, bytes_written: compressed, ..closed });
        Ok(())
    }

    fn group(&mut self, end: &GroupEnd) -> std::result::Result<(), ParquetError> {
        let mut to = self.writer.next_row_group()?;
        for closed in self.columns.drain(..) {
            to.append_column(&Ahead, closed)?;
        }
        for column in &end.whole {
            whole(column, end.n_rows, self.file, &mut to).map_err(about(column))?;
        }
        marks::write(&end.annotations, &mut to)?;
        to.close()?;
        self.n_written += end.n_rows as u64;
        Ok(self.writer.flush()?)
    }

    /// Ends the file; how many rows it has.
    pub fn finish(self) -> Result<u64> {
        self.writer.close().map_err(|error| damaged(self.input, error))?;
        Ok(self.n_written)
    }
}

/// A column of which every row is kept, byte for byte.
fn whole<W: Write + Send>(
    column: &ColumnChunkMetaData,
    n_rows: usize,
    file: &Seekable,
    to: &mut SerializedRowGroupWriter<'_, W>,
) -> std::result::Result<(), ParquetError> {
    let close = ColumnCloseResult {
        bytes_written: column.compressed_size() as u64,
        rows_written: n_rows as u64,
        metadata: column.clone(),
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    to.append_column(file, close)
}

/// The output, for the encoder of the format and for pages.
struct SharedSink<'s, 'o>(Arc<Mutex<&'s mut Sink<'o>>>);

impl Clone for SharedSink<'_, '_> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<'s, 'o> SharedSink<'s, 'o> {
    fn lock(&self) -> MutexGuard<'_, &'s mut Sink<'o>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for SharedSink<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.lock().flush()
    }
}

/// Stands for pages that are written already: the sink leaves out as many bytes as went ahead.
struct Ahead;

impl Length for Ahead {
    fn len(&self) -> u64 {
        u64::MAX
    }
}

impl ChunkReader for Ahead {
    type T = Take<Repeat>;

    fn get_read(&self, _: u64) -> std::result::Result<Self::T, ParquetError> {
        Ok(io::repeat(0).take(u64::MAX))
    }

    fn get_bytes(&self, _: u64, _: usize) -> std::result::Result<Bytes, ParquetError> {
        Err(ParquetError::General("it was written already".into()))
    }
}
