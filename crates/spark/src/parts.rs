//! Records packed into the bytes of few rows, one row for each slice.

use super::out::Out;
use crate::error::{Error, Result};

/// Bytes that are collected before they go out.
const HELD: usize = 32 << 20;

/// Records on their way to slices.
#[derive(Debug)]
pub(super) struct Parts {
    kind: i32,
    slices: Vec<Vec<u8>>,
    bytes: usize,
}

impl Parts {
    pub(super) fn new(kind: i32, slices: u32) -> Self {
        Self { kind, slices: vec![Vec::new(); slices as usize], bytes: 0 }
    }

    pub(super) fn add(&mut self, slice: u32, write: impl FnOnce(&mut Vec<u8>)) {
        let part = &mut self.slices[slice as usize];
        let before = part.len();
        write(part);
        self.bytes += part.len() - before;
    }

    pub(super) fn send_if_full(&mut self, out: &mut Out) -> Result<()> {
        if self.bytes >= HELD { self.send(out) } else { Ok(()) }
    }

    pub(super) fn send(&mut self, out: &mut Out) -> Result<()> {
        self.bytes = 0;
        for (part, slice) in self.slices.iter_mut().zip(0..) {
            if !part.is_empty() {
                out.row(slice, self.kind, [part, &[], &[]])?;
                *part = Vec::new();
            }
        }
        Ok(())
    }
}

pub(super) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend(bytes);
}

#[derive(Debug, Clone)]
pub(super) struct Records<'a>(pub &'a [u8]);

impl<'a> Records<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first().ok_or_else(Error::damaged)?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Error::damaged())
    }

    /// Eight bytes as they are.
    pub(super) fn word(&mut self) -> Result<u64> {
        let (word, rest) = self.0.split_first_chunk().ok_or_else(Error::damaged)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*word))
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8]> {
        let n = self.number()?;
        let n = usize::try_from(n).ok().filter(|n| *n <= self.0.len()).ok_or_else(Error::damaged)?;
        let (bytes, rest) = self.0.split_at(n);
        self.0 = rest;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written_and_damage_is_an_error() {
        let mut bytes = Vec::new();
        for number in [0, 127, 128, 300, u64::MAX] {
            put_number(&mut bytes, number);
        }
        put_bytes(&mut bytes, b"id");
        bytes.extend(7u64.to_le_bytes());
        let mut records = Records(&bytes);
        let numbers: Vec<u64> = (0..5).map(|_| records.number().unwrap()).collect();
        assert_eq!(numbers, [0, 127, 128, 300, u64::MAX]);
        assert_eq!(
            (records.bytes().unwrap(), records.word().unwrap(), records.is_empty()),
            (&b"id"[..], 7, true)
        );
        for bad in [&[][..], &[0x80], &[0xff; 11], &[5, 1]] {
            assert!(Records(bad).bytes().is_err(), "{bad:?}");
        }
        assert!(Records(&[1, 2]).word().unwrap_err().to_string().contains("same version"));
    }
}
