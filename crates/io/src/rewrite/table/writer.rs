//! The output of an Arrow file: a file or a stream, with the codec of the first record batch that is written.

use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, SchemaRef};

use super::sink::Sink;

/// Writes record batches as soon as it is known how.
pub(super) enum Writer<'a, 's> {
    /// Nothing is written yet.
    Closed(Option<&'a mut Sink<'s>>),
    File(Box<FileWriter<&'a mut Sink<'s>>>),
    Stream(Box<StreamWriter<&'a mut Sink<'s>>>),
}

impl<'a, 's> Writer<'a, 's> {
    pub(super) fn new(sink: &'a mut Sink<'s>) -> Self {
        Self::Closed(Some(sink))
    }

    /// Writes the schema, unless it is written already.
    pub(super) fn open(
        &mut self,
        schema: &SchemaRef,
        is_file: bool,
        codec: Option<CompressionType>,
    ) -> Result<(), ArrowError> {
        let Self::Closed(sink) = self else { return Ok(()) };
        let Some(sink) = sink.take() else { return Ok(()) };
        let options = IpcWriteOptions::default().try_with_compression(codec)?;
        *self = match is_file {
            // A dictionary of a file may grow, and must not be replaced.
            true => {
                let options = options.with_dictionary_handling(DictionaryHandling::Delta);
                Self::File(Box::new(FileWriter::try_new_with_options(sink, schema, options)?))
            }
            false => Self::Stream(Box::new(StreamWriter::try_new_with_options(sink, schema, options)?)),
        };
        Ok(())
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        match self {
            Self::Closed(_) => Ok(()),
            Self::File(writer) => writer.write(batch),
            Self::Stream(writer) => writer.write(batch),
        }
    }

    /// Ends the output. The footer of a file gets the metadata that the input has in its own.
    pub(super) fn finish(&mut self, metadata: Vec<(String, String)>) -> Result<(), ArrowError> {
        match self {
            Self::Closed(_) => Ok(()),
            Self::Stream(writer) => writer.finish(),
            Self::File(writer) => {
                for (key, value) in metadata {
                    writer.write_metadata(key, value);
                }
                writer.finish()
            }
        }
    }
}
