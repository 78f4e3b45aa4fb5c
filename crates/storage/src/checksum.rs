//! Size and checksum of a file.
//!
//! **Checksum, version 1.** The file is cut into pieces of 64 KiB, the last one shorter. With the element hash and the mixer of
//! [`benzer_core::hash`]:
//!
//! ```text
//! s = 0x5851f42d4c957f2d; for each piece: s = mix(s ^ element(piece))
//! checksum = mix(s ^ number of bytes)
//! ```
//!
//! So it can be computed while a file is written, at the speed of the element hash. It finds accidents; whoever can change a file
//! can also make its checksum right.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use benzer_core::hash::{element, elements, mix};
use serde::{Deserialize, Serialize};

use super::error::{Error, Result};

/// Bytes of a piece.
pub(super) const PIECE: usize = 64 << 10;
/// Pieces that are hashed together.
const TOGETHER: usize = 3;

/// Size and checksum of a file. As text the checksum is 16 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Its length.
    pub bytes: u64,
    /// Its checksum, as the source of this module defines it.
    #[serde(with = "hexadecimal")]
    pub checksum: u64,
}

impl Stamp {
    /// Reads a file and compares.
    ///
    /// # Errors
    /// A file that cannot be read, or is another one than was stamped.
    pub fn verify(&self, path: &Path) -> Result<()> {
        self.compare(path, &checksum_of(path)?)
    }

    /// Compares with what was found in a file.
    pub(super) fn compare(&self, path: &Path, found: &Self) -> Result<()> {
        let say = |stamp: &Self| format!("{} bytes with checksum {:016x}", stamp.bytes, stamp.checksum);
        if found == self { Ok(()) } else { Err(Error::damaged(path, say(self), say(found))) }
    }
}

/// Reads a whole file for its size and checksum.
///
/// # Errors
/// A file that cannot be read.
pub fn checksum_of(path: &Path) -> Result<Stamp> {
    let read = || -> io::Result<Stamp> {
        let mut file = File::open(path)?;
        let mut pieces = Pieces::default();
        let mut piece = Vec::with_capacity(PIECE);
        loop {
            piece.clear();
            (&mut file).take(PIECE as u64).read_to_end(&mut piece)?;
            if piece.is_empty() {
                return Ok(pieces.stamp());
            }
            pieces.add(&piece);
        }
    };
    read().map_err(|error| Error::disk("read", path, error))
}

/// A checksum in the making.
#[derive(Debug)]
pub(super) struct Pieces {
    state: u64,
    bytes: u64,
}

impl Default for Pieces {
    fn default() -> Self {
        Self { state: 0x5851_f42d_4c95_7f2d, bytes: 0 }
    }
}

impl Pieces {
    /// Adds the next piece; only the last one may be shorter than [`PIECE`].
    pub fn add(&mut self, piece: &[u8]) {
        debug_assert!(piece.len() <= PIECE && self.bytes.is_multiple_of(PIECE as u64));
        self.add_hash(element(piece), piece.len());
    }

    /// Adds the next piece by its hash.
    pub fn add_hash(&mut self, hash: u64, bytes: usize) {
        self.state = mix(self.state ^ hash);
        self.bytes += bytes as u64;
    }

    /// Adds whole pieces, several of them in little more than the time of one.
    pub fn add_together(&mut self, pieces: &[u8; TOGETHER * PIECE]) {
        let pieces: [&[u8]; TOGETHER] = std::array::from_fn(|i| &pieces[i * PIECE..(i + 1) * PIECE]);
        elements(pieces).into_iter().for_each(|hash| self.add_hash(hash, PIECE));
    }

    pub fn stamp(&self) -> Stamp {
        Stamp { bytes: self.bytes, checksum: mix(self.state ^ self.bytes) }
    }
}

/// The hashes of whole pieces.
pub(super) fn hashes(mut bytes: &[u8]) -> Vec<u64> {
    let mut hashes = Vec::with_capacity(bytes.len() / PIECE);
    while let Some((pieces, rest)) = bytes.split_first_chunk::<{ TOGETHER * PIECE }>() {
        let pieces: [&[u8]; TOGETHER] = std::array::from_fn(|i| &pieces[i * PIECE..(i + 1) * PIECE]);
        hashes.extend(elements(pieces));
        bytes = rest;
    }
    hashes.extend(bytes.chunks(PIECE).map(element));
    hashes
}

/// Numbers above 2^53 do not survive every JSON reader.
mod hexadecimal {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    pub fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{number:016x}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn of(bytes: &[u8]) -> u64 {
        let mut pieces = Pieces::default();
        bytes.chunks(PIECE).for_each(|piece| pieces.add(piece));
        pieces.stamp().checksum
    }

    #[test]
    fn checksums_never_change() {
        let long: Vec<u8> = (0..200_000u32).map(|i| (i % 251) as u8).collect();
        let known = [of(b""), of(b"benzer"), of(&long)];
        assert_eq!(known, [0xf2ee_2134_306f_f565, 0x5977_2d37_b3ab_3008, 0x6515_4f37_77f3_114c]);
    }

    #[test]
    fn pieces_together_are_pieces_one_by_one() {
        let bytes: Vec<u8> = (0..TOGETHER * PIECE).map(|i| (i % 253) as u8).collect();
        let mut together = Pieces::default();
        together.add_together(bytes.first_chunk().unwrap());
        together.add(b"rest");
        assert_eq!(together.stamp().checksum, of(&[&bytes[..], b"rest"].concat()));
    }

    #[test]
    fn order_length_and_every_byte_matter() {
        let long: Vec<u8> = (0..3 * PIECE).map(|i| (i / PIECE) as u8).collect();
        let mut swapped = long.clone();
        swapped.rotate_left(PIECE);
        let mut seen = HashSet::from([of(&long), of(&swapped), of(&long[..2 * PIECE]), of(&long[1..])]);
        assert_eq!(seen.len(), 4);
        for place in (0..long.len()).step_by(7919) {
            let mut changed = long.clone();
            changed[place] ^= 0x10;
            assert!(seen.insert(of(&changed)), "byte {place} does not matter");
        }
    }

    #[test]
    fn a_changed_file_is_told_with_expected_and_got() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, "one").unwrap();
        let stamp = checksum_of(&path).unwrap();
        stamp.verify(&path).unwrap();
        std::fs::write(&path, "two").unwrap();
        let error = stamp.verify(&path).unwrap_err().to_string();
        assert!(
            error.contains(&format!("expected 3 bytes with checksum {:016x}, got 3 bytes", stamp.checksum)),
            "{error}"
        );
        let error = checksum_of(&folder.path().join("no")).unwrap_err().to_string();
        assert!(
            error.starts_with("cannot read") && error.ends_with("check that it was not moved or removed"),
            "{error}"
        );
    }
}
