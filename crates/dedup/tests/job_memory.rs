//! Runs stay within their memory, counted at the allocator: those that move to disk on the way, and those that need not, with any number of threads.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use benzer_core::hash::mix;
use benzer_core::lsh::{Banding, Shape};
use benzer_core::sketch::SketchSpec;
use benzer_dedup::progress::Silent;
use benzer_dedup::request::{Comparison, Request, Search};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// There is one counter: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

const MIB: u64 = 1 << 20;

fn write(path: &Path, n: u64, text: impl Fn(u64) -> String) -> PathBuf {
    let mut file = BufWriter::new(File::create(path).unwrap());
    (0..n).for_each(|id| writeln!(file, "{{\"id\": {id}, \"text\": \"{}\"}}", text(id)).unwrap());
    path.to_owned()
}

fn request(input: PathBuf, out: &Path, memory: u64, threads: usize) -> Request {
    let banding = Banding::new(&SketchSpec::default(), Shape { bands: 18, rows: 7 }).unwrap();
    let (search, threshold) = (Search::Bands(banding), "0.8".parse().unwrap());
    Request::new(vec![input], out.to_owned(), Comparison::new(threshold, search)).with(|request| {
        request.resources.memory = memory;
        request.resources.threads = threads;
        request.results.overwrite = true;
    })
}

#[test]
fn moving_to_disk_on_the_way_takes_no_memory_of_its_own() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let words = |id: u64| (0..100).map(|i| format!("w{} ", mix(id * 100 + i) % 1_000_000_007)).collect();
    let input = write(&folder.path().join("a.jsonl"), 80_000, words);
    let request = request(input, &folder.path().join("out"), 90 * MIB, 1);
    MEMORY.reset_peak_usage();
    let summary = benzer_dedup::run(&request, &Silent).unwrap();
    let peak = MEMORY.peak_usage();
    assert!(summary.spilled_bytes > 10 * MIB, "{} bytes", summary.spilled_bytes);
    // The rest is for the program and what the allocator does not see.
    assert!(peak <= request.resources.memory as usize * 2 / 3, "{peak} bytes");
}

/// What a run takes beside documents, and each of its threads. A third of it is for what the allocator does not see.
const BASE: u64 = 48 * MIB;
const PER_THREAD: u64 = 16 * MIB;

#[test]
fn memory_is_kept_with_any_number_of_threads_also_where_everybody_is_in_one_bucket() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    const DOCUMENTS: u64 = 60_000;
    let folder = tempfile::tempdir().unwrap();
    // Pairs of documents; and documents that differ from the same one in a word at the end.
    let pair = |id: u64| (0..12).map(|i| format!("w{} ", mix(id / 2 * 100 + i) % 1_000_007)).collect();
    let everybody = |id: u64| (0..40).map(|i| format!("w{i} ")).collect::<String>() + &id.to_string();
    let corpora = [
        write(&folder.path().join("pairs.jsonl"), DOCUMENTS, pair),
        write(&folder.path().join("everybody.jsonl"), DOCUMENTS, everybody),
    ];
    for input in corpora {
        let (mut removed, mut on_disk) = (Vec::new(), Vec::new());
        for threads in [1, 2, 3, 5, 16] {
            // So many bytes for each document: enough for everything, for the corpus but not for all edges, and for neither.
            for per_document in [2_000, 880, 300] {
                // A quarter is left for sorting in any case.
                let base = (BASE + PER_THREAD * threads as u64) * 4 / 3;
                let memory = base + per_document * DOCUMENTS;
                let request = request(input.clone(), &folder.path().join("out"), memory, threads)
                    // Saved beside the stages that take the most.
                    .with(|request| request.resources.checkpoint = Some(0));
                let before = MEMORY.current_usage();
                MEMORY.reset_peak_usage();
                let summary = benzer_dedup::run(&request, &Silent).unwrap();
                let peak = (MEMORY.peak_usage() - before) as u64;
                let name = format!("{}, {threads} threads, {per_document} bytes", input.display());
                assert!(peak <= memory - base / 3, "{name}: {} of {} MiB", peak / MIB, memory / MIB);
                removed.push(summary.counts.removed);
                on_disk.push(summary.spilled_bytes > 0);
            }
        }
        assert!(removed[0] > DOCUMENTS / 3 && removed.iter().all(|n| *n == removed[0]), "{removed:?}");
        // With many threads there is room for all in what threads may need.
        assert_eq!(on_disk[..3], [false, false, true], "{}", input.display());
    }
}
