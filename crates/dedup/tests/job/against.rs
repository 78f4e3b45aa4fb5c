//! Over many small random corpora, old and new: against what was saved, against the same documents as a corpus, and by the definition, the result is the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use benzer_core::lsh::{Banding, Shape};
use benzer_core::sketch::SketchSpec;
use benzer_dedup::Keep;
use benzer_dedup::progress::{Observer, Stage};
use benzer_dedup::request::{Measure, Request, Search, Verify};
use benzer_flow::Listener;
use proptest::prelude::*;

use crate::corpus::{self, Document, Random};
use crate::evidence;
use crate::lab::{self, Lab};
use crate::oracle::{self, Kept};

#[derive(Debug, Clone)]
struct Case {
    seed: u64,
    n: [usize; 2],
    ngram: usize,
    threshold: &'static str,
    keep: Keep,
    measure: Measure,
    verify: Verify,
    exact: bool,
    bands: (u32, usize, usize),
    cap: usize,
    threads: usize,
}

fn cases() -> impl Strategy<Value = Case> {
    let thresholds = ["0.1", "0.3", "0.5", "0.6", "0.7", "0.8", "0.9", "1"];
    let bands = vec![(128, 18, 7), (128, 32, 4), (128, 42, 3), (64, 16, 4)];
    let what = (prop::sample::select(thresholds.to_vec()), 0..8, 0usize..4);
    let search = (prop::sample::select(bands), prop_oneof![1usize..5, Just(64)], 1usize..4);
    (any::<u64>(), [0usize..30, 1usize..30], 1usize..4, what, search).prop_map(
        |(seed, n, ngram, (threshold, how, keep), (bands, cap, threads))| Case {
            seed,
            n,
            ngram,
            threshold,
            keep: [Keep::First, Keep::Last, Keep::Longest, Keep::Shortest][keep].clone(),
            measure: if how == 0 { Measure::Containment } else { Measure::Jaccard },
            verify: if how == 1 { Verify::Estimate } else { Verify::Exact },
            exact: how == 0 || how == 2,
            bands,
            cap,
            threads,
        },
    )
}

impl Case {
    /// Old and new documents: the new ones are edits of the old ones, among others.
    fn documents(&self) -> [Vec<Document>; 2] {
        let [n_old, n_new] = self.n;
        let mut random = Random::new(self.seed);
        let mut all = corpus::documents(&mut random, n_old + n_new, 40, false);
        // A document now and then has others in it, as test items are in training documents.
        for i in 1..all.len() {
            if random.below(5) == 0 {
                let other = all[random.below(i)].text.clone();
                all[i].text = format!("{} {other}", all[i].text);
            }
        }
        let new = all.split_off(n_old);
        [all, new]
    }

    fn request(&self, lab: &Lab, inputs: &Path, output: &str) -> Request {
        let (registers, bands, rows) = self.bands;
        let spec = SketchSpec { registers, ..SketchSpec::default() };
        let mut request = lab.request(output).with(|request| {
            request.input.paths = vec![inputs.to_owned()];
            request.compare.search = match self.exact {
                true => Search::Exact,
                false => Search::Bands(Banding::new(&spec, Shape { bands, rows }).unwrap()),
            };
            request.compare.spec = spec;
            request.compare.threshold = self.threshold.parse().unwrap();
            request.compare.measure = self.measure;
            request.keep = self.keep.clone();
            request.compare.verify = self.verify;
            request.compare.cap = self.cap;
            request.resources.threads = self.threads;
        });
        request.compare.text.n = self.ngram;
        request.input.read.batch_bytes = 1000;
        request.old.read = request.input.read.clone();
        request
    }

    /// The request of a run that saves its documents.
    fn saving(&self, lab: &Lab, inputs: &Path, output: &str) -> Request {
        let save = Some(lab.path(output).join("saved"));
        // The documents are not compared with each other, so that all are kept but copies.
        self.request(lab, inputs, output).with(|request| {
            request.results.save = save;
            request.compare.measure = Measure::Jaccard;
            request.compare.verify = Verify::Exact;
        })
    }
}

/// Removed, kept, whether that is old, rule, similarity, counts.
type Row = (String, String, bool, String, f64, Option<(u32, u32)>);

fn found(output: &Path) -> Vec<Row> {
    let row = |row: evidence::Evidence| {
        (row.removed_id, row.kept_id, row.kept_is_old, row.rule, row.similarity, row.counts)
    };
    evidence::read(output).into_iter().map(row).collect()
}

fn expected(old: &[Document], new: &[Document], request: &Request) -> Vec<Row> {
    let row = |removal: oracle::Removal| {
        let (kept, is_old) = match removal.kept {
            Kept::New(i) => (&new[i], false),
            Kept::Old(i) => (&old[i], true),
        };
        let removed = new[removal.removed].id.clone();
        (removed, kept.id.clone(), is_old, removal.rule.to_owned(), removal.similarity, removal.counts)
    };
    oracle::removals_against(old, new, request).into_iter().map(row).collect()
}

fn write(lab: &Lab, name: &str, documents: &[Document]) -> PathBuf {
    let path = lab.path(name);
    fs::write(&path, corpus::lines(documents)).unwrap();
    path
}

/// The documents of a file of an output folder.
fn read(path: &Path) -> Vec<Document> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let document = |line: &str| {
        let json: serde_json::Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| json[name].as_str().unwrap().to_owned();
        Document { id: field("id"), text: field("text") }
    };
    text.lines().map(document).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn saved_corpus_and_definition_agree(case in cases()) {
        let (lab, [old, new]) = (Lab::new(), case.documents());
        let (old_path, new_path) = (write(&lab, "old.jsonl", &old), write(&lab, "new.jsonl", &new));
        // A corpus as it is, with its duplicates.
        let raw = case.request(&lab, &new_path, "raw").with(|request| request.old.paths = vec![old_path.clone()]);
        let summary = lab::run(&raw).unwrap();
        prop_assert_eq!(found(&raw.results.folder), expected(&old, &new, &raw));
        let n_texts = old.iter().filter(|document| !document.text.is_empty()).count();
        prop_assert_eq!(summary.counts.against, n_texts as u64);
        // What a run kept of it, as documents and as an archive.
        let saving = case.saving(&lab, &old_path, "old");
        lab::run(&saving).unwrap();
        let kept = read(&saving.results.folder.join("documents/old.jsonl"));
        let saved = case.request(&lab, &new_path, "saved").with(|request| request.old.paths = vec![saving.results.folder.clone()]);
        let documents = vec![saving.results.folder.join("documents")];
        let corpus = case.request(&lab, &new_path, "corpus").with(|request| request.old.paths = documents);
        let by_definition = expected(&kept, &new, &saved);
        lab::run(&saved).unwrap();
        prop_assert_eq!(&found(&saved.results.folder), &by_definition);
        if !kept.is_empty() {
            lab::run(&corpus).unwrap();
            prop_assert_eq!(&found(&corpus.results.folder), &by_definition);
        }
        for name in ["pairs.parquet", "clusters.parquet"] {
            if kept.is_empty() { break; }
            let [a, b] = [&saved, &corpus].map(|request| fs::read(request.results.folder.join(name)).unwrap());
            prop_assert!(a == b, "{}", name);
        }
    }

    #[test]
    fn an_archive_that_grows_is_like_one_corpus(case in cases(), days in 2usize..8) {
        let case = Case { measure: Measure::Jaccard, ..case };
        let (lab, [old, new]) = (Lab::new(), case.documents());
        let all = [old, new].concat();
        let archive = lab.path("archive");
        let mut kept: Vec<Document> = Vec::new();
        for (day, documents) in all.chunks(all.len().div_ceil(days)).enumerate() {
            let path = write(&lab, &format!("day{day}.jsonl"), documents);
            let request = case.request(&lab, &path, &format!("out{day}"));
            // Days have thresholds and bands of their own: keys are made again where they do not suit.
            let threshold = if day % 3 == 2 { "0.75".parse().unwrap() } else { request.compare.threshold };
            let shape = if day % 3 == 1 { Shape { bands: 12, rows: 5 } } else { Shape { bands: 16, rows: 4 } };
            let search = match request.compare.search {
                Search::Bands(_) => Search::Bands(Banding::new(&request.compare.spec, shape).unwrap()),
                Search::Exact => Search::Exact,
            };
            let request = request.with(|request| { request.old.paths = vec![archive.clone()]; request.results.save = Some(archive.clone()); request.compare.threshold = threshold; request.compare.search = search; });
            lab::run(&request).unwrap();
            prop_assert_eq!(found(&request.results.folder), expected(&kept, documents, &request), "day {}", day);
            let more = read(&request.results.folder.join(format!("documents/day{day}.jsonl")));
            kept.extend(more);
        }
    }
}

/// Ends a run when it looks for the `n`th time whether it shall stop.
struct Impatient(AtomicU64);

impl Observer for Impatient {
    fn begin(&self, _: Stage, _: Option<u64>) {}
}

impl Listener for Impatient {
    fn reached(&self, _: u64) {}
    fn is_cancelled(&self) -> bool {
        self.0.fetch_sub(1, Ordering::Relaxed) <= 1
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn threads_memory_disk_and_interruptions_change_no_byte(case in cases(), patience in 1u64..25) {
        let (lab, [old, new]) = (Lab::new(), case.documents());
        let (old_path, new_path) = (write(&lab, "old.jsonl", &old), write(&lab, "new.jsonl", &new));
        let request = |output: &str| case.request(&lab, &new_path, output).with(|request| { request.old.paths = vec![old_path.clone()]; request.results.save = Some(lab.path(output).join("saved")); });
        let memory = request("memory");
        lab::run(&memory.clone().with(|request| request.resources.threads = 1)).unwrap();
        let expected = lab::outputs(&memory.results.folder);
        lab::run(&memory.clone().with(|request| { request.resources.threads = 3; request.results.overwrite = true; })).unwrap();
        lab::assert_same(&lab::outputs(&memory.results.folder), &expected, "three threads");
        let disk = request("disk").with(|request| { request.resources.in_memory = 0; request.resources.memory = 150 << 20; });
        lab::run(&disk).unwrap();
        lab::assert_same(&lab::outputs(&disk.results.folder), &expected, "on disk");
        let interrupted = request("interrupted").with(|request| request.resources.checkpoint = Some(0));
        let _ = benzer_dedup::run(&interrupted, &Impatient(AtomicU64::new(patience)));
        lab::run(&interrupted.clone().with(|request| request.resources.resume = true)).unwrap();
        lab::assert_same(&lab::outputs(&interrupted.results.folder), &expected, "interrupted");
        prop_assert!(!interrupted.results.folder.join(".benzer-work").exists());
    }
}

/// The properties above must not hold because nothing happens.
#[test]
fn the_random_corpora_have_every_kind_of_removal_for_old_documents() {
    let mut rules = std::collections::BTreeMap::<(String, bool), usize>::new();
    for seed in 0..80 {
        let case = Case {
            seed,
            n: [25, 25],
            ngram: 2,
            threshold: "0.6",
            keep: Keep::First,
            measure: if seed % 4 == 0 { Measure::Containment } else { Measure::Jaccard },
            verify: if seed % 4 == 1 { Verify::Estimate } else { Verify::Exact },
            exact: seed % 4 == 0,
            bands: (128, 32, 4),
            cap: 64,
            threads: 1,
        };
        let (lab, [old, new]) = (Lab::new(), case.documents());
        let (old_path, new_path) = (write(&lab, "old.jsonl", &old), write(&lab, "new.jsonl", &new));
        let request = case.request(&lab, &new_path, "out").with(|request| request.old.paths = vec![old_path]);
        lab::run(&request).unwrap();
        for (_, _, is_old, rule, _, counts) in found(&request.results.folder) {
            let rule = if counts == Some((0, 0)) { format!("{rule} of no words") } else { rule };
            *rules.entry((rule, is_old)).or_default() += 1;
        }
    }
    let names: Vec<(&str, bool)> = rules.keys().map(|(rule, is_old)| (rule.as_str(), *is_old)).collect();
    let both = |rule| [(rule, false), (rule, true)];
    let expected = [("contained", true)]
        .into_iter()
        .chain(["estimate", "exact-copy", "exact-copy of no words", "verified"].into_iter().flat_map(both));
    let mut expected: Vec<_> = expected.collect();
    expected.sort_unstable();
    assert_eq!(names, expected);
    assert!(rules.values().all(|n| *n >= 10), "{rules:?}");
}
