//! Results as Parquet: `evidence.parquet`, `pairs.parquet`, `clusters.parquet`, and what `benzer pairs` and `benzer groups` find.

use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, StringBuilder, UInt32Builder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{EnabledStatistics, WriterProperties};

/// Rows that are encoded at a time.
const ROWS: usize = 16 << 10;

/// One column of a table.
#[derive(Debug)]
enum ColumnBuilder {
    Text(StringBuilder),
    Number(UInt32Builder),
    Row(UInt64Builder),
    Share(Float64Builder),
    Flag(BooleanBuilder),
}

/// A cell of a row.
#[derive(Debug, Clone, Copy)]
pub enum Cell<'a> {
    /// A string.
    Text(&'a str),
    /// A count of elements, a rank.
    Number(u32),
    /// A line, a larger count.
    Row(u64),
    /// A similarity.
    Share(f64),
    /// True or false.
    Flag(bool),
    /// Nothing.
    Null,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// [`Cell::Text`].
    Text,
    /// [`Cell::Number`].
    Number,
    /// [`Cell::Row`].
    Row,
    /// [`Cell::Share`].
    Share,
    /// [`Cell::Flag`].
    Flag,
}

/// A Parquet file being written, row by row. Every call may fail with what the output says.
pub struct Table<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: SchemaRef,
    columns: Vec<ColumnBuilder>,
    n: usize,
}

impl<W: Write + Send> Table<W> {
    /// Begins a table with named columns; those whose name ends with `?` may be null.
    pub fn new(out: W, columns: &[(&str, Kind)]) -> parquet::errors::Result<Self> {
        let (writer, schema) = begin(out, columns)?;
        let columns = columns.iter().map(|(_, kind)| ColumnBuilder::new(*kind)).collect();
        Ok(Self { writer, schema, columns, n: 0 })
    }

    /// Appends a row of as many cells as there are columns.
    pub fn push<'a>(&mut self, cells: impl IntoIterator<Item = Cell<'a>>) -> parquet::errors::Result<()> {
        self.columns.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
        self.n += 1;
        if self.n == ROWS { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> parquet::errors::Result<()> {
        if self.n == 0 {
            return Ok(());
        }
        self.n = 0;
        let arrays = self.columns.iter_mut().map(ColumnBuilder::finish).collect();
        self.writer.write(&RecordBatch::try_new(Arc::clone(&self.schema), arrays)?)
    }

    /// Writes what is left and gives the output back.
    pub fn finish(mut self) -> parquet::errors::Result<W> {
        self.flush()?;
        self.writer.into_inner()
    }
}

/// Begins a table with named columns; those whose name ends with `?` may be null. Rows are given to the writer that this returns.
pub fn begin<W: Write + Send>(
    out: W,
    columns: &[(&str, Kind)],
) -> parquet::errors::Result<(ArrowWriter<W>, SchemaRef)> {
    let fields = columns.iter().map(|(name, kind)| {
        let (name, nullable) = name.strip_suffix('?').map_or((*name, false), |name| (name, true));
        Field::new(name, kind.data_type(), nullable)
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("benzer ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_statistics_enabled(EnabledStatistics::None);
    // Ids hardly ever repeat: a dictionary of them would be made and thrown away.
    let properties = columns.iter().fold(properties, |properties, (name, kind)| {
        let encoding = match kind {
            Kind::Text if name.contains("file") || *name == "rule" || *name == "kept_in" => {
                return properties;
            }
            Kind::Number | Kind::Row => Encoding::DELTA_BINARY_PACKED,
            _ => Encoding::PLAIN,
        };
        let name = name.trim_end_matches('?');
        let properties = match encoding {
            // Differences in as few bits as they need have nothing left to compress.
            Encoding::DELTA_BINARY_PACKED => {
                properties.set_column_compression(name.into(), Compression::UNCOMPRESSED)
            }
            _ => properties,
        };
        properties
            .set_column_dictionary_enabled(name.into(), false)
            .set_column_encoding(name.into(), encoding)
    });
    let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties.build()))?;
    Ok((writer, schema))
}

impl Kind {
    fn data_type(self) -> DataType {
        match self {
            Self::Text => DataType::Utf8,
            Self::Number => DataType::UInt32,
            Self::Row => DataType::UInt64,
            Self::Share => DataType::Float64,
            Self::Flag => DataType::Boolean,
        }
    }
}

impl ColumnBuilder {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text(StringBuilder::new()),
            Kind::Number => Self::Number(UInt32Builder::new()),
            Kind::Row => Self::Row(UInt64Builder::new()),
            Kind::Share => Self::Share(Float64Builder::new()),
            Kind::Flag => Self::Flag(BooleanBuilder::new()),
        }
    }

    fn push(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Self::Text(column), Cell::Text(text)) => column.append_value(text),
            (Self::Number(column), Cell::Number(number)) => column.append_value(number),
            (Self::Row(column), Cell::Row(row)) => column.append_value(row),
            (Self::Share(column), Cell::Share(share)) => column.append_value(share),
            (Self::Flag(column), Cell::Flag(flag)) => column.append_value(flag),
            (Self::Text(column), _) => column.append_null(),
            (Self::Number(column), _) => column.append_null(),
            (Self::Row(column), _) => column.append_null(),
            (Self::Share(column), _) => column.append_null(),
            (Self::Flag(column), _) => column.append_null(),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(column) => Arc::new(column.finish()),
            Self::Number(column) => Arc::new(column.finish()),
            Self::Row(column) => Arc::new(column.finish()),
            Self::Share(column) => Arc::new(column.finish()),
            Self::Flag(column) => Arc::new(column.finish()),
        }
    }
}
