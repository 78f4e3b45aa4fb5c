//! The bodies of the fuzz targets in `fuzz/fuzz_targets`: every decoder, parser and request handler that reads bytes of others.
//!
//! - `cargo +nightly fuzz run NAME` explores one with coverage feedback; `make fuzz` explores all of them, ten minutes each.
//! - `fuzz/corpus/NAME` holds inputs that reach different places, and every input that once broke something. The tests of this crate replay all of them on
//!   the stable toolchain, then go on with mutations for a moment (`BENZER_FUZZ_SECONDS`, default 1, for each target).
//!
//! A body says what must hold for any bytes: no panic, an end, and no answer that contradicts another one.

mod picture;
mod read;
mod rest;
mod settings;
mod sketch;
mod store;
#[cfg(test)]
mod tests;

pub use picture::image;
pub use read::{arrow, compressed, csv, jsonl, parquet, plain, results};
pub use rest::{query_string, rest};
pub use settings::{keys, manifest, schema};
pub use sketch::{sketch_decode, sketch_file_decode, spec_decode};
pub use store::{collection, export};

/// What a target does with bytes.
pub type Body = fn(&[u8]);

/// All targets by name.
pub const TARGETS: [(&str, Body); 18] = [
    ("arrow", arrow),
    ("collection", collection),
    ("compressed", compressed),
    ("csv", csv),
    ("export", export),
    ("image", image),
    ("jsonl", jsonl),
    ("keys", keys),
    ("manifest", manifest),
    ("parquet", parquet),
    ("plain", plain),
    ("query_string", query_string),
    ("rest", rest),
    ("results", results),
    ("schema", schema),
    ("sketch_decode", sketch_decode),
    ("sketch_file_decode", sketch_file_decode),
    ("spec_decode", spec_decode),
];
