//! A stage for a caller that hands over bytes: batches as streams of Arrow, in and out.

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;

use super::{Settings, Stage, stage};
use crate::error::{Error, Result};

/// A stage and its input and output as bytes.
pub struct Port {
    stage: Box<dyn Stage>,
}

impl Port {
    /// The stage of a name.
    ///
    /// # Errors
    /// An unknown name; settings that the stage cannot work with.
    pub fn new(name: &str, settings: Settings) -> Result<Self> {
        Ok(Self { stage: stage(name, settings)? })
    }

    /// Takes a stream of batches, and gives those that are ready as one; nothing if there are none.
    ///
    /// # Errors
    /// Bytes that are no stream; rows that are not what the stage expects; documents that cannot be told apart.
    pub fn push(&mut self, stream: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut made = Vec::new();
        for batch in StreamReader::try_new(stream, None).map_err(unreadable)? {
            made.extend(self.stage.push(&batch.map_err(unreadable)?)?);
        }
        written(&made)
    }

    /// There are no more batches; gives some of the rest, until nothing is left.
    ///
    /// # Errors
    /// As [`Port::push`].
    pub fn finish(&mut self) -> Result<Option<Vec<u8>>> {
        written(&self.stage.finish()?)
    }
}

fn written(batches: &[RecordBatch]) -> Result<Option<Vec<u8>>> {
    let Some(first) = batches.first() else { return Ok(None) };
    let write = || {
        let mut writer = StreamWriter::try_new(Vec::new(), &first.schema())?;
        batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.into_inner()
    };
    write().map(Some).map_err(unreadable)
}

fn unreadable(error: ArrowError) -> Error {
    Error::Handed {
        expected: "a stream of Arrow batches",
        got: error.to_string(),
        remedy: "use the same version of benzer on the driver and on all executors",
    }
}
