//! The bodies of the fuzz targets in `fuzz/fuzz_targets`.
//!
//! `cargo fuzz run sketch_decode` explores them with coverage feedback on a nightly toolchain. `make test` runs each for a few seconds on the
//! stable one, with mutations of valid inputs (`BENZER_FUZZ_SECONDS`, default 3).

use benzer_core::hash::element;
use benzer_core::sketch::{Sketch, SketchSpec};

/// Any bytes: decoding never panics, and what decodes encodes to the same bytes.
pub fn sketch_decode(data: &[u8]) {
    for bytes in [data.to_vec(), sealed(data)] {
        if let Ok(sketch) = Sketch::decode(&bytes) {
            assert_eq!(sketch.encode(), bytes, "a sketch has one encoding");
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
    fn spec_decoder_survives_mutations() {
        let specs: Vec<Vec<u8>> = seeds().into_iter().map(|bytes| bytes[6..].to_vec()).collect();
        explore(&specs, spec_decode);
    }
}
