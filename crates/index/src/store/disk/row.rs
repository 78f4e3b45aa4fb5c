//! One record in the log.
//!
//! ```text
//! words | expires u64 | bytes of id u32, of document u32 | checksum of the document u32, of all before it and the id u32 | id and document, filled up to eight bytes
//! ```

use benzer_core::hash;

use super::map::{bytes, cells};
use crate::record::Record;
use crate::store::Parts;

/// Words of a row beside those of its record.
const FIXED: usize = 3;

/// A record, and whether it is what was written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    pub record: Record<'a>,
    /// Everything up to the checksums.
    head: &'a [u64],
    checksums: u64,
}

impl<'a> Row<'a> {
    /// The row at the beginning of some words; nothing if they cannot be a row.
    #[inline]
    pub fn read(words: &'a [u64], stride: usize) -> Option<Self> {
        let (fixed, rest) = words.split_at_checked(stride + FIXED)?;
        let (head, checksums) = (&fixed[..stride + 2], fixed[stride + 2]);
        let (n_id, n_document) = (head[stride + 1] as u32 as usize, (head[stride + 1] >> 32) as usize);
        let texts = cells::<u8>(rest);
        let (id, texts) = texts.split_at_checked(n_id)?;
        let document = texts.get(..n_document)?;
        let record = Record { id, words: &head[..stride], document, expires: head[stride] };
        Some(Self { record, head, checksums })
    }

    /// Whether some parts are what was written.
    #[inline]
    pub fn is_whole(&self, parts: Parts) -> bool {
        let [document, head] = [self.checksums as u32, (self.checksums >> 32) as u32];
        head_checksum(self.head, document, self.record.id) == head
            && (parts == Parts::Sketches || hash::element(self.record.document) as u32 == document)
    }
}

fn head_checksum(head: &[u64], document: u32, id: &[u8]) -> u32 {
    let sum = hash::element(bytes(head)) ^ hash::element(id).rotate_left(21) ^ u64::from(document);
    hash::mix(sum) as u32
}

/// Appends a row; how many words it has.
pub(super) fn push(record: &Record<'_>, out: &mut Vec<u64>) -> usize {
    let start = out.len();
    out.extend_from_slice(record.words);
    out.push(record.expires);
    out.push(record.id.len() as u64 | (record.document.len() as u64) << 32);
    let document = hash::element(record.document) as u32;
    let head = head_checksum(&out[start..], document, record.id);
    out.push(u64::from(document) | u64::from(head) << 32);
    push_bytes(record.id.iter().chain(record.document), record.id.len() + record.document.len(), out);
    out.len() - start
}

fn push_bytes<'a>(bytes: impl Iterator<Item = &'a u8>, n: usize, out: &mut Vec<u64>) {
    let start = out.len();
    out.resize(start + n.div_ceil(8), 0);
    for (i, byte) in bytes.enumerate() {
        out[start + i / 8] |= u64::from(*byte) << (8 * (i % 8));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_comes_back_and_every_changed_bit_is_noticed() {
        let mut words = Vec::new();
        let record = Record { id: b"an id", words: &[1, 2, 3], document: b"{\"a\": 1}", expires: 77 };
        assert_eq!(push(&record, &mut words), words.len());
        let row = Row::read(&words, 3).unwrap();
        assert_eq!(row.record, record);
        assert!(row.is_whole(Parts::All));
        let texts = record.id.len() + record.document.len();
        for bit in 0..8 * (8 * 6 + texts) {
            let mut damaged = words.clone();
            damaged[bit / 64] ^= 1 << (bit % 64);
            assert!(Row::read(&damaged, 3).is_none_or(|row| !row.is_whole(Parts::All)), "bit {bit}");
        }
    }
}
