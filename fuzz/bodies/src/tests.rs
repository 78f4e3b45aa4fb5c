//! Every target on its corpus, and on mutations of it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use benzer_core::hash::stream;

use super::*;

fn corpus(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../corpus")).join(name);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|_| panic!("fuzz/corpus/{name} is missing"));
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort_unstable();
    files.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Says which input it was when a body panics.
struct Telling<'a>(&'a str, &'a [u8]);

impl Drop for Telling<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{} fails on {:?}", self.0, self.1.escape_ascii().to_string());
        }
    }
}

fn run(name: &str, body: Body, input: &[u8]) {
    let _telling = Telling(name, input);
    body(input);
}

#[test]
fn every_target_survives_its_corpus_and_mutations_of_it() {
    let seconds = std::env::var("BENZER_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1.0);
    for (name, body) in TARGETS {
        let seeds = corpus(name);
        assert!(seeds.len() >= 3, "{name} has {} seeds", seeds.len());
        seeds.iter().for_each(|(_, seed)| run(name, body, seed));
        let (end, mut random) = (Instant::now() + Duration::from_secs_f64(seconds), stream(99));
        let mut next =
            move |below: usize| ((u128::from(random.next().unwrap()) * below as u128) >> 64) as usize;
        while Instant::now() < end {
            let mut input = seeds[next(seeds.len())].1.clone();
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
            run(name, body, &input);
        }
    }
}

#[test]
fn every_target_has_a_file_for_cargo_fuzz() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    for (name, _) in TARGETS {
        let file = std::fs::read_to_string(folder.join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(file.contains(&format!("benzer_fuzz_bodies::{name}(data)")), "{name}");
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} is not in fuzz/Cargo.toml");
    }
}
