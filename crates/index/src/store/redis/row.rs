//! Records, documents and postings as bytes.
//!
//! ```text
//! record    version u8 = 1 | flags u8 (1: it expires) | checksum u32 | expires u64, if it does | bytes of the id (7 bits a byte, the last without the eighth) | id | words u64
//! document  version u8 = 1 | checksum u32 | JSON
//! posting   16 bits of the key after those of its block | number u32
//! ```
//!
//! Numbers are little-endian. A checksum is the lower half of the element hash of the number (u32, big-endian), and of everything behind the checksum; that of a record begins with the flags. So a
//! value under another number is damaged too.

use crate::record::{DocNo, Record};
use benzer_core::hash;

const VERSION: u8 = 1;
const EXPIRES: u8 = 1;
/// Bytes of a posting.
pub(super) const POSTING: usize = 6;

fn checksum(number: DocNo, bytes: &[&[u8]]) -> [u8; 4] {
    let all = [&[&number.0.to_be_bytes()[..]], bytes].concat().concat();
    (hash::element(&all) as u32).to_le_bytes()
}

/// Writes a record; `bytes` is overwritten.
pub(super) fn write_record(number: DocNo, record: &Record<'_>, bytes: &mut Vec<u8>) {
    let flags = if record.expires == 0 { 0 } else { EXPIRES };
    bytes.clear();
    bytes.extend([VERSION, flags, 0, 0, 0, 0]);
    if record.expires != 0 {
        bytes.extend(record.expires.to_le_bytes());
    }
    let mut length = record.id.len();
    while length >= 0x80 {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes.extend_from_slice(record.id);
    bytes.extend(record.words.iter().flat_map(|word| word.to_le_bytes()));
    let sum = checksum(number, &[&[flags], &bytes[6..]]);
    bytes[2..6].copy_from_slice(&sum);
}

/// Reads a record whose words are put into `words`; nothing if it is damaged.
pub(super) fn read_record<'a>(
    number: DocNo,
    bytes: &'a [u8],
    n_words: usize,
    words: &'a mut Vec<u64>,
) -> Option<Record<'a>> {
    let (head, mut rest) = bytes.split_at_checked(6)?;
    if head[0] != VERSION || head[1] > EXPIRES || checksum(number, &[&head[1..2], rest]) != head[2..6] {
        return None;
    }
    let mut expires = 0;
    if head[1] & EXPIRES != 0 {
        let (time, tail) = rest.split_at_checked(8)?;
        expires = u64::from_le_bytes(time.try_into().ok()?);
        rest = tail;
    }
    let (mut length, mut shift) = (0usize, 0);
    loop {
        let (byte, tail) = rest.split_first()?;
        length |= usize::from(byte & 0x7f).checked_shl(shift)?;
        (rest, shift) = (tail, shift + 7);
        if byte & 0x80 == 0 {
            break;
        }
    }
    let (id, rest) = rest.split_at_checked(length)?;
    if rest.len() != 8 * n_words {
        return None;
    }
    words.clear();
    words.extend(rest.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)));
    Some(Record { id, words, document: &[], expires })
}

/// Writes a document; `bytes` is overwritten. An empty one, which is not kept, stays empty.
pub(super) fn write_document(number: DocNo, document: &[u8], bytes: &mut Vec<u8>) {
    bytes.clear();
    if !document.is_empty() {
        bytes.push(VERSION);
        bytes.extend(checksum(number, &[document]));
        bytes.extend_from_slice(document);
    }
}

/// Reads a document; nothing if it is damaged.
pub(super) fn read_document(number: DocNo, bytes: &[u8]) -> Option<&[u8]> {
    let (head, document) = bytes.split_at_checked(5)?;
    (head[0] == VERSION && checksum(number, &[document]) == head[1..]).then_some(document)
}

pub(super) fn posting(rest: u16, number: DocNo) -> [u8; POSTING] {
    let (rest, number) = (rest.to_le_bytes(), number.0.to_le_bytes());
    [rest[0], rest[1], number[0], number[1], number[2], number[3]]
}

/// The postings of a block: the rest of the key, and the number. Bytes at the end that are no whole posting are left out.
pub(super) fn postings(block: &[u8]) -> impl Iterator<Item = (u16, DocNo)> {
    block.as_chunks::<POSTING>().0.iter().map(|posting| {
        let [a, b, number @ ..] = *posting;
        (u16::from_le_bytes([a, b]), DocNo(u32::from_le_bytes(number)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..60), expires in any::<bool>()) {
            if bytes.len() >= 6 {
                (bytes[0], bytes[1]) = (VERSION, u8::from(expires));
                let sum = checksum(DocNo(9), &[&bytes[1..2], &bytes[6..]]);
                bytes[2..6].copy_from_slice(&sum);
            }
            let mut words = Vec::new();
            if let Some(record) = read_record(DocNo(9), &bytes, 2, &mut words) {
                prop_assert!(record.id.len() + 16 < bytes.len());
            }
            let _ = (read_document(DocNo(9), &bytes), postings(&bytes).count());
        }
    }

    /// What version 1 has written must be read for good.
    #[test]
    fn the_bytes_of_version_1_do_not_change() {
        let record = Record { id: b"id", words: &[1, u64::MAX], document: &[], expires: 7 };
        let (mut bytes, mut document) = (Vec::new(), Vec::new());
        write_record(DocNo(9), &record, &mut bytes);
        write_document(DocNo(9), b"{}", &mut document);
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let expected = "01019b5cef6007000000000000000269640100000000000000ffffffffffffffff014159edfe7b7d";
        assert_eq!(hex(&bytes) + &hex(&document), expected);
    }

    #[test]
    fn records_come_back_and_damage_is_noticed() {
        let long = "x".repeat(300);
        for (id, expires) in [("", 0), ("a", 7), (long.as_str(), u64::MAX)] {
            let record = Record { id: id.as_bytes(), words: &[1, u64::MAX], document: &[], expires };
            let (mut bytes, mut words) = (Vec::new(), Vec::new());
            write_record(DocNo(9), &record, &mut bytes);
            assert_eq!(read_record(DocNo(9), &bytes, 2, &mut words), Some(record));
            assert_eq!(read_record(DocNo(8), &bytes, 2, &mut words), None);
            assert_eq!(read_record(DocNo(9), &bytes, 3, &mut words), None);
            for i in 0..bytes.len() {
                let mut damaged = bytes.clone();
                damaged[i] ^= 4;
                assert_eq!(read_record(DocNo(9), &damaged, 2, &mut words), None, "byte {i}");
                assert_eq!(read_record(DocNo(9), &bytes[..i], 2, &mut words), None, "cut at {i}");
            }
        }
    }

    #[test]
    fn documents_and_postings_come_back() {
        let mut bytes = Vec::new();
        write_document(DocNo(3), b"{}", &mut bytes);
        assert_eq!(read_document(DocNo(3), &bytes), Some(&b"{}"[..]));
        assert_eq!(read_document(DocNo(4), &bytes), None);
        let block = [posting(7, DocNo(1)), posting(u16::MAX, DocNo(u32::MAX))].concat();
        assert_eq!(postings(&block).collect::<Vec<_>>(), [(7, DocNo(1)), (u16::MAX, DocNo(u32::MAX))]);
        assert_eq!(postings(&block[..11]).count(), 1);
    }
}
