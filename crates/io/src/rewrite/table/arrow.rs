//! Arrow: record batch by record batch, as a file or as a stream like the input.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_buffer::Buffer;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{Message, MessageHeader};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;

use super::sink::Sink;
use super::verdicts::{Kept, Verdicts};
use super::writer::Writer;
use super::{annotate, columns, damaged, decoded};
use crate::error::{Error, Result};
use crate::read::{ArrowItem, ArrowMessages, Format, Input, TableFault, guarded};

pub(super) fn rewrite(input: &Input, sink: &mut Sink<'_>, verdicts: &mut Verdicts<'_>) -> Result<u64> {
    let mut copy = FileCopy {
        input,
        messages: ArrowMessages::open(input)?,
        schema: None,
        dictionaries: HashMap::new(),
        row: 0,
        n_written: 0,
        writer: Writer::new(sink),
    };
    match copy.all(verdicts) {
        Ok(()) => {}
        Err(Stop::Error(error)) => return Err(error),
        // What cannot be read has no verdict.
        Err(Stop::End(_)) if verdicts.next_row().is_none() => {}
        Err(Stop::End(detail)) => return Err(damaged(input, detail)),
    }
    copy.finish(verdicts)
}

/// Why copying ended before the file did.
enum Stop {
    Error(Error),
    /// Nothing can be read from here on.
    End(String),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

struct FileCopy<'a, 's> {
    input: &'a Input,
    messages: ArrowMessages,
    schema: Option<SchemaRef>,
    dictionaries: HashMap<i64, ArrayRef>,
    /// How many rows were passed or copied.
    row: u64,
    n_written: u64,
    writer: Writer<'a, 's>,
}

impl FileCopy<'_, '_> {
    fn all(&mut self, verdicts: &mut Verdicts<'_>) -> Result<(), Stop> {
        loop {
            let item = self.messages.next();
            let message = match self.read(item)? {
                None => return Ok(()),
                Some(ArrowItem::Schema(schema)) => {
                    self.take_schema(schema, verdicts)?;
                    continue;
                }
                Some(ArrowItem::Message(message)) => message,
            };
            let message = message.as_ref();
            let n_body = u64::try_from(message.bodyLength()).map_err(|error| Stop::End(error.to_string()))?;
            match message.header_type() {
                MessageHeader::DictionaryBatch => self.take_dictionary(&message, n_body)?,
                MessageHeader::RecordBatch => self.take_rows(&message, n_body, verdicts)?,
                _ => self.pass(n_body)?,
            }
        }
    }

    fn take_schema(&mut self, schema: Schema, verdicts: &Verdicts<'_>) -> Result<(), Stop> {
        if verdicts.is_annotated {
            annotate::check_names(schema.fields().iter().map(|field| field.name().as_str()), self.input)?;
        }
        self.schema = Some(Arc::new(schema));
        Ok(())
    }

    fn take_dictionary(&mut self, message: &Message<'_>, n_body: u64) -> Result<(), Stop> {
        let body = self.messages.bytes(n_body);
        let body = Buffer::from_vec(self.read(body)?);
        let (Some(batch), Some(schema)) = (message.header_as_dictionary_batch(), &self.schema) else {
            return Err(Stop::End("a dictionary before the schema".into()));
        };
        let dictionaries = &mut self.dictionaries;
        let read = guarded(Format::Arrow, || {
            read_dictionary(&body, batch, schema, dictionaries, &message.version())
        });
        read.map_err(|reason| Stop::End(reason.to_string()))
    }

    fn take_rows(
        &mut self,
        message: &Message<'_>,
        n_body: u64,
        verdicts: &mut Verdicts<'_>,
    ) -> Result<(), Stop> {
        let (Some(batch), Some(schema)) = (message.header_as_record_batch(), self.schema.clone()) else {
            return Err(Stop::End("a record batch before the schema".into()));
        };
        let n_rows = u64::try_from(batch.length()).map_err(|error| Stop::End(error.to_string()))?;
        let first = self.row;
        self.row = first.saturating_add(n_rows);
        // A number of rows is only believed if there are verdicts on them.
        if verdicts.next_row().is_none_or(|row| row > self.row) {
            return self.pass(n_body);
        }
        let kept = verdicts.take(first..self.row)?;
        let codec = batch.compression().map(|compression| compression.codec());
        if kept.n == 0 {
            return self.pass(n_body);
        }
        let body = self.messages.bytes(n_body);
        let body = Buffer::from_vec(self.read(body)?);
        let rows = decoded(self.input, Format::Arrow, || {
            let version = message.version();
            let all =
                read_record_batch(&body, batch, Arc::clone(&schema), &self.dictionaries, None, &version)?;
            selected(all, kept)
        })?;
        let fail = |error: ArrowError| damaged(self.input, error);
        self.writer.open(&rows.schema(), self.messages.is_file(), codec).map_err(fail)?;
        self.writer.write(&rows).map_err(fail)?;
        self.n_written += rows.num_rows() as u64;
        Ok(())
    }

    fn pass(&mut self, n_bytes: u64) -> Result<(), Stop> {
        let passed = self.messages.pass(n_bytes);
        self.read(passed)
    }

    fn read<T>(&self, read: Result<T, TableFault>) -> Result<T, Stop> {
        read.map_err(|fault| match fault {
            TableFault::Io(source) => Error::read(&self.input.path, source).into(),
            TableFault::Damaged(reason) => Stop::End(reason.to_string()),
        })
    }

    fn finish(mut self, verdicts: &mut Verdicts<'_>) -> Result<u64> {
        if let Some(row) = verdicts.next_row() {
            return Err(damaged(self.input, format!("{} rows, and row {row} is to be copied", self.row)));
        }
        let Some(schema) = &self.schema else { return Ok(0) };
        let fail = |error: ArrowError| damaged(self.input, error);
        let schema = if verdicts.is_annotated { annotated(schema) } else { Arc::clone(schema) };
        self.writer.open(&schema, self.messages.is_file(), None).map_err(fail)?;
        let metadata = self.messages.metadata();
        self.writer.finish(metadata).map_err(fail)?;
        Ok(self.n_written)
    }
}

/// The kept rows, with their annotations.
fn selected(all: RecordBatch, mut kept: Kept) -> Result<RecordBatch, ArrowError> {
    kept.rows.resize(all.num_rows(), false);
    let some = match kept.n == all.num_rows() {
        true => all,
        false => compact(&filter_record_batch(&all, &BooleanArray::from(kept.rows))?)?,
    };
    if kept.annotations.is_empty() {
        return Ok(some);
    }
    let arrays = some.columns().iter().cloned().chain(columns::arrays(&kept.annotations)).collect();
    RecordBatch::try_new(annotated(some.schema_ref()), arrays)
}

fn annotated(schema: &SchemaRef) -> SchemaRef {
    let fields: Vec<_> = schema.fields().iter().cloned().chain(columns::fields().map(Arc::new)).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// Views of rows that are gone still hold their bytes; the output should not.
fn compact(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let compact = |column: &ArrayRef| -> ArrayRef {
        match column.data_type() {
            DataType::Utf8View => Arc::new(column.as_string_view().gc()),
            DataType::BinaryView => Arc::new(column.as_binary_view().gc()),
            _ => Arc::clone(column),
        }
    };
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(batch.schema(), batch.columns().iter().map(compact).collect(), &options)
}
