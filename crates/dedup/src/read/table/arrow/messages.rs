//! Messages and their bodies, from a stream of bytes. Lengths in the stream are not trusted: nothing is reserved for bytes
//! that have not come.

use std::fs::File;
use std::io;
use std::path::Path;

use arrow_buffer::Buffer;
use arrow_ipc::convert::MessageBuffer;
use arrow_schema::ArrowError;

use super::damaged;
use crate::error::Error;
use crate::read::format::Format;
use crate::read::reject::RejectReason;
use crate::read::stream::{End, Progress, Stream};

/// What an Arrow file begins with, filled up to 8 bytes or more.
const MAGIC: &[u8] = b"ARROW1";
/// There are at most so many zeros after it.
const MOST_PADDING: usize = 512;
const CONTINUATION: [u8; 4] = [0xff; 4];
/// What is read at a time.
const CHUNK: usize = 1 << 20;
/// A longer description of a record batch is none.
const MOST_METADATA: u32 = 256 << 20;
/// Buffers begin at multiples of this, as decoders want it.
const ALIGNMENT: usize = 64;

/// Why a message cannot be read.
#[derive(Debug)]
pub(crate) enum Fault {
    Io(io::Error),
    Damaged(RejectReason),
}

impl Fault {
    pub(crate) fn damaged(detail: &str) -> Self {
        Self::Damaged(damaged(detail))
    }
}

impl From<ArrowError> for Fault {
    fn from(error: ArrowError) -> Self {
        Self::Damaged(crate::read::table::damaged(Format::Arrow, error))
    }
}

/// The messages of a stream.
pub(crate) struct Messages {
    stream: Stream,
    is_file: bool,
    is_started: bool,
    is_over: bool,
}

impl Messages {
    pub(in crate::read) fn new(stream: Stream) -> Self {
        Self { stream, is_file: false, is_started: false, is_over: false }
    }

    /// The messages of a file, to be read a second time.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|error| Error::open(path, error))?;
        Ok(Self::new(Stream::new(Box::new(file), path, &Progress::default())?))
    }

    /// Whether it is a file, with a mark before the messages and an index after them. Known after the first message.
    pub(crate) fn is_file(&self) -> bool {
        self.is_file
    }

    /// The next message, or nothing at the end of the stream. Its body is to be read or passed next.
    pub(crate) fn message(&mut self) -> Result<Option<MessageBuffer>, Fault> {
        if !self.is_started {
            self.is_started = true;
            self.is_file = self.stream.peek().starts_with(MAGIC);
            if self.is_file {
                return self.first_of_file();
            }
        }
        if self.is_over {
            return Ok(None);
        }
        let Some(length) = self.length()? else { return Ok(None) };
        self.message_of(length)
    }

    /// The first message of a file, after its mark and the zeros that fill it up.
    fn first_of_file(&mut self) -> Result<Option<MessageBuffer>, Fault> {
        self.bytes(8)?;
        for _ in 0..MOST_PADDING / 4 {
            match self.length()? {
                Some([0, 0, 0, 0]) => {}
                Some(length) => return self.message_of(length),
                None => break,
            }
        }
        Err(Fault::damaged("no schema"))
    }

    fn message_of(&mut self, mut length: [u8; 4]) -> Result<Option<MessageBuffer>, Fault> {
        if length == CONTINUATION {
            length = self.length()?.ok_or(Fault::damaged("the file ends inside of a message"))?;
        }
        let n = u32::from_le_bytes(length);
        if n == 0 {
            self.is_over = true;
            return Ok(None);
        }
        if n > MOST_METADATA {
            return Err(Fault::damaged("a message of absurd length; is this an arrow file?"));
        }
        let bytes = self.bytes(u64::from(n))?;
        Ok(Some(MessageBuffer::try_new(Buffer::from_vec(bytes))?))
    }

    /// Four bytes; nothing at the end of a stream. A file has a mark for its end.
    fn length(&mut self) -> Result<Option<[u8; 4]>, Fault> {
        let mut bytes = Vec::new();
        self.append(4, &mut bytes)?;
        match bytes.first_chunk() {
            Some(length) => Ok(Some(*length)),
            None if bytes.is_empty() && !self.is_file => Ok(None),
            None => Err(Fault::damaged("the file ends early")),
        }
    }

    /// The next bytes of a body.
    pub(crate) fn bytes(&mut self, n: u64) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        if self.append(n, &mut bytes)? < n {
            return Err(Fault::damaged("the file ends inside of a message"));
        }
        Ok(bytes)
    }

    /// Reads past the next bytes of a body.
    pub(crate) fn pass(&mut self, n: u64) -> Result<(), Fault> {
        let (mut left, mut bytes) = (n, Vec::new());
        while left > 0 {
            bytes.clear();
            let read = self.append(left.min(CHUNK as u64), &mut bytes)?;
            if read == 0 {
                return Err(Fault::damaged("the file ends inside of a message"));
            }
            left -= read;
        }
        Ok(())
    }

    /// Reads some buffers of a body of `n` bytes, and past the others. Gives them one after the other, and their new places.
    pub(crate) fn gather(
        &mut self,
        wanted: &[arrow_ipc::Buffer],
        n: u64,
    ) -> Result<(Buffer, Vec<arrow_ipc::Buffer>), Fault> {
        let mut order: Vec<usize> = (0..wanted.len()).collect();
        order.sort_by_key(|&i| (wanted[i].offset(), wanted[i].length()));
        let (mut body, mut at) = (Vec::new(), 0);
        let mut places = vec![arrow_ipc::Buffer::new(0, 0); wanted.len()];
        let mut last: Option<usize> = None;
        for i in order {
            let (offset, length) = (wanted[i].offset() as u64, wanted[i].length() as u64);
            match last {
                // Two columns have the same ancestor.
                Some(last) if wanted[last] == wanted[i] => {
                    places[i] = places[last];
                    continue;
                }
                _ if length == 0 => continue,
                _ if offset < at => return Err(Fault::damaged("buffers that overlap")),
                _ => {}
            }
            self.pass(offset - at)?;
            body.resize(body.len().next_multiple_of(ALIGNMENT), 0);
            places[i] = arrow_ipc::Buffer::new(body.len() as i64, length as i64);
            if self.append(length, &mut body)? < length {
                return Err(Fault::damaged("the file ends inside of a record batch"));
            }
            (at, last) = (offset + length, Some(i));
        }
        self.pass(n - at)?;
        Ok((Buffer::from_vec(body), places))
    }

    /// Reads to the end, so that the progress is right, and a pipe is not broken.
    pub(crate) fn drain(&mut self) -> Result<(), Fault> {
        let mut bytes = Vec::new();
        while self.append(CHUNK as u64, &mut bytes)? > 0 {
            bytes.clear();
        }
        Ok(())
    }

    /// What comes after the last message, if it is not too long.
    pub(crate) fn rest(&mut self) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        self.append(u64::from(MOST_METADATA), &mut bytes)?;
        Ok(bytes)
    }

    /// Appends `n` bytes, or fewer at the end; says how many.
    fn append(&mut self, n: u64, into: &mut Vec<u8>) -> Result<u64, Fault> {
        let before = into.len();
        loop {
            let left = n - (into.len() - before) as u64;
            if left == 0 {
                return Ok(n);
            }
            match self.stream.read(left.min(CHUNK as u64) as usize, into).map_err(Fault::Io)? {
                End::More => {}
                End::Done => return Ok((into.len() - before) as u64),
                End::Broken(reason) => return Err(Fault::Damaged(reason)),
            }
        }
    }
}
