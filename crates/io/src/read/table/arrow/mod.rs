//! Arrow IPC, as a stream or as a file. A file is read by its footer, which says where its record batches are; without one (cut
//! off, compressed, from a pipe) it is read as the stream that it also is.
//!
//! The reading thread reads the buffers of the wanted columns of one record batch and passes the others. A record batch of
//! many rows is cut into several batches by rows; its wanted columns are held until the last of them is done, so the
//! memory follows the size of a record batch (4 GiB at most, more are rejects). Writers make them of some thousand rows.
//!
//! In a stream a dictionary stands before the record batches that use it. What cannot be read: where a message is damaged or cut off, all that follows is one reject; a record batch that cannot be decoded is a reject of
//! each of its rows.

mod footer;
mod gather;
mod layout;
mod messages;
mod select;
mod shared_batch;
mod wanted;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use arrow_array::{Array, ArrayRef};
use arrow_buffer::Buffer;
use arrow_ipc::MessageHeader;
use arrow_ipc::convert::MessageBuffer;
use arrow_ipc::reader::read_dictionary;

use super::{Content, TableFault, TableItem, TableReader, UndecodedRows, max_rejects};
use crate::error::{Error, Result};
use crate::read::format::Format;
use crate::read::guard::guarded;
use crate::read::input::{Input, Seekable};
use crate::read::options::{MAX_BYTES, Plan};
use crate::read::reject::RejectReason;
use crate::read::rows::Row;
use crate::read::stream::{Progress, Stream};
pub(crate) use messages::{ArrowItem, ArrowMessages};
use select::Selected;
pub(super) use shared_batch::Part;
use shared_batch::SharedBatch;
use wanted::Wanted;

/// The wanted columns of a record batch may have so many bytes.
const MAX_HELD_BYTES: u64 = 4 * MAX_BYTES as u64;

/// A file being read.
pub(in crate::read) struct ArrowReader {
    input: Arc<Input>,
    messages: ArrowMessages,
    wanted: Option<Result<Arc<Wanted>, RejectReason>>,
    dictionaries: Arc<HashMap<i64, ArrayRef>>,
    /// The first row that is in no batch yet.
    row: u64,
    /// Rows that are known and in no batch yet.
    waiting: Option<Waiting>,
    is_done: bool,
}

/// The rest of a record batch.
struct Waiting {
    content: Rest,
    n_rows: usize,
    /// How many of them are in batches already.
    row: usize,
}

enum Rest {
    /// A record batch, and how many of its rows a batch has.
    Batch(Arc<SharedBatch>, usize),
    Bad(RejectReason),
}

impl ArrowReader {
    pub(in crate::read) fn of_stream(stream: Stream, input: Arc<Input>) -> Self {
        Self::new(ArrowMessages::of_stream(stream), input)
    }

    pub(in crate::read) fn of_file(file: Seekable, input: Arc<Input>, progress: &Progress) -> Result<Self> {
        Ok(Self::new(ArrowMessages::of_file(file, &input.path, progress)?, input))
    }

    fn new(messages: ArrowMessages, input: Arc<Input>) -> Self {
        let dictionaries = Arc::default();
        Self { input, messages, wanted: None, dictionaries, row: 0, waiting: None, is_done: false }
    }

    /// Reads messages until there are rows. False at the end.
    fn advance(&mut self, plan: &Plan) -> Result<bool, TableFault> {
        while self.waiting.is_none() {
            match self.messages.next()? {
                None if self.wanted.is_none() => return Err(TableFault::arrow("no schema")),
                None => return self.messages.drain().map(|()| false),
                Some(ArrowItem::Schema(schema)) => {
                    self.wanted = Some(Wanted::find(schema.fields(), &plan.fields).map(Arc::new));
                }
                Some(ArrowItem::Message(message)) => self.take(&message, plan)?,
            }
        }
        Ok(true)
    }

    fn take(&mut self, message: &MessageBuffer, plan: &Plan) -> Result<(), TableFault> {
        let message = message.as_ref();
        let n_body =
            u64::try_from(message.bodyLength()).map_err(|_| TableFault::arrow("a negative length"))?;
        match message.header_type() {
            MessageHeader::DictionaryBatch => self.take_dictionary(&message, n_body),
            MessageHeader::RecordBatch => self.take_rows(&message, n_body, plan),
            _ => self.messages.pass(n_body),
        }
    }

    /// Decodes a dictionary if a wanted column uses it. If that fails, no further row can be read.
    fn take_dictionary(&mut self, message: &arrow_ipc::Message<'_>, n_body: u64) -> Result<(), TableFault> {
        let batch = message.header_as_dictionary_batch().ok_or(TableFault::arrow("no dictionary"))?;
        let Some(Ok(wanted)) = &self.wanted else { return self.messages.pass(n_body) };
        #[expect(deprecated)]
        let is_used = !wanted.schema.fields_with_dict_id(batch.id()).is_empty();
        if !is_used {
            return self.messages.pass(n_body);
        }
        if n_body > MAX_HELD_BYTES {
            return Err(TableFault::arrow("a dictionary of too many bytes"));
        }
        let body = Buffer::from_vec(self.messages.bytes(n_body)?);
        let data = batch.data().ok_or(TableFault::arrow("no dictionary"))?;
        let is_inside = |place: &arrow_ipc::Buffer| select::is_inside(place, n_body);
        if !data.buffers().is_some_and(|buffers| buffers.iter().all(is_inside)) {
            return Err(TableFault::arrow("a buffer outside of its dictionary"));
        }
        let all = select::decoded_bytes(&body, data.buffers().iter().flatten(), data.compression().is_some());
        if all.is_none_or(|all| all > MAX_HELD_BYTES) {
            return Err(TableFault::arrow("a dictionary of too many bytes"));
        }
        let dictionaries = Arc::make_mut(&mut self.dictionaries);
        let version = message.version();
        let read =
            guarded(Format::Arrow, || read_dictionary(&body, batch, &wanted.schema, dictionaries, &version));
        if let Err(reason) = read {
            self.wanted = Some(Err(reason));
        }
        Ok(())
    }

    /// Reads the wanted columns of a record batch.
    fn take_rows(
        &mut self,
        message: &arrow_ipc::Message<'_>,
        n_body: u64,
        plan: &Plan,
    ) -> Result<(), TableFault> {
        let batch = message.header_as_record_batch().ok_or(TableFault::arrow("no record batch"))?;
        let n_rows = u64::try_from(batch.length()).map_err(|_| TableFault::arrow("a negative length"))?;
        let wanted = match &self.wanted {
            None => return Err(TableFault::arrow("a record batch before the schema")),
            Some(Err(reason)) => {
                let reason = reason.clone();
                return self.reject(n_rows, n_body, n_body, reason);
            }
            Some(Ok(wanted)) => Arc::clone(wanted),
        };
        let Some(columns) = Selected::find(&wanted, message, n_body) else {
            return self.reject(n_rows, n_body, n_body, damaged("its lists do not fit the schema"));
        };
        let n_bytes = columns.n_bytes();
        if n_bytes > MAX_HELD_BYTES {
            let reason = RejectReason::TooLong { what: "record batch", bytes: n_bytes, max: MAX_HELD_BYTES };
            return self.reject(n_rows, n_body, n_body, reason);
        }
        let (body, places) = gather::gather(&mut self.messages, &columns.buffers, n_body)?;
        let all = select::decoded_bytes(&body, places.iter(), columns.codec.is_some());
        let Some(all) = all else {
            let reason = damaged("a compressed buffer of an absurd length");
            return self.reject(n_rows, 0, believed(u64::MAX, n_body), reason);
        };
        if all > MAX_HELD_BYTES {
            let reason = RejectReason::TooLong { what: "record batch", bytes: all, max: MAX_HELD_BYTES };
            return self.reject(n_rows, 0, believed(all, n_body), reason);
        }
        is_plausible(n_rows, believed(all, n_body))?;
        let per_row = size_of::<Row>() as f64 + all as f64 / n_rows.max(1) as f64 + self.mean_values(&wanted);
        let message = shared_batch::message(n_rows as i64, &columns, &places);
        let batch = SharedBatch {
            message,
            body,
            version: columns.version,
            wanted,
            dictionaries: Arc::clone(&self.dictionaries),
            decoded: OnceLock::new(),
        };
        let at_once = ((plan.batch_bytes as f64 / per_row) as usize).max(1);
        self.wait(n_rows, Rest::Batch(Arc::new(batch), at_once));
        Ok(())
    }

    /// What the rows of dictionary columns stand for, in the mean.
    fn mean_values(&self, wanted: &Wanted) -> f64 {
        #[expect(deprecated)]
        let is_used = |id: &&i64| !wanted.schema.fields_with_dict_id(**id).is_empty();
        let mean = |id| {
            let values = &self.dictionaries[id];
            values.get_buffer_memory_size() as f64 / values.len().max(1) as f64
        };
        self.dictionaries.keys().filter(is_used).map(mean).sum()
    }

    /// Passes what is left of the body of a record batch, none of whose rows is a document.
    fn reject(
        &mut self,
        n_rows: u64,
        n_left: u64,
        n_bytes: u64,
        reason: RejectReason,
    ) -> Result<(), TableFault> {
        is_plausible(n_rows, n_bytes)?;
        self.messages.pass(n_left)?;
        self.wait(n_rows, Rest::Bad(reason));
        Ok(())
    }

    fn wait(&mut self, n_rows: u64, content: Rest) {
        if n_rows > 0 {
            self.waiting = Some(Waiting { content, n_rows: n_rows as usize, row: 0 });
        }
    }

    /// The last batch of a file that cannot be read further.
    fn end(&mut self, reason: RejectReason) -> TableItem {
        self.is_done = true;
        self.messages.drain().ok();
        TableItem::rest(&self.input, self.row, reason)
    }
}

impl TableReader for ArrowReader {
    fn next(&mut self, plan: &Plan) -> Result<Option<TableItem>> {
        if self.is_done {
            return Ok(None);
        }
        match self.advance(plan) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(TableFault::Damaged(reason)) => return Ok(Some(self.end(reason))),
            Err(TableFault::Io(source)) => return Err(Error::read(&self.input.path, source)),
        }
        let Some(waiting) = &mut self.waiting else { return Ok(None) };
        let left = waiting.n_rows - waiting.row;
        let (n_rows, content) = match &waiting.content {
            Rest::Batch(batch, at_once) => {
                let n_rows = left.min(*at_once);
                let rows = waiting.row..waiting.row + n_rows;
                (n_rows, Content::RecordBatch(Part { batch: Arc::clone(batch), rows }))
            }
            Rest::Bad(reason) => (left.min(max_rejects(plan) as usize), Content::Bad(reason.clone())),
        };
        waiting.row += n_rows;
        if n_rows == left {
            self.waiting = None;
        }
        let rows = UndecodedRows::new(&self.input, self.row, n_rows, content);
        self.row += n_rows as u64;
        Ok(Some(TableItem::Rows(rows)))
    }
}

/// How many bytes a body is believed to have, whatever its buffers say about themselves.
fn believed(n_bytes: u64, n_body: u64) -> u64 {
    n_bytes.min(n_body.saturating_mul(select::MAX_TIMES / 8))
}

/// A row takes at least a bit. More rows than that are a damaged number, not rows.
fn is_plausible(n_rows: u64, n_bytes: u64) -> Result<(), TableFault> {
    if n_rows <= n_bytes.saturating_mul(8) {
        Ok(())
    } else {
        Err(TableFault::arrow("an absurd number of rows"))
    }
}

fn damaged(detail: &str) -> RejectReason {
    RejectReason::damaged(Format::Arrow, detail)
}
