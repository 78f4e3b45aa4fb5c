//! A run that outgrows its memory and moves to disk on the way stays within it: counted at the allocator.

use std::fs::File;
use std::io::{BufWriter, Write};

use benzer_core::hash::mix;
use benzer_core::lsh::{Banding, Shape};
use benzer_core::sketch::SketchSpec;
use benzer_dedup::progress::Silent;
use benzer_dedup::request::{Comparison, Request, Search};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[test]
fn moving_to_disk_on_the_way_takes_no_memory_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let mut file = BufWriter::new(File::create(&path).unwrap());
    for id in 0..80_000u64 {
        let words: String = (0..100).map(|i| format!("w{} ", mix(id * 100 + i) % 1_000_000_007)).collect();
        writeln!(file, "{{\"id\": {id}, \"text\": \"{words}\"}}").unwrap();
    }
    drop(file);
    let banding = Banding::new(&SketchSpec::default(), Shape { bands: 18, rows: 7 }).unwrap();
    let (search, threshold) = (Search::Bands(banding), "0.8".parse().unwrap());
    let request = Request::new(vec![path], folder.path().join("out"), Comparison::new(threshold, search))
        .with(|request| request.resources.memory = 90 << 20);
    MEMORY.reset_peak_usage();
    let summary = benzer_dedup::run(&request, &Silent).unwrap();
    let peak = MEMORY.peak_usage();
    assert!(summary.spilled_bytes > 80 << 20, "{} bytes", summary.spilled_bytes);
    // The rest is for the program and what the allocator does not see.
    assert!(peak <= request.resources.memory as usize * 2 / 3, "{peak} bytes");
}
