//! Sketches as bytes: versioned, checksummed, and read by a decoder that survives any input.
//!
//! ```text
//! "BNZS"  magic
//! u16     format version, 1
//! spec    family u8 + parameter u32, registers u32, packing u8 + parameter u32, seed u64, pipeline u8 + bytes
//! u8 f64  1 and the size, or 0 and zero
//! u32     number of words, then the words
//! u64     checksum: the element hash of all bytes before it
//! ```
//!
//! All integers little-endian. A sketch has exactly one encoding; anything else is refused with expected and got.

use std::sync::Arc;

use super::{Bits, Family, Packing, Scheme, Sketch, SketchSpec};
use crate::{Error, Result, hash::element};

/// Version of the binary encoding of sketches.
pub const FORMAT_VERSION: u16 = 1;
const MAGIC: &[u8; 4] = b"BNZS";

impl Sketch {
    /// The sketch as bytes, with its spec and a checksum.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + self.spec.pipeline.len() + 8 * self.words.len());
        out.extend(MAGIC);
        out.extend(FORMAT_VERSION.to_le_bytes());
        self.spec.encode_into(&mut out);
        out.push(u8::from(self.size.is_some()));
        out.extend(self.size.unwrap_or(0.0).to_le_bytes());
        out.extend((self.words.len() as u32).to_le_bytes());
        out.extend(self.words.iter().flat_map(|word| word.to_le_bytes()));
        let checksum = element(&out);
        out.extend(checksum.to_le_bytes());
        out
    }

    /// Reads a sketch back.
    ///
    /// # Errors
    /// Bytes that are truncated, damaged, of another version, or not a sketch: [`Error::Decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut input = checked(bytes)?;
        let spec = SketchSpec::decode_from(&mut input)?;
        let size = decode_size(&mut input)?;
        let n_words = input.u32()? as usize;
        if n_words.checked_mul(8) != Some(input.0.len()) {
            return Err(Error::decode(format!("{n_words} words"), format!("{} bytes", input.0.len())));
        }
        let words: Vec<u64> = input.0.chunks_exact(8).map(le_word).collect();
        let sketch = Self::new(Arc::new(spec), size, words);
        sketch.check_words()?;
        Ok(sketch)
    }

    /// Refuses words that no sketch of this spec can have.
    pub(super) fn check_words(&self) -> Result<()> {
        let (spec, words) = (&self.spec, &self.words);
        if spec.family == Family::BottomK {
            let expected = self
                .size
                .map_or(spec.registers as usize, |size| size.min(f64::from(spec.registers)) as usize);
            let whole = self.size.is_none() && words.len() < spec.registers as usize;
            if words.len() != expected || whole || !words.is_sorted_by(|a, b| a < b) {
                let got = format!("{} words", words.len());
                return Err(Error::decode(format!("{expected} increasing hashes"), got));
            }
            return Ok(());
        }
        if words.len() != spec.words() {
            return Err(Error::decode(format!("{} words for {spec}", spec.words()), words.len()));
        }
        let full = spec.family == Family::OnePermutation && spec.packing == Packing::FULL;
        if full && !self.is_empty() && words[spec.registers as usize..].iter().all(|&word| word == 0) {
            return Err(Error::decode("a filled bin in a sketch of a set that is not empty", "none"));
        }
        let padding = spec.padding();
        if words.last().is_some_and(|&last| last & padding != 0) || self.lane_padding_is_dirty() {
            return Err(Error::decode("zero padding", "set bits"));
        }
        Ok(())
    }

    /// True if the bits that no lane uses (64 mod b of them in each word) are not zero.
    fn lane_padding_is_dirty(&self) -> bool {
        let Packing::Bits(bits) = self.spec.packing else { return false };
        let used = bits.lanes() as u32 * bits.get();
        used < 64 && self.words.iter().any(|word| word >> used != 0)
    }
}

impl SketchSpec {
    /// Appends the spec's bytes: what every stored file and value carries.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        let (family, parameter) = family_code(self.family);
        out.push(family);
        out.extend(parameter.to_le_bytes());
        out.extend(self.registers.to_le_bytes());
        let (packing, parameter) = match self.packing {
            Packing::Bits(bits) => (0u8, bits.get()),
            Packing::Xor { samples } => (1, samples),
            Packing::Odd { bits } => (2, bits),
        };
        out.push(packing);
        out.extend(parameter.to_le_bytes());
        out.extend(self.seed.to_le_bytes());
        out.push(self.pipeline.len() as u8);
        out.extend(self.pipeline.as_bytes());
    }

    /// Reads a spec from the front of `bytes`; gives it and the bytes after it.
    ///
    /// # Errors
    /// Truncated bytes, unknown codes, or a spec that [`SketchSpec::validate`] refuses.
    pub fn decode_prefix(bytes: &[u8]) -> Result<(Self, &[u8])> {
        let mut input = Input(bytes);
        let spec = Self::decode_from(&mut input)?;
        Ok((spec, input.0))
    }

    fn decode_from(input: &mut Input<'_>) -> Result<Self> {
        let family = decode_family(input.u8()?, input.u32()?)?;
        let registers = input.u32()?;
        let packing = match (input.u8()?, input.u32()?) {
            (0, b) => Packing::Bits(Bits::new(b)?),
            (1, samples) => Packing::Xor { samples },
            (2, bits) => Packing::Odd { bits },
            (code, _) => return Err(Error::decode("packing 0 to 2", code)),
        };
        let seed = input.u64()?;
        let length = input.u8()? as usize;
        let pipeline = std::str::from_utf8(input.take(length)?)
            .map_err(|_| Error::decode("a pipeline id in UTF-8", "other bytes"))?;
        let spec = Self { family, registers, packing, seed, pipeline: pipeline.to_owned() };
        spec.validate()?;
        Ok(spec)
    }

    /// Bits of the last word that no register uses.
    fn padding(&self) -> u64 {
        let n_bits = match self.packing {
            _ if self.family == Family::Odd => self.registers as usize,
            Packing::Bits(Bits::FULL) if self.family == Family::OnePermutation => self.registers as usize,
            Packing::Bits(Bits::FULL) => return 0,
            Packing::Bits(bits) => {
                (self.registers as usize - 1) % bits.lanes() * bits.get() as usize + bits.get() as usize
            }
            Packing::Xor { samples } => (self.registers / samples) as usize,
            Packing::Odd { bits } => bits as usize,
        };
        let used = (n_bits - 1) % 64 + 1;
        if used == 64 { 0 } else { u64::MAX << used }
    }
}

fn family_code(family: Family) -> (u8, u32) {
    match family {
        Family::Permutations(Scheme::Native) => (0, 0),
        Family::Permutations(Scheme::Linear) => (1, 0),
        Family::Permutations(Scheme::Legacy) => (2, 0),
        Family::Permutations(Scheme::Affine32) => (3, 0),
        Family::Permutations(Scheme::Affine64) => (4, 0),
        Family::Permutations(Scheme::Exact { universe }) => (5, universe),
        Family::Fast { rounds } => (6, u32::from(rounds)),
        Family::OnePermutation => (7, 0),
        Family::BottomK => (8, 0),
        Family::Weighted => (9, 0),
        Family::Odd => (10, 0),
    }
}

fn decode_family(code: u8, parameter: u32) -> Result<Family> {
    let family = match Family::ALL.iter().find(|family| family_code(**family).0 == code) {
        None => return Err(Error::decode("family 0 to 10", code)),
        Some(Family::Permutations(Scheme::Exact { .. })) => {
            Family::Permutations(Scheme::Exact { universe: parameter })
        }
        Some(Family::Fast { .. }) => {
            let rounds = u16::try_from(parameter);
            Family::Fast { rounds: rounds.map_err(|_| Error::decode("rounds below 65536", parameter))? }
        }
        Some(family) => *family,
    };
    if family_code(family).1 == parameter { Ok(family) } else { Err(Error::decode("parameter 0", parameter)) }
}

fn decode_size(input: &mut Input<'_>) -> Result<Option<f64>> {
    let (flag, size) = (input.u8()?, f64::from_bits(input.u64()?));
    match flag {
        0 if size.to_bits() == 0 => Ok(None),
        1 if size.is_finite() && size.is_sign_positive() => Ok(Some(size)),
        _ => {
            Err(Error::decode("a size flag of 0 or 1 and a finite size", format!("flag {flag}, size {size}")))
        }
    }
}

/// Checks magic, version and checksum; gives what lies between.
fn checked(bytes: &[u8]) -> Result<Input<'_>> {
    let mut input = Input(bytes);
    let magic = input.take(4)?;
    if magic != MAGIC {
        return Err(Error::decode("a sketch (magic BNZS)", format!("{magic:02x?}")));
    }
    let version = u16::from_le_bytes(input.take(2)?.try_into().expect("two bytes were taken"));
    if version != FORMAT_VERSION {
        return Err(Error::decode(format!("sketch format version {FORMAT_VERSION}"), version));
    }
    let Some((body, checksum)) = input.0.split_last_chunk::<8>() else {
        return Err(Error::decode("a checksum of 8 bytes", format!("{} bytes", input.0.len())));
    };
    let (expected, got) = (element(&bytes[..bytes.len() - 8]), u64::from_le_bytes(*checksum));
    if expected != got {
        let expected = format!("checksum {expected:016x} (the bytes are damaged)");
        return Err(Error::decode(expected, format!("{got:016x}")));
    }
    Ok(Input(body))
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let Some((taken, rest)) = self.0.split_at_checked(n) else {
            return Err(Error::decode(format!("{n} more bytes"), self.0.len()));
        };
        self.0 = rest;
        Ok(taken)
    }

    fn u8(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.take(4)?.try_into().expect("four bytes were taken")))
    }

    fn u64(&mut self) -> Result<u64> {
        self.take(8).map(le_word)
    }
}

fn le_word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("the caller cuts eight bytes"))
}
