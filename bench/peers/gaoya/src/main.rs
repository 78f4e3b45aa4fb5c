//! gaoya in the race: the same command line and the same JSON line as the Python peers (`../protocol.py`).
//!
//! `create_signature` set by set is what its bulk call runs; with one thread the bulk call only adds the pool. The
//! hasher is replaced by faster ones than its default (FNV): the identity for pre-hashed sets, ahash for text.

mod dedup;
mod input;
mod lsh;
mod report;

use std::hash::{BuildHasherDefault, Hasher};
use std::hint::black_box;
use std::time::Instant;

use ahash::RandomState;
use gaoya::minhash::{MinHasher, MinHasher32};
use gaoya::text::whitespace_split;

use report::Report;

const SHINGLE: usize = 5;

fn main() {
    let options = input::Options::parse();
    if options.task == "dedup" {
        return if options.about { dedup::about() } else { dedup::run(&options.input, &options.out) };
    }
    if options.task == "lsh" {
        return lsh::run(&options);
    }
    let (timing, signatures, report) = match options.task.as_str() {
        "sketch" => sketch(&options),
        "text" => text(&options),
        other => panic!("gaoya has no task `{other}`"),
    };
    report.print(&options, &timing, &signatures);
}

/// Wall-clock seconds of each run, and the share of them spent on the CPU.
pub struct Timing {
    pub seconds: Vec<f64>,
    pub on_cpu: f64,
}

type Run = (Timing, Vec<Vec<u32>>, Report);

fn sketch(options: &input::Options) -> Run {
    let (elements, offsets) = input::sets(&options.input);
    let hasher = MinHasher32::new_with_hasher(options.registers, BuildHasherDefault::<Identity>::default());
    let (timing, signatures) = timed(options.runs, || {
        offsets.windows(2).map(|w| hasher.create_signature(elements[w[0]..w[1]].iter())).collect()
    });
    let api = "MinHasher32::create_signature with an identity hasher; built for the native CPU";
    (timing, signatures, Report::sketch(api, elements.len()))
}

fn text(options: &input::Options) -> Run {
    let texts = input::texts(&options.input);
    let hasher = MinHasher32::new_with_hasher(options.registers, RandomState::with_seeds(1, 2, 3, 4));
    let (timing, signatures) = timed(options.runs, || {
        texts
            .iter()
            .map(|text| {
                let lower = text.to_lowercase();
                let words: Vec<&str> = whitespace_split(&lower).collect();
                hasher.create_signature(words.windows(SHINGLE.min(words.len()).max(1)))
            })
            .collect()
    });
    let api = "str::to_lowercase, whitespace_split, MinHasher32::create_signature over windows of 5 words with ahash; native CPU";
    (timing, signatures, Report::text(api, texts.iter().map(String::len).sum()))
}

fn timed(runs: usize, run: impl Fn() -> Vec<Vec<u32>>) -> (Timing, Vec<Vec<u32>>) {
    let mut signatures = black_box(run());
    let cpu = cpu_seconds();
    let seconds: Vec<f64> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            signatures = black_box(run());
            start.elapsed().as_secs_f64()
        })
        .collect();
    let on_cpu = (cpu_seconds() - cpu) / seconds.iter().sum::<f64>();
    (Timing { seconds, on_cpu }, signatures)
}

/// CPU time of this process so far.
fn cpu_seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid place for the answer, and the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// The elements are hashes already.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only 64-bit elements are hashed")
    }

    fn write_u64(&mut self, element: u64) {
        self.0 = element;
    }
}
