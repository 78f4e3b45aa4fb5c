//! The bodies of the fuzz targets in `fuzz/fuzz_targets`.
//!
//! `cargo fuzz run sketch_decode` explores them with coverage feedback on a nightly toolchain. `make test` runs each for a few seconds on the
//! stable one, with mutations of valid inputs (`BENZER_FUZZ_SECONDS`, default 3).

use benzer_core::estimate::of::jaccard;
use benzer_core::hash::element;
use benzer_core::sketch::{Sketch, SketchSpec};
use benzer_dedup::sketches::{MAGIC, SketchReader};

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
    let length = |bytes: &[u8], at: usize| {
        let length = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes(length.try_into().expect("four bytes were cut")) as usize)
    };
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use benzer_core::Features;
    use benzer_core::hash::stream;
    use benzer_core::sketch::{Family, Packing};

    use super::*;

    /// Valid sketches of every family and packing.
    fn seeds() -> Vec<Vec<u8>> {
        let packings = [
            Packing::FULL,
            Packing::bits(1).unwrap(),
            Packing::bits(7).unwrap(),
            Packing::Xor { samples: 2 },
            Packing::Odd { bits: 70 },
        ];
        let specs =
            packings.into_iter().flat_map(|packing| Family::ALL.iter().map(move |&family| (family, packing)));
        specs
            .filter_map(|(family, packing)| {
                SketchSpec { family, packing, registers: 12, ..SketchSpec::default() }.sketcher().ok()
            })
            .map(|sketcher| sketcher.sketch(&Features::set(1..9)).unwrap().encode())
            .collect()
    }

    /// Runs a body on mutations of the seeds until the time is up.
    fn explore(seeds: &[Vec<u8>], body: fn(&[u8])) {
        let seconds = std::env::var("BENZER_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(3.0);
        let (end, mut random) = (Instant::now() + Duration::from_secs_f64(seconds), stream(99));
        let mut next =
            move |below: usize| ((u128::from(random.next().unwrap()) * below as u128) >> 64) as usize;
        while Instant::now() < end {
            let mut input = seeds[next(seeds.len())].clone();
            for _ in 0..=next(4) {
                match next(4) {
                    0 if !input.is_empty() => {
                        let place = next(input.len());
                        input[place] = next(256) as u8;
                    }
                    1 => input.truncate(next(input.len() + 1)),
                    2 => input.insert(next(input.len() + 1), next(256) as u8),
                    _ => input.extend((0..next(9)).map(|_| 0xff)),
                }
            }
            body(&input);
        }
    }

    #[test]
    fn sketch_decoder_survives_mutations() {
        explore(&seeds(), sketch_decode);
    }

    #[test]
    fn sketch_file_reader_survives_mutations() {
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/formats/v1/sketches.bsk");
        explore(&[std::fs::read(golden).unwrap()], sketch_file_decode);
    }

    #[test]
    fn spec_decoder_survives_mutations() {
        let specs: Vec<Vec<u8>> = seeds().into_iter().map(|bytes| bytes[6..].to_vec()).collect();
        explore(&specs, spec_decode);
    }
}
