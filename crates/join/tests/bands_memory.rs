//! Candidates are found within their room, counted at the allocator.

use benzer_core::hash::{mix, stream};
use benzer_core::lsh::{Banding, Prefilter, Shape};
use benzer_core::sketch::SketchSpec;
use benzer_flow::{Progress, Workers, Workspace};
use benzer_join::Rank;
use benzer_join::bands::{BandCandidates, BandRules, Sketches};
use benzer_storage::Files;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const N: u32 = 200_000;
const WORDS: usize = 16;

/// What a thread needs to look at partitions, and for the lists of a range of documents of large clusters.
const PER_THREAD: usize = 24 << 20;

struct Table {
    words: Vec<u64>,
    are_resident: bool,
}

impl Sketches for Table {
    fn sketch(&self, rank: Rank) -> &[u64] {
        &self.words[rank.index() * WORDS..][..WORDS]
    }

    fn are_resident(&self) -> bool {
        self.are_resident
    }
}

/// Documents of families, each of which differs from the others in one register.
fn table(per_family: u32) -> Table {
    let sketch = |i: u32| {
        let mut words: Vec<u64> = stream(mix(u64::from(i / per_family))).take(WORDS).collect();
        words[i as usize % WORDS] ^= 1 + u64::from(i / 16 % 200);
        words
    };
    Table { words: (0..N).flat_map(sketch).collect(), are_resident: true }
}

/// The peak of the work above what was there before, and the pairs.
fn pairs(table: &Table, room: usize, threads: usize) -> (usize, usize) {
    let (spec, folder) = (SketchSpec::default(), tempfile::tempdir().unwrap());
    let rules = BandRules {
        banding: Banding::new(&spec, Shape { bands: 18, rows: 7 }).unwrap(),
        prefilter: Prefilter::new(&spec, 0.8).unwrap(),
        cap: 64,
    };
    let (ranks, files) = (Rank::all(N).collect::<Vec<_>>(), Files::new());
    let workspace = Workspace { bytes: room, folder: folder.path(), files: &files };
    let workers = Workers { threads, progress: &Progress::silent() };
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let mut candidates = BandCandidates::new(table, &ranks, rules, workspace, workers).unwrap();
    let chunks = candidates.chunks(room as u64 / 8, threads).into_iter();
    let lists =
        |chunk| candidates.lists(chunk, workers).unwrap().iter().map(|lists| lists.n_pairs()).sum::<usize>();
    let n = chunks.map(lists).sum();
    (MEMORY.peak_usage() - before, n)
}

/// One test, because the allocator is one.
#[test]
fn candidates_are_found_within_their_room() {
    for per_family in [3, 1_000] {
        let mut table = table(per_family);
        let (_, expected) = pairs(&table, 1 << 30, 1);
        assert!(expected > N as usize / 2);
        for room in [4 << 20, 32 << 20] {
            for (threads, are_resident) in [(1, true), (3, true), (3, false)] {
                table.are_resident = are_resident;
                let (peak, n) = pairs(&table, room, threads);
                let most = room + threads * PER_THREAD;
                assert_eq!(n, expected, "{room} bytes, {threads} threads");
                assert!(peak <= most, "{room} bytes, {threads} threads: {peak}");
            }
        }
    }
}
