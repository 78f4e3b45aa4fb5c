//! Messages and their bodies: one after the other from a stream, or where the footer of a file says.
//!
//! Lengths in the file are not trusted: nothing is reserved for bytes that have not come.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use arrow_buffer::Buffer;
use arrow_ipc::convert::{MessageBuffer, try_fb_to_schema};
use arrow_ipc::{Block, MessageHeader};
use arrow_schema::{ArrowError, Schema};

use super::footer::{Footer, MAGIC, MAX_METADATA};
use crate::error::{Error, Result};
use crate::read::format::Format;
use crate::read::guard::guarded;
use crate::read::input::{Input, Seekable};
use crate::read::reject::RejectReason;
use crate::read::stream::{End, Progress, Stream};
use crate::read::table::TableFault;

/// There are at most so many zeros after the mark at the beginning of a file.
const MAX_PADDING: usize = 512;
const CONTINUATION: [u8; 4] = [0xff; 4];
/// What is read at a time.
const CHUNK: usize = 1 << 20;

impl TableFault {
    /// An Arrow file or stream that makes no sense.
    pub(super) fn arrow(detail: &str) -> Self {
        Self::Damaged(RejectReason::damaged(Format::Arrow, detail))
    }
}

impl From<ArrowError> for TableFault {
    fn from(error: ArrowError) -> Self {
        Self::Damaged(RejectReason::damaged(Format::Arrow, error))
    }
}

/// The messages of a file or stream.
pub(crate) struct ArrowMessages {
    source: MessageSource,
    is_file: bool,
    is_started: bool,
    is_over: bool,
    metadata: Vec<(String, String)>,
}

/// Where bytes come from.
enum MessageSource {
    Stream(Stream),
    File(Indexed),
}

/// A file with its footer.
struct Indexed {
    file: Seekable,
    n_bytes: u64,
    schema: Option<Schema>,
    blocks: std::vec::IntoIter<Block>,
    progress: Progress,
    n_read: u64,
}

impl Indexed {
    /// Goes to a place, which is checked: it comes from the file.
    fn go(&mut self, place: Option<u64>) -> Result<(), TableFault> {
        let place = place.filter(|&place| place <= self.n_bytes);
        let place = place.ok_or(TableFault::arrow("a place outside of the file"))?;
        self.file.seek(SeekFrom::Start(place)).map(|_| ()).map_err(TableFault::Io)
    }

    fn pass(&mut self, n: u64) -> Result<(), TableFault> {
        let at = self.file.stream_position().map_err(TableFault::Io)?;
        self.go(at.checked_add(n))
    }

    fn read(&mut self, n: u64, into: &mut Vec<u8>) -> io::Result<End> {
        let read = self.file.by_ref().take(n).read_to_end(into)? as u64;
        self.progress.add(read as usize);
        self.n_read += read;
        Ok(if read < n { End::Done } else { End::More })
    }
}

/// What a message is. The body of all but a schema is to be read or passed next.
pub(crate) enum ArrowItem {
    Schema(Schema),
    Message(MessageBuffer),
}

impl ArrowMessages {
    /// The messages of a stream, which may also be a file, with a mark before them and a footer after them.
    pub(in crate::read) fn of_stream(stream: Stream) -> Self {
        let (source, metadata) = (MessageSource::Stream(stream), Vec::new());
        Self { source, is_file: false, is_started: false, is_over: false, metadata }
    }

    /// The messages of a file: by its footer if it has one, else as a stream.
    pub(in crate::read) fn of_file(mut file: Seekable, path: &Path, progress: &Progress) -> Result<Self> {
        let fail = |error| Error::read(path, error);
        let Some(footer) = Footer::read(&mut file).map_err(fail)? else {
            file.rewind().map_err(fail)?;
            return Ok(Self::of_stream(Stream::new(Box::new(file), path, progress)?));
        };
        let Footer { schema, blocks, metadata } = footer;
        let n_bytes = file.seek(SeekFrom::End(0)).map_err(fail)?;
        let (schema, blocks, progress) = (Some(schema), blocks.into_iter(), progress.clone());
        let source = MessageSource::File(Indexed { file, n_bytes, schema, blocks, progress, n_read: 0 });
        Ok(Self { source, is_file: true, is_started: true, is_over: false, metadata })
    }

    /// The messages of a file that was read before.
    pub(crate) fn open(input: &Input) -> Result<Self> {
        match input.open()? {
            Some(file) => Self::of_file(file, &input.path, &Progress::default()),
            None => Ok(Self::of_stream(Stream::new(input.stream()?, &input.path, &Progress::default())?)),
        }
    }

    /// Whether it is a file, with a footer, and not a stream. Known after the first message.
    pub(crate) fn is_file(&self) -> bool {
        self.is_file
    }

    /// The metadata in the footer. Known after the last message.
    pub(crate) fn metadata(&mut self) -> Vec<(String, String)> {
        if self.is_over && self.is_file && self.metadata.is_empty() {
            let mut rest = Vec::new();
            let read = self.append(u64::from(MAX_METADATA), &mut rest);
            self.metadata = read.ok().and_then(|_| Footer::of_rest(&rest)).map_or(Vec::new(), |f| f.metadata);
        }
        std::mem::take(&mut self.metadata)
    }

    /// The next message, or nothing at the end.
    pub(crate) fn next(&mut self) -> Result<Option<ArrowItem>, TableFault> {
        if let MessageSource::File(file) = &mut self.source {
            if let Some(schema) = file.schema.take() {
                return Ok(Some(ArrowItem::Schema(schema)));
            }
            let Some(block) = file.blocks.next() else { return Ok(None) };
            file.go(u64::try_from(block.offset()).ok())?;
        } else if !self.is_started {
            self.is_started = true;
            let MessageSource::Stream(stream) = &mut self.source else { return Ok(None) };
            self.is_file = stream.peek().starts_with(MAGIC);
            if self.is_file {
                return self.first_of_file();
            }
        }
        if self.is_over {
            return Ok(None);
        }
        let Some(length) = self.length()? else { return Ok(None) };
        self.message(length)
    }

    /// The first message of a file that is read as a stream, after its mark and the zeros that fill it up.
    fn first_of_file(&mut self) -> Result<Option<ArrowItem>, TableFault> {
        self.bytes(8)?;
        for _ in 0..MAX_PADDING / 4 {
            match self.length()? {
                Some([0, 0, 0, 0]) => {}
                Some(length) => return self.message(length),
                None => break,
            }
        }
        Err(TableFault::arrow("no schema"))
    }

    fn message(&mut self, mut length: [u8; 4]) -> Result<Option<ArrowItem>, TableFault> {
        if length == CONTINUATION {
            length = self.length()?.ok_or(TableFault::arrow("the file ends inside of a message"))?;
        }
        let n = u32::from_le_bytes(length);
        if n == 0 && matches!(self.source, MessageSource::File(_)) {
            return Err(TableFault::arrow("a block without a message"));
        }
        if n == 0 {
            self.is_over = true;
            return Ok(None);
        }
        if n > MAX_METADATA {
            return Err(TableFault::arrow("a message of absurd length; is this an arrow file?"));
        }
        let message = MessageBuffer::try_new(Buffer::from_vec(self.bytes(u64::from(n))?))?;
        if message.as_ref().header_type() != MessageHeader::Schema {
            return Ok(Some(ArrowItem::Message(message)));
        }
        let schema = message.as_ref().header_as_schema().ok_or(TableFault::arrow("no schema"))?;
        if !schema.endianness().equals_to_target_endianness() {
            return Err(TableFault::arrow("bytes in the other order"));
        }
        guarded(Format::Arrow, || try_fb_to_schema(schema))
            .map(|schema| Some(ArrowItem::Schema(schema)))
            .map_err(TableFault::Damaged)
    }

    /// Four bytes; nothing at the end of a stream. A file has a mark for its end.
    fn length(&mut self) -> Result<Option<[u8; 4]>, TableFault> {
        let mut bytes = Vec::new();
        self.append(4, &mut bytes)?;
        match bytes.first_chunk() {
            Some(length) => Ok(Some(*length)),
            None if bytes.is_empty() && !self.is_file => Ok(None),
            None => Err(TableFault::arrow("the file ends early")),
        }
    }

    /// The next bytes of a body.
    pub(crate) fn bytes(&mut self, n: u64) -> Result<Vec<u8>, TableFault> {
        let mut bytes = Vec::new();
        if self.append(n, &mut bytes)? < n {
            return Err(TableFault::arrow("the file ends inside of a message"));
        }
        Ok(bytes)
    }

    /// Passes the next bytes of a body.
    pub(crate) fn pass(&mut self, n: u64) -> Result<(), TableFault> {
        if let MessageSource::File(file) = &mut self.source {
            return file.pass(n);
        }
        let (mut left, mut bytes) = (n, Vec::new());
        while left > 0 {
            bytes.clear();
            let read = self.append(left.min(CHUNK as u64), &mut bytes)?;
            if read == 0 {
                return Err(TableFault::arrow("the file ends inside of a message"));
            }
            left -= read;
        }
        Ok(())
    }

    /// Ends the reading: the progress comes to its end, and a pipe is not broken.
    pub(super) fn drain(&mut self) -> Result<(), TableFault> {
        if let MessageSource::File(file) = &mut self.source {
            let rest = file.n_bytes.saturating_sub(file.n_read);
            file.progress.add(rest as usize);
            file.n_read += rest;
            return Ok(());
        }
        let mut bytes = Vec::new();
        while self.append(CHUNK as u64, &mut bytes)? > 0 {
            bytes.clear();
        }
        Ok(())
    }

    /// Appends `n` bytes, or fewer at the end; says how many.
    pub(super) fn append(&mut self, n: u64, into: &mut Vec<u8>) -> Result<u64, TableFault> {
        let before = into.len();
        loop {
            let left = n - (into.len() - before) as u64;
            if left == 0 {
                return Ok(n);
            }
            let end = match &mut self.source {
                MessageSource::Stream(stream) => stream.read(left.min(CHUNK as u64) as usize, into),
                MessageSource::File(file) => file.read(left, into),
            };
            match end.map_err(TableFault::Io)? {
                End::More => {}
                End::Done => return Ok((into.len() - before) as u64),
                End::Broken(reason) => return Err(TableFault::Damaged(reason)),
            }
        }
    }
}
