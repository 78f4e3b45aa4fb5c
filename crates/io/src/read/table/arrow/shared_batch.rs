//! The wanted columns of one record batch, and how they are decoded.
//!
//! Several batches may have rows of it. The first of them that is parsed decodes it for all.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::reader::RecordBatchDecoder;
use arrow_ipc::{BodyCompression, BodyCompressionArgs, MetadataVersion, RecordBatchArgs};
use arrow_schema::ArrowError;

use super::select::Selected;
use super::wanted::Wanted;
use crate::read::format::Format;
use crate::read::guard::guarded;
use crate::read::reject::RejectReason;
use crate::read::table::column::Column;
use crate::read::table::rows::{Columns, Rows};

/// Some rows of a record batch.
#[derive(Debug)]
pub(in crate::read::table) struct Part {
    pub(super) batch: Arc<SharedBatch>,
    pub(super) rows: Range<usize>,
}

/// The wanted columns of a record batch.
#[derive(Debug)]
pub(super) struct SharedBatch {
    /// What stands where in the body, as the format writes it.
    pub(super) message: Vec<u8>,
    pub(super) body: Buffer,
    pub(super) version: MetadataVersion,
    pub(super) wanted: Arc<Wanted>,
    pub(super) dictionaries: Arc<HashMap<i64, ArrayRef>>,
    pub(super) decoded: OnceLock<Result<RecordBatch, RejectReason>>,
}

impl Part {
    pub(in crate::read::table) fn n_bytes(&self) -> usize {
        self.batch.body.len()
    }

    pub(in crate::read::table) fn decode(&self, rows: &mut Rows<'_>) {
        let columns = match self.batch.decoded.get_or_init(|| self.batch.decode()) {
            Ok(batch) if batch.num_rows() >= self.rows.end => self.columns(batch),
            Ok(_) => None,
            Err(reason) => return rows.reject(self.rows.len(), reason),
        };
        match columns {
            Some(columns) => rows.add(&columns),
            None => rows.reject(
                self.rows.len(),
                &RejectReason::damaged(Format::Arrow, "a record batch with too few rows"),
            ),
        }
    }

    fn columns(&self, batch: &RecordBatch) -> Option<Columns> {
        let wanted = &self.batch.wanted;
        let column = |i: usize| Column::at(batch.column(i).clone(), &wanted.paths[i].names()[1..]);
        let all = (0..wanted.paths.len()).map(column).collect::<Option<Vec<_>>>()?;
        let of_slots = wanted.of_slots.iter().map(|column| column.map(|column| all[column].clone()));
        Some(Columns { of_slots: of_slots.collect(), rows: self.rows.clone() })
    }
}

impl SharedBatch {
    fn decode(&self) -> Result<RecordBatch, RejectReason> {
        guarded(Format::Arrow, || {
            let batch = flatbuffers::root::<arrow_ipc::RecordBatch>(&self.message)
                .map_err(|error| ArrowError::ParseError(error.to_string()))?;
            let schema = Arc::clone(&self.wanted.schema);
            RecordBatchDecoder::try_new(&self.body, batch, schema, &self.dictionaries, &self.version)?
                .read_record_batch()
        })
    }
}

/// Writes a record batch of only some columns: `buffers` are their places in the new body.
pub(super) fn message(n_rows: i64, columns: &Selected, buffers: &[arrow_ipc::Buffer]) -> Vec<u8> {
    let mut builder = flatbuffers::FlatBufferBuilder::new();
    let nodes = builder.create_vector(&columns.nodes);
    let buffers = builder.create_vector(buffers);
    let variadic = builder.create_vector(&columns.variadic);
    let compression = columns.codec.map(|codec| {
        BodyCompression::create(&mut builder, &BodyCompressionArgs { codec, ..Default::default() })
    });
    let arguments = RecordBatchArgs {
        length: n_rows,
        nodes: Some(nodes),
        buffers: Some(buffers),
        compression,
        variadicBufferCounts: Some(variadic),
    };
    let batch = arrow_ipc::RecordBatch::create(&mut builder, &arguments);
    builder.finish(batch, None);
    builder.finished_data().to_vec()
}
