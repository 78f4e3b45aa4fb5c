//! The first record of a file: the names of its columns.

use std::path::Path;
use std::sync::Arc;

use super::{Scanner, record};
use crate::error::{Error, Result};
use crate::read::fields::Fields;
use crate::read::stream::{End, Stream};
use crate::read::utf8::BYTE_ORDER_MARK;

/// A longer header is none.
const MAX_BYTES: usize = 1 << 20;
const FIRST_READ: usize = 4 << 10;

/// The names of the columns, and which of them are wanted.
#[derive(Debug)]
pub struct Header {
    pub(crate) delimiter: u8,
    /// As it was read, without byte order mark and newline.
    pub(crate) raw: Vec<u8>,
    pub(crate) n_columns: usize,
    /// The column of each slot.
    pub(crate) columns: Vec<Option<usize>>,
    /// How many lines and bytes of the file it takes, its newline and a byte order mark included.
    pub(crate) n_lines: u64,
    pub(crate) n_bytes: u64,
}

impl Header {
    /// Reads the header of a file, which an empty file does not have. Also gives what was read after it, and how the
    /// reading ended.
    pub fn read(
        stream: &mut Stream,
        delimiter: u8,
        path: &Path,
        fields: &Fields,
    ) -> Result<(Option<Arc<Self>>, Vec<u8>, End)> {
        let (mut bytes, mut scanner, mut n) = (Vec::new(), Scanner::new(delimiter), FIRST_READ);
        loop {
            let before = bytes.len();
            let end = stream.read(n, &mut bytes).map_err(|error| Error::read(path, error))?;
            let mark = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
            let whole = scanner.next_end(&bytes[before.max(mark)..]).map(|n| before.max(mark) + n);
            let (raw, used) = match (whole, &end) {
                (Some(whole), _) => (mark..whole - 1, whole),
                (None, End::More) if bytes.len() > MAX_BYTES => {
                    let detail = format!("it does not end within {MAX_BYTES} bytes");
                    return Err(Error::Header { path: path.into(), detail });
                }
                (None, End::More) => {
                    n = 2 * bytes.len();
                    continue;
                }
                (None, End::Done) if bytes.len() > mark => (mark..bytes.len(), bytes.len()),
                (None, _) => return Ok((None, Vec::new(), end)),
            };
            let header = Self::new(bytes[raw].to_vec(), delimiter, path, fields)?;
            let rest = bytes.split_off(used);
            let header = Self { n_bytes: used as u64, ..header };
            return Ok((Some(Arc::new(header)), rest, end));
        }
    }

    fn new(raw: Vec<u8>, delimiter: u8, path: &Path, fields: &Fields) -> Result<Self> {
        let mut found = Vec::new();
        if let (_, Err(fault)) = record::split(&raw, 0, delimiter, &mut found) {
            let detail = format!("bad quotes at byte {}: expected {}", fault.at + 1, fault.expected);
            return Err(Error::Header { path: path.into(), detail });
        }
        let names: Vec<String> = found.iter().map(|field| name(&raw, field)).collect();
        let column = |wanted: &str| names.iter().rposition(|name| name == wanted);
        let columns: Vec<_> = fields.paths().iter().map(|path| column(&path.names().join("."))).collect();
        let needed = fields.text_slots().chain(fields.id_slot());
        if let Some(slot) = needed.into_iter().find(|&slot| columns[slot].is_none()) {
            let columns = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            return Err(Error::Column { path: path.into(), column: fields.name(slot).to_string(), columns });
        }
        let n_lines = memchr::memchr_iter(b'\n', &raw).count() as u64 + 1;
        Ok(Self { delimiter, n_columns: names.len(), columns, n_lines, n_bytes: 0, raw })
    }
}

/// The names in a header, as far as its quotes allow.
pub fn column_names(raw: &[u8], delimiter: u8) -> Vec<String> {
    let mut found = Vec::new();
    let _ = record::split(raw, 0, delimiter, &mut found);
    found.iter().map(|field| name(raw, field)).collect()
}

fn name(raw: &[u8], field: &record::Field) -> String {
    let written = &raw[field.start..field.end];
    let mut name = Vec::new();
    if field.escaped {
        record::unescape(written, |part| name.extend_from_slice(part));
    } else {
        name.extend_from_slice(written);
    }
    String::from_utf8_lossy(&name).into_owned()
}
