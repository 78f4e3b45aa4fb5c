//! The index at the end of an Arrow file: its schema, and where its messages are.

use std::io::{self, Read, Seek, SeekFrom};

use arrow_ipc::Block;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_schema::Schema;

use crate::read::format::Format;
use crate::read::guard::guarded;
use crate::read::input::Seekable;

/// A longer description of a record batch is none, nor is a longer footer.
pub(super) const MAX_METADATA: u32 = 256 << 20;
/// What an Arrow file begins and ends with.
pub(super) const MAGIC: &[u8] = b"ARROW1";
/// The end of a file: the length of the footer, and the mark.
const TAIL: usize = 4 + MAGIC.len();

/// What the footer says.
#[derive(Debug)]
pub(super) struct Footer {
    pub(super) schema: Schema,
    /// Dictionaries, then record batches.
    pub(super) blocks: Vec<Block>,
    pub(super) metadata: Vec<(String, String)>,
}

impl Footer {
    /// Reads the footer of a file. Nothing if it is no Arrow file, or a cut off or damaged one.
    pub(super) fn read(file: &mut Seekable) -> io::Result<Option<Self>> {
        let n_bytes = file.seek(SeekFrom::End(0))?;
        let mut start = Vec::new();
        file.rewind()?;
        file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start)?;
        let Some(end) = n_bytes.checked_sub(TAIL as u64).filter(|_| start == MAGIC) else { return Ok(None) };
        let mut tail = Vec::new();
        file.seek(SeekFrom::Start(end))?;
        file.by_ref().take(TAIL as u64).read_to_end(&mut tail)?;
        let Some(length) = tail.first_chunk::<4>().map(|length| u32::from_le_bytes(*length)) else {
            return Ok(None);
        };
        let place = end.checked_sub(u64::from(length)).filter(|_| length <= MAX_METADATA);
        let Some(place) = place.filter(|_| tail.ends_with(MAGIC)) else { return Ok(None) };
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(place))?;
        file.by_ref().take(u64::from(length)).read_to_end(&mut bytes)?;
        Ok(Self::parse(&bytes))
    }

    /// Reads a footer out of all that comes after the messages of a file.
    pub(super) fn of_rest(rest: &[u8]) -> Option<Self> {
        let (before, length) = rest.strip_suffix(MAGIC)?.split_last_chunk::<4>()?;
        let start = before.len().checked_sub(u32::from_le_bytes(*length) as usize)?;
        Self::parse(&before[start..])
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let footer = arrow_ipc::root_as_footer(bytes).ok()?;
        let schema = footer.schema().filter(|schema| schema.endianness().equals_to_target_endianness())?;
        let schema = guarded(Format::Arrow, || try_fb_to_schema(schema)).ok()?;
        let blocks =
            footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
        let pairs = footer.custom_metadata().into_iter().flatten();
        let pairs = pairs.filter_map(|pair| Some((pair.key()?.to_owned(), pair.value()?.to_owned())));
        Some(Self { schema, blocks: blocks.copied().collect(), metadata: pairs.collect() })
    }
}
