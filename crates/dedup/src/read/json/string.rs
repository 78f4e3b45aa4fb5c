//! JSON strings: scanned where they lie, decoded only when there is a backslash.

use super::{Fault, byte, escapes, special};

/// A string between its quotes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Quoted {
    /// The first byte after the opening quote.
    pub(crate) start: usize,
    /// The closing quote.
    pub(crate) end: usize,
    /// Whether there is an escape, so that the content is not the bytes as they stand.
    pub(crate) escaped: bool,
}

/// Scans and validates a string whose opening quote is before `start`.
#[inline]
pub(crate) fn scan(bytes: &[u8], start: usize) -> Result<Quoted, Fault> {
    let end = special::find(bytes, start);
    if byte(bytes, end) == b'"' {
        return Ok(Quoted { start, end, escaped: false });
    }
    scan_escaped(bytes, start, end)
}

fn scan_escaped(bytes: &[u8], start: usize, mut at: usize) -> Result<Quoted, Fault> {
    loop {
        at = match byte(bytes, at) {
            b'"' => return Ok(Quoted { start, end: at, escaped: true }),
            b'\\' if SIMPLE[usize::from(byte(bytes, at + 1))] != 0 => at + 2,
            b'\\' => unicode_escape(bytes, at)?.1,
            b'\n' => return Err(Fault { at, expected: "`\"` to close the string" }),
            _ => return Err(Fault { at, expected: "control characters in strings to be escaped" }),
        };
        at = escapes::skip_simple(bytes, at);
    }
}

/// Decoded strings one after the other.
///
/// What lies behind them is left over from before, and overwritten: to clear it first would take as long as to decode.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    buffer: Vec<u8>,
    end: usize,
}

impl Decoded {
    /// What may be written behind the end, by kernels that write whole vectors.
    const SLACK: usize = 64;

    /// No strings, in a buffer whose content does not matter.
    pub(crate) fn new(buffer: Vec<u8>) -> Self {
        Self { buffer, end: 0 }
    }

    /// How many bytes there are.
    pub(crate) fn len(&self) -> usize {
        self.end
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.end]
    }

    /// The bytes, and the buffer with them.
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        self.buffer.truncate(self.end);
        self.buffer
    }

    /// Forgets the bytes.
    pub(crate) fn clear(&mut self) {
        self.end = 0;
    }

    /// Makes room for so many bytes at once, if there is no room at all: growing step by step would copy them several times.
    pub(crate) fn expect(&mut self, bytes: usize) {
        if self.buffer.capacity() == 0 {
            self.buffer.reserve_exact(bytes + Self::SLACK);
        }
    }

    /// Appends bytes as they are.
    pub(crate) fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.make_room(bytes.len());
        self.buffer[self.end..self.end + bytes.len()].copy_from_slice(bytes);
        self.end += bytes.len();
    }

    /// Appends the content of a string. A string that was scanned before has one; of another nothing may be appended.
    ///
    /// Whole chunks are copied before it is known where their plain part ends; what was too much is overwritten.
    pub(crate) fn unescape(&mut self, quoted: &[u8]) -> Option<()> {
        self.make_room(quoted.len());
        let (mut from, mut to, out) = (0, self.end, &mut self.buffer[..]);
        loop {
            (from, to) = escapes::decode_simple(quoted, from, out, to);
            let Some(chunk) = quoted[from..].first_chunk::<16>() else { break };
            out[to..to + 16].copy_from_slice(chunk);
            // A branch, not a minimum: predicted, it lets the next load begin before this mask is known.
            let mask = special::mask_16(chunk);
            if mask == 0 {
                (from, to) = (from + 16, to + 16);
            } else {
                let plain = mask.trailing_zeros() as usize;
                (from, to) = unescape_one(quoted, from + plain, out, to + plain)?;
            }
        }
        while let Some(&b) = quoted.get(from) {
            if b == b'\\' {
                (from, to) = unescape_one(quoted, from, out, to)?;
            } else {
                out[to] = b;
                (from, to) = (from + 1, to + 1);
            }
        }
        self.end = to;
        Some(())
    }

    fn make_room(&mut self, bytes: usize) {
        let needed = self.end + bytes + Self::SLACK;
        if self.buffer.len() < needed {
            self.buffer.resize(needed, 0);
        }
    }
}

/// Writes the character of an escape; where to go on reading and writing.
#[inline]
fn unescape_one(quoted: &[u8], backslash: usize, out: &mut [u8], to: usize) -> Option<(usize, usize)> {
    let simple = SIMPLE[usize::from(byte(quoted, backslash + 1))];
    if simple != 0 {
        out[to] = simple;
        return Some((backslash + 2, to + 1));
    }
    let (c, next) = unicode_escape(quoted, backslash).ok()?;
    Some((next, to + c.encode_utf8(&mut out[to..]).len()))
}

/// What a letter after a backslash stands for; 0 when it is `u` or nothing.
pub(super) static SIMPLE: [u8; 256] = {
    let mut table = [0; 256];
    let pairs = *b"\"\"\\\\//b\x08f\x0cn\nr\rt\t";
    let mut i = 0;
    while i < pairs.len() {
        table[pairs[i] as usize] = pairs[i + 1];
        i += 2;
    }
    table
};

/// The character of a `\u` escape (two, for a surrogate pair), and the position after it.
fn unicode_escape(bytes: &[u8], backslash: usize) -> Result<(char, usize), Fault> {
    if byte(bytes, backslash + 1) != b'u' {
        return Err(Fault { at: backslash + 1, expected: "one of `\"\\/bfnrtu` after a backslash" });
    }
    let first = hex_4(bytes, backslash + 2)?;
    if let Some(c) = char::from_u32(first) {
        return Ok((c, backslash + 6));
    }
    let lone = Fault { at: backslash, expected: "a surrogate pair, not half of one" };
    if first >= 0xDC00 || byte(bytes, backslash + 6) != b'\\' || byte(bytes, backslash + 7) != b'u' {
        return Err(lone);
    }
    match hex_4(bytes, backslash + 8)? {
        second @ 0xDC00..=0xDFFF => {
            let c = char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00));
            Ok((c.expect("a surrogate pair is a character"), backslash + 12))
        }
        _ => Err(lone),
    }
}

fn hex_4(bytes: &[u8], at: usize) -> Result<u32, Fault> {
    let mut value = 0;
    for at in at..at + 4 {
        let digit = char::from(byte(bytes, at)).to_digit(16);
        value = value << 4 | digit.ok_or(Fault { at, expected: "four hexadecimal digits after `\\u`" })?;
    }
    Ok(value)
}
