//! A JSON scanner that takes the wanted fields out of a line and validates the rest without building it.
//!
//! **How strict.** A line is accepted if and only if `serde_json` reads it as a `Value`: grammar, escapes, surrogate
//! pairs, no control characters in strings, nothing after the value, at most 127 nested levels, no number beyond the
//! range of a 64-bit float. Skipped values are validated as strictly as wanted ones. A property test compares both on
//! valid and on damaged lines. UTF-8 is the caller's part (it checks whole batches at once).
//!
//! **Repeated keys.** The last one wins, as in `serde_json`, and wins whole: `{"a":{"b":1},"a":{}}` has no `a.b`.
//!
//! **One pass.** Lines are not split beforehand. A newline never belongs to a token, so the scanner stops at it by
//! itself; only after a fault is the end of the line searched.
//!
//! Cost: per string one vector scan (see [`special`]); per number, literal and bracket a few bytes of scalar code.

mod escapes;
mod skip;
mod special;
mod string;

use super::fields::{Fields, Node};
use super::span::Span;
pub(super) use string::Decoded;

/// Why a string can be decoded.
pub(super) const SCANNED: &str = "the string was scanned before";

/// What was found at a wanted place. Positions are those of the scanned bytes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) enum Slot {
    /// Nothing.
    #[default]
    Missing,
    /// A string between its quotes; if it holds a backslash, where its content was appended.
    String { start: usize, end: usize, decoded: Option<Span> },
    /// A number without fraction and exponent.
    Integer { start: usize, end: usize },
    /// Another number.
    Fraction { start: usize, end: usize },
    /// Another type, by name.
    Other(&'static str),
}

/// Why a line is not JSON.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct JsonFault {
    /// The position of the byte that does not fit.
    pub(super) at: usize,
    /// What could have stood there.
    pub(super) expected: &'static str,
}

/// A line that is JSON.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    /// The position of its newline (or the end of the bytes).
    pub(super) end: usize,
    /// What it is instead of an object, by name.
    pub(super) other: Option<&'static str>,
}

/// Scans the line at `at`, which is its first byte that is not white space, and fills one slot per field. Strings of wanted fields that hold escapes are decoded on the way.
pub(super) fn extract(
    bytes: &[u8],
    at: usize,
    fields: &Fields,
    slots: &mut [Slot],
    decoded: &mut Decoded,
) -> Result<Line, JsonFault> {
    slots.fill(Slot::Missing);
    let other = (byte(bytes, at) != b'{').then(|| type_name(bytes, at));
    let end = match other {
        None => Extractor { bytes, fields, slots, decoded }.object(fields.node(0), at + 1, 1)?,
        Some(_) => skip::value(bytes, at, 0)?,
    };
    let end = space(bytes, end);
    if end < bytes.len() && bytes[end] != b'\n' {
        return Err(JsonFault { at: end, expected: "the end of the line" });
    }
    Ok(Line { end, other })
}

/// The byte at a position. The end of the bytes looks like a newline, which no token contains.
#[inline(always)]
fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(b'\n')
}

/// The first position that is not white space; a newline ends the line and is none.
#[inline(always)]
pub(super) fn space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(byte(bytes, at), b' ' | b'\t' | b'\r') {
        at += 1;
    }
    at
}

/// A key, and the position of its value.
#[inline(always)]
fn key(bytes: &[u8], at: usize) -> Result<(string::Quoted, usize), JsonFault> {
    if byte(bytes, at) != b'"' {
        return Err(JsonFault { at, expected: "`\"` to begin a key" });
    }
    let key = string::scan(bytes, at + 1)?;
    let colon = space(bytes, key.end + 1);
    if byte(bytes, colon) != b':' {
        return Err(JsonFault { at: colon, expected: "`:` after a key" });
    }
    Ok((key, space(bytes, colon + 1)))
}

fn type_name(bytes: &[u8], at: usize) -> &'static str {
    match byte(bytes, at) {
        b'{' => "an object",
        b'[' => "an array",
        b'"' => "a string",
        b't' | b'f' => "a boolean",
        b'n' => "null",
        _ => "a number",
    }
}

struct Extractor<'a> {
    bytes: &'a [u8],
    fields: &'a Fields,
    slots: &'a mut [Slot],
    decoded: &'a mut Decoded,
}

impl Extractor<'_> {
    /// Scans an object on the way to wanted fields, from after its brace to after its end.
    fn object(&mut self, node: &Node, at: usize, depth: u32) -> Result<usize, JsonFault> {
        let mut at = space(self.bytes, at);
        if byte(self.bytes, at) == b'}' {
            return Ok(at + 1);
        }
        loop {
            let (key, value) = key(self.bytes, at)?;
            at = match self.child(node, key) {
                None => skip::value(self.bytes, value, depth)?,
                Some(child) => self.wanted(self.fields.node(child), value, depth)?,
            };
            at = space(self.bytes, at);
            match byte(self.bytes, at) {
                b',' => at = space(self.bytes, at + 1),
                b'}' => return Ok(at + 1),
                _ => return Err(JsonFault { at, expected: "`,` or `}`" }),
            }
        }
    }

    #[inline]
    fn child(&self, node: &Node, key: string::Quoted) -> Option<usize> {
        let written = &self.bytes[key.start..key.end];
        if !key.escaped {
            return node.child(written);
        }
        let mut name = Decoded::default();
        name.unescape(written).expect(SCANNED);
        node.child(name.bytes())
    }

    /// Scans the value of a key that is a wanted field or leads to one.
    fn wanted(&mut self, node: &Node, at: usize, depth: u32) -> Result<usize, JsonFault> {
        for &slot in &node.below {
            self.slots[slot] = Slot::Missing;
        }
        let (found, end) = match byte(self.bytes, at) {
            b'"' => {
                let before = self.decoded.len();
                let string::Quoted { start, end, escaped } =
                    string::scan_wanted(self.bytes, at + 1, self.decoded)?;
                let decoded = escaped.then(|| Span::new(before, self.decoded.len()));
                (Slot::String { start, end, decoded }, end + 1)
            }
            b'{' if !node.is_leaf() && depth < skip::MAX_DEPTH => {
                (Slot::Other("an object"), self.object(node, at + 1, depth + 1)?)
            }
            b'-' | b'0'..=b'9' => {
                let number = skip::number(self.bytes, at)?;
                let (start, end) = (at, number.end);
                let is_integer = number.integer;
                (if is_integer { Slot::Integer { start, end } } else { Slot::Fraction { start, end } }, end)
            }
            _ => (Slot::Other(type_name(self.bytes, at)), skip::value(self.bytes, at, depth)?),
        };
        for &slot in &node.slots {
            self.slots[slot] = found;
        }
        Ok(end)
    }
}
