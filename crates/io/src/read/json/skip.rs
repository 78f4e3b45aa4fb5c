//! Values that nobody asked for: validated completely, not built.
//!
//! Nesting is kept in the bits of one integer, so hostile depth costs neither stack nor memory. The limits are
//! those of `serde_json`: 127 levels, and numbers that fit a 64-bit float.

use super::{JsonFault, byte, space, string};

/// How deep objects and arrays may nest, the outermost counted.
pub const MAX_DEPTH: u32 = 127;

/// Validates the value at `at`, inside `depth` objects and arrays; the position after it.
#[inline]
pub fn value(bytes: &[u8], at: usize, depth: u32) -> Result<usize, JsonFault> {
    match byte(bytes, at) {
        b'"' => Ok(string::scan(bytes, at + 1)?.end + 1),
        b'{' | b'[' => container(bytes, at, depth),
        _ => scalar(bytes, at),
    }
}

/// Validates a number or a literal.
#[inline]
fn scalar(bytes: &[u8], at: usize) -> Result<usize, JsonFault> {
    match byte(bytes, at) {
        b'-' | b'0'..=b'9' => Ok(number(bytes, at)?.end),
        b't' => literal(bytes, at, b"true"),
        b'f' => literal(bytes, at, b"false"),
        b'n' => literal(bytes, at, b"null"),
        _ => Err(JsonFault { at, expected: "a value" }),
    }
}

/// A number as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number {
    /// The position after it.
    pub(crate) end: usize,
    /// Whether it has neither fraction nor exponent.
    pub(crate) integer: bool,
}

/// Validates a number by the grammar, and that it is not infinite as a 64-bit float.
pub fn number(bytes: &[u8], start: usize) -> Result<Number, JsonFault> {
    let mut at = start + usize::from(byte(bytes, start) == b'-');
    at = match byte(bytes, at) {
        b'0' => at + 1,
        _ => digits(bytes, at)?,
    };
    let mut integer = true;
    if byte(bytes, at) == b'.' {
        integer = false;
        at = digits(bytes, at + 1)?;
    }
    let mut can_overflow = at - start > 308;
    if byte(bytes, at) | 0x20 == b'e' {
        integer = false;
        let sign = byte(bytes, at + 1);
        can_overflow |= sign != b'-';
        at = digits(bytes, at + 1 + usize::from(sign == b'+' || sign == b'-'))?;
    }
    if can_overflow && is_infinite(&bytes[start..at]) {
        return Err(JsonFault { at: start, expected: "a number that fits a 64-bit float" });
    }
    Ok(Number { end: at, integer })
}

#[cold]
fn is_infinite(number: &[u8]) -> bool {
    std::str::from_utf8(number).is_ok_and(|n| n.parse::<f64>().is_ok_and(f64::is_infinite))
}

fn digits(bytes: &[u8], start: usize) -> Result<usize, JsonFault> {
    let mut at = start;
    while byte(bytes, at).is_ascii_digit() {
        at += 1;
    }
    if at == start { Err(JsonFault { at, expected: "a digit" }) } else { Ok(at) }
}

fn literal(bytes: &[u8], at: usize, word: &[u8]) -> Result<usize, JsonFault> {
    let same = word.iter().enumerate().take_while(|&(i, &b)| byte(bytes, at + i) == b).count();
    if same == word.len() {
        Ok(at + same)
    } else {
        Err(JsonFault { at: at + same, expected: "`true`, `false` or `null`" })
    }
}

/// Validates an object or array without recursion.
fn container(bytes: &[u8], mut at: usize, depth: u32) -> Result<usize, JsonFault> {
    let mut nest = Nest { objects: 0, depth, floor: depth };
    loop {
        // Here a value begins.
        at = match byte(bytes, at) {
            b'"' => string::scan(bytes, at + 1)?.end + 1,
            open @ (b'{' | b'[') => {
                nest.enter(open, at)?;
                at = space(bytes, at + 1);
                if byte(bytes, at) != open + 2 {
                    at = nest.element(bytes, at)?;
                    continue;
                }
                nest.leave();
                at + 1
            }
            _ => scalar(bytes, at)?,
        };
        // Here a value has ended, and perhaps the containers around it.
        loop {
            if nest.depth == nest.floor {
                return Ok(at);
            }
            at = space(bytes, at);
            match byte(bytes, at) {
                b',' => break,
                close if close == nest.close() => nest.leave(),
                _ => return Err(JsonFault { at, expected: nest.expected() }),
            }
            at += 1;
        }
        at = nest.element(bytes, space(bytes, at + 1))?;
    }
}

/// The open containers, innermost in the lowest bit: 1 is an object, 0 an array.
struct Nest {
    objects: u128,
    depth: u32,
    floor: u32,
}

impl Nest {
    #[inline]
    fn enter(&mut self, open: u8, at: usize) -> Result<(), JsonFault> {
        if self.depth == MAX_DEPTH {
            return Err(JsonFault { at, expected: "at most 127 nested levels" });
        }
        self.objects = self.objects << 1 | u128::from(open == b'{');
        self.depth += 1;
        Ok(())
    }

    #[inline]
    fn leave(&mut self) {
        self.objects >>= 1;
        self.depth -= 1;
    }

    #[inline]
    fn in_object(&self) -> bool {
        self.objects & 1 == 1
    }

    #[inline]
    fn close(&self) -> u8 {
        if self.in_object() { b'}' } else { b']' }
    }

    fn expected(&self) -> &'static str {
        if self.in_object() { "`,` or `}`" } else { "`,` or `]`" }
    }

    /// From the beginning of an element to that of its value: past the key in an object.
    #[inline]
    fn element(&self, bytes: &[u8], at: usize) -> Result<usize, JsonFault> {
        if self.in_object() { Ok(super::key(bytes, at)?.1) } else { Ok(at) }
    }
}
