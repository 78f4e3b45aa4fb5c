//! Sketches, specs and files of sketches.

use benzer_core::estimate::of::jaccard;
use benzer_core::hash::element;
use benzer_core::sketch::{Sketch, SketchSpec};
use benzer_sets::sketches::{MAGIC, SketchReader};

use crate::read::length;

/// Any bytes: decoding never panics, and what decodes encodes to the same bytes.
pub fn sketch_decode(data: &[u8]) {
    for bytes in [data.to_vec(), sealed(data)] {
        if let Ok(sketch) = Sketch::decode(&bytes) {
            assert_eq!(sketch.encode(), bytes, "a sketch has one encoding");
            // What decodes can be used: merging and comparing give an answer or a typed error, and come to an end.
            if let Ok(sketcher) = sketch.spec().sketcher() {
                let _ = sketcher.merge(&sketch, &sketch);
                let _ = jaccard(&sketch, &sketch);
            }
        }
    }
}

/// Any bytes: a spec decodes or is refused, and what decodes encodes to the bytes it was read from.
pub fn spec_decode(data: &[u8]) {
    if let Ok((spec, rest)) = SketchSpec::decode_prefix(data) {
        let mut encoded = Vec::new();
        spec.encode_into(&mut encoded);
        assert_eq!(encoded, data[..data.len() - rest.len()]);
    }
}

/// Any bytes: a sketch file is read or refused. Every part is also tried with the right checksum, so that mutations reach what it guards.
pub fn sketch_file_decode(data: &[u8]) {
    for bytes in [data.to_vec(), sealed_parts(data)] {
        let Ok(mut reader) = SketchReader::new("fuzz".as_ref(), &bytes[..]) else { continue };
        while let Ok(Some(block)) = reader.next_block() {
            for record in block.records() {
                let _ = reader.header().name(record.id);
                if let Ok(sketch) = record.sketch(reader.header()) {
                    assert_eq!(sketch.size(), Some(record.size));
                    assert!(sketch.words().iter().copied().eq(record.words()));
                }
            }
        }
    }
}

/// The bytes of a sketch file with the checksums of its parts made right, as far as its lengths can be followed.
fn sealed_parts(data: &[u8]) -> Vec<u8> {
    let mut bytes = data.to_vec();
    let mut start = 0;
    let mut end = length(&bytes, MAGIC.len() + 2).map(|header| MAGIC.len() + 6 + header);
    while let Some(body) = end.filter(|body| body + 8 <= bytes.len()) {
        let checksum = element(&bytes[start..body]).to_le_bytes();
        bytes[body..body + 8].copy_from_slice(&checksum);
        start = body + 8;
        end = match bytes.get(start) {
            Some(1) => length(&bytes, start + 13).map(|records| start + 17 + records),
            Some(2) => Some(start + 25),
            _ => None,
        };
    }
    bytes
}

/// The bytes with their last eight replaced by the right checksum, so that mutations reach what lies behind it.
fn sealed(data: &[u8]) -> Vec<u8> {
    let mut bytes = data.to_vec();
    if let Some(body) = bytes.len().checked_sub(8) {
        let checksum = element(&bytes[..body]).to_le_bytes();
        bytes[body..].copy_from_slice(&checksum);
    }
    bytes
}
