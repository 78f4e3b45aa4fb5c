//! What an index takes, in bytes.
//!
//! ```text
//! RAM  = documents * (8 * words of the sketch + bands * posting)          everything resident
//! disk = documents * (bytes of the sketch     + bands * posting)
//! posting = 8 (band key) + 4 (document number; 8 beyond 2^32 documents)
//! ```
//!
//! In memory a sketch is whole 64-bit words; on disk it is packed to the byte. Not counted: ids and documents, which depend on the
//! collection and not on the plan. A batch run that spills its band keys to disk needs less memory than this; an index that answers without
//! touching the disk needs all of it.

use serde::{Deserialize, Serialize};

use crate::sketch::SketchSpec;

/// Bytes of sketches and postings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footprint {
    /// Memory of one sketch.
    pub sketch_ram: u64,
    /// Size of one sketch on disk.
    pub sketch_disk: u64,
    /// Postings of one document: one for each band.
    pub postings: u64,
    /// Memory of all documents.
    pub ram: u64,
    /// Disk of all documents.
    pub disk: u64,
}

impl Footprint {
    /// Of `documents` sketches in `bands` bands (0 for a filter).
    pub fn new(spec: &SketchSpec, bands: usize, documents: u64) -> Self {
        let (sketch_ram, sketch_disk) = (8 * spec.words() as u64, spec.bytes() as u64);
        let postings = bands as u64 * posting(documents);
        let all = |one: u64| documents.saturating_mul(one);
        Self {
            sketch_ram,
            sketch_disk,
            postings,
            ram: all(sketch_ram + postings),
            disk: all(sketch_disk + postings),
        }
    }

    /// Memory of one document.
    pub fn ram_per_document(&self) -> u64 {
        self.sketch_ram + self.postings
    }
}

/// Bytes of one posting.
pub fn posting(documents: u64) -> u64 {
    if documents <= 1 << 32 { 12 } else { 16 }
}

/// A number of bytes for people: `16 GiB`, `1.5 KiB`, `900 bytes`.
pub fn human(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let (mut value, mut unit) = (bytes as f64 / 1024.0, 0);
    while value >= 1023.95 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    let text = format!("{value:.1}");
    format!("{} {}", text.strip_suffix(".0").unwrap_or(&text), units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_sketch_in_eighteen_bands() {
        let footprint = Footprint::new(&SketchSpec::default(), 18, 1_000_000);
        assert_eq!((footprint.ram_per_document(), footprint.ram), (128 + 216, 344_000_000));
        let many = Footprint::new(&SketchSpec::default(), 18, 1 << 33);
        assert_eq!(many.sketch_disk + many.postings, 128 + 288);
        assert_eq!(Footprint::new(&SketchSpec::default(), 18, u64::MAX).ram, u64::MAX);
    }

    #[test]
    fn bytes_are_readable() {
        let cases = [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1536, "1.5 KiB"),
            (16 << 30, "16 GiB"),
            ((1 << 30) - 1, "1 GiB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(human(bytes), text);
        }
        assert_eq!(human(u64::MAX), "16 EiB");
    }
}
