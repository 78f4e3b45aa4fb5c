//! JSON strings: scanned where they lie, decoded only when there is a backslash.

use super::{Fault, byte, special};

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
        match byte(bytes, at) {
            b'"' => return Ok(Quoted { start, end: at, escaped: true }),
            b'\\' => at = special::find(bytes, escape(bytes, at)?.1),
            b'\n' => return Err(Fault { at, expected: "`\"` to close the string" }),
            _ => return Err(Fault { at, expected: "control characters in strings to be escaped" }),
        }
    }
}

/// Appends the content of a string that was scanned before.
pub(crate) fn unescape(quoted: &str, out: &mut String) {
    let mut at = 0;
    loop {
        let backslash = special::find(quoted.as_bytes(), at);
        out.push_str(&quoted[at..backslash]);
        if backslash == quoted.len() {
            return;
        }
        let (c, next) = escape(quoted.as_bytes(), backslash).expect("the string was scanned before");
        out.push(c);
        at = next;
    }
}

/// The character of the escape at a backslash, and the position after it.
fn escape(bytes: &[u8], backslash: usize) -> Result<(char, usize), Fault> {
    let c = match byte(bytes, backslash + 1) {
        b'n' => '\n',
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return unicode_escape(bytes, backslash),
        _ => {
            return Err(Fault { at: backslash + 1, expected: "one of `\"\\/bfnrtu` after a backslash" });
        }
    };
    Ok((c, backslash + 2))
}

fn unicode_escape(bytes: &[u8], backslash: usize) -> Result<(char, usize), Fault> {
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
