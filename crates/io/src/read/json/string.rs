//! JSON strings: scanned where they lie, decoded only when there is a backslash.

use std::ops::Range;

use super::escapes::{self, SIMPLE};
use super::{JsonFault, byte, special};

/// A string between its quotes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quoted {
    /// The first byte after the opening quote.
    pub(crate) start: usize,
    /// The closing quote.
    pub(crate) end: usize,
    /// Whether there is an escape, so that the content is not the bytes as they stand.
    pub(crate) escaped: bool,
}

/// Scans and validates a string whose opening quote is before `start`.
#[inline]
pub fn scan(bytes: &[u8], start: usize) -> Result<Quoted, JsonFault> {
    let end = special::find(bytes, start);
    if byte(bytes, end) == b'"' {
        return Ok(Quoted { start, end, escaped: false });
    }
    scan_escaped(bytes, start, end)
}

fn scan_escaped(bytes: &[u8], start: usize, mut at: usize) -> Result<Quoted, JsonFault> {
    loop {
        at = match byte(bytes, at) {
            b'\\' if SIMPLE[usize::from(byte(bytes, at + 1))] != 0 => at + 2,
            b'\\' => unicode_escape(bytes, at)?.1,
            _ => return closed(bytes, at).map(|end| Quoted { start, end, escaped: true }),
        };
        at = escapes::skip_simple(bytes, at);
    }
}

/// [`scan`] of a string whose content is wanted: if there is an escape, the content is appended to `decoded`.
#[inline]
pub fn scan_wanted(bytes: &[u8], start: usize, decoded: &mut Decoded) -> Result<Quoted, JsonFault> {
    let end = special::find(bytes, start);
    if byte(bytes, end) == b'"' {
        return Ok(Quoted { start, end, escaped: false });
    }
    let end = decoded.decode(bytes, start)?;
    closed(bytes, end).map(|end| Quoted { start, end, escaped: true })
}

/// The place where a string ends, if that is its closing quote.
fn closed(bytes: &[u8], at: usize) -> Result<usize, JsonFault> {
    match byte(bytes, at) {
        b'"' => Ok(at),
        b'\n' => Err(JsonFault { at, expected: "`\"` to close the string" }),
        _ => Err(JsonFault { at, expected: "control characters in strings to be escaped" }),
    }
}

/// Decoded strings one after the other.
///
/// What lies behind them is left over from before, and overwritten: to clear it first would take as long as to decode.
#[derive(Debug, Default)]
pub struct Decoded {
    buffer: Vec<u8>,
    end: usize,
}

impl Decoded {
    /// What may be written behind the end, by kernels that write whole vectors.
    const SLACK: usize = 64;

    /// No strings, in a buffer whose content does not matter.
    pub fn new(buffer: Vec<u8>) -> Self {
        Self { buffer, end: 0 }
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.end
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[..self.end]
    }

    /// The bytes, and the buffer with them.
    pub fn into_bytes(mut self) -> Vec<u8> {
        self.buffer.truncate(self.end);
        self.buffer
    }

    /// Forgets the bytes.
    pub fn clear(&mut self) {
        self.end = 0;
    }

    /// Appends bytes as they are.
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.make_room(bytes.len());
        self.buffer[self.end..self.end + bytes.len()].copy_from_slice(bytes);
        self.end += bytes.len();
    }

    /// Appends bytes that are here already.
    pub fn extend_from_within(&mut self, range: Range<usize>) {
        self.make_room(range.len());
        self.buffer.copy_within(range.clone(), self.end);
        self.end += range.len();
    }

    /// Appends the content of a string. A string that was scanned before has one; of another nothing may be appended.
    pub fn unescape(&mut self, quoted: &[u8]) -> Option<()> {
        let end = self.decode(quoted, 0).ok()?;
        (end == quoted.len()).then_some(())
    }

    /// Appends the content of a string from `at` on, up to what ends it: a quote, a control character, or nothing more. Where that is.
    fn decode(&mut self, bytes: &[u8], mut at: usize) -> Result<usize, JsonFault> {
        // All that can come, so that it does not grow with every string; texts joined from several fields make it grow beyond that, by doubling.
        self.make_room(bytes.len() - at);
        let (mut to, out) = (self.end, &mut self.buffer[..]);
        loop {
            (at, to) = escapes::decode_simple(bytes, at, out, to);
            if byte(bytes, at) != b'\\' {
                self.end = to;
                return Ok(at);
            }
            match SIMPLE[usize::from(byte(bytes, at + 1))] {
                0 => {
                    let (c, next) = unicode_escape(bytes, at)?;
                    to += c.encode_utf8(&mut out[to..]).len();
                    at = next;
                }
                simple => {
                    out[to] = simple;
                    (at, to) = (at + 2, to + 1);
                }
            }
        }
    }

    fn make_room(&mut self, bytes: usize) {
        let needed = self.end + bytes + Self::SLACK;
        if self.buffer.len() < needed {
            self.buffer.resize(needed, 0);
        }
    }
}

/// The character of a `\u` escape (two, for a surrogate pair), and the position after it.
fn unicode_escape(bytes: &[u8], backslash: usize) -> Result<(char, usize), JsonFault> {
    if byte(bytes, backslash + 1) != b'u' {
        return Err(JsonFault { at: backslash + 1, expected: "one of `\"\\/bfnrtu` after a backslash" });
    }
    let first = hex_4(bytes, backslash + 2)?;
    if let Some(c) = char::from_u32(first) {
        return Ok((c, backslash + 6));
    }
    let lone = JsonFault { at: backslash, expected: "a surrogate pair, not half of one" };
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

fn hex_4(bytes: &[u8], at: usize) -> Result<u32, JsonFault> {
    let mut value = 0;
    for at in at..at + 4 {
        let digit = char::from(byte(bytes, at)).to_digit(16);
        value =
            value << 4 | digit.ok_or(JsonFault { at, expected: "four hexadecimal digits after `\\u`" })?;
    }
    Ok(value)
}
